package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/firndb/firn/resp/reply"
)

// What a client that follows CHANGES with VALUES keeps: a copy of the keyspace.
// It knows what docs/live.md says of VALUES, and nothing else.

// keyName names a key of a database.
type keyName struct {
	db  int
	key string
}

func (k keyName) String() string { return fmt.Sprintf("%d:%q", k.db, k.key) }

// replica is a copy of the databases.
type replica map[keyName]*value

// value is a key of any type.
type value struct {
	kind    string
	expires int64             // ms; -1: never
	text    string            // of a string
	fields  map[string]string // of a hash, a set, and a sorted set with its scores
	ends    map[string]int64  // of a hash's fields, ms
	items   []string          // of a list
	entries map[string]string // of a stream, by id
	ids     [3]string         // of a stream: the last id, the greatest deleted one, how many were added
	groups  map[string]*group
}

// group is a stream's consumer group.
type group struct {
	last, read         string
	consumers, pending map[string]string
}

func newValue(kind string) *value {
	return &value{kind: kind, expires: -1, fields: map[string]string{}, ends: map[string]int64{}, entries: map[string]string{}, groups: map[string]*group{}}
}

func (v *value) clone() *value {
	c := *v
	c.fields, c.ends, c.items, c.entries = maps.Clone(v.fields), maps.Clone(v.ends), slices.Clone(v.items), maps.Clone(v.entries)
	c.groups = map[string]*group{}
	for name, g := range v.groups {
		c.groups[name] = &group{g.last, g.read, maps.Clone(g.consumers), maps.Clone(g.pending)}
	}
	return &c
}

// shown is the value as of a moment in ms, on one line; empty if it has ended.
func (v *value) shown(now int64) string {
	if v == nil || v.kind == "none" || v.expires >= 0 && v.expires < now {
		return ""
	}
	fields, ends := map[string]string{}, map[string]int64{}
	for name, text := range v.fields {
		end, ok := v.ends[name]
		if ok && end < now {
			continue
		}
		if fields[name] = text; ok {
			ends[name] = end
		}
	}
	if v.kind == "hash" && len(fields) == 0 {
		return ""
	}
	groups := map[string]string{}
	for name, g := range v.groups {
		groups[name] = fmt.Sprintf("%s %s %q %q", g.last, g.read, g.consumers, g.pending)
	}
	return fmt.Sprintf("%s until %d: %q %q %v %q %q %v %q", v.kind, v.expires, v.text, fields, ends, v.items, v.entries, v.ids, groups)
}

// apply applies a commit: what happened to databases first, all of it at once,
// and then what happened to keys, which goes on from what was there then, before
// any of them changed. It returns the keys that may be other ones now.
func (r replica) apply(commit *reply.Value) (touched []keyName, err error) {
	before, changes := maps.Clone(r), commit.Elements[1].Elements
	for i := range changes {
		if changes[i].Elements[1].Null {
			touched = append(touched, r.exchange(before, &changes[i])...)
		}
	}
	before = maps.Clone(r)
	for i := range changes {
		if changes[i].Elements[1].Null {
			continue
		}
		name, v, err := changed(before, &changes[i])
		if err != nil {
			return nil, err
		}
		if touched = append(touched, name); v == nil {
			delete(r, name)
		} else {
			r[name] = v
		}
	}
	return touched, nil
}

// exchange makes a database what a change of it says: empty, or what another one
// was before.
func (r replica) exchange(before replica, change *reply.Value) (touched []keyName) {
	db := int(change.Elements[0].Int())
	for name := range before {
		if name.db == db {
			delete(r, name)
			touched = append(touched, name)
		}
	}
	from, ok := fieldsOf(&change.Elements[4])["from"]
	if !ok {
		return touched
	}
	source, _ := strconv.Atoi(from.Text)
	for name, v := range before {
		if name.db == source {
			name.db = db
			r[name] = v
			touched = append(touched, name)
		}
	}
	return touched
}

// notThere says that a key goes on from one that the copy has not.
type notThere struct{ name, source keyName }

func (e *notThere) Error() string {
	return fmt.Sprintf("%v goes on from %v, which is not there", e.name, e.source)
}

// changed is what a key becomes; nil: it is gone.
func changed(before replica, change *reply.Value) (name keyName, v *value, err error) {
	name = keyName{int(change.Elements[0].Int()), change.Elements[1].Text}
	kind := change.Elements[3].Text
	if kind == "none" {
		return name, nil, nil
	}
	m := fieldsOf(&change.Elements[4])
	v = newValue(kind)
	whole, isWhole := m["value"]
	if !isWhole {
		source := name
		if from, ok := m["from"]; ok {
			number, key, _ := strings.Cut(from.Text, ":")
			source.db, _ = strconv.Atoi(number)
			source.key = key
		}
		if before[source] == nil {
			return name, nil, &notThere{name, source}
		}
		v = before[source].clone()
	}
	v.kind, v.expires = kind, m["expires_at"].Int()
	switch kind {
	case "string":
		if isWhole {
			v.text = whole.Text
		}
	case "list":
		err = v.list(whole, m["splices"])
	case "stream":
		v.stream(whole, m)
	default:
		v.elements(whole, m)
	}
	return name, v, err
}

func parts(v *reply.Value) []reply.Value {
	if v == nil {
		return nil
	}
	return v.Elements
}

func (v *value) elements(whole *reply.Value, m map[string]*reply.Value) {
	for _, gone := range parts(m["removed"]) {
		delete(v.fields, gone.Text)
		delete(v.ends, gone.Text)
	}
	for _, came := range []*reply.Value{whole, m["added"], m["changed"]} {
		if v.kind == "set" {
			for _, member := range parts(came) {
				v.fields[member.Text] = ""
			}
			continue
		}
		for name, text := range fieldsOf(came) {
			v.fields[name] = text.Text
		}
	}
	for name, end := range fieldsOf(m["field_expires_at"]) {
		if v.ends[name] = end.Int(); v.ends[name] == -1 {
			delete(v.ends, name)
		}
	}
}

func (v *value) list(whole, splices *reply.Value) error {
	if whole != nil {
		v.items = texts(whole)
	}
	for _, s := range parts(splices) {
		at, removed := int(s.Elements[0].Int()), int(s.Elements[1].Int())
		if at+removed > len(v.items) {
			return fmt.Errorf("splice %s of a list of %d items", shown(&s), len(v.items))
		}
		v.items = slices.Replace(v.items, at, at+removed, texts(&s.Elements[2])...)
	}
	return nil
}

func (v *value) stream(whole *reply.Value, m map[string]*reply.Value) {
	v.ids = [3]string{m["last_id"].Text, m["max_deleted_id"].Text, m["entries_added"].Text}
	for _, gone := range parts(m["removed"]) {
		delete(v.entries, gone.Text)
	}
	for _, e := range slices.Concat(parts(whole), parts(m["added"])) {
		v.entries[e.Elements[0].Text] = fmt.Sprintf("%q", texts(&e.Elements[1]))
	}
	for _, name := range parts(m["groups_removed"]) {
		delete(v.groups, name.Text)
	}
	for name, change := range fieldsOf(m["groups"]) {
		g := v.groups[name]
		if g == nil {
			g = &group{consumers: map[string]string{}, pending: map[string]string{}}
			v.groups[name] = g
		}
		g.change(fieldsOf(change))
	}
}

func (g *group) change(m map[string]*reply.Value) {
	if last, ok := m["last_id"]; ok {
		g.last, g.read = last.Text, m["entries_read"].Text
	}
	for _, name := range parts(m["consumers_removed"]) {
		delete(g.consumers, name.Text)
	}
	for _, id := range parts(m["pending_removed"]) {
		delete(g.pending, id.Text)
	}
	for name, seen := range fieldsOf(m["consumers"]) {
		g.consumers[name] = seen.Text
	}
	for id, p := range fieldsOf(m["pending"]) {
		g.pending[id] = fmt.Sprintf("%q", texts(p))
	}
}
