package storefile

// Whoever walks all entries counts the ranges: a rebuild and a copy leave the
// same fences, and a check finds a count that is wrong.

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/retention"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// fencedTables are declared in the store of fencedStore.
func fencedTables() []*retention.Table {
	byValue := func(id string, value []byte, add func([]byte)) { add(append(tuple.AppendInt(nil, 1), value...)) }
	return []*retention.Table{{Table: &index.Table{Name: "elements", Prefix: 1, Indexes: []index.Spec{{Name: "value", Prefix: 1, Keys: byValue}}}}}
}

// fencedStore is a file with a large range, a small one, and some that is gone.
func fencedStore(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "store.db")
	engine, err := schema.Open(path, schema.Options{Sync: schema.SyncNormal})
	if err != nil {
		t.Fatal(err)
	}
	cat, tables := Catalog{}, fencedTables()
	if _, _, err := cat.Declare(tables); err != nil {
		t.Fatal(err)
	}
	id := func(r, n int) string {
		return string(tuple.AppendInt(tuple.AppendInt(nil, int64(r)), int64(n)))
	}
	err = Transact(engine.Appender(), func(a schema.Appender) error {
		var rows []*schema.Row
		for n := range 3000 {
			put := &schema.Row{TS: schema.Timestamp(10 + n), Table: 1, ID: id(1, n), Value: tuple.AppendInt(nil, int64(-n))}
			if rows = append(rows, put); n%5 == 0 {
				rows = append(rows, &schema.Row{TS: schema.Timestamp(5000 + n), Prev: put.TS, Table: 1, ID: put.ID, Deleted: true})
			}
		}
		for n := range 500 {
			rows = append(rows, &schema.Row{TS: schema.Timestamp(9000 + n), Table: 1, ID: id(2, n), Value: tuple.AppendInt(nil, int64(9000+n))})
		}
		return errors.Join(cat.Store(a), a.Append(rows))
	})
	if err := errors.Join(err, engine.Close()); err != nil {
		t.Fatal(err)
	}
	if err := Reindex(path, tables, nil); err != nil {
		t.Fatal(err)
	}
	return path
}

// fencesOf are the fences of a file.
func fencesOf(t *testing.T, path string) (all []schema.Fence) {
	t.Helper()
	engine, err := schema.Open(path, schema.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	s, err := engine.Session()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, x := range []schema.IndexID{schema.ByID(1), schema.Index(1, 1)} {
		if all, err = s.Fences(all, schema.KeyRange{Index: x}, "", 0); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestWhoeverWalksAllEntriesCounts(t *testing.T) {
	path := fencedStore(t)
	fences := fencesOf(t, path)
	byID := schema.ByID(1)
	live := map[schema.IndexID]int64{}
	for _, f := range fences {
		live[f.Index] += f.Live
	}
	if want := map[schema.IndexID]int64{byID: 2400, schema.Index(1, 1): 2900}; len(fences) < 15 || live[byID] != want[byID] || live[byID+1] != want[byID+1] {
		t.Fatalf("counted by a rebuild: got %v in %d fences, want %v", live, len(fences), want)
	}
	engine, err := schema.Open(path, schema.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	s, err := engine.Session()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	cat, err := ReadCatalog(s)
	tables := fencedTables()
	if _, _, err := cat.Declare(tables); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	c := Copy{From: s, Source: path, At: schema.MaxTimestamp, Newest: true, Tables: tables}
	if err := errors.Join(err, c.Write(t.Context(), copied)); err != nil {
		t.Fatal(err)
	}
	if got := fencesOf(t, copied); !slices.Equal(got, fences) {
		t.Errorf("fences of the copy: got %v, want %v", got, fences)
	}
}

func TestCheckFindsCountsThatAreWrong(t *testing.T) {
	fences := fencesOf(t, fencedStore(t))
	for name, tt := range map[string]struct {
		damage func(schema.Fence) schema.Fence
		want   string
	}{
		"none":       {func(f schema.Fence) schema.Fence { return f }, ""},
		"one more":   {func(f schema.Fence) schema.Fence { f.Live++; return f }, "there are"},
		"too early":  {func(f schema.Fence) schema.Fence { f.TS = 1; return f }, "changed at"},
		"later":      {func(f schema.Fence) schema.Fence { f.TS += 1000; return f }, ""},
		"no count":   {func(f schema.Fence) schema.Fence { f.Live, f.TS = schema.Uncounted, 0; return f }, ""},
		"other keys": {func(f schema.Fence) schema.Fence { f.Key += "\x29\x01"; f.Live = 0; return f }, "there are"},
	} {
		t.Run(name, func(t *testing.T) {
			path := fencedStore(t)
			engine, err := schema.Open(path, schema.Options{Sync: schema.SyncNormal})
			if err != nil {
				t.Fatal(err)
			}
			err = Transact(engine.Appender(), func(a schema.Appender) error {
				return a.SetFences([]schema.Fence{tt.damage(fences[3])})
			})
			var problems []string
			if err := errors.Join(err, engine.Close()); err != nil {
				t.Fatal(err)
			}
			if _, err := Check(path, func(problem string) { problems = append(problems, problem) }); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(problems); tt.want == "" && len(problems) > 0 || !strings.Contains(got, tt.want) {
				t.Errorf("problems: got %s, want %q", got, tt.want)
			}
		})
	}
}
