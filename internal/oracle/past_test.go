package oracle

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/firndb/firn/resp/reply"
)

// errForgotten says that a moment cannot be read any more, which happens while a
// compactor runs.
var errForgotten = errors.New("COMPACTED")

// past reads what was at a moment, on a connection of its own.
type past struct {
	*wire
	at string // a timestamp or a token
}

// all asks commands as of the moment, each in a database.
func (p past) all(names []keyName, command func(keyName) []string) ([]reply.Value, error) {
	var commands [][]string
	for _, name := range names {
		commands = append(commands, []string{"SELECT", strconv.Itoa(name.db)}, append([]string{"AT", p.at}, command(name)...))
	}
	answers, err := p.wire.all(commands)
	if err != nil {
		return nil, err
	}
	var values []reply.Value
	for i := 1; i < len(answers); i += 2 {
		switch v := &answers[i]; {
		case isCompacted(v):
			return nil, errForgotten
		case v.IsError():
			return nil, fmt.Errorf("%q: %s", commands[i], v.Text)
		}
		values = append(values, answers[i])
	}
	return values, nil
}

// keys are those that there were.
func (p past) keys() (names []keyName, err error) {
	var all []keyName
	for db := range databases {
		all = append(all, keyName{db: db})
	}
	found, err := p.all(all, func(keyName) []string { return []string{"KEYS", "*"} })
	for db := range found {
		for _, key := range texts(&found[db]) {
			names = append(names, keyName{db, key})
		}
	}
	return names, err
}

// everything is all that there was.
func (p past) everything() (replica, error) {
	names, err := p.keys()
	if err != nil {
		return nil, err
	}
	return p.values(names)
}

// contents are the commands that read what a key of a type holds.
var contents = map[string][]string{
	"string": {"GET", ""},
	"hash":   {"HGETALL", ""},
	"set":    {"SMEMBERS", ""},
	"zset":   {"ZRANGE", "", "0", "-1", "WITHSCORES"},
	"list":   {"LRANGE", "", "0", "-1"},
	"stream": {"XINFO", "STREAM", "", "FULL", "COUNT", "0"},
}

// values are keys' values; those that there were not are left out.
func (p past) values(names []keyName) (replica, error) {
	kinds, err := p.all(names, func(n keyName) []string { return []string{"TYPE", n.key} })
	if err != nil {
		return nil, err
	}
	r := replica{}
	var live, hashes []keyName
	for i, name := range names {
		if kind := kinds[i].Text; kind != "none" && r[name] == nil {
			r[name] = newValue(kind)
			live = append(live, name)
		}
	}
	ends, err := p.all(live, func(n keyName) []string { return []string{"PEXPIRETIME", n.key} })
	if err != nil {
		return nil, err
	}
	held, err := p.all(live, func(n keyName) []string {
		words := slices.Clone(contents[r[n].kind])
		words[slices.Index(words, "")] = n.key
		return words
	})
	if err != nil {
		return nil, err
	}
	for i, name := range live {
		v := r[name]
		v.expires = ends[i].Int()
		if v.read(&held[i]); v.kind == "hash" {
			hashes = append(hashes, name)
		}
	}
	return r, p.fieldEnds(r, hashes)
}

// fieldEnds reads when fields of hashes end.
func (p past) fieldEnds(r replica, hashes []keyName) error {
	fields := map[keyName][]string{}
	ends, err := p.all(hashes, func(n keyName) []string {
		words := []string{"HPEXPIRETIME", n.key, "FIELDS", strconv.Itoa(len(r[n].fields))}
		for field := range r[n].fields {
			fields[n] = append(fields[n], field)
		}
		return append(words, fields[n]...)
	})
	if err != nil {
		return err
	}
	for i, name := range hashes {
		for j, field := range fields[name] {
			if end := ends[i].Elements[j].Int(); end >= 0 {
				r[name].ends[field] = end
			}
		}
	}
	return nil
}

// read takes what a key holds from the reply of the command in contents.
func (v *value) read(held *reply.Value) {
	switch v.kind {
	case "string":
		v.text = held.Text
	case "list":
		v.items = texts(held)
	case "set":
		for _, member := range texts(held) {
			v.fields[member] = ""
		}
	case "stream":
		v.readStream(fieldsOf(held))
	default:
		for name, text := range fieldsOf(held) {
			v.fields[name] = text.Text
		}
	}
}

func (v *value) readStream(info map[string]*reply.Value) {
	for _, e := range parts(info["entries"]) {
		v.entries[e.Elements[0].Text] = fmt.Sprintf("%q", texts(&e.Elements[1]))
	}
	v.ids = [3]string{info["last-generated-id"].Text, info["max-deleted-entry-id"].Text, info["entries-added"].Text}
	for _, element := range parts(info["groups"]) {
		of := fieldsOf(&element)
		g := &group{last: of["last-delivered-id"].Text, read: of["entries-read"].Text, consumers: map[string]string{}, pending: map[string]string{}}
		if of["entries-read"].Null {
			g.read = "-1"
		}
		for _, c := range parts(of["consumers"]) {
			consumer := fieldsOf(&c)
			g.consumers[consumer["name"].Text] = consumer["seen-time"].Text
		}
		for _, pending := range parts(of["pending"]) {
			g.pending[pending.Elements[0].Text] = fmt.Sprintf("%q", texts(&pending)[1:])
		}
		v.groups[of["name"].Text] = g
	}
}
