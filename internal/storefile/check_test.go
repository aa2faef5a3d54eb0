package storefile

// A check tells what a file says that cannot be true, and a file that is no
// store is not made one.

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
)

// checked is what Check finds in a new store after damage was done to it.
func checked(t *testing.T, damage func(schema.Appender) error) (problems []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	engine, err := schema.Open(path, schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(Transact(engine.Appender(), damage), engine.Close()); err != nil {
		t.Fatal(err)
	}
	n, err := Check(path, func(problem string) { problems = append(problems, problem) })
	if err != nil || n != len(problems) {
		t.Errorf("check: got %d, %v, want the number of %q", n, err, problems)
	}
	return problems
}

func TestCheckFindsWhatCannotBe(t *testing.T) {
	soon := schema.TimestampOf(time.Now().Add(time.Hour))
	late := schema.TimestampOf(time.Now().Add(2 * maxAhead))
	row := func(r schema.Row) func(schema.Appender) error {
		r.Table, r.ID = 1, "a"
		return func(a schema.Appender) error { return a.Append([]*schema.Row{&r}) }
	}
	for name, tt := range map[string]struct {
		damage func(schema.Appender) error
		want   string // part of the one problem; empty: none
	}{
		"a row of a clock that is fast": {row(schema.Row{TS: soon, Value: []byte("x")}), ""},
		"a row of the far future":       {row(schema.Row{TS: late, Value: []byte("x")}), "more than a year from now"},
		"a row at the end of time":      {row(schema.Row{TS: schema.MaxTimestamp - 1, Value: []byte("x")}), "more than a year from now"},
		"JSON":                          {row(schema.Row{TS: soon, Value: []byte(`{"a":[1]}`), JSON: true}), ""},
		"no JSON":                       {row(schema.Row{TS: soon, Value: []byte(`{"a":`), JSON: true}), "not JSON"},
		"no JSON that says so":          {row(schema.Row{TS: soon, Value: []byte(`{"a":`)}), ""},
		"an index of the far future": {func(a schema.Appender) error {
			return index.StoreWatermark(a, late, index.Counts{})
		}, "indexed_ts"},
	} {
		t.Run(name, func(t *testing.T) {
			got := checked(t, tt.damage)
			if tt.want == "" && len(got) == 0 {
				return
			}
			if tt.want == "" || len(got) != 1 || !strings.Contains(got[0], tt.want) {
				t.Errorf("problems: got %q, want one with %q", got, tt.want)
			}
		})
	}
}

func TestReindexMakesNoStore(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.db")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Reindex(empty, nil, nil); !errors.Is(err, schema.ErrForeign) {
		t.Errorf("an empty file: got %v, want ErrForeign", err)
	}
	if err := Reindex(filepath.Join(dir, "none.db"), nil, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: got %v, want ErrNotExist", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("files: got %v, %v, want the empty one alone", entries, err)
	}
	if info, err := os.Stat(empty); err != nil || info.Size() != 0 {
		t.Errorf("the empty file: got %v, %v, want it empty", info, err)
	}
}
