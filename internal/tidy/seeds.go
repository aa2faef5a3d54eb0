package tidy

import (
	"go/ast"
	"strings"
)

// seedPackage is where tests get what is random.
const seedPackage = "internal/seed"

// drawNothing are the names of math/rand that make no random numbers of their own.
var drawNothing = map[string]bool{"Rand": true, "Source": true, "NewZipf": true, "Zipf": true}

// unseeded reports tests that draw from math/rand itself: only what comes from
// internal/seed can be drawn again after a failure.
func unseeded(s Source) []Problem {
	if !s.IsTest() && s.Dir() != conformance || s.Dir() == seedPackage {
		return nil
	}
	if imports(s, "math/rand") {
		return []Problem{s.at(s.Syntax.Package, "a test draws from internal/seed, and not from math/rand")}
	}
	if !imports(s, "math/rand/v2") {
		return nil
	}
	var problems []Problem
	ast.Inspect(s.Syntax, func(n ast.Node) bool {
		if use, ok := n.(*ast.SelectorExpr); ok && isName(use.X, "rand") && !drawNothing[use.Sel.Name] {
			problems = append(problems, s.at(use.Pos(), "a test draws from internal/seed, and not from rand.%s", use.Sel.Name))
		}
		return true
	})
	return problems
}

// seedImports reports product code that imports the helper of the tests.
func seedImports(s Source) []Problem {
	if s.IsTest() || s.Dir() == conformance {
		return nil
	}
	var problems []Problem
	for _, spec := range s.Syntax.Imports {
		if strings.HasSuffix(importPath(spec), "/"+seedPackage) {
			problems = append(problems, s.at(spec.Pos(), "only tests import %s", seedPackage))
		}
	}
	return problems
}
