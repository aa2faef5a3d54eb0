package values

import (
	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// The longest common subsequence of two strings.
var lcsCommands = []command.Command{
	{
		Name: "LCS", Args: "key1 key2 [LEN] [IDX] [MINMATCHLEN len] [WITHMATCHLEN]", Min: 2, Max: -1, Flags: command.ReadOnly,
		Keys:  command.KeysFrom(1, 2, 1, command.Reads),
		Group: "string", Since: "7.0.0", Complexity: "O(n · m), n and m the bytes of the strings; n · m bits of memory",
		Summary: "Returns the longest common subsequence of two strings, its length, or where its parts are.",
		Run:     lcs,
	},
}

const (
	// lcsCellBytes is what Redis takes for each pair of a byte of one string
	// and a byte of the other. Firn takes a bit, and refuses what Redis does:
	// by default more than 134 million pairs, which take a second.
	lcsCellBytes = 4

	// maxLCSCellsAtOnce is how many pairs are compared on a goroutine that
	// others depend on: a millisecond's worth.
	maxLCSCellsAtOnce = 1 << 18
)

// lcsOptions are the options of LCS.
type lcsOptions struct {
	length, indexes, lengths bool  // LEN, IDX, WITHMATCHLEN
	least                    int64 // MINMATCHLEN
}

func parseLCSOptions(args [][]byte) (o lcsOptions, err error) {
	for ; len(args) > 0; args = args[1:] {
		switch {
		case command.Is(args[0], "IDX"):
			o.indexes = true
		case command.Is(args[0], "LEN"):
			o.length = true
		case command.Is(args[0], "WITHMATCHLEN"):
			o.lengths = true
		case command.Is(args[0], "MINMATCHLEN") && len(args) > 1:
			var ok bool
			if o.least, ok = resp.ParseInt(args[1]); !ok {
				return o, command.ErrNotInteger
			}
			args = args[1:]
		default:
			return o, command.ErrSyntax
		}
	}
	if o.length && o.indexes {
		return o, resp.Error("ERR If you want both the length and indexes, please just use IDX.")
	}
	return o, nil
}

func lcs(c *command.Call) error {
	a, _, err := c.Find(c.Args[0])
	if err != nil {
		return err
	}
	b, _, err := c.Find(c.Args[1])
	if err != nil {
		return err
	}
	for _, k := range []*keyspace.KeyDoc{&a, &b} {
		if k.Kind != keyspace.KindNone && k.Kind != keyspace.KindString {
			return resp.Error("ERR The specified keys must contain string values")
		}
	}
	o, err := parseLCSOptions(c.Args[2:])
	if err != nil {
		return err
	}
	cells := (int64(len(a.Value)) + 1) * (int64(len(b.Value)) + 1)
	if cells > c.MaxBulkBytes.Load()/lcsCellBytes {
		return resp.Error("ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len")
	}
	if _, reading := c.R.(*firn.Snapshot); reading && !c.Client.MayBlock() && cells > maxLCSCellsAtOnce {
		return firn.ErrCold // come again where it disturbs nobody
	}
	m := match(a.Value, b.Value)
	switch {
	case o.length:
		c.Reply.Int(m.length)
	case o.indexes:
		m.replyRuns(c, &o)
	default:
		c.Reply.Bulk(m.bytes())
	}
	return nil
}

// matching is a longest common subsequence of a and b. Of several, it is the
// one that Redis finds.
type matching struct {
	a, b   []byte
	length int64
	up     []uint64 // a bit for each pair of lengths: whether to shorten a, and not b, where the last bytes differ
}

// match compares two strings. Row i of the table of lengths is of the first i
// bytes of a with each beginning of b; only one row of it is kept.
func match(a, b []byte) *matching {
	m := &matching{a: a, b: b, up: make([]uint64, (len(a)*len(b)+63)/64)}
	row := make([]int32, len(b)+1)
	cell := 0
	for _, x := range a {
		diagonal := int32(0) // of the row above, to the left
		for j, y := range b {
			above := row[j+1]
			switch {
			case x == y:
				row[j+1] = diagonal + 1
			case above > row[j]:
				m.up[cell>>6] |= 1 << (cell & 63)
			default:
				row[j+1] = row[j]
			}
			diagonal = above
			cell++
		}
	}
	m.length = int64(row[len(b)])
	return m
}

// run is bytes that follow each other in both strings.
type run struct{ a, b, length int64 }

// runs visits the parts of the subsequence, from the last to the first. One
// ends where a byte of either string is left out.
func (m *matching) runs(visit func(run)) {
	i, j := int64(len(m.a)), int64(len(m.b))
	var now run
	for i > 0 && j > 0 {
		if m.a[i-1] == m.b[j-1] {
			i, j = i-1, j-1
			now = run{i, j, now.length + 1}
			continue
		}
		if now.length > 0 {
			visit(now)
			now.length = 0
		}
		if cell := (i-1)*int64(len(m.b)) + j - 1; m.up[cell>>6]>>(cell&63)&1 == 1 {
			i--
		} else {
			j--
		}
	}
	if now.length > 0 {
		visit(now)
	}
}

// bytes is the subsequence itself.
func (m *matching) bytes() []byte {
	all := make([]byte, m.length)
	end := m.length
	m.runs(func(r run) {
		end -= r.length
		copy(all[end:], m.a[r.a:r.a+r.length])
	})
	return all
}

// replyRuns replies where the parts of the subsequence are.
func (m *matching) replyRuns(c *command.Call, o *lcsOptions) {
	var shown []run
	m.runs(func(r run) {
		if r.length >= o.least {
			shown = append(shown, r)
		}
	})
	w := &c.Reply
	w.Map(2)
	w.BulkString("matches")
	w.Array(len(shown))
	for _, r := range shown {
		if o.lengths {
			w.Array(3)
		} else {
			w.Array(2)
		}
		for _, start := range []int64{r.a, r.b} {
			w.Array(2)
			w.Int(start)
			w.Int(start + r.length - 1)
		}
		if o.lengths {
			w.Int(r.length)
		}
	}
	w.BulkString("len")
	w.Int(m.length)
}
