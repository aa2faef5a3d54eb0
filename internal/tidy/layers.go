package tidy

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// levels orders the packages: one may import packages of a lower level only.
// Packages of the same level do not know each other. A directory below one
// that is listed belongs to it, and the two may import each other.
var levels = map[string]int{
	"bench":  11,
	"cmd":    10,
	"server": 9,
	"web":    9,

	"redis":           8, // what needs a server, and the list of all commands
	"redis/feed":      7,
	"redis/history":   7,
	"redis/live":      7,
	"redis/tracking":  7,
	"redis/acl":       6,
	"redis/hashes":    6,
	"redis/keys":      6,
	"redis/lists":     6,
	"redis/sets":      6,
	"redis/streams":   6,
	"redis/values":    6,
	"redis/scripting": 6,
	"redis/zsets":     6,
	"redis/command":   5,
	"redis/keyspace":  4,
	"redis/measure":   4,
	"redis/pubsub":    4,

	"internal/oracle":    10, // real servers, and who follows them
	"internal/proof":     4,  // the long tests of the public page
	".":                  3,  // the public page
	"internal/storefile": 2,  // files at rest
	"internal/inside":    2,  // the way in for proofs
	"journal":            2,
	"retention":          1,
	"reader":             1,
	"writer":             1,
	"index":              0,
	"schema":             -1,
	"resp":               -1,
	"certs":              -1, // what is shown over TLS
	"tuple":              -2,
}

// leaves are the internal packages that import nothing of the project. The
// other internal packages may import internal ones.
var leaves = map[string]bool{
	"internal/crashvfs":  true,
	"internal/gathervfs": true,
	"internal/invariant": true,
	"internal/pages":     true,
	"internal/race":      true,
	"internal/script":    true,
	"internal/seed":      true,
	"internal/spread":    true,
	"internal/testca":    true,
	"internal/tidy":      true,
}

// conformance is the package that any test may import, whatever its level.
const conformance = "schema/schematest"

// ownModules are the directories with a go.mod of their own. They are users
// of the project and not part of its layers.
var ownModules = []string{"e2e", "examples", "tools"}

// layers reports imports that point up or sideways. Tests may also import
// sideways, and the conformance tests from anywhere.
func layers(s Source) []Problem {
	from := s.Dir()
	if foreign(from) {
		return nil
	}
	if _, _, known := place(from); !known {
		return []Problem{s.at(s.Syntax.Package, "package %s has no layer: add it to levels", from)}
	}
	var problems []Problem
	for _, spec := range s.Syntax.Imports {
		to, ours := projectPath(spec)
		if ours && !mayImport(from, to, s.IsTest()) {
			problems = append(problems, s.at(spec.Pos(), "%s must not import %s: imports point down", from, to))
		}
	}
	return problems
}

// mayImport decides on one import between two directories of the project.
func mayImport(from, to string, test bool) bool {
	fromFamily, fromLevel, _ := place(from)
	toFamily, toLevel, known := place(to)
	switch {
	case from == to:
		return true // an external test imports the package that it tests
	case test && to == conformance:
		return true
	case !known:
		return false
	case toFamily == "internal":
		return !leaves[from] || test
	case fromFamily == "internal":
		return false
	case fromFamily == toFamily:
		return true
	case test:
		return toLevel <= fromLevel
	}
	return toLevel < fromLevel
}

// place finds the listed directory that dir is or lies below, and its level.
// An internal package that is listed by itself is a layer like any other.
func place(dir string) (family string, level int, known bool) {
	if level, known = levels[dir]; known {
		return dir, level, true
	}
	family, _, _ = strings.Cut(dir, "/")
	if family == "internal" {
		return family, -1, true
	}
	level, known = levels[family]
	return family, level, known
}

// projectPath is the directory that an import leads to, if it is one of ours.
func projectPath(spec *ast.ImportSpec) (dir string, ours bool) {
	imported := importPath(spec)
	if imported == modulePath {
		return ".", true
	}
	return strings.CutPrefix(imported, modulePath+"/")
}

// importPath is the path between the quotes.
func importPath(spec *ast.ImportSpec) string {
	imported, _ := strconv.Unquote(spec.Path.Value)
	return imported
}

// foreign reports whether dir belongs to a module of its own.
func foreign(dir string) bool {
	family, _, _ := strings.Cut(dir, "/")
	for _, own := range ownModules {
		if family == own {
			return true
		}
	}
	return false
}

// knowsSQL reports whether dir may speak to SQLite: schema is the only
// package with statements, and two stand between SQLite and the disk. Modules
// of their own have databases of their own.
func knowsSQL(dir string) bool {
	return dir == "schema" || strings.HasPrefix(dir, "schema/") || dir == "internal/crashvfs" || dir == "internal/gathervfs" || foreign(dir)
}

// engineImports reports imports of SQLite above schema.
func engineImports(s Source) []Problem {
	if knowsSQL(s.Dir()) {
		return nil
	}
	var problems []Problem
	for _, spec := range s.Syntax.Imports {
		imported := importPath(spec)
		if strings.HasPrefix(imported, "zombiezen.com/") || strings.HasPrefix(imported, "modernc.org/") {
			problems = append(problems, s.at(spec.Pos(), "only schema imports SQLite, not %s", s.Dir()))
		}
	}
	return problems
}

// statement recognises SQL by keywords that Redis does not use that way: its
// own SELECT is followed by a number, never by FROM.
var statement = regexp.MustCompile(
	`(?s)\bSELECT\s.*\bFROM\s|\b(INSERT|REPLACE)\s+INTO\s|\bDELETE\s+FROM\s|\bUPDATE\s+\w+\s+SET\s|\bCREATE\s+TABLE\s|\bPRAGMA\s`)

// queryText reports SQL in string literals above schema.
func queryText(s Source) []Problem {
	if knowsSQL(s.Dir()) {
		return nil
	}
	var problems []Problem
	ast.Inspect(s.Syntax, func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		if ok && literal.Kind == token.STRING && statement.MatchString(unquoted(literal)) {
			problems = append(problems, s.at(literal.Pos(), "only schema contains SQL, not %s", s.Dir()))
		}
		return true
	})
	return problems
}

// unquoted is the value of a string literal.
func unquoted(literal *ast.BasicLit) string {
	value, _ := strconv.Unquote(literal.Value)
	return value
}
