package tidy

import (
	"slices"
	"strings"
	"testing"
)

// A page names what is there, and the first page is one page.

func TestFirstPageIsOnePage(t *testing.T) {
	for _, tt := range []struct {
		path  string
		words int
		want  string
	}{
		{"ARCHITECTURE.md", maxFirstPageWords, ""},
		{"ARCHITECTURE.md", maxFirstPageWords + 1, "ARCHITECTURE.md: 1201 words, more than 1200"},
		{"docs/design/write.md", maxFirstPageWords + 1, ""},
	} {
		checkPages(t, []Source{{Path: tt.path, Text: []byte(strings.Repeat("word ", tt.words))}}, tt.want)
	}
}

func TestPagesNameWhatIsThere(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"`lists.go`, `redis/lists/lists.go`, `lists/lists.go`, internal/hll, redis/lists and redis/testdata", ""},
		{"the [page](docs/a.md#top), its [folder](docs), a [site](https://example.com/a.md)", ""},
		{"go to `redis/lists.go`", "PAGE.md:1: redis/lists.go is not there"},
		{"see\n[this](b.md)", "PAGE.md:2: b.md is not there"},
		{"internal/cells", "PAGE.md:1: internal/cells is not there"},
	} {
		sources := []Source{{Path: "docs/a.md"}, {Path: "PAGE.md", Text: []byte(tt.text)}}
		for _, path := range []string{"redis/lists/lists.go", "internal/hll/hll.go"} {
			s, err := Parse(path, []byte("package p9"))
			if err != nil {
				t.Fatal(err)
			}
			sources = append(sources, s)
		}
		checkPages(t, sources, tt.want)
	}
}

func TestLinksOfAPageBeginWhereItIs(t *testing.T) {
	sources := []Source{
		{Path: "docs/design/read.md", Text: []byte("[a](../../README.md) [b](forgetting.md)")},
		{Path: "README.md", Text: []byte("[c](docs/design/read.md) [d](forgetting.md)")},
		{Path: "docs/design/forgetting.md"},
		{Path: "CHANGELOG.md", Text: []byte("no more journal/old.go")},
	}
	checkPages(t, sources, "README.md:1: forgetting.md is not there")
}

func TestCommentsNameFilesThatAreThere(t *testing.T) {
	s, err := Parse("redis/lists/lists.go", []byte("// Package lists, see pop.go.\npackage lists\n\n// As in lists.go; redis/pops is no file.\nconst name = `gone.go`\n"))
	if err != nil {
		t.Fatal(err)
	}
	checkPages(t, []Source{s}, "redis/lists/lists.go:1: pop.go is not there")
}

func TestPagesTellToRunWhatIsThere(t *testing.T) {
	s, err := Parse("a_test.go", []byte("package firn\nfunc TestStories() {}"))
	if err != nil {
		t.Fatal(err)
	}
	page := Source{Path: "README.md", Text: []byte("go test . -run Stories\nUPDATE=1 go test -count=1 -run '^TestScripts$' ./redis")}
	checkPages(t, []Source{s, page}, "README.md:2: there is no test TestScripts")
}

// checkPages compares the problems that sources have; none if want is empty.
func checkPages(t *testing.T, sources []Source, want string) {
	t.Helper()
	var got []string
	for _, problem := range Check(sources) {
		got = append(got, problem.String())
	}
	if want == "" && len(got) == 0 || slices.Equal(got, []string{want}) {
		return
	}
	t.Errorf("got %q, want %q", got, want)
}
