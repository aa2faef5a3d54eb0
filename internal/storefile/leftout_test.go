package storefile

// A copy of the past lacks what can no longer be read then, and nothing else.

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/retention"
	"github.com/firndb/firn/schema"
)

// Tables of the sources below: a document of owners owns the range of parts
// that begins with its value.
const (
	owners schema.TableID = 1 + iota
	parts
	policies
)

func testTables() []*retention.Table {
	return []*retention.Table{
		{
			Table: &index.Table{ID: owners, Name: "owners"},
			Scope: func(id string) retention.Scope { return retention.Scope{Group: "g", Member: id} },
			Owns: func(_ string, value []byte, own func(schema.TableID, string)) {
				own(parts, string(value))
			},
		},
		{Table: &index.Table{ID: parts, Name: "parts"}, Owned: true},
		{Table: &index.Table{ID: policies, Name: retention.RecordsTable}, Shared: true},
	}
}

// sourceOf makes a file of rows, and of a record for each of some owners.
func sourceOf(t *testing.T, rows []*schema.Row, records map[string]retention.Record) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "source.db")
	engine, err := schema.Open(path, schema.Options{CreatedAt: 1})
	if err != nil {
		t.Fatal(err)
	}
	ts := rows[len(rows)-1].TS
	for member, r := range records {
		value, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		ts++
		rows = append(rows, &schema.Row{Table: policies, ID: string(retention.RecordID(retention.Scope{Group: "g", Member: member})), TS: ts, Value: value, JSON: true})
	}
	cat := Catalog{}
	err = Transact(engine.Appender(), func(a schema.Appender) error {
		if _, _, err := cat.Declare(testTables()); err != nil {
			return err
		}
		return errors.Join(cat.Store(a), a.Append(rows))
	})
	if err := errors.Join(err, engine.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// copied makes a copy as of a moment, and is the rows in it but for policies,
// as table:id@ts, and what was left out.
func copied(t *testing.T, source string, at schema.Timestamp) (rows, left []string) {
	t.Helper()
	engine, err := schema.Open(source, schema.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	session, err := engine.Session()
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	out := filepath.Join(t.TempDir(), "copy.db")
	c := Copy{From: session, Source: source, At: at, Now: 1000, Tables: testTables(), LeftOut: func(scope retention.Scope, _ schema.Timestamp) error {
		left = append(left, scope.Member)
		return nil
	}}
	if err := c.WriteInOneState(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	made, err := schema.Open(out, schema.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	reading, err := made.Session()
	if err != nil {
		t.Fatal(err)
	}
	defer reading.Close()
	log, err := reading.Log(nil, schema.Cursor{}, schema.MaxTimestamp, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range log {
		if row.Table != policies {
			rows = append(rows, row.ID)
		}
	}
	return rows, left
}

func TestCopiesLackWhatCannotBeReadThen(t *testing.T) {
	row := func(ts schema.Timestamp, table schema.TableID, id, value string, prev schema.Timestamp) *schema.Row {
		return &schema.Row{TS: ts, Table: table, ID: id, Value: []byte(value), Prev: prev}
	}
	source := sourceOf(t, []*schema.Row{
		row(10, owners, "cold", "c.", 0), row(10, parts, "c.1", "x", 0),
		row(20, owners, "hot", "h.", 0), row(20, parts, "h.1", "x", 0), row(20, parts, "h.2", "x", 0),
		row(30, owners, "heir", "h2.", 0), row(30, parts, "h2.1", "x", 0), // which hot had before
		row(40, owners, "hot", "h2.", 20),
		row(50, owners, "hot", "h.", 40), row(50, parts, "h.1", "y", 20),
	}, map[string]retention.Record{"hot": {Off: true, Start: 45}})
	for at, want := range map[schema.Timestamp]struct{ rows, left string }{
		35: {"cold c.1 heir h2.1", "hot"},
		44: {"cold c.1 heir h2.1", "hot"},
		46: {"cold c.1 hot h.1 h.2 heir h2.1 hot", ""},
	} {
		rows, left := copied(t, source, at)
		slices.Sort(rows)
		wanted := strings.Fields(want.rows)
		slices.Sort(wanted)
		if !slices.Equal(rows, wanted) || strings.Join(left, " ") != want.left {
			t.Errorf("copy as of %d: got %q without %q, want %q without %q", at, rows, left, wanted, want.left)
		}
	}
}

func TestCopiesCountVersions(t *testing.T) {
	version := func(ts, prev schema.Timestamp, id string) *schema.Row {
		return &schema.Row{TS: ts, Table: owners, ID: id, Value: []byte(id + "."), Prev: prev}
	}
	source := sourceOf(t, []*schema.Row{
		version(10, 0, "few"),
		version(30, 20, "many"), version(40, 30, "many"), // that of 20 is forgotten
	}, map[string]retention.Record{"few": {Count: 2}, "many": {Count: 2, Start: 15}})
	engine, err := schema.Open(source, schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = Transact(engine.Appender(), func(a schema.Appender) error {
		return a.SetGlobal(retention.ClassesGlobal, `{"count 2":{"applied":39}}`)
	})
	if err := errors.Join(err, engine.Close()); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[schema.Timestamp][2]string{
		25: {"few", "many"},
		35: {"few many", ""},
		39: {"few many", ""},
	} {
		rows, left := copied(t, source, at)
		if got := strings.Join(rows, " "); got != want[0] || strings.Join(left, " ") != want[1] {
			t.Errorf("copy as of %d: got %q without %q, want %q", at, got, left, want)
		}
	}
}
