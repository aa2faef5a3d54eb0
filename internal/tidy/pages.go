package tidy

import (
	"fmt"
	"go/ast"
	"iter"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxFirstPageWords is what fits on a page that is read before the code is.
// Reasons and figures are in docs/design.
const maxFirstPageWords = 1200

// firstPage reports an ARCHITECTURE.md that is not one page.
func firstPage(s Source) []Problem {
	if s.Path != "ARCHITECTURE.md" {
		return nil
	}
	if got := len(strings.Fields(string(s.Text))); got > maxFirstPageWords {
		return []Problem{{s.Path, 0, fmt.Sprintf("%d words, more than %d", got, maxFirstPageWords)}}
	}
	return nil
}

// What a page may name: a link's target, a file, a package.
var (
	pageLink    = regexp.MustCompile(`\]\(([^)#]+)(?:#[^)]*)?\)`)
	pageFile    = regexp.MustCompile(`[\w./-]*\w\.(?:go|md)\b`)
	pagePackage = regexp.MustCompile(`\b(?:cmd|internal|redis)/[a-z0-9]+\b`)
	pageTest    = regexp.MustCompile(`go test [^` + "`" + `]*-run '?\^?(\w+)`)
)

// pageNames reports files and packages that a page or a comment names and that
// are not there. CHANGELOG.md tells of what was.
func pageNames(sources []Source) []Problem {
	there := nameable(sources)
	var problems []Problem
	for _, s := range sources {
		for n, names := range s.named() {
			for _, name := range names {
				if !there[name] {
					problems = append(problems, Problem{s.Path, n, strings.TrimPrefix(name, "/") + " is not there"})
				}
			}
		}
	}
	return problems
}

// pageTests reports tests that a page tells to run and that are not there.
func pageTests(sources []Source) []Problem {
	var tests []string
	for _, s := range sources {
		for _, name := range functionNames(s) {
			if s.IsTest() && (strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Benchmark")) {
				tests = append(tests, name)
			}
		}
	}
	var problems []Problem
	for _, s := range sources {
		for n, line := range s.prose() {
			said := pageTest.FindStringSubmatch(line)
			if said != nil && !slices.ContainsFunc(tests, func(name string) bool { return strings.Contains(name, said[1]) }) {
				problems = append(problems, Problem{s.Path, n, "there is no test " + said[1]})
			}
		}
	}
	return problems
}

// functionNames is the functions of a Go file.
func functionNames(s Source) (names []string) {
	if s.Syntax == nil {
		return nil
	}
	for _, decl := range s.Syntax.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok {
			names = append(names, fn.Name.Name)
		}
	}
	return names
}

// named is what each line of a page, or of the comments of a Go file, names.
func (s Source) named() iter.Seq2[int, []string] {
	return func(yield func(int, []string) bool) {
		for n, line := range s.prose() {
			names := namesIn(line, s.Dir())
			if s.Syntax != nil {
				names = pageFile.FindAllString(line, -1)
			}
			if !yield(n, names) {
				return
			}
		}
	}
}

// prose is the lines of a page, or those of a Go file's comments.
func (s Source) prose() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		if s.Syntax != nil {
			for _, group := range s.Syntax.Comments {
				for _, c := range group.List {
					if !yield(s.Files.Position(c.Pos()).Line, c.Text) {
						return
					}
				}
			}
			return
		}
		if path.Ext(s.Path) != ".md" || s.Path == "CHANGELOG.md" || foreign(s.Dir()) {
			return
		}
		n := 0
		for line := range strings.Lines(string(s.Text)) {
			if n++; !yield(n, line) {
				return
			}
		}
	}
}

// nameable is every file and every directory. A file may be named by the end
// of its path, too, as in a list of the files of one directory; with a slash
// before it the path is whole.
func nameable(sources []Source) map[string]bool {
	names := map[string]bool{}
	for _, s := range sources {
		names["/"+s.Path] = true
		for end, more := s.Path, true; more; _, end, more = strings.Cut(end, "/") {
			names[end] = true
		}
		for dir := s.Dir(); dir != "."; dir = path.Dir(dir) {
			names[dir] = true
		}
	}
	return names
}

// namesIn is what a line of a page in dir names. Links to other sites, and to
// what is no Go and no page, are not looked at.
func namesIn(line, dir string) (names []string) {
	for _, link := range pageLink.FindAllStringSubmatch(line, -1) {
		ext := path.Ext(link[1])
		if (ext == ".md" || ext == ".go") && !strings.Contains(link[1], ":") {
			names = append(names, path.Join("/", dir, link[1]))
		}
	}
	line = pageLink.ReplaceAllString(line, "]")
	for _, name := range pageFile.FindAllString(line, -1) {
		names = append(names, strings.TrimLeft(name, "./"))
	}
	line = pageFile.ReplaceAllString(line, "")
	for _, name := range pagePackage.FindAllString(line, -1) {
		if path.Base(name) != "testdata" { // of which nothing is read, see skipped
			names = append(names, name)
		}
	}
	return names
}
