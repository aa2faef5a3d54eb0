package retention

// The rule: what a commit condemns follows from the commit, from who owns what
// in it, and from the versions before it. Each file of testdata/judge is a
// history, with what each commit of it lets go.
//
//	judge [mine=SCOPE,...] [from=N] [shared=N] [counts]   a policy that holds for these scopes; without mine, for all
//	commit at=N                                           a commit of the lines below, judged
//	commit at=N of=DOCUMENT [keep]                        the same, judged for one document; keep its tombstone
//	write at=N                                            a commit that is not judged
//	gone DOCUMENT@N ...                                   versions that are not there any more
//
// A line of a commit is DOCUMENT = VALUE, or DOCUMENT alone for a tombstone. A
// DOCUMENT is TABLE/ID:
//
//	things   plain, with an index of the first letter of the value
//	owners   own the parts whose ids begin with their value and a dot
//	parts    owned, with no scope of their own
//	rooms    owned like parts, but with a scope of their own: rooms/ID
//	boards   shared by all policies; own parts as owners do

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/internal/script"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// court is a judge and the history that it is asked about.
type court struct {
	*testing.T
	tables   []*Table
	versions map[documentKey][]*schema.Row // oldest first
	judge    judge
}

func TestJudge(t *testing.T) {
	script.Each(t, "testdata/judge/*.txt", func(t *testing.T, path string) {
		c := &court{T: t, versions: map[documentKey][]*schema.Row{}}
		c.declare()
		c.sit(script.Call{Verb: "judge"})
		script.Play(t, path, c.answer)
	})
}

func (c *court) declare() {
	owns := func(_ string, value []byte, own func(schema.TableID, string)) {
		if len(value) == 0 { // before the first version
			return
		}
		own(3, string(tuple.AppendBytes(nil, value)))
		own(4, string(tuple.AppendBytes(nil, value)))
	}
	letter := func(_ string, value []byte, add func([]byte)) { add(value[:1]) }
	for i, t := range []*Table{
		{Table: &index.Table{Name: "things", Indexes: []index.Spec{{Name: "letter", Keys: letter}}}},
		{Table: &index.Table{Name: "owners"}, Owns: owns},
		{Table: &index.Table{Name: "parts", Prefix: 1}, Owned: true},
		{Table: &index.Table{Name: "rooms", Prefix: 1}, Owned: true, Scope: func(id string) Scope { return Scope{"rooms", nameOf(id)} }},
		{Table: &index.Table{Name: "boards"}, Owns: owns, Shared: true},
	} {
		t.ID = schema.TableID(i + 1)
		c.tables = append(c.tables, t)
	}
}

// sit makes a new judge.
func (c *court) sit(call script.Call) {
	number := func(key string) schema.Timestamp { return schema.Timestamp(call.Int(c.T, key, 0)) }
	mine, some := call.Args["mine"]
	c.judge = judge{
		barren: newBarren(),
		table:  func(id schema.TableID) *Table { return c.tables[id-1] },
		past: func(t schema.TableID, id string, ts schema.Timestamp) (*known, error) {
			for _, row := range c.versions[documentKey{t, id}] {
				if row.TS == ts {
					return c.known(row), nil
				}
			}
			return nil, nil
		},
		mine: func(s Scope) bool {
			return slices.Contains(strings.Split(mine, ","), s.Group+"/"+s.Member)
		},
		alone: !some, from: number("from"), shared: number("shared"), counts: call.Has("counts"),
	}
}

func (c *court) answer(call script.Call) string {
	switch call.Verb {
	case "judge":
		c.sit(call)
		return ""
	case "gone":
		for _, word := range call.Words {
			name, at, _ := strings.Cut(word, "@")
			c.versions[c.document(name)] = slices.DeleteFunc(c.versions[c.document(name)], func(row *schema.Row) bool {
				return strconv.FormatInt(int64(row.TS), 10) == at
			})
		}
		return ""
	case "write":
		c.commit(call)
		return ""
	case "commit":
		return c.judged(call)
	}
	c.Fatalf("%s: unknown verb %q", call.Pos, call.Verb)
	return ""
}

// commit makes rows of the lines of a stanza.
func (c *court) commit(call script.Call) (rows []*schema.Row) {
	at := schema.Timestamp(call.Int(c.T, "at", 0))
	for line := range strings.Lines(call.Input) {
		name, value, alive := strings.Cut(strings.TrimSpace(line), " = ")
		key := c.document(name)
		row := &schema.Row{Table: key.table, ID: key.id, TS: at, Value: []byte(value), Deleted: !alive}
		if older := c.versions[key]; len(older) > 0 {
			row.Prev = older[len(older)-1].TS
		}
		rows = append(rows, row)
	}
	for _, row := range rows {
		key := documentKey{row.Table, row.ID}
		c.versions[key] = append(c.versions[key], row)
	}
	return rows
}

// judged says what a commit has let go.
func (c *court) judged(call script.Call) string {
	var rows []*known
	for _, row := range c.commit(call) {
		rows = append(rows, c.known(row))
	}
	c.judge.verdict = verdict{}
	err := c.look(rows, call)
	if err != nil {
		return err.Error()
	}
	var lines []string
	for _, v := range c.judge.batch.rows {
		lines = append(lines, fmt.Sprintf("%s@%d", c.name(v.table, v.id), v.ts))
	}
	for _, e := range c.judge.batch.keys {
		lines = append(lines, fmt.Sprintf("entry %s of things/%s up to %d", e.Key, e.ID, e.TS))
	}
	for _, o := range c.judge.lost {
		lines = append(lines, fmt.Sprintf("all %s of %s", c.tables[o.table-1].Name, nameOf(o.prefix)))
	}
	if len(lines) == 0 {
		return "nothing"
	}
	return strings.Join(lines, "\n")
}

func (c *court) known(row *schema.Row) *known {
	return c.tables[row.Table-1].know(&c.judge.deriver, row)
}

// look judges a commit, or what it did to one document.
func (c *court) look(rows []*known, call script.Call) error {
	of, one := call.Args["of"]
	if !one {
		return c.judge.commit(rows)
	}
	o, err := c.judge.ownership(rows)
	if err != nil {
		return err
	}
	o.index(c.judge.table)
	key := c.document(of)
	return c.judge.commitOf(o, c.tables[key.table-1], key.id, call.Has("keep"))
}

// document is the key of TABLE/ID.
func (c *court) document(name string) documentKey {
	table, id, _ := strings.Cut(name, "/")
	for _, t := range c.tables {
		if t.Name == table {
			if whole, part, owned := strings.Cut(id, "."); owned {
				id = string(tuple.AppendBytes(nil, []byte(whole))) + part
			}
			return documentKey{t.ID, id}
		}
	}
	c.Fatalf("no table %q", name)
	return documentKey{}
}

func (c *court) name(t schema.TableID, id string) string {
	return c.tables[t-1].Name + "/" + nameOf(id)
}

// nameOf is an id as a script has it.
func nameOf(id string) string {
	whole, part, err := tuple.TakeString(id)
	switch {
	case err != nil:
		return id
	case part == "":
		return whole
	}
	return whole + "." + part
}
