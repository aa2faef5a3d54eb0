package index

// An entry is made when a key appears or disappears, and for every version by
// id; nothing else is written.

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firndb/firn/schema"
)

// words finds a document by each word of its value.
func words(_ string, value []byte, add func([]byte)) {
	for word := range strings.FieldsSeq(string(value)) {
		add([]byte(word))
	}
}

// first finds a document by the first byte of its value.
func first(_ string, value []byte, add func([]byte)) {
	if len(value) > 0 {
		add(value[:1])
	}
}

func testTable() *Table {
	return &Table{
		ID: 3, Name: "notes", Prefix: 1, Counted: true,
		Indexes: []Spec{{Name: "word", Keys: words}, {Name: "first", Prefix: 1, Keys: first}},
	}
}

func row(ts schema.Timestamp, id, value string) *schema.Row {
	return &schema.Row{TS: ts, Table: 3, ID: id, Value: []byte(value)}
}

func tombstone(ts schema.Timestamp, id string) *schema.Row {
	return &schema.Row{TS: ts, Table: 3, ID: id, Deleted: true, Value: []byte("a note is not indexed")}
}

// show is entries as "index/key@ts>document", a minus in front of deleted ones.
func show(entries []schema.Entry) string {
	var shown []string
	for _, e := range entries {
		mark := ""
		if e.Deleted {
			mark = "-"
		}
		shown = append(shown, fmt.Sprintf("%s%d/%s@%d>%s", mark, e.Index.Number(), e.Key, e.TS, e.Document()))
	}
	return strings.Join(shown, " ")
}

func TestEntriesAreMadeWhenKeysAppearOrDisappear(t *testing.T) {
	for _, tt := range []struct {
		name      string
		old, next *schema.Row
		want      string
	}{
		{"created", nil, row(5, "d", "red fox"), "0/d@5>d 1/red@5>d 1/fox@5>d 2/r@5>d"},
		{"unchanged", row(4, "d", "red fox"), row(5, "d", "red fox"), "0/d@5>d"},
		{"same keys in another order", row(4, "d", "red rat"), row(5, "d", "rat red"), "0/d@5>d"},
		{"one moves", row(4, "d", "red fox"), row(5, "d", "red cat"), "0/d@5>d -1/fox@5>d 1/cat@5>d"},
		{"all move", row(4, "d", "a"), row(5, "d", "b"), "0/d@5>d -1/a@5>d 1/b@5>d -2/a@5>d 2/b@5>d"},
		{"a key twice", nil, row(5, "d", "no no"), "0/d@5>d 1/no@5>d 2/n@5>d"},
		{"no keys", nil, row(5, "d", ""), "0/d@5>d"},
		{"deleted", row(4, "d", "red fox"), tombstone(5, "d"), "-0/d@5>d -1/red@5>d -1/fox@5>d -2/r@5>d"},
		{"deleted before it was", nil, tombstone(5, "d"), "-0/d@5>d"},
		{"back again", tombstone(4, "d"), row(5, "d", "red"), "0/d@5>d 1/red@5>d 2/r@5>d"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var d Deriver
			if got := show(d.Derive(nil, testTable(), tt.old, tt.next)); got != tt.want {
				t.Errorf("entries:\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestDeriverKeepsNothing uses one deriver twice: what it found before must
// not show, and what it returned must not change.
func TestDeriverKeepsNothing(t *testing.T) {
	var d Deriver
	before := d.Derive(nil, testTable(), row(1, "d", "one two three"), row(2, "d", "four five six"))
	want := show(before)
	after := d.Derive(slices.Clip(before), testTable(), nil, row(3, "e", "x"))
	if got := show(before); got != want {
		t.Errorf("entries after another call:\n got %s\nwant %s", got, want)
	}
	if got, want := show(after[len(before):]), "0/e@3>e 1/x@3>e 2/x@3>e"; got != want {
		t.Errorf("entries of the other call:\n got %s\nwant %s", got, want)
	}
}

func TestDeltaCountsLiveDocuments(t *testing.T) {
	live, dead := row(1, "d", "x"), tombstone(1, "d")
	for _, tt := range []struct {
		name      string
		old, next *schema.Row
		want      int64
	}{
		{"created", nil, live, 1},
		{"changed", live, live, 0},
		{"deleted", live, dead, -1},
		{"deleted again", dead, dead, 0},
		{"back again", dead, live, 1},
		{"never there", nil, dead, 0},
	} {
		if got := testTable().Delta(tt.old, tt.next); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
	if got := (&Table{ID: 3}).Delta(nil, live); got != 0 {
		t.Errorf("a table that is not counted: got %d, want 0", got)
	}
}

func TestImpossibleDeclarationsAreRefused(t *testing.T) {
	many := make([]Spec, 256)
	for i := range many {
		many[i] = Spec{Name: fmt.Sprint(i), Keys: words}
	}
	for name, table := range map[string]Table{
		"no name":                  {},
		"a long name":              {Name: strings.Repeat("n", 256)},
		"negative prefix":          {Name: "t", Prefix: -1},
		"counted without a prefix": {Name: "t", Counted: true},
		"256 indexes":              {Name: "t", Indexes: many},
		"index without a name":     {Name: "t", Indexes: []Spec{{Keys: words}}},
		"index without keys":       {Name: "t", Indexes: []Spec{{Name: "x"}}},
		"index twice":              {Name: "t", Indexes: []Spec{{Name: "x", Keys: words}, {Name: "x", Keys: words}}},
		"index's negative prefix":  {Name: "t", Indexes: []Spec{{Name: "x", Keys: words, Prefix: -1}}},
	} {
		if err := table.Validate(); err == nil {
			t.Errorf("%s: got no error, want ErrDeclaration", name)
		}
	}
	for _, table := range []*Table{testTable(), {Name: "t", Indexes: many[:255]}} {
		if err := table.Validate(); err != nil {
			t.Errorf("a table with %d indexes: got %v, want no error", len(table.Indexes), err)
		}
	}
}
