package tidy

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// The limits of the shape. A function fits on a screen and a file in a
// sitting; a table of test cases is skimmed and not read, so tests get more.
const (
	maxFunctionLines = 70
	maxFileLines     = 500
	maxTestLines     = 800

	// maxPublicNames is what a person learns about a whole database in an
	// hour: bbolt has 43.
	maxPublicNames = 45
)

// vague are package names that could stand on any package.
var vague = map[string]bool{
	"base": true, "common": true, "data": true, "errors": true, "handler": true, "helper": true,
	"helpers": true, "info": true, "manager": true, "misc": true, "shared": true, "types": true,
	"util": true, "utils": true,
}

// packageName reports names that do not say what a package is for.
func packageName(s Source) []Problem {
	name := strings.TrimSuffix(s.Syntax.Name.Name, "_test")
	if vague[name] || len(name) == 1 {
		return []Problem{s.at(s.Syntax.Name.Pos(), "package name %q says nothing", name)}
	}
	return nil
}

// functionLength reports functions that do not fit on a screen, also those
// that are the value of a variable. A literal within a function is part of it.
func functionLength(s Source) []Problem {
	if ast.IsGenerated(s.Syntax) {
		return nil
	}
	var problems []Problem
	ast.Inspect(s.Syntax, func(n ast.Node) bool {
		name := "a function literal"
		switch fn := n.(type) {
		case *ast.FuncDecl:
			name = fn.Name.Name
		case *ast.FuncLit:
		default:
			return true
		}
		first := s.Files.Position(n.Pos()).Line
		if got := s.Files.Position(n.End()).Line - first + 1; got > maxFunctionLines {
			problems = append(problems, s.at(n.Pos(), "%s has %d lines, more than %d", name, got, maxFunctionLines))
		}
		return false
	})
	return problems
}

// fileLength reports files that do not fit in a sitting.
func fileLength(s Source) []Problem {
	limit := maxFileLines
	if s.IsTest() {
		limit = maxTestLines
	}
	if got := s.lines(); got > limit && !ast.IsGenerated(s.Syntax) {
		return []Problem{{s.Path, 0, fmt.Sprintf("%d lines, more than %d", got, limit)}}
	}
	return nil
}

// publicPage reports when the root package exports more than a person learns.
// Methods and fields are found through their type and do not count.
func publicPage(sources []Source) []Problem {
	names := 0
	for _, s := range sources {
		if s.Syntax == nil || s.IsTest() || s.Dir() != "." {
			continue
		}
		for _, decl := range s.Syntax.Decls {
			names += exportedNames(decl)
		}
	}
	if names <= maxPublicNames {
		return nil
	}
	return []Problem{{".", 0, fmt.Sprintf("the root package exports %d names, more than %d", names, maxPublicNames)}}
}

// exportedNames counts what one declaration adds to the package's page.
func exportedNames(decl ast.Decl) int {
	var idents []*ast.Ident
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Recv == nil {
			idents = append(idents, decl.Name)
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			idents = append(idents, specNames(spec)...)
		}
	}
	n := 0
	for _, ident := range idents {
		if token.IsExported(ident.Name) {
			n++
		}
	}
	return n
}

func specNames(spec ast.Spec) []*ast.Ident {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		return []*ast.Ident{spec.Name}
	case *ast.ValueSpec:
		return spec.Names
	}
	return nil
}
