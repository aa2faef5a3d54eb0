package journal

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"slices"
	"strings"

	"github.com/firndb/firn/schema"
)

// Change is one version of one document, as it was committed.
type Change struct {
	Table string
	Doc   *schema.Row // Deleted: the document ended here
}

// Commit is all that a filter admits of one transaction, in the order of the
// log: by table and id. Without changes it is a bookmark: the follower has had
// everything up to TS.
type Commit struct {
	TS      schema.Timestamp
	Token   string // names TS, to go on from
	Changes []Change
}

// Bookmark says that the commit is none.
func (c *Commit) Bookmark() bool { return len(c.Changes) == 0 }

// stored is a table's id as the file sorts it: by its bytes, big endian and
// without leading zeros, so 256 comes before 2.
func stored(t schema.TableID) (aligned uint32, size int) {
	zeros := bits.LeadingZeros32(uint32(t)) &^ 7
	return uint32(t) << (zeros & 31), 4 - zeros/8
}

// inLogOrder compares two changes of one commit.
func inLogOrder(a, b Change) int {
	if a.Doc.Table != b.Doc.Table {
		x, n := stored(a.Doc.Table)
		y, m := stored(b.Doc.Table)
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(n, m))
	}
	return strings.Compare(a.Doc.ID, b.Doc.ID)
}

// commits gathers commits, row by row. Changes of several commits lie together
// in memory.
type commits struct {
	list    []Commit
	changes []Change
	from    int // of the commit under way
	sorted  bool
	mint    *mint
}

// roomOfChanges is how many changes are allocated at once, at first.
const roomOfChanges = 16

func (c *commits) add(table string, row *schema.Row) {
	if len(c.changes) == cap(c.changes) {
		under := c.changes[c.from:]
		c.changes = append(make([]Change, 0, max(2*len(c.changes), roomOfChanges)), under...)
		c.from = 0
	}
	c.changes = append(c.changes, Change{table, row})
}

// end ends the commit under way; one of which nothing is admitted is none.
func (c *commits) end(ts schema.Timestamp) {
	own := c.changes[c.from:len(c.changes):len(c.changes)]
	c.from = len(c.changes)
	if len(own) == 0 {
		return
	}
	if !c.sorted && len(own) > 1 {
		slices.SortFunc(own, inLogOrder)
	}
	c.list = append(c.list, Commit{TS: ts, Token: c.mint.token(ts), Changes: own})
}

// mint makes the tokens of one incarnation: all but the last characters are the
// same.
type mint struct {
	text [tokenChars]byte
	last byte // of the incarnation, which shares characters with the timestamp
}

// constantChars is the mark, and what the first 15 bytes of the incarnation make.
const constantChars = 1 + (tokenBytes-9)/3*4

func newMint(incarnation string) *mint {
	m := new(mint)
	copy(m.text[:], Token{Incarnation: incarnation}.String())
	if raw, err := hex.DecodeString(incarnation); err == nil && len(raw) == tokenBytes-8 {
		m.last = raw[len(raw)-1]
	}
	return m
}

// token is Token.String.
func (m *mint) token(ts schema.Timestamp) string {
	text := m.text
	var raw [9]byte
	raw[0] = m.last
	binary.BigEndian.PutUint64(raw[1:], uint64(ts))
	base64.RawURLEncoding.Encode(text[constantChars:], raw[:])
	return string(text[:])
}
