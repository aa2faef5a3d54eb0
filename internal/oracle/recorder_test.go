package oracle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firndb/firn/internal/glob"
	"github.com/firndb/firn/journal"
	"github.com/firndb/firn/journal/journaltest"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp/reply"
	"github.com/firndb/firn/schema"
)

// filter is what a client asks CHANGES for, as it understands it.
type filter struct {
	databases  []int
	patterns   []string
	operations []string
}

// options are those of CHANGES.
func (f *filter) options() (words []string) {
	for _, db := range f.databases {
		words = append(words, "DB", fmt.Sprint(db))
	}
	for _, p := range f.patterns {
		words = append(words, "MATCH", p)
	}
	for _, o := range f.operations {
		words = append(words, "OP", o)
	}
	return words
}

// wants says whether a change is asked for.
func (f *filter) wants(c *keyspace.Change) bool {
	matches := func(p string) bool { return glob.Match([]byte(p), c.Key, false) }
	means := func(o string) bool { return strings.EqualFold(o, c.Operation) }
	switch {
	case len(f.databases) > 0 && !slices.Contains(f.databases, c.DB):
	case len(f.operations) > 0 && !slices.ContainsFunc(f.operations, means):
	case c.Key != nil && len(f.patterns) > 0 && !slices.ContainsFunc(f.patterns, matches):
	default:
		return true
	}
	return false
}

// recorder notes what a follower of the feed sees, and judges it by the log.
type recorder struct {
	run    *run
	name   string
	filter *filter
	events []journaltest.Event

	incarnation string // of its tokens
}

// judgedAt is how many events are judged at once, about: a follower that comes
// back often is judged between two connections.
const judgedAt = 3000

func (rec *recorder) add(kind journaltest.Kind, ts schema.Timestamp, token string, changes []journaltest.Change) {
	rec.events = append(rec.events, journaltest.Event{
		Client: rec.name, Kind: kind, TS: ts, Token: token, Changes: changes, Seen: time.Now(),
	})
}

// start notes where the follower begins, or goes on.
func (rec *recorder) start(kind journaltest.Kind, token string) {
	t, err := journal.ParseToken(token)
	if err != nil {
		rec.run.fail(rec.name, "%q: %v", token, err)
	}
	rec.incarnation = t.Incarnation
	if len(rec.events) > judgedAt && kind == journaltest.Resumed {
		rec.judge()
		rec.events = nil
		rec.add(journaltest.Began, t.TS, token, nil) // where the judged ones ended
	}
	rec.add(kind, t.TS, token, nil)
}

// commit notes a commit of a page.
func (rec *recorder) commit(c *reply.Value) {
	rec.run.count.commits.Add(1)
	ts := schema.Timestamp(c.Elements[0].Int())
	var changes []journaltest.Change
	for i := range c.Elements[1].Elements {
		of := c.Elements[1].Elements[i].Elements
		name := fmt.Sprintf("%d:%q", of[0].Int(), of[1].Text)
		if of[1].Null {
			name = fmt.Sprint(of[0].Int())
		}
		changes = append(changes, journaltest.Change{Name: name, Became: of[2].Text + " " + of[3].Text})
	}
	rec.add(journaltest.Delivered, ts, journal.Token{Incarnation: rec.incarnation, TS: ts}.String(), changes)
}

// bookmark notes a token, and returns what it names.
func (rec *recorder) bookmark(token string) schema.Timestamp {
	ts, err := moment(token)
	if err != nil {
		rec.run.fail(rec.name, "%q: %v", token, err)
	}
	rec.add(journaltest.Bookmarked, ts, token, nil)
	return ts
}

// judge holds what was seen against the log.
func (rec *recorder) judge() {
	if len(rec.events) == 0 {
		return
	}
	after, to := rec.events[0].TS, schema.Timestamp(0)
	for _, e := range rec.events {
		after, to = min(after, e.TS), max(to, e.TS)
	}
	r := rec.run
	r.truth.catchUp()
	h := journaltest.History{Events: rec.events, Log: r.truth.log(after, to, rec.filter)}
	if err := journaltest.Judge(h); err != nil {
		r.fail(rec.name, "%v", err)
	}
}
