package tidy

import (
	"fmt"
	"go/importer"
	"go/token"
	"slices"
	"strings"
	"testing"
)

func TestRoomsAreSmallInside(t *testing.T) {
	rooms, err := ReadRooms("../..")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(rooms, func(r *Room) bool { return r.Dir == "internal/tidy" && r.pkg.Scope().Lookup("Room") != nil }) {
		t.Fatalf("read %d packages, and not this one with its types among them", len(rooms))
	}
	for _, r := range rooms {
		for _, problem := range CheckRoom(r) {
			t.Error(problem)
		}
	}
}

// TestWhatIsTooLargeIsNamed: each limit holds to the last file, method and
// line.
func TestWhatIsTooLargeIsNamed(t *testing.T) {
	for _, tt := range []struct {
		name  string
		texts map[string]any
		want  string
	}{
		{"a cycle of functions", ring(most.cycle, "func f%d() { f%d() }"), ""},
		{"one more", ring(most.cycle+1, "func f%d() { f%d() }"),
			"room: 13 files need one another, 12 may: f0.go f1.go f10.go f11.go f12.go f2.go f3.go f4.go f5.go f6.go f7.go f8.go f9.go"},
		{"of types", ring(most.cycle+1, "type f%d struct{ next *f%d }"), "room: 13 files need one another, 12 may: "},
		{"of methods and fields", ring(most.cycle+1, "type f%[1]d struct{ a int; b *f%[2]d }\nfunc (f f%[1]d) m() { f.b.m() }"), "room: 13 files"},
		{"a chain", chain(40), ""},
		{"methods", map[string]any{"a.go": methodsOf(most.methods)}, ""},
		{"one more", map[string]any{"a.go": methodsOf(most.methods + 1)}, "room: type T has 41 methods, 40 may it have"},
		{"lines", map[string]any{"a.go": "package room" + strings.Repeat("\n", most.lines)}, ""},
		{"one more", map[string]any{"a.go": "package room" + strings.Repeat("\n", most.lines/2), "b.go": "package room" + strings.Repeat("\n", most.lines/2+1)},
			"room: has 12001 lines, 12000 may it have"},
	} {
		r, err := newRoom("room", tt.texts, token.NewFileSet(), importer.Default())
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		got := ""
		for _, problem := range CheckRoom(r) {
			got += problem.String()
		}
		if tt.want == "" && got != "" || !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// ring is n files, each with a declaration that names the next.
func ring(n int, declaration string) map[string]any {
	texts := map[string]any{}
	for i := range n {
		texts[fmt.Sprintf("f%d.go", i)] = "package room\n" + fmt.Sprintf(declaration, i, (i+1)%n) + "\n"
	}
	return texts
}

// chain is n files that need the one behind them, and no other.
func chain(n int) map[string]any {
	texts := ring(n, "func f%d() { f%d() }")
	texts["f0.go"] = "package room\nfunc f0() {}\n"
	texts[fmt.Sprintf("f%d.go", n-1)] = fmt.Sprintf("package room\nfunc f%d() { f0() }\n", n-1)
	return texts
}

// methodsOf is a type with n methods.
func methodsOf(n int) string {
	text := "package room\ntype T int\n"
	for i := range n {
		text += fmt.Sprintf("func (T) m%d() {}\n", i)
	}
	return text
}
