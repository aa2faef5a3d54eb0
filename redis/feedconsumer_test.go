package redis

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/firndb/firn/internal/glob"
)

// What docs/live.md says of CHANGES with VALUES suffices to keep a copy of the
// keyspace: this is a consumer that knows nothing else.

// copied is a consumer's copy of the keyspace.
type copied struct {
	dbs map[int]map[string]*copiedKey

	// What it asks for, and so all that it has. reread reads a database anew,
	// when a change says that it came from one that is not asked for.
	databases []int
	patterns  []string
	kinds     []string
	reread    func(db int, ts string) map[string]*copiedKey
}

// copiedKey is a key of any type.
type copiedKey struct {
	kind    string
	expires int64             // ms; -1: never
	text    string            // a string
	fields  map[string]string // a hash, a set, or a sorted set with scores
	ends    map[string]int64  // of a hash's fields
	items   []string          // a list
	entries map[string]string // of a stream, by id
	whole   [3]string         // of a stream: last id, greatest deleted id, entries added
	groups  map[string]*copiedGroup
}

type copiedGroup struct {
	last, read         string
	consumers, pending map[string]string
}

func newCopiedKey(kind string) *copiedKey {
	return &copiedKey{
		kind: kind, expires: -1, fields: map[string]string{}, ends: map[string]int64{}, entries: map[string]string{}, groups: map[string]*copiedGroup{},
	}
}

func (k *copiedKey) clone() *copiedKey {
	c := *k
	c.fields, c.ends, c.items, c.entries = maps.Clone(k.fields), maps.Clone(k.ends), slices.Clone(k.items), maps.Clone(k.entries)
	c.groups = map[string]*copiedGroup{}
	for name, g := range k.groups {
		c.groups[name] = &copiedGroup{g.last, g.read, maps.Clone(g.consumers), maps.Clone(g.pending)}
	}
	return &c
}

// mapOf takes a map of a reply apart.
func mapOf(v value) map[string]value {
	m := map[string]value{}
	for i := 0; i+1 < len(v.elements); i += 2 {
		m[v.elements[i].text] = v.elements[i+1]
	}
	return m
}

func numberOf(v value) int64 {
	n, _ := strconv.ParseInt(v.text, 10, 64)
	return n
}

func (c *copied) wants(db int, key string) bool {
	if len(c.databases) > 0 && !slices.Contains(c.databases, db) {
		return false
	}
	return len(c.patterns) == 0 || slices.ContainsFunc(c.patterns, func(p string) bool { return glob.Match([]byte(p), []byte(key), false) })
}

// commit applies a commit: what happened to databases first, all of it at once,
// and then what happened to keys, which goes on from what was there before any
// of it.
func (c *copied) commit(t testing.TB, v value) {
	t.Helper()
	ts, changes := v.elements[0].text, v.elements[1].elements
	before := maps.Clone(c.dbs)
	for _, ch := range changes {
		if !ch.elements[1].null {
			continue
		}
		db := int(numberOf(ch.elements[0]))
		c.dbs[db] = map[string]*copiedKey{}
		if from, ok := mapOf(ch.elements[4])["from"]; ok {
			source := int(numberOf(from))
			if len(c.databases) > 0 && !slices.Contains(c.databases, source) {
				c.dbs[db] = c.reread(db, ts)
			} else {
				c.dbs[db] = maps.Clone(before[source])
			}
		}
		if c.dbs[db] == nil {
			c.dbs[db] = map[string]*copiedKey{}
		}
	}
	after := map[int]map[string]*copiedKey{}
	for db, keys := range c.dbs {
		after[db] = maps.Clone(keys)
	}
	for _, ch := range changes {
		if ch.elements[1].null {
			continue
		}
		db, key, kind := int(numberOf(ch.elements[0])), ch.elements[1].text, ch.elements[3].text
		if !c.wants(db, key) {
			t.Errorf("got %v, which was not asked for", ch)
		}
		if after[db] == nil {
			after[db] = map[string]*copiedKey{}
		}
		if kind == "none" || len(c.kinds) > 0 && !slices.Contains(c.kinds, kind) {
			delete(after[db], key)
			continue
		}
		after[db][key] = c.change(t, db, key, kind, mapOf(ch.elements[4]))
	}
	c.dbs = after
}

// change is what a key becomes.
func (c *copied) change(t testing.TB, db int, key, kind string, m map[string]value) *copiedKey {
	t.Helper()
	k := newCopiedKey(kind)
	all, whole := m["value"]
	if !whole {
		if from, ok := m["from"]; ok {
			number, name, _ := strings.Cut(from.text, ":")
			db, _ = strconv.Atoi(number)
			key = name
		}
		was := c.dbs[db][key]
		if was == nil {
			t.Fatalf("%s %d:%s goes on from what is not there: %v", kind, db, key, m)
		}
		k = was.clone()
	}
	k.expires = numberOf(m["expires_at"])
	switch kind {
	case "string":
		k.text = all.text
	case "list":
		k.list(t, all, m["splices"])
	case "stream":
		k.stream(all, m)
	default:
		k.elements(all, m)
	}
	return k
}

func (k *copiedKey) elements(all value, m map[string]value) {
	for _, gone := range m["removed"].elements {
		delete(k.fields, gone.text)
		delete(k.ends, gone.text)
	}
	for _, came := range []value{all, m["added"], m["changed"]} {
		if k.kind == "set" {
			for _, member := range came.elements {
				k.fields[member.text] = ""
			}
			continue
		}
		for name, v := range mapOf(came) {
			k.fields[name] = v.text
		}
	}
	for name, end := range mapOf(m["field_expires_at"]) {
		if k.ends[name] = numberOf(end); k.ends[name] == -1 {
			delete(k.ends, name)
		}
	}
}

func (k *copiedKey) list(t testing.TB, all, splices value) {
	t.Helper()
	for _, item := range all.elements {
		k.items = append(k.items, item.text)
	}
	for _, s := range splices.elements {
		at, removed := int(numberOf(s.elements[0])), int(numberOf(s.elements[1]))
		if at+removed > len(k.items) {
			t.Fatalf("splice %v of a list of %d items", s, len(k.items))
		}
		var items []string
		for _, item := range s.elements[2].elements {
			items = append(items, item.text)
		}
		k.items = slices.Replace(k.items, at, at+removed, items...)
	}
}

func (k *copiedKey) stream(all value, m map[string]value) {
	k.whole = [3]string{m["last_id"].text, m["max_deleted_id"].text, m["entries_added"].text}
	for _, gone := range m["removed"].elements {
		delete(k.entries, gone.text)
	}
	for _, e := range slices.Concat(all.elements, m["added"].elements) {
		k.entries[e.elements[0].text] = fmt.Sprint(e.elements[1].texts())
	}
	for _, name := range m["groups_removed"].elements {
		delete(k.groups, name.text)
	}
	for name, v := range mapOf(m["groups"]) {
		g := k.groups[name]
		if g == nil {
			g = &copiedGroup{consumers: map[string]string{}, pending: map[string]string{}}
			k.groups[name] = g
		}
		g.change(mapOf(v))
	}
}

func (g *copiedGroup) change(m map[string]value) {
	if last, ok := m["last_id"]; ok {
		g.last, g.read = last.text, m["entries_read"].text
	}
	for _, name := range m["consumers_removed"].elements {
		delete(g.consumers, name.text)
	}
	for _, id := range m["pending_removed"].elements {
		delete(g.pending, id.text)
	}
	for name, seen := range mapOf(m["consumers"]) {
		g.consumers[name] = seen.text
	}
	for id, p := range mapOf(m["pending"]) {
		g.pending[id] = fmt.Sprint(p.texts())
	}
}

// text shows all keys as of a moment in ms: what has ended is gone.
func (c *copied) text(now int64) string {
	var lines []string
	for db, keys := range c.dbs {
		for name, k := range keys {
			if k.expires != -1 && k.expires < now {
				continue
			}
			if line := k.shown(now); line != "" {
				lines = append(lines, fmt.Sprintf("%d:%q %s", db, name, line))
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func (k *copiedKey) shown(now int64) string {
	fields, ends := map[string]string{}, map[string]int64{}
	for name, v := range k.fields {
		end, ok := k.ends[name]
		if ok && end < now {
			continue
		}
		if fields[name] = v; ok {
			ends[name] = end
		}
	}
	if k.kind == "hash" && len(fields) == 0 {
		return ""
	}
	groups := map[string]string{}
	for name, g := range k.groups {
		groups[name] = fmt.Sprint(g.last, g.read, g.consumers, g.pending)
	}
	return fmt.Sprintf("%s until %d: %q %q %v %q %q %v %q", k.kind, k.expires, k.text, fields, ends, k.items, k.entries, k.whole, groups)
}

// texts are those of an array.
func (v value) texts() (all []string) {
	for _, e := range v.elements {
		all = append(all, e.text)
	}
	return all
}
