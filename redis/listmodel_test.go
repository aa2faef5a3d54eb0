package redis

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/race"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/redis/lists"
	"github.com/firndb/firn/resp"
	"github.com/firndb/firn/tuple"
)

// A list of thousands of items is what a slice of strings is, wherever its
// items stand: in memory, in the tail or in the file; even, with holes, or
// with items at any position.

func TestALongListIsASlice(t *testing.T) {
	for _, o := range []firn.Options{
		{Durability: firn.None},
		{Durability: firn.None, Memory: -1},
		{Durability: firn.None, TailEntries: 1},
	} {
		t.Run(fmt.Sprintf("memory=%d,tail=%d", o.Memory, o.TailEntries), func(t *testing.T) {
			m := &listModel{
				ours: newOurs(t, New(openStore(t, o), Options{})),
				Rand: seed.Fresh(t).Rand(1),
			}
			steps := 240
			if race.Enabled {
				steps = 80
			}
			for i := range seed.Steps(t, steps) {
				if i%40 == 0 {
					m.begin(t, i%80 == 0)
				}
				m.step(t)
				if i%20 == 0 {
					m.compare(t, "LRANGE l 0 -1", m.array(m.items))
				}
				if t.Failed() {
					t.Fatalf("at step %d", i)
				}
			}
			m.compare(t, "LRANGE l 0 -1", m.array(m.items))
			if !m.wasLoose || !m.hadHoles {
				t.Errorf("items stood anywhere: %v, and there were holes: %v; want both", m.wasLoose, m.hadHoles)
			}
		})
	}
}

// listModel is the list l, and the slice that it should be.
type listModel struct {
	*ours
	*rand.Rand
	items              []string
	pushed             int
	inserts            bool // whether items are inserted, for a while
	wasLoose, hadHoles bool
}

func (m *listModel) compare(t *testing.T, command string, want resp.Writer) {
	t.Helper()
	got := m.tell(t, SplitWords(t, command)...)
	if string(got) != string(want.Buf) {
		t.Errorf("%s\n got %.200q\nwant %.200q", command, got, want.Buf)
	}
}

func (m *listModel) int(n int) (w resp.Writer) {
	w.Int(int64(n))
	return w
}

func (m *listModel) bulk(s string) (w resp.Writer) {
	w.BulkString(s)
	return w
}

func (m *listModel) array(items []string) (w resp.Writer) {
	w.Array(len(items))
	for _, s := range items {
		w.BulkString(s)
	}
	return w
}

// some is an item of the list: often one of those that come again and again.
func (m *listModel) some() string {
	if len(m.items) == 0 || m.IntN(2) == 0 {
		return string('a' + byte(m.IntN(4)))
	}
	return m.items[m.IntN(len(m.items))]
}

// fresh makes n items, some of them new.
func (m *listModel) fresh(n int) (items []string, words string) {
	for range n {
		item := string('a' + byte(m.IntN(4)))
		if m.IntN(3) > 0 {
			m.pushed++
			item = strconv.Itoa(m.pushed)
		}
		items = append(items, item)
		words += " " + item
	}
	return items, words
}

// begin starts with another list.
func (m *listModel) begin(t *testing.T, inserts bool) {
	m.inserts, m.items = inserts, nil
	m.tell(t, []byte("DEL"), []byte("l"))
}

// step does something to the list, and looks whether the reply is right.
func (m *listModel) step(t *testing.T) {
	t.Helper()
	switch m.IntN(12) {
	case 0, 1, 2:
		m.push(t)
	case 3:
		m.pop(t)
	case 4, 5:
		m.insert(t)
	case 6:
		m.remove(t)
	case 7:
		m.trim(t)
	case 8:
		m.rotate(t)
	default:
		m.read(t)
	}
	if m.IntN(5) == 0 {
		m.look(t)
	}
}

// look compares where the items are with what the list's note says.
func (m *listModel) look(t *testing.T) {
	t.Helper()
	err := m.Store.View(func(snap *firn.Snapshot) error {
		c := &command.Call{Client: m.session, View: m.session.call.At(snap), Args: [][]byte{[]byte("l")}}
		q, ok, err := lists.FindList(c)
		if err != nil || !ok {
			return err
		}
		m.wasLoose = m.wasLoose || q.Loose
		m.hadHoles = m.hadHoles || !q.Loose && !q.Even()
		var positions []int64
		prefix := keyspace.AppendUID(nil, q.UID)
		for found, err := range snap.Scan(firn.Range{Index: c.Elements.ByID(), Prefix: prefix}) {
			if err != nil {
				return err
			}
			position, _, err := tuple.TakeInt(found.Key[len(prefix):])
			if err != nil {
				return err
			}
			positions = append(positions, position)
		}
		if why := misplaced(&q, positions); why != "" {
			t.Errorf("%s: %+v with items at %v", why, q, positions)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// misplaced says what is wrong with the positions of a list's items, if
// anything is.
func misplaced(q *keyspace.Sequence, positions []int64) string {
	if int64(len(positions)) != q.Length || positions[0] != q.First || positions[len(positions)-1] != q.Last {
		return "wrong ends"
	}
	for _, position := range positions {
		switch {
		case (!q.Loose || position <= q.From) && (position-q.First)%keyspace.ItemGap != 0:
			return fmt.Sprintf("%d is not aligned with the first", position)
		case q.Loose && position >= q.To && (q.Last-position)%keyspace.ItemGap != 0:
			return fmt.Sprintf("%d is not aligned with the last", position)
		}
	}
	return ""
}

func (m *listModel) push(t *testing.T) {
	items, words := m.fresh(1 + m.IntN(600))
	if m.IntN(2) == 0 {
		m.items = append(m.items, items...)
		m.compare(t, "RPUSH l"+words, m.int(len(m.items)))
		return
	}
	slices.Reverse(items)
	m.items = append(items, m.items...)
	m.compare(t, "LPUSH l"+words, m.int(len(m.items)))
}

func (m *listModel) pop(t *testing.T) {
	if len(m.items) == 0 {
		return
	}
	n := 1 + m.IntN(100)
	taken := min(n, len(m.items))
	if m.IntN(2) == 0 {
		m.compare(t, fmt.Sprintf("LPOP l %d", n), m.array(m.items[:taken]))
		m.items = m.items[taken:]
		return
	}
	want := slices.Clone(m.items[len(m.items)-taken:])
	slices.Reverse(want)
	m.compare(t, fmt.Sprintf("RPOP l %d", n), m.array(want))
	m.items = m.items[:len(m.items)-taken]
}

// insert puts up to 40 items at one place, so that there is no room left.
func (m *listModel) insert(t *testing.T) {
	if !m.inserts {
		m.remove(t)
		m.look(t)
		return
	}
	pivot, after := m.some(), m.IntN(2)
	for range 1 + m.IntN(40) {
		item := string('a' + byte(m.IntN(4)))
		want := -1
		if at := slices.Index(m.items, pivot); at >= 0 {
			m.items = slices.Insert(m.items, at+after, item)
			want = len(m.items)
		} else if len(m.items) == 0 {
			want = 0
		}
		m.compare(t, fmt.Sprintf("LINSERT l %s %s %s", []string{"BEFORE", "AFTER"}[after], pivot, item), m.int(want))
	}
	m.look(t)
}

func (m *listModel) remove(t *testing.T) {
	value, count := m.some(), m.IntN(40)-20
	most := max(count, -count)
	backwards := count < 0
	if backwards {
		slices.Reverse(m.items)
	}
	n := 0
	m.items = slices.DeleteFunc(m.items, func(s string) bool {
		if s != value || most > 0 && n == most {
			return false
		}
		n++
		return true
	})
	if backwards {
		slices.Reverse(m.items)
	}
	m.compare(t, fmt.Sprintf("LREM l %d %s", count, value), m.int(n))
}

func (m *listModel) trim(t *testing.T) {
	start, end := 0, len(m.items)-1
	if len(m.items) > 2000 {
		start, end = m.IntN(1500), len(m.items)-1-m.IntN(400)
	} else if len(m.items) > 20 {
		start, end = m.IntN(5), end-m.IntN(5)
	}
	var w resp.Writer
	w.Simple("OK")
	m.compare(t, fmt.Sprintf("LTRIM l %d %d", start, end), w)
	if len(m.items) > 0 {
		m.items = m.items[start : end+1]
	}
}

func (m *listModel) rotate(t *testing.T) {
	if len(m.items) == 0 {
		return
	}
	last := len(m.items) - 1
	if m.IntN(2) == 0 {
		item := m.items[0]
		m.compare(t, "LMOVE l l LEFT RIGHT", m.bulk(item))
		m.items = append(m.items[1:], item)
		return
	}
	item := m.items[last]
	m.compare(t, "RPOPLPUSH l l", m.bulk(item))
	m.items = append([]string{item}, m.items[:last]...)
}

// read asks for items anywhere, or replaces one.
func (m *listModel) read(t *testing.T) {
	if len(m.items) == 0 {
		return
	}
	at := m.IntN(len(m.items))
	index := at
	if m.IntN(2) == 0 {
		index -= len(m.items)
	}
	switch m.IntN(4) {
	case 0:
		m.compare(t, fmt.Sprintf("LINDEX l %d", index), m.bulk(m.items[at]))
	case 1:
		to := min(at+m.IntN(50), len(m.items)-1)
		m.compare(t, fmt.Sprintf("LRANGE l %d %d", index, to), m.array(m.items[at:to+1]))
	case 2:
		var w resp.Writer
		w.Simple("OK")
		m.items[at] = m.some()
		m.compare(t, fmt.Sprintf("LSET l %d %s", index, m.items[at]), w)
	case 3:
		last := len(m.items) - 1
		for m.items[last] != m.items[at] {
			last--
		}
		m.compare(t, "LPOS l "+m.items[at], m.int(slices.Index(m.items, m.items[at])))
		m.compare(t, "LPOS l "+m.items[at]+" RANK -1", m.int(last))
	}
}
