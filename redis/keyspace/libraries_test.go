package keyspace

// The rules: a library and its functions are written and deleted as one; a
// function names the code that its library has; what is no such document is
// damaged; a file that is older than the table opens.

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/firndb/firn"
)

func openLibraries(t *testing.T, path string, o firn.Options) *firn.Store {
	t.Helper()
	store, err := firn.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// inLibraries runs fn in a transaction.
func inLibraries(t *testing.T, store *firn.Store, fn func(v *View) error) firn.Timestamp {
	t.Helper()
	v := NewView(NewCatalog(store, 1), nil)
	v.Operation = "FUNCTION LOAD"
	ts, err := store.Update(t.Context(), func(tx *firn.Tx) error { return fn(v.through(tx)) })
	if err != nil {
		t.Fatal(err)
	}
	return ts
}

// libraryNames are the libraries at a moment, each function behind the one that
// it is in.
func libraryNames(t *testing.T, v *View) (names []string) {
	t.Helper()
	functions := 0
	if err := EachLibrary(v, func(l Library) error {
		names = append(names, l.Name)
		functions += len(l.Functions)
		for _, f := range l.Functions {
			found, ok, err := FindFunction(v, bytes.ToUpper([]byte(f.Name)))
			if !ok || err != nil || found.Library != l.Name || found.Name != f.Name || found.Flags != f.Flags || found.Hash != HashCode(l.Code) {
				t.Errorf("function %s of %s: got %+v %t %v", f.Name, l.Name, found, ok, err)
			}
			names = append(names, "."+f.Name)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	libraries, counted, err := CountLibraries(v)
	if err != nil || counted != functions || libraries != len(names)-functions {
		t.Errorf("counted %d libraries and %d functions (%v), want %d and %d", libraries, counted, err, len(names)-functions, functions)
	}
	return names
}

func lib(name, code string, functions ...string) *Library {
	l := &Library{Name: name, Engine: "LUA", Code: []byte(code)}
	for i, f := range functions {
		l.Functions = append(l.Functions, LibraryFunction{Name: f, Flags: uint32(i)})
	}
	return l
}

func TestLibrariesAreReplacedWhole(t *testing.T) {
	store := openLibraries(t, filepath.Join(t.TempDir(), "firn.db"), firn.Options{Tables: Tables()})
	first := inLibraries(t, store, func(v *View) error {
		return errors.Join(PutLibrary(v, lib("b", "1", "Two", "one")), PutLibrary(v, lib("a", "", "x")))
	})
	second := inLibraries(t, store, func(v *View) error {
		_, err := DeleteLibrary(v, []byte("a"))
		return errors.Join(err, PutLibrary(v, lib("b", "2", "one", "three")), PutLibrary(v, lib("b", "3", "two", "one")))
	})
	third := inLibraries(t, store, func(v *View) error {
		_, err := DeleteLibrary(v, []byte("b"))
		return err
	})
	for _, tt := range []struct {
		at   firn.Timestamp
		want []string
	}{
		{first, []string{"a", ".x", "b", ".Two", ".one"}},
		{second, []string{"b", ".two", ".one"}},
		{third, nil},
	} {
		if err := store.At(tt.at, func(snap *firn.Snapshot) error {
			if got := libraryNames(t, NewView(NewCatalog(store, 1), nil).At(snap)); !slices.Equal(got, tt.want) {
				t.Errorf("at %d: got %q, want %q", tt.at, got, tt.want)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
}

func TestFilesWithoutLibrariesOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "firn.db")
	older := slices.DeleteFunc(Tables(), func(s firn.TableSpec) bool { return s.Name == FunctionsTable })
	if err := openLibraries(t, path, firn.Options{Tables: older}).Close(); err != nil {
		t.Fatal(err)
	}
	for _, readOnly := range []bool{true, false} {
		store := openLibraries(t, path, firn.Options{Tables: Tables(), ReadOnly: readOnly})
		if err := store.View(func(snap *firn.Snapshot) error {
			if got := libraryNames(t, NewView(NewCatalog(store, 1), nil).At(snap)); got != nil {
				t.Errorf("got %q, want none", got)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		if !readOnly {
			inLibraries(t, store, func(v *View) error { return PutLibrary(v, lib("a", "", "x")) })
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}

func FuzzLibraryDocuments(f *testing.F) {
	full := lib("name", "#!lua", "f", "g")
	full.Operation, full.Functions[1].Description = "FUNCTION LOAD", []byte{}
	f.Add(appendLibrary(nil, full))
	f.Add(appendLibrary(nil, lib("", "")))
	f.Add(appendFunction(nil, &Function{Library: "l", Name: "f", Flags: 7}))
	f.Fuzz(func(t *testing.T, value []byte) {
		doc := &firn.Document{ID: string(appendLibraryID(nil, []byte("name"))), Value: value}
		if l, err := parseLibrary(doc); err == nil {
			if again := appendLibrary(nil, &l); !bytes.Equal(again, value) {
				t.Errorf("library %x is written as %x", value, again)
			}
		} else if !errors.Is(err, ErrDamaged) {
			t.Errorf("library: %v", err)
		}
		if fn, err := parseFunction(doc); err == nil {
			if again := appendFunction(nil, &fn); !bytes.Equal(again, value) {
				t.Errorf("function %x is written as %x", value, again)
			}
		} else if !errors.Is(err, ErrDamaged) {
			t.Errorf("function: %v", err)
		}
	})
}
