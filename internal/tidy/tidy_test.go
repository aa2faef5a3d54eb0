package tidy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// The repository breaks no rule, and every rule can be broken: each case below
// is a small source with the complaint that it must cause.

func TestRepositoryIsTidy(t *testing.T) {
	sources, err := Read("../..")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(sources, func(s Source) bool { return s.Path == "internal/tidy/tidy_test.go" }) {
		t.Fatalf("read %d sources, and not this test among them", len(sources))
	}
	for _, problem := range Check(sources) {
		t.Error(problem)
	}
}

// goCase is one file and the problems it has: none when want is empty.
type goCase struct {
	path, text string
	want       string
}

func TestImportsPointDown(t *testing.T) {
	const own = "import _ \"" + modulePath
	checkCases(t, []goCase{
		{"redis/a.go", "package redis\n" + own + "\"", ""},
		{"redis/a.go", "package redis\n" + own + "/resp\"", ""},
		{"cmd/firn/a.go", "package main\n" + own + "/server\"", ""},
		{"server/a.go", "package server\n" + own + "/internal/glob\"", ""},
		{"schema/schematest/a.go", "package schematest\n" + own + "/schema\"", ""},
		{"internal/glob/a.go", "package glob\n" + own + "/internal/invariant\"", ""},
		{"e2e/a_test.go", "package e2e\n" + own + "/server\"", ""},

		{"redis/a.go", "package redis\n" + own + "/redis/history\"", ""},
		{"redis/history/a.go", "package history\n" + own + "/redis/sets\"", ""},
		{"redis/sets/a.go", "package sets\n" + own + "/redis/command\"", ""},
		{"redis/sets/a.go", "package sets\n" + own + "/redis/lists\"",
			"redis/sets/a.go:2: redis/sets must not import redis/lists: imports point down"},
		{"redis/keyspace/a.go", "package keyspace\n" + own + "/redis/command\"",
			"redis/keyspace/a.go:2: redis/keyspace must not import redis/command: imports point down"},
		{"server/a.go", "package server\n" + own + "/console\"",
			"server/a.go:2: server must not import console: imports point down"},
		{"firn.go", "package firn\n" + own + "/redis\"",
			"firn.go:2: . must not import redis: imports point down"},
		{"reader/a.go", "package reader\n" + own + "/writer\"",
			"reader/a.go:2: reader must not import writer: imports point down"},
		{"resp/a.go", "package resp\n" + own + "/schema\"",
			"resp/a.go:2: resp must not import schema: imports point down"},
		{"schema/a.go", "package schema\n" + own + "\"",
			"schema/a.go:2: schema must not import .: imports point down"},
		{"server/a.go", "package server\n" + own + "/cmd/firn\"",
			"server/a.go:2: server must not import cmd/firn: imports point down"},
		{"internal/glob/a.go", "package glob\n" + own + "/resp\"",
			"internal/glob/a.go:2: internal/glob must not import resp: imports point down"},
		{"internal/crashvfs/a.go", "package crashvfs\n" + own + "/internal/invariant\"",
			"internal/crashvfs/a.go:2: internal/crashvfs must not import internal/invariant: imports point down"},
		{"index/a.go", "package index\n" + own + "/unheard\"",
			"index/a.go:2: index must not import unheard: imports point down"},
		{"unheard/a.go", "package unheard",
			"unheard/a.go:1: package unheard has no layer: add it to levels"},
	})
}

func TestTestsMayImportSidewaysButNotUp(t *testing.T) {
	const own = "import _ \"" + modulePath
	checkCases(t, []goCase{
		{"reader/a_test.go", "package reader\n" + own + "/writer\"", ""},
		{"resp/a_test.go", "package resp\n" + own + "/schema/schematest\"", ""},
		{"internal/glob/a_test.go", "package glob_test\n" + own + "/internal/glob\"", ""},
		{"internal/crashvfs/a_test.go", "package crashvfs\n" + own + "/internal/script\"", ""},
		{"reader/a_test.go", "package reader\n" + own + "\"",
			"reader/a_test.go:2: reader must not import .: imports point down"},
		{"internal/glob/a_test.go", "package glob\n" + own + "/resp\"",
			"internal/glob/a_test.go:2: internal/glob must not import resp: imports point down"},
	})
}

func TestOnlySchemaKnowsSQLite(t *testing.T) {
	query := func(words ...string) string { return "package p9\nconst q = `" + strings.Join(words, " ") + "`" }
	checkCases(t, []goCase{
		{"schema/a.go", "package schema\nimport _ \"zombiezen.com/go/sqlite\"", ""},
		{"internal/crashvfs/a.go", "package crashvfs\nimport _ \"modernc.org/sqlite/lib\"", ""},
		{"schema/a.go", query("SELECT", "id", "FROM", "documents"), ""},
		{"examples/mirror/a.go", query("SELECT", "id", "FROM", "documents"), ""},
		{"redis/a.go", query("SELECT", "1"), ""},
		{"redis/a.go", query("HSET key from SELECT"), ""},

		{"writer/a.go", "package writer\nimport _ \"zombiezen.com/go/sqlite\"",
			"writer/a.go:2: only schema imports SQLite, not writer"},
		{"writer/a_test.go", "package writer\nimport _ \"modernc.org/sqlite\"",
			"writer/a_test.go:2: only schema imports SQLite, not writer"},
		{"redis/a.go", query("SELECT", "id\n FROM", "documents"),
			"redis/a.go:2: only schema contains SQL, not redis"},
		{"redis/a.go", query("INSERT", "INTO", "documents"),
			"redis/a.go:2: only schema contains SQL, not redis"},
		{"redis/a.go", query("DELETE", "FROM", "documents"),
			"redis/a.go:2: only schema contains SQL, not redis"},
		{"redis/a.go", query("UPDATE", "globals", "SET", "x"),
			"redis/a.go:2: only schema contains SQL, not redis"},
		{"redis/a.go", query("CREATE", "TABLE", "x"),
			"redis/a.go:2: only schema contains SQL, not redis"},
		{"redis/a.go", query("PRAGMA", "page_size"),
			"redis/a.go:2: only schema contains SQL, not redis"},
	})
}

func TestShapeHasLimits(t *testing.T) {
	body := func(lines int) string { return strings.Repeat("\t_ = 1\n", lines) }
	filler := func(lines int) string { return "package redis\n" + strings.Repeat("//\n", lines-1) }
	checkCases(t, []goCase{
		{"redis/a.go", "package redis\nfunc f() {\n" + body(68) + "}", ""},
		{"redis/a.go", filler(500), ""},
		{"redis/a_test.go", filler(800), ""},
		{"redis/a.go", "// Code generated by x. DO NOT EDIT.\n\n" + filler(600), ""},
		{"index/a.go", "package index", ""},

		{"redis/a.go", "package redis\nfunc f() {\n" + body(69) + "}",
			"redis/a.go:2: f has 71 lines, more than 70"},
		{"redis/a.go", "package redis\nvar f = func() {\n" + body(69) + "}",
			"redis/a.go:2: a function literal has 71 lines, more than 70"},
		{"redis/a_test.go", "package redis\nfunc f() {\n" + body(69) + "}",
			"redis/a_test.go:2: f has 71 lines, more than 70"},
		{"redis/a.go", filler(501), "redis/a.go: 501 lines, more than 500"},
		{"redis/a_test.go", filler(801), "redis/a_test.go: 801 lines, more than 800"},
		{"internal/util/a.go", "package util", `internal/util/a.go:1: package name "util" says nothing`},
		{"internal/x/a.go", "package x", `internal/x/a.go:1: package name "x" says nothing`},
		{"internal/y/a_test.go", "package types_test", `internal/y/a_test.go:1: package name "types" says nothing`},
	})
}

func TestWordsThatMayNotBeSaid(t *testing.T) {
	inTest := func(body string) string {
		return "package redis\nimport (\"testing\"; \"time\")\nfunc TestX(t *testing.T) {\n_ = time.Now\n" + body + "\n}"
	}
	checkCases(t, []goCase{
		{"redis/a.go", "package redis\nimport \"time\"\nfunc f() { time.Sleep(1) }", ""},
		{"redis/a_test.go", "package redis\nimport _ \"testing/synctest\"\nfunc f() { time.Sleep(1) }", ""},
		{"redis/a_test.go", inTest("t.Skip(\"no redis-server\")"), ""},
		{"redis/a_test.go", inTest("panic(1)"), ""},
		{"redis/a.go", "package redis\nfunc f(panicked any) { panic(panicked) }", ""},
		{"internal/invariant/a.go", "package invariant\nfunc f() { panic(1) }", ""},
		{"internal/lua/unwind/a.go", "package unwind\nfunc f() { panic(1) }", ""},
		{"redis/a.go", "package redis\n// XADD adds to a stream.", ""},
		{"redis/a.go", "package redis\n// see https://example.org/tmp/x and net/work/x", ""},

		{"redis/a_test.go", inTest("time.Sleep(1)"),
			"redis/a_test.go:5: a test must not sleep: wait for the event, or use testing/synctest"},
		{"redis/a_test.go", inTest("t.Skip()"), "redis/a_test.go:5: a skipped test gives its reason"},
		{"redis/a_test.go", inTest("t.SkipNow()"), "redis/a_test.go:5: a skipped test gives its reason"},
		{"redis/a.go", "package redis\nfunc f() { panic(1) }",
			"redis/a.go:2: panic is for our own mistakes, through internal/invariant"},
		{"redis/a.go", "package redis\n// TO" + "DO later",
			"redis/a.go:2: TO" + "DO in a comment: finish it or file an issue"},
		{"redis/a.go", "package redis\n\n// FIX" + "ME",
			"redis/a.go:3: FIX" + "ME in a comment: finish it or file an issue"},
		{"redis/a.go", "package redis\nvar dir = \"" + "/tm" + "p/x\"", "redis/a.go:2: a path of one machine"},
		{"docs/a.md", "see\n/ho" + "me/someone/x\n", "docs/a.md:2: a path of one machine"},
		{"Makefile", "x:\n\tcp a /wo" + "rk/x\n", "Makefile:2: a path of one machine"},
	})
}

func TestRootPageStaysShort(t *testing.T) {
	var page strings.Builder
	page.WriteString("package firn\ntype unseen int\nfunc (unseen) Method() {}\n")
	for n := range maxPublicNames - 3 {
		fmt.Fprintf(&page, "func F%d() {}\n", n)
	}
	page.WriteString("const (\n\tA = iota\n\tb\n)\nvar C, d int\ntype E struct { Field int }\n")
	checkCases(t, []goCase{
		{"firn.go", page.String(), ""},
		{"firn.go", page.String() + "func OneTooMany() {}\n",
			".: the root package exports 46 names, more than 45"},
		{"redis/a.go", page.String() + "func OneTooMany() {}\n", ""},
		{"firn_test.go", page.String() + "func OneTooMany() {}\n", ""},
	})
}

func TestCommandsAreNamedInTheirEntries(t *testing.T) {
	const entry = "package own\nvar all = []Command{{Name: \"GETALL\", Since: \"1\", Operation: \"GETALL\", Sub: []Command{{Name: \"ID\", Since: \"1\"}}}}\n"
	checkCases(t, []goCase{
		{"redis/sets/a.go", entry + "var is = command.Is(arg, \"ID\")\nvar event = \"getall\"\nvar other = []Field{{Name: \"LOG\"}}\nvar log = \"LOG\"\n", ""},
		{"redis/sets/a.go", entry + "var special = c.Cmd.Name == \"GETALL\"\n",
			"redis/sets/a.go:3: GETALL is named outside of its entry, which should say what it is"},
		{"redis/a.go", entry + "var special = e.Full == \"getall|id\"\n",
			"redis/a.go:3: getall|id is named outside of its entry, which should say what it is"},
		{"redis/a.go", entry + "var facts = map[string]bool{\"ID\": true}\n",
			"redis/a.go:3: ID is named outside of its entry, which should say what it is"},
		{"redis/a_test.go", entry + "var special = \"GETALL\"\n", ""},
		{"server/a.go", entry + "var special = \"GETALL\"\n", ""},
	})
}

// TestEveryExceptionIsNeeded: a name that has gone from its place may not come
// back unseen.
func TestEveryExceptionIsNeeded(t *testing.T) {
	sources, err := Read("../..")
	if err != nil {
		t.Fatal(err)
	}
	for place, why := range maps.Clone(namedAnyway) {
		delete(namedAnyway, place)
		if len(commandNames(sources)) == 0 {
			t.Errorf("%s: nothing is named there", place)
		}
		namedAnyway[place] = why
	}
}

func TestUnreadableSourceIsAnError(t *testing.T) {
	_, err := Parse("redis/a.go", []byte("package"))
	if err == nil || !strings.HasPrefix(err.Error(), "tidy: parse redis/a.go: ") {
		t.Errorf("parse: got %v, want an error that names the file", err)
	}
}

// checkCases runs all rules over one file at a time.
func checkCases(t *testing.T, cases []goCase) {
	t.Helper()
	for _, tt := range cases {
		source, err := Parse(tt.path, []byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, problem := range Check([]Source{source}) {
			got = append(got, problem.String())
		}
		if strings.Join(got, "\n") != tt.want {
			t.Errorf("%s: %.80q\n got %q\nwant %q", tt.path, tt.text, got, tt.want)
		}
	}
}
