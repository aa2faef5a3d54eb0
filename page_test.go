package firn

// The public page says what a user of a live store touches, though much of it
// is defined below: go doc shows nothing of an alias but its comment.

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// aliased are the types of the page that are defined below it.
var aliased = map[string]reflect.Type{
	"Batch":          reflect.TypeFor[Batch](),
	"CompactedError": reflect.TypeFor[CompactedError](),
	"Document":       reflect.TypeFor[Document](),
	"Durability":     reflect.TypeFor[Durability](),
	"FutureError":    reflect.TypeFor[FutureError](),
	"Hold":           reflect.TypeFor[Hold](),
	"Item":           reflect.TypeFor[Item](),
	"Ordered":        reflect.TypeFor[Ordered](),
	"Retention":      reflect.TypeFor[Retention](),
	"Scope":          reflect.TypeFor[Scope](),
	"Timestamp":      reflect.TypeFor[Timestamp](),
	"VersionRange":   reflect.TypeFor[VersionRange](),
}

// page is the package as go doc sees it, and its files.
func page(t *testing.T) (*doc.Package, []*ast.File) {
	t.Helper()
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range glob(t, "*.go") {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	p, err := doc.NewFromFiles(set, files, "github.com/firndb/firn")
	if err != nil {
		t.Fatal(err)
	}
	return p, files
}

// TestPageShowsFieldsAndMethods holds the comments of aliases against the types:
// each exported field, and each method that a caller meets, has its line.
func TestPageShowsFieldsAndMethods(t *testing.T) {
	p, _ := page(t)
	for _, shown := range p.Types {
		spec, ok := shown.Decl.Specs[0].(*ast.TypeSpec)
		if !ok || !spec.Assign.IsValid() {
			continue
		}
		typ, ok := aliased[shown.Name]
		if !ok {
			t.Errorf("%s is an alias: name it in this test", shown.Name)
			continue
		}
		for _, want := range lines(typ) {
			if !regexp.MustCompile(want).MatchString(shown.Doc) {
				t.Errorf("go doc %s: got no line %s in\n%s", shown.Name, want, shown.Doc)
			}
		}
	}
}

// lines are patterns of what the comment of a type's alias must have.
func lines(typ reflect.Type) (patterns []string) {
	if typ.Kind() == reflect.Struct {
		for i := range typ.NumField() {
			if f := typ.Field(i); f.IsExported() {
				kind := regexp.MustCompile(`\w+\.`).ReplaceAllString(f.Type.String(), "")
				kind = strings.NewReplacer("Row", "Document", "Policy", "Retention", "uint8", "byte", "[]", `\[\]`, "*", `\*`).Replace(kind)
				patterns = append(patterns, `(?m)^\t+(\w+, )*`+f.Name+`(, \w+)* +(time\.)?`+kind)
			}
		}
	}
	methods := typ
	if typ.Kind() != reflect.Interface {
		methods = reflect.PointerTo(typ)
	}
	for i := range methods.NumMethod() {
		switch name := methods.Method(i).Name; name {
		case "Error", "Is": // of every error
		default:
			patterns = append(patterns, `(?m)^\t(func \(\w+ \*?\w+\) )?`+name+`\(`)
		}
	}
	return patterns
}

// TestPageNeedsNoEngine holds that a user imports nothing below the page but
// package tuple, and is not sent there.
func TestPageNeedsNoEngine(t *testing.T) {
	_, files := page(t)
	for _, f := range files {
		for _, group := range f.Comments {
			if strings.Contains(group.Text(), "schema.") {
				t.Errorf("package %s: a comment sends the reader to package schema: %.60q", f.Name, group.Text())
			}
		}
	}
	examples := 0
	for _, f := range glob(t, "example*_test.go") {
		examples++
		if text, err := os.ReadFile(f); err != nil || strings.Contains(string(text), "firn/schema") {
			t.Errorf("%s: an example imports package schema (%v)", f, err)
		}
		if !regexp.MustCompile(`^example_\w+_test\.go$`).MatchString(f) {
			t.Errorf("%s: example files are called example_*_test.go", f)
		}
	}
	if stray := glob(t, "*example_test.go"); examples == 0 || len(stray) > 0 {
		t.Errorf("examples: got %d files, and %q, want all called example_*_test.go", examples, stray)
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	entries, err := fs.Glob(os.DirFS("."), pattern)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}
