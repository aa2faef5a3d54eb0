package tidy

import (
	"go/ast"
	"regexp"
	"strings"
)

// sleeps reports tests that wait for the clock. A file that uses
// testing/synctest may sleep: there the clock is a fake, and a day costs
// nothing.
func sleeps(s Source) []Problem {
	if !s.IsTest() || imports(s, "testing/synctest") {
		return nil
	}
	return calls(s, func(call *ast.CallExpr) string {
		if isSelector(call.Fun, "time", "Sleep") {
			return "a test must not sleep: wait for the event, or use testing/synctest"
		}
		return ""
	})
}

// skips reports tests that are left out without saying why.
func skips(s Source) []Problem {
	if !s.IsTest() {
		return nil
	}
	return calls(s, func(call *ast.CallExpr) string {
		for _, receiver := range []string{"t", "b", "f", "tb"} {
			if isSelector(call.Fun, receiver, "SkipNow") ||
				isSelector(call.Fun, receiver, "Skip") && len(call.Args) == 0 {
				return "a skipped test gives its reason"
			}
		}
		return ""
	})
}

// panics reports product code that ends the program other than through
// internal/invariant, or that unwinds other than through internal/lua/unwind,
// which the errors of Lua programs are made of. A panic of a caller's function that was recovered may be
// passed on to the caller; the value is then named panicked.
func panics(s Source) []Problem {
	if s.IsTest() || s.Dir() == "internal/invariant" || s.Dir() == "internal/lua/unwind" {
		return nil
	}
	return calls(s, func(call *ast.CallExpr) string {
		if isName(call.Fun, "panic") && !(len(call.Args) == 1 && isName(call.Args[0], "panicked")) {
			return "panic is for our own mistakes, through internal/invariant"
		}
		return ""
	})
}

// loose are the marks of work that is not done.
var loose = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`)

// unfinished reports comments that put work off.
func unfinished(s Source) []Problem {
	var problems []Problem
	for _, group := range s.Syntax.Comments {
		for _, comment := range group.List {
			if mark := loose.FindString(comment.Text); mark != "" {
				problems = append(problems, s.at(comment.Pos(), "%s in a comment: finish it or file an issue", mark))
			}
		}
	}
	return problems
}

// machinePath finds absolute paths that exist on one machine only. A path
// element in front means a URL or a longer path, which is something else.
var machinePath = regexp.MustCompile(`(^|[^\w./~-])/(work|root|home|tmp)/`)

// machinePaths reports text that is true on the author's machine only.
func machinePaths(s Source) []Problem {
	var problems []Problem
	n := 0
	for line := range strings.Lines(string(s.Text)) {
		n++
		if machinePath.MatchString(line) {
			problems = append(problems, Problem{s.Path, n, "a path of one machine"})
		}
	}
	return problems
}

// calls collects what complain says about each call in the file, nothing
// being no complaint.
func calls(s Source, complain func(*ast.CallExpr) string) []Problem {
	var problems []Problem
	ast.Inspect(s.Syntax, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if text := complain(call); text != "" {
				problems = append(problems, s.at(call.Pos(), "%s", text))
			}
		}
		return true
	})
	return problems
}

// isName reports whether e is the plain identifier name.
func isName(e ast.Expr, name string) bool {
	ident, ok := e.(*ast.Ident)
	return ok && ident.Name == name
}

// isSelector reports whether e is receiver.name, both as they are written.
func isSelector(e ast.Expr, receiver, name string) bool {
	selector, ok := e.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != name {
		return false
	}
	return isName(selector.X, receiver)
}

// imports reports whether the file imports path.
func imports(s Source, path string) bool {
	for _, spec := range s.Syntax.Imports {
		if importPath(spec) == path {
			return true
		}
	}
	return false
}
