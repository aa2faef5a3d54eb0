package firn

// The rule: what the store answers is written down in testdata as stories that
// can be read without knowing Go, and every way of keeping the same documents
// tells the same story.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn/internal/script"
	"github.com/firndb/firn/internal/storefile"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// TestStories plays each story with the memory and the tail that a store has
// by default, and again with hardly any.
func TestStories(t *testing.T) {
	for _, tt := range []struct {
		name string
		opts Options
	}{
		{"default", Options{}},
		{"memory=none", Options{Memory: -1}},
		{"memory=little", Options{Memory: 4 << 10}},
		{"tail=1", Options{TailEntries: 1}},
		{"memory=none,tail=1", Options{Memory: -1, TailEntries: 1}},
	} {
		if os.Getenv("UPDATE") == "1" && tt.name != "default" {
			continue // all variants have the same answers
		}
		t.Run(tt.name, func(t *testing.T) {
			script.Each(t, "testdata/*.txt", func(t *testing.T, path string) {
				st := newStory(t, tt.opts)
				script.Play(t, path, st.answer)
			})
		})
	}
}

// story is a store that a script talks to. Its clock stands still until the
// script ticks.
type story struct {
	t     *testing.T
	dir   string
	path  string
	opts  Options
	now   time.Time
	store *Store
}

// storyBegins is the clock's first microsecond, small so that the stories
// stay readable.
const storyBegins = 100

func newStory(t *testing.T, o Options) *story {
	dir := t.TempDir()
	st := &story{t: t, dir: dir, path: filepath.Join(dir, "0.db"), opts: o, now: time.UnixMicro(storyBegins)}
	st.opts.Durability = None
	st.opts.Now = func() time.Time { return st.now }
	st.opts.Tables = []TableSpec{
		{Name: "people", Indexes: []IndexSpec{{Name: "city", Prefix: 1, Keys: cityKeys}}},
		{Name: "visits", Prefix: 1, Counted: true},
	}
	st.open()
	t.Cleanup(func() { st.must(st.store.Close()) })
	return st
}

// cityKeys indexes a person by the words of the value: (word, id).
func cityKeys(id string, value []byte, add func([]byte)) {
	for city := range strings.FieldsSeq(string(value)) {
		add(append(tuple.AppendString(nil, city), id...))
	}
}

func (st *story) must(err error) {
	st.t.Helper()
	if err != nil {
		st.t.Fatal(err)
	}
}

func (st *story) open() {
	var err error
	st.store, err = Open(st.path, st.opts)
	st.must(err)
}

func (st *story) answer(c script.Call) string {
	switch c.Verb {
	case "tick", "restart", "crash", "horizon", "bounds", "log", "indexes":
		return st.operate(c)
	case "put", "del", "batch":
		return st.write(c)
	}
	var lines []string
	read := func(r Reader) error {
		var err error
		lines, err = st.read(c, r)
		return err
	}
	var err error
	if at, ok := c.Args["at"]; ok {
		ts, _ := strconv.ParseInt(at, 10, 64)
		err = st.store.At(Timestamp(ts), func(s *Snapshot) error { return read(s) })
	} else {
		err = st.store.View(func(s *Snapshot) error { return read(s) })
	}
	return told(lines, err)
}

func told(lines []string, err error) string {
	if err != nil {
		return err.Error()
	}
	if len(lines) == 0 {
		return "(nothing)"
	}
	return strings.Join(lines, "\n")
}

// operate does what an operator, or time, does to the store.
func (st *story) operate(c script.Call) string {
	switch c.Verb {
	case "tick":
		n, err := strconv.Atoi(c.Words[0])
		st.must(err)
		st.now = st.now.Add(time.Duration(n) * time.Microsecond)
		return fmt.Sprintf("it is %d", st.now.UnixMicro())
	case "restart":
		st.must(st.store.Close())
		st.open()
	case "crash":
		st.crash()
	case "horizon":
		ts, err := strconv.ParseInt(c.Words[0], 10, 64)
		st.must(err)
		st.must(moveHorizon(context.Background(), st.store, Timestamp(ts)))
	case "log":
		return st.log()
	case "indexes":
		return st.indexes()
	}
	b := st.store.Bounds()
	return fmt.Sprintf("oldest %d, newest %d", b.Oldest, b.Newest)
}

// crash goes on with the files as they are now, as if the process had ended:
// nothing is merged, and the write-ahead log is full. The writer copies them,
// because it is the one who changes them.
func (st *story) crash() {
	next := filepath.Join(st.dir, strconv.Itoa(len(st.path))+filepath.Base(st.path))
	st.must(st.store.writer.Maintain(context.Background(), func(schema.Appender) error {
		return errors.Join(duplicate(st.path, next), duplicate(st.path+"-wal", next+"-wal"))
	}))
	st.must(st.store.Close())
	st.path = next
	st.open()
}

// duplicate copies a file; one that is not there is empty.
func duplicate(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}

// log shows the truth: the rows of the log, oldest first.
func (st *story) log() string {
	session, err := st.store.engine.Session()
	st.must(err)
	defer session.Close()
	rows, err := session.Log(nil, schema.Cursor{}, schema.MaxTimestamp, 1000)
	var lines []string
	for _, row := range rows {
		lines = append(lines, fmt.Sprintf("%s prev=%d", st.showVersion(row), row.Prev))
	}
	return told(lines, err)
}

// indexes merges the tail and shows what is in the file then.
func (st *story) indexes() string {
	for {
		_, total := st.store.tail.Size()
		if total.Entries == 0 {
			break
		}
		st.must(st.store.writer.Maintain(context.Background(), func(a schema.Appender) error {
			return storefile.MergeAll(a, st.store.tail, nil, st.store.head.Counts())
		}))
	}
	session, err := st.store.engine.Session()
	st.must(err)
	defer session.Close()
	entries, err := session.Entries(nil, schema.Entry{}, 1000)
	var lines []string
	for _, e := range entries {
		key, sign := st.showID(e.Key), "+"
		if e.Index.Number() > 0 {
			city, id, _ := tuple.TakeString(e.Key)
			key = fmt.Sprintf("city %s %s", city, id)
		}
		if e.Deleted {
			sign = "-"
		}
		lines = append(lines, fmt.Sprintf("%s%s @%d", sign, key, e.TS))
	}
	return told(lines, err)
}

// write runs the operations of one transaction.
func (st *story) write(c script.Call) string {
	lines := []string{c.Line}
	if c.Verb == "batch" {
		lines = strings.Split(c.Input, "\n")
	}
	ts, err := st.store.Update(context.Background(), func(tx *Tx) error {
		for _, line := range lines {
			if err := st.apply(tx, strings.Fields(line)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err.Error()
	}
	if ts == 0 {
		return "nothing to do"
	}
	return fmt.Sprintf("@%d", ts)
}

// apply is one line of a transaction: put id words…, del id words…, get id,
// or fail words….
func (st *story) apply(tx *Tx, words []string) error {
	rest := func(from int) []byte { return []byte(strings.Join(words[min(from, len(words)):], " ")) }
	if words[0] == "fail" {
		return errors.New(string(rest(1)))
	}
	table, id := st.place(words[1])
	switch words[0] {
	case "put":
		return tx.Put(table, id, rest(2))
	case "del":
		return tx.Delete(table, id, rest(2))
	case "get":
		_, err := tx.Get(table, id)
		return err
	}
	return fmt.Errorf("unknown operation %q", words[0])
}

// place finds the table of an id: what has a slash is a visit, whose id is a
// tuple.
func (st *story) place(text string) (*Table, []byte) {
	place, visitor, visit := strings.Cut(text, "/")
	if !visit {
		return st.store.Table("people"), []byte(text)
	}
	id := tuple.AppendString(nil, place)
	if visitor != "" {
		id = tuple.AppendString(id, visitor)
	}
	return st.store.Table("visits"), id
}

func (st *story) showID(id string) string {
	place, rest, err := tuple.TakeString(id)
	if err != nil {
		return id
	}
	visitor, _, _ := tuple.TakeString(rest)
	return place + "/" + visitor
}

func (st *story) showVersion(doc *Document) string {
	if doc.Deleted {
		return strings.TrimSuffix(fmt.Sprintf("@%d %s is gone: %s", doc.TS, st.showID(doc.ID), doc.Value), ": ")
	}
	return fmt.Sprintf("@%d %s = %s", doc.TS, st.showID(doc.ID), doc.Value)
}

// read answers the verbs that ask.
func (st *story) read(c script.Call, r Reader) (lines []string, err error) {
	var word string
	if len(c.Words) > 0 {
		word = c.Words[0]
	}
	table, id := st.place(word)
	var doc *Document
	switch c.Verb {
	case "get":
		if doc, err = r.Get(table, id); err == nil {
			lines = append(lines, st.showVersion(doc))
		}
	case "last":
		if doc, err = r.Last(table, id); err == nil {
			lines = append(lines, st.showVersion(doc))
		}
	case "count":
		var n int
		n, err = r.Count(table, id)
		lines = append(lines, strconv.Itoa(n))
	case "scan":
		return st.items(r.Scan(st.rangeOf(c)))
	case "ranks":
		return st.ranks(r, table, id)
	case "history":
		vr := VersionRange{
			From: Timestamp(c.Int(st.t, "from", 0)), To: Timestamp(c.Int(st.t, "to", 0)),
			Newest: c.Has("newest"), Limit: int(c.Int(st.t, "limit", 0)),
		}
		for doc, err := range r.Versions(table, id, vr) {
			if err != nil {
				return nil, err
			}
			lines = append(lines, st.showVersion(doc))
		}
	default:
		st.t.Fatalf("%s: unknown verb %q", c.Pos, c.Verb)
	}
	return lines, err
}

// rangeOf reads people by default, those of a city with city=…, and visits
// with visits=….
func (st *story) rangeOf(c script.Call) Range {
	r := Range{Index: st.store.Table("people").ByID(), Reverse: c.Has("reverse"), Limit: int(c.Int(st.t, "limit", 0))}
	for key, value := range c.Args {
		switch key {
		case "city":
			r.Index, r.Prefix = st.store.Table("people").Index("city"), tuple.AppendString(nil, value)
		case "visits":
			r.Index, r.Prefix = st.store.Table("visits").ByID(), tuple.AppendString(nil, value)
		case "prefix":
			r.Prefix = []byte(value)
		case "from":
			r.From = []byte(value)
		case "to":
			r.To = []byte(value)
		}
	}
	return r
}

func (st *story) items(items func(func(Item, error) bool)) (lines []string, err error) {
	for item, err := range items {
		if err != nil {
			return nil, err
		}
		lines = append(lines, st.showVersion(item.Doc))
	}
	return lines, nil
}

func (st *story) ranks(r Reader, t *Table, prefix []byte) (lines []string, err error) {
	o, err := r.Ordered(t.ByID(), prefix)
	if err != nil {
		return nil, err
	}
	for i := range o.Len() {
		item, err := o.At(i)
		if err != nil {
			return nil, err
		}
		rank, _, _ := o.Rank([]byte(item.Key))
		lines = append(lines, fmt.Sprintf("%d. %s", rank, st.showVersion(item.Doc)))
	}
	return lines, nil
}
