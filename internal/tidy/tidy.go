// Package tidy keeps the house in order: it reads the repository's own
// sources and says which of them break a rule that the compiler does not know.
//
// A rule is a function from one [Source] to its problems, or from all of them
// where one file is not enough. [Read] collects the sources and [Check] runs
// every rule; the package's test does both, so `go test` is what enforces
// them. Rules look at syntax only; those about a package as a whole, a [Room],
// look at types, too. A rule that needs more belongs into a linter.
//
// The rules, by file: layers.go has who may import whom, shape.go how long
// things may get, rooms.go how large a package may be inside, words.go what may
// not be said, commands.go where a command is named.
package tidy

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// modulePath is the import path of the repository's root package.
const modulePath = "github.com/firndb/firn"

// Source is one file of the repository. Syntax is nil for what is not Go.
type Source struct {
	Path   string // relative to the repository, with forward slashes
	Text   []byte
	Syntax *ast.File
	Files  *token.FileSet // positions of Syntax
}

// Problem is one breach of one rule.
type Problem struct {
	Path string
	Line int // 1-based; 0 when the whole file or repository is meant
	Text string
}

func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.Path, p.Text)
	}
	return fmt.Sprintf("%s:%d: %s", p.Path, p.Line, p.Text)
}

// Dir is the directory of the file, "." for the root.
func (s Source) Dir() string { return path.Dir(s.Path) }

// IsTest reports whether the go command compiles the file for tests only.
func (s Source) IsTest() bool { return strings.HasSuffix(s.Path, "_test.go") }

// at makes a problem at a position of the syntax tree.
func (s Source) at(pos token.Pos, format string, args ...any) Problem {
	return Problem{s.Path, s.Files.Position(pos).Line, fmt.Sprintf(format, args...)}
}

// lines is how many lines the file has.
func (s Source) lines() int {
	n := bytes.Count(s.Text, []byte("\n"))
	if len(s.Text) > 0 && s.Text[len(s.Text)-1] != '\n' {
		n++
	}
	return n
}

// Parse makes a Source from text. It returns an error when a path that ends
// in .go does not hold Go.
func Parse(path string, text []byte) (Source, error) {
	s := Source{Path: path, Text: text}
	if !strings.HasSuffix(path, ".go") {
		return s, nil
	}
	s.Files = token.NewFileSet()
	syntax, err := parser.ParseFile(s.Files, path, text, parser.ParseComments)
	if err != nil {
		return Source{}, fmt.Errorf("tidy: parse %s: %w", path, err)
	}
	s.Syntax = syntax
	return s, nil
}

// Read collects the repository's sources: Go files, and the text around them
// that is written by hand. Test inputs, build outputs and what version control
// keeps for itself are left out.
func Read(root string) ([]Source, error) {
	var sources []Source
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if skipped(rel, entry.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !readable(entry.Name()) {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		s, err := Parse(filepath.ToSlash(rel), text)
		sources = append(sources, s)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("tidy: read %s: %w", root, err)
	}
	return sources, nil
}

// skipped reports whether a directory holds nothing that the rules are about.
func skipped(rel, name string) bool {
	switch name {
	case "testdata", "vendor", "node_modules", "bin", "dist":
		return true
	}
	return rel != "." && strings.HasPrefix(name, ".") && name != ".ci"
}

// readable reports whether a file is read: Go, prose, and what runs the build.
func readable(name string) bool {
	switch filepath.Ext(name) {
	case ".go", ".md", ".mod":
		return true
	}
	return name == "Makefile" || name == "run"
}

// Check runs every rule over sources and returns the problems in the order of
// path and line.
func Check(sources []Source) []Problem {
	var problems []Problem
	for _, s := range sources {
		problems = append(problems, machinePaths(s)...)
		problems = append(problems, firstPage(s)...)
		if s.Syntax == nil {
			continue
		}
		for _, rule := range goRules {
			problems = append(problems, rule(s)...)
		}
	}
	problems = append(problems, publicPage(sources)...)
	problems = append(problems, pageNames(sources)...)
	problems = append(problems, pageTests(sources)...)
	problems = append(problems, commandNames(sources)...)
	slices.SortStableFunc(problems, func(a, b Problem) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return a.Line - b.Line
	})
	return problems
}

// goRules are the rules about one Go file.
var goRules = []func(Source) []Problem{
	layers,
	engineImports,
	queryText,
	packageName,
	functionLength,
	fileLength,
	sleeps,
	skips,
	panics,
	unfinished,
	unseeded,
	seedImports,
}
