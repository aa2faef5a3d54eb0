package tidy

import (
	"go/ast"
	"go/token"
	"strings"
)

// commandHouse is the directory with the command table, as entries in the
// packages below it.
const commandHouse = "redis"

// namedAnyway are the places that may say a command's name outside of its
// entry: the file, and what it says.
var namedAnyway = map[string]string{
	"redis/connection.go RESET":          "the reply to RESET is its name",
	"redis/debug.go HELP":                "DEBUG is no container, and has a table of its own",
	"redis/debug.go LOG":                 "as HELP",
	"redis/debug.go OBJECT":              "as HELP",
	"redis/keys/object.go HELP":          "the text of OBJECT HELP",
	"redis/tracking/tracking.go client|": "what CLIENT CACHING said outlives every subcommand of CLIENT",

	"redis/scripting/eval.go KEYS":      "the table of a script's keys",
	"redis/scripting/functions.go KEYS": "the same",
	"redis/scripting/script.go HELP":    "the text of SCRIPT HELP",
	"redis/scripting/script.go KILL":    "as HELP",

	"redis/pubsub.go HELP":         "the text of PUBSUB HELP",
	"redis/pubsub.go NUMPAT":       "as HELP",
	"redis/streams/xgroup.go HELP": "the text of XGROUP HELP",
	"redis/streams/info.go HELP":   "the text of XINFO HELP",
}

// commandNames reports code that names a command of the table outside of its
// entry. A word of a command's syntax may be the same, so what is given to
// command.Is is left out.
func commandNames(sources []Source) []Problem {
	known := map[string]bool{}
	allowed := map[ast.Node]bool{}
	var house []Source
	for _, s := range sources {
		if s.Syntax == nil || s.IsTest() || s.Dir() != commandHouse && !strings.HasPrefix(s.Dir(), commandHouse+"/") {
			continue
		}
		house = append(house, s)
		ast.Inspect(s.Syntax, func(n ast.Node) bool {
			noteNames(n, known, allowed)
			return true
		})
	}
	var problems []Problem
	for _, s := range house {
		ast.Inspect(s.Syntax, func(n ast.Node) bool {
			if name := namedCommand(n, known); name != "" && !allowed[n] && namedAnyway[s.Path+" "+name] == "" {
				problems = append(problems, s.at(n.Pos(), "%s is named outside of its entry, which should say what it is", name))
			}
			return true
		})
	}
	return problems
}

// noteNames notes the name that an entry gives a command, and the literals
// that may say one: all of an entry's own, and words of a syntax.
func noteNames(n ast.Node, known map[string]bool, allowed map[ast.Node]bool) {
	switch n := n.(type) {
	case *ast.CompositeLit:
		fields := literalFields(n)
		name, isName := fields["Name"].(*ast.BasicLit)
		if !isName || fields["Since"] == nil {
			return
		}
		known[unquoted(name)] = true
		allowed[name] = true
		if operation := fields["Operation"]; operation != nil {
			allowed[operation] = true
		}
	case *ast.CallExpr:
		if called(n) == "Is" {
			for _, arg := range n.Args {
				allowed[arg] = true
			}
		}
	}
}

// namedCommand is the command that a string literal names: its name in upper
// case, or in full with its container's; "" if it does not.
func namedCommand(n ast.Node, known map[string]bool) string {
	literal, ok := n.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return ""
	}
	text := unquoted(literal)
	container, _, isSub := strings.Cut(text, "|")
	if known[text] || isSub && container == strings.ToLower(container) && known[strings.ToUpper(container)] {
		return text
	}
	return ""
}

// literalFields are the values of a struct literal by field.
func literalFields(lit *ast.CompositeLit) map[string]ast.Expr {
	fields := map[string]ast.Expr{}
	for _, element := range lit.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if key, ok := pair.Key.(*ast.Ident); ok {
			fields[key.Name] = pair.Value
		}
	}
	return fields
}

// called is the name of the function that is called, without its package.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}
