package tidy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// size is how large a package may be inside. Who opens a file has to know
// those that it forms a cycle with, so this bounds what one has to know at once.
type size struct {
	cycle   int // files of which each needs all others
	methods int // of one type
	lines   int // of files that are not tests
}

// most is how large a package may be.
var most = size{cycle: 12, methods: 40, lines: 12_000}

// Room is a package with the types of its files, tests left out.
type Room struct {
	Dir   string // relative to the repository, with forward slashes
	files map[string]*ast.File
	fset  *token.FileSet
	pkg   *types.Package
	info  *types.Info
}

// listed is what the go command says of a package.
type listed struct {
	Dir, ImportPath, Export string
	GoFiles                 []string
}

// ReadRooms collects the packages of the repository's module. The go command
// compiles what they import, if that has not been done.
func ReadRooms(root string) ([]*Room, error) {
	packages, err := list(root)
	if err != nil {
		return nil, err
	}
	exports := make(map[string]string, len(packages))
	for _, p := range packages {
		exports[p.ImportPath] = p.Export
	}
	fset := token.NewFileSet()
	known := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("tidy: nothing is known of package %s", path)
		}
		return os.Open(exports[path])
	})
	var rooms []*Room
	for _, p := range packages {
		if p.ImportPath != modulePath && !strings.HasPrefix(p.ImportPath, modulePath+"/") {
			continue
		}
		r, err := p.room(fset, known)
		if err != nil {
			return nil, err
		}
		rooms = append(rooms, r)
	}
	return rooms, nil
}

// list asks the go command for the packages below root and all that they
// import.
func list(root string) ([]listed, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=Dir,ImportPath,Export,GoFiles", "./...")
	cmd.Dir = root
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("tidy: list packages: %w: %s", err, complaint.Bytes())
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		switch err := decoder.Decode(&p); {
		case errors.Is(err, io.EOF):
			return packages, nil
		case err != nil:
			return nil, fmt.Errorf("tidy: list packages: %w", err)
		}
		packages = append(packages, p)
	}
}

// room reads a package's files and works out their types.
func (p *listed) room(fset *token.FileSet, known types.Importer) (*Room, error) {
	dir := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, modulePath), "/")
	texts := map[string]any{}
	for _, name := range p.GoFiles {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return nil, fmt.Errorf("tidy: %w", err)
		}
		texts[name] = text
	}
	return newRoom(dir, texts, fset, known)
}

// newRoom makes a room of texts by file name.
func newRoom(dir string, texts map[string]any, fset *token.FileSet, known types.Importer) (*Room, error) {
	if dir == "" {
		dir = "."
	}
	r := &Room{Dir: dir, files: map[string]*ast.File{}, fset: fset}
	r.info = &types.Info{Uses: map[*ast.Ident]types.Object{}}
	var all []*ast.File
	for name, text := range texts {
		syntax, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("tidy: parse %s/%s: %w", dir, name, err)
		}
		r.files[name], all = syntax, append(all, syntax)
	}
	config := types.Config{Importer: known, Sizes: types.SizesFor("gc", runtime.GOARCH)}
	var err error
	if r.pkg, err = config.Check(dir, fset, all, r.info); err != nil {
		return nil, fmt.Errorf("tidy: types of %s: %w", dir, err)
	}
	return r, nil
}

// CheckRoom reports what is larger in a package than it may be.
func CheckRoom(r *Room) []Problem {
	var problems []Problem
	report := func(format string, args ...any) {
		problems = append(problems, Problem{Path: r.Dir, Text: fmt.Sprintf(format, args...)})
	}
	for _, files := range cycles(r.needs()) {
		if len(files) > most.cycle {
			report("%d files need one another, %d may: %s", len(files), most.cycle, strings.Join(files, " "))
		}
	}
	for _, name := range r.pkg.Scope().Names() {
		if n := methods(r.pkg.Scope().Lookup(name)); n > most.methods {
			report("type %s has %d methods, %d may it have", name, n, most.methods)
		}
	}
	if n := r.lines(); n > most.lines {
		report("has %d lines, %d may it have", n, most.lines)
	}
	return problems
}

// lines is how many lines the package has.
func (r *Room) lines() int {
	n := 0
	for _, syntax := range r.files {
		n += r.fset.File(syntax.Pos()).LineCount()
	}
	return n
}

// methods is how many methods a declared type has; 0 for what is no type.
func methods(o types.Object) int {
	declared, ok := o.(*types.TypeName)
	if !ok || declared.IsAlias() {
		return 0
	}
	named := declared.Type().(*types.Named)
	if wanted, ok := named.Underlying().(*types.Interface); ok {
		return wanted.NumMethods()
	}
	return named.NumMethods()
}

// needs are the files that each file needs: it uses what they declare, a
// method or a field included.
func (r *Room) needs() map[string][]string {
	needs := map[string][]string{}
	for name, syntax := range r.files {
		needs[name] = nil
		ast.Inspect(syntax, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			if from := r.declaredIn(r.info.Uses[id]); from != "" && from != name && !slices.Contains(needs[name], from) {
				needs[name] = append(needs[name], from)
			}
			return true
		})
	}
	return needs
}

// declaredIn is the file of the package that declares o; empty for what is
// not the package's, or belongs to one function.
func (r *Room) declaredIn(o types.Object) string {
	if o == nil || o.Pkg() != r.pkg {
		return ""
	}
	switch o := o.(type) {
	case *types.PkgName:
		return ""
	case *types.Func: // perhaps a method
	case *types.Var:
		if !o.IsField() && o.Parent() != r.pkg.Scope() {
			return ""
		}
	default:
		if o.Parent() != r.pkg.Scope() {
			return ""
		}
	}
	return r.fset.Position(o.Pos()).Filename
}

// cycles are the groups of files that need one another, each in order.
func cycles(needs map[string][]string) [][]string {
	reached := map[string]map[string]bool{}
	var walk func(from, at string)
	walk = func(from, at string) {
		for _, next := range needs[at] {
			if !reached[from][next] {
				reached[from][next] = true
				walk(from, next)
			}
		}
	}
	var names []string
	for name := range needs {
		names = append(names, name)
		reached[name] = map[string]bool{}
		walk(name, name)
	}
	slices.Sort(names)
	var found [][]string
	for _, name := range names {
		var group []string
		for _, other := range names {
			if reached[name][other] && reached[other][name] {
				group = append(group, other)
			}
		}
		if len(group) > 0 && group[0] == name { // of each cycle once, from its first file
			found = append(found, group)
		}
	}
	return found
}
