package rdb

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// ID is the id of an entry of a stream.
type ID struct{ Ms, Seq uint64 }

// Compare is negative if a comes before b, 0 if they are equal.
func (a ID) Compare(b ID) int { return cmp.Or(cmp.Compare(a.Ms, b.Ms), cmp.Compare(a.Seq, b.Seq)) }

// Log is a stream. Its entries ascend and are not beyond Last. No count or
// time in it is negative or beyond an int64.
type Log struct {
	Entries    []Entry
	Last       ID     // the last that there ever was
	MaxDeleted ID     // zero: none was deleted
	Added      uint64 // entries that there ever were
	Groups     []Group
	Tail       Node // the last node; read, not written
}

// Entry is an entry of a stream: fields and values in turn, at least one pair.
type Entry struct {
	ID     ID
	Fields [][]byte
	Begins bool // it is the first of its node; that of the stream always is
}

// Node is what decides whether a node of a stream takes one more entry.
type Node struct {
	First   ID       // the first entry that it ever had
	Fields  [][]byte // that entry's, without values
	Entries int64    // deleted ones too
	Bytes   int64
}

// Group is a consumer group of a stream. Names are not twice in a stream, nor
// a consumer's in its group.
type Group struct {
	Name      []byte
	Last      ID
	Read      int64 // entries read; -1: not known
	Pending   []Pending
	Consumers []Consumer
}

// Pending is an entry that was delivered and not acknowledged. A group's
// ascend by id.
type Pending struct {
	ID        ID
	Delivered int64 // ms
	Count     uint64
	Consumer  int // index of the one that it was delivered to
}

// Consumer is a consumer of a group.
type Consumer struct {
	Name   []byte
	Seen   int64 // ms
	Active int64 // ms; -1: not known; not written
}

// A stream's entries are kept in nodes, which are listpacks. Each is under the
// id of its first entry, the master, as 16 bytes, big endian. It begins with
//
//	count of live entries, count of deleted ones,
//	number of the master's fields, the fields, 0
//
// and each entry is
//
//	flags, ms and seq less those of the master,
//	if it has not the master's fields: number of fields, and before each
//	value its field,
//	the values, number of the elements before from flags on
const (
	entryDeleted = 1
	entrySame    = 2 // it has the fields of the master
)

// log reads a stream.
func (s *source) log(form byte) *Log {
	l := &Log{}
	for range s.count(2) {
		master, node := s.rawID(), s.string()
		l.Tail = Node{First: master, Bytes: int64(len(node))}
		s.logNode(l, s.listpack(node))
		if s.bad {
			return nil
		}
	}
	length := s.length()
	l.Last = s.id()
	l.Added = length
	if form != typeStreamListpacks {
		s.id() // the first, which the entries tell
		l.MaxDeleted = s.id()
		l.Added = s.length()
	}
	if n := len(l.Entries); uint64(n) != length || l.Added > math.MaxInt64 || n > 0 && l.Entries[n-1].ID.Compare(l.Last) > 0 {
		s.fail()
	}
	names := map[string]bool{}
	for range s.count(4) {
		s.group(l, form)
		if s.bad {
			return nil
		}
		names[string(l.Groups[len(l.Groups)-1].Name)] = true
	}
	if len(names) != len(l.Groups) {
		s.fail()
	}
	return l
}

// rawID is an id as 16 bytes within a string, or as they are.
func (s *source) rawID() ID {
	b := source{b: s.string()}
	id := b.bareID()
	if b.bad || len(b.b) > 0 {
		s.fail()
	}
	return id
}

func (s *source) bareID() ID { return ID{s.big(8), s.big(8)} }

func (s *source) id() ID { return ID{s.length(), s.length()} }

// logNode adds the entries of the node l.Tail to a stream.
func (s *source) logNode(l *Log, q sequence) {
	live, deleted := q.number(), q.number()
	n := q.size(1)
	fields := make([][]byte, 0, n)
	for range n {
		fields = append(fields, q.read().bytes())
	}
	master, begins := l.Tail.First, true
	l.Tail.Fields, l.Tail.Entries = fields, live+deleted
	if q.number() != 0 {
		q.fail()
	}
	for q.more() {
		flags := q.number()
		id := ID{master.Ms + uint64(q.number()), master.Seq + uint64(q.number())}
		e := Entry{ID: id, Fields: q.entryFields(flags, fields), Begins: begins}
		if flags&^(entryDeleted|entrySame) != 0 || len(e.Fields) == 0 {
			q.fail()
		}
		q.number() // elements of the entry, for those who come from behind
		if flags&entryDeleted != 0 {
			deleted--
			continue
		}
		live--
		if n := len(l.Entries); n > 0 && id.Compare(l.Entries[n-1].ID) <= 0 || n == s.limit || id == (ID{}) {
			q.fail()
			break
		}
		l.Entries = append(l.Entries, e)
		begins = false
	}
	if q.bad || live != 0 || deleted != 0 {
		s.fail()
	}
}

// number is the next element, an integer.
func (q *sequence) number() int64 {
	e := q.read()
	if !e.isInt {
		q.fail()
		return 0
	}
	return e.n
}

// size is the next element, the number of things that take at least each
// elements: there are two bytes for every one of them.
func (q *sequence) size(each int) int {
	n := q.number()
	if n < 0 || n > int64(len(q.b)/(2*each)) {
		q.fail()
		return 0
	}
	return int(n)
}

// entryFields is the fields and values of an entry.
func (q *sequence) entryFields(flags int64, master [][]byte) [][]byte {
	if flags&entrySame == 0 {
		n := q.size(2)
		all := make([][]byte, 0, 2*n)
		for range 2 * n {
			all = append(all, q.read().bytes())
		}
		return all
	}
	if len(master) > len(q.b)/2 {
		q.fail()
		return nil
	}
	all := make([][]byte, 0, 2*len(master))
	for _, field := range master {
		all = append(all, field, q.read().bytes())
	}
	return all
}

// group reads a consumer group.
func (s *source) group(l *Log, form byte) {
	g := Group{Name: s.string(), Last: s.id()}
	if form == typeStreamListpacks {
		g.Read = l.readUpTo(g.Last)
	} else {
		g.Read = int64(s.length())
	}
	for range s.count(16 + 8 + 1) {
		p := Pending{ID: s.bareID(), Delivered: s.int(8), Count: s.length(), Consumer: -1}
		if n := len(g.Pending); n > 0 && p.ID.Compare(g.Pending[n-1].ID) <= 0 || p.Delivered < 0 || p.Count > math.MaxInt64 {
			s.fail()
		}
		g.Pending = append(g.Pending, p)
	}
	names, held := map[string]bool{}, 0
	for range s.count(1 + 8 + 1) {
		held += s.consumer(&g, form)
		if s.bad {
			return
		}
		names[string(g.Consumers[len(g.Consumers)-1].Name)] = true
	}
	if len(names) != len(g.Consumers) || held != len(g.Pending) || g.Read < -1 {
		s.fail()
	}
	l.Groups = append(l.Groups, g)
}

// readUpTo is how many entries a group that stands at last has read, of a
// stream from a version that did not count them; -1 if that cannot be told.
func (l *Log) readUpTo(last ID) int64 {
	n := len(l.Entries)
	switch {
	case last.Compare(l.Last) == 0 || n == 0 && last.Compare(l.Last) < 0:
		return int64(l.Added)
	case n == 0 || last.Compare(l.Last) > 0:
		return -1
	case last.Compare(l.Entries[0].ID) < 0:
		return 0
	case last == l.Entries[0].ID:
		return 1
	}
	return -1
}

// consumer reads a consumer, and which of the group's pending entries are its,
// and returns how many are.
func (s *source) consumer(g *Group, form byte) (held int) {
	c := Consumer{Name: s.string(), Seen: s.int(8), Active: -1}
	if form == typeStreamListpacks3 {
		c.Active = s.int(8)
	}
	if c.Seen < 0 {
		s.fail()
	}
	for range s.count(16) {
		id := s.bareID()
		i, found := slices.BinarySearchFunc(g.Pending, id, func(p Pending, id ID) int { return p.ID.Compare(id) })
		if !found || g.Pending[i].Consumer >= 0 {
			s.fail()
			return 0
		}
		g.Pending[i].Consumer = len(g.Consumers)
		held++
	}
	g.Consumers = append(g.Consumers, c)
	return held
}

// appendLog appends a stream as Redis 7.0 does.
func appendLog(dst []byte, l *Log) []byte {
	var nodes [][]Entry
	for rest := l.Entries; len(rest) > 0; {
		n := 1
		for n < len(rest) && !rest[n].Begins {
			n++
		}
		nodes = append(nodes, rest[:n])
		rest = rest[n:]
	}
	dst = appendLength(dst, uint64(len(nodes)))
	for _, node := range nodes {
		dst = appendLength(dst, 16)
		dst = appendBareID(dst, node[0].ID)
		dst = appendString(dst, newLogNode(node))
	}
	var first ID
	if len(l.Entries) > 0 {
		first = l.Entries[0].ID
	}
	dst = appendLength(dst, uint64(len(l.Entries)))
	for _, id := range []ID{l.Last, first, l.MaxDeleted} {
		dst = appendLength(appendLength(dst, id.Ms), id.Seq)
	}
	dst = appendLength(dst, l.Added)
	dst = appendLength(dst, uint64(len(l.Groups)))
	for i := range l.Groups {
		dst = appendGroup(dst, &l.Groups[i])
	}
	return dst
}

func appendBareID(dst []byte, id ID) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, id.Ms), id.Seq)
}

// newLogNode is the listpack of some entries.
func newLogNode(entries []Entry) []byte {
	var p listpack
	master := entries[0]
	p.addInt(int64(len(entries)))
	p.addInt(0)
	p.addInt(int64(len(master.Fields) / 2))
	for i := 0; i < len(master.Fields); i += 2 {
		p.add(master.Fields[i])
	}
	p.addInt(0)
	for _, e := range entries {
		same, from := sameFields(e.Fields, master.Fields), p.n
		flags := int64(0)
		if same {
			flags = entrySame
		}
		p.addInt(flags)
		p.addInt(int64(e.ID.Ms - master.ID.Ms))
		p.addInt(int64(e.ID.Seq - master.ID.Seq))
		if !same {
			p.addInt(int64(len(e.Fields) / 2))
		}
		for i, text := range e.Fields {
			if !same || i%2 == 1 {
				p.add(text)
			}
		}
		p.addInt(int64(p.n - from))
	}
	return p.finish()
}

// sameFields says whether two entries have the same fields in the same order.
func sameFields(a, b [][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 0; i < len(a); i += 2 {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func appendGroup(dst []byte, g *Group) []byte {
	dst = appendString(dst, g.Name)
	for _, n := range []uint64{g.Last.Ms, g.Last.Seq, uint64(g.Read), uint64(len(g.Pending))} {
		dst = appendLength(dst, n)
	}
	held := make([][]ID, len(g.Consumers))
	for _, p := range g.Pending {
		dst = appendBareID(dst, p.ID)
		dst = appendUint(dst, uint64(p.Delivered), 8)
		dst = appendLength(dst, p.Count)
		held[p.Consumer] = append(held[p.Consumer], p.ID)
	}
	dst = appendLength(dst, uint64(len(g.Consumers)))
	for i, c := range g.Consumers {
		dst = appendString(dst, c.Name)
		dst = appendUint(dst, uint64(c.Seen), 8)
		dst = appendLength(dst, uint64(len(held[i])))
		for _, id := range held[i] {
			dst = appendBareID(dst, id)
		}
	}
	return dst
}
