package pages

// The rule: whatever is done to a tree, it answers as a sorted slice would;
// a snapshot answers as it did when it was made; and what is absent can be put
// back.

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/firndb/firn/internal/seed"
)

// model is what a tree must hold.
type model struct {
	keys   []string
	values map[string]string
}

func (m *model) clone() *model {
	c := &model{keys: slices.Clone(m.keys), values: map[string]string{}}
	for k, v := range m.values {
		c.values[k] = v
	}
	return c
}

func (m *model) rank(key string) int { return sort.SearchStrings(m.keys, key) }

func (m *model) set(key, value string) {
	if _, ok := m.values[key]; !ok {
		m.keys = slices.Insert(m.keys, m.rank(key), key)
	}
	m.values[key] = value
}

func (m *model) del(key string) {
	if _, ok := m.values[key]; ok {
		i := m.rank(key)
		m.keys = slices.Delete(m.keys, i, i+1)
		delete(m.values, key)
	}
}

// blobFrom is the length of values that are blobs in these tests.
const blobFrom = 24

func valueOf(s string) Value {
	if len(s) >= blobFrom {
		return Value{Bytes: []byte(s[:4]), Blob: []byte(s[4:])}
	}
	return Value{Bytes: []byte(s)}
}

func (v Value) text() string { return string(v.Bytes) + string(v.Blob) }

// subject is a tree under test with its model.
type subject struct {
	t    testing.TB
	tree *Tree
	m    *model
}

// fill installs the leaf of a gap.
func (s *subject) fill(tree *Tree, g *Gap) {
	s.t.Helper()
	if err := tree.Install(g.From, s.leaf(tree, g)); err != nil {
		s.t.Fatal(err)
	}
}

// leaf is what is in a gap.
func (s *subject) leaf(tree *Tree, g *Gap) *Tree {
	s.t.Helper()
	from, to := s.m.rank(g.From), len(s.m.keys)
	if g.To != "" {
		to = s.m.rank(g.To)
	}
	if to-from != g.Count || g.Before != from {
		s.t.Fatalf("gap %+v: the model has %d from rank %d", g, to-from, from)
	}
	b := Builder{Page: tree.page}
	for _, key := range s.m.keys[from:to] {
		b.Add(key, valueOf(s.m.values[key]))
	}
	return b.Tree()
}

func (s *subject) set(key, value string) {
	before, had := s.m.values[key]
	if old, got, ok := s.tree.Set(key, valueOf(value)); ok {
		if got != had || old.text() != before {
			s.t.Fatalf("set %q: had %t, want %t", key, got, had)
		}
	} else if !had {
		if _, ok := s.tree.Adjust(key, 1); !ok {
			s.t.Fatalf("adjust %q: refused", key)
		}
	}
	s.m.set(key, value)
}

func (s *subject) del(key string) {
	before, had := s.m.values[key]
	if old, got, ok := s.tree.Delete(key); ok {
		if got != had || old.text() != before {
			s.t.Fatalf("delete %q: had %t, want %t", key, got, had)
		}
	} else if had {
		if _, ok := s.tree.Adjust(key, -1); !ok {
			s.t.Fatalf("adjust %q: refused", key)
		}
	}
	s.m.del(key)
}

// check compares a few answers of a tree with those of the model, and loads
// what is absent into it.
func (s *subject) check(rng *rand.Rand, tree *Tree, key string) {
	s.t.Helper()
	if tree.Len() != len(s.m.keys) {
		s.t.Fatalf("len: got %d, want %d", tree.Len(), len(s.m.keys))
	}
	want, has := s.m.values[key]
	v, ok, gap := tree.Get(key)
	if gap == nil && (ok != has || v.text() != want) {
		s.t.Fatalf("get %q: got %q, %t, want %q, %t", key, v.text(), ok, want, has)
	}
	if gap != nil && rng.IntN(2) == 0 {
		s.fill(tree, gap)
	}
	if rank, found, gap := tree.Rank(key); gap == nil && (rank != s.m.rank(key) || found != has) {
		s.t.Fatalf("rank %q: got %d, %t, want %d, %t", key, rank, found, s.m.rank(key), has)
	}
	if n := len(s.m.keys); n > 0 {
		i := rng.IntN(n)
		got, v, gap := tree.At(i)
		if gap == nil && (string(got) != s.m.keys[i] || v.text() != s.m.values[s.m.keys[i]]) {
			s.t.Fatalf("at %d: got %q, want %q", i, got, s.m.keys[i])
		}
		if gap != nil && (i < gap.Before || i >= gap.Before+gap.Count) {
			s.t.Fatalf("at %d: got gap %+v", i, gap)
		}
	}
}

// checkAll walks a tree in both directions from a key, and loads all that is
// absent on the way.
func (s *subject) checkAll(tree *Tree, from string) {
	s.t.Helper()
	var up []string
	for at := from; ; {
		gap := tree.Ascend(at, func(key []byte, v Value) bool {
			up = append(up, string(key)+"="+v.text())
			return true
		})
		if gap == nil {
			break
		}
		s.fill(tree, gap)
		at = max(gap.From, from)
	}
	first := s.m.rank(from)
	s.same("ascend", up, s.m.keys[first:])
	if _, has := s.m.values[from]; has {
		first++
	}
	if tree.gen != 0 { // a walk up has loaded all
		tree.Evict("", tree.bytes/2, nil)
		tree.Evict("", tree.bytes/2, nil)
	}
	var down []string
	for b := (Bound{from, AtOrBefore}); ; {
		each := func(key []byte, v Value) bool {
			down = append(down, string(key)+"="+v.text())
			return true
		}
		gap := tree.Descend(b, each)
		if gap == nil {
			break
		}
		if gap.To != "" && b.Key >= gap.To {
			b = Bound{gap.To, Before}
		}
		if len(down)%2 == 0 {
			s.fill(tree, gap)
			continue
		}
		s.leaf(tree, gap).Descend(b, each)
		if gap.From == "" {
			break
		}
		b = Bound{gap.From, Before}
	}
	slices.Reverse(down)
	s.same("descend", down, s.m.keys[:first])
}

func (s *subject) same(how string, got, keys []string) {
	s.t.Helper()
	for i, key := range keys {
		if want := key + "=" + s.m.values[key]; i >= len(got) || got[i] != want {
			s.t.Fatalf("%s: element %d of %d: got %q of %d, want %q", how, i, len(keys), got[min(i, len(got)):min(i+1, len(got))], len(got), want)
		}
	}
	if len(got) != len(keys) {
		s.t.Fatalf("%s: got %d, want %d", how, len(got), len(keys))
	}
}

// account adds up what a tree takes, and checks its invariants.
func account(t testing.TB, tree *Tree) {
	t.Helper()
	bytes, pages, depth := int64(0), 0, -1
	var visit func(c *child, level int)
	visit = func(c *child, level int) {
		switch {
		case c.kids != nil:
			bytes += branchBytes(c.kids)
			checkHeads(t, c.kids)
			if n := len(c.kids.kids); n > tree.limit || n == 0 {
				t.Fatalf("a branch of %d", n)
			}
			if n := countOf(c.kids.kids); n != c.count {
				t.Fatalf("a branch counts %d, its children %d", c.count, n)
			}
			for i := range c.kids.kids {
				if k := &c.kids.kids[i]; k.count == 0 || i > 1 && k.sep <= c.kids.kids[i-1].sep {
					t.Fatalf("child %d counts %d, from %q after %q", i, k.count, k.sep, c.kids.kids[i-1].sep)
				}
				visit(&c.kids.kids[i], level+1)
			}
			return
		case c.leaf != nil:
			bytes += c.leaf.bytes()
			pages++
			checkLeaf(t, c)
		}
		if depth < 0 {
			depth = level
		}
		if depth != level {
			t.Fatalf("leaves at depth %d and %d", depth, level)
		}
	}
	visit(&tree.root, 0)
	if bytes != tree.bytes || pages != tree.pages {
		t.Fatalf("account: got %d bytes, %d pages, want %d, %d", tree.bytes, tree.pages, bytes, pages)
	}
}

// checkLeaf checks that a leaf's cells, dead ones included, are all that it has
// written, and that no more is seen of them than was taken.
func checkLeaf(t testing.TB, c *child) {
	t.Helper()
	l, live := c.leaf, 0
	for i := range int(l.n) {
		live += l.cell(i).size
	}
	if int(l.n) != c.count || live+int(l.dead) != len(l.cells) || len(l.index) != int(l.prefix)+int(l.n)*slotBytes {
		t.Fatalf("a leaf counts %d, has %d in %d bytes, %d of %d dead, %d live", c.count, l.n, len(l.index), l.dead, len(l.cells), live)
	}
	if l.n > 0 && int(l.taken.Load()) < len(l.cells) {
		t.Fatalf("a leaf has %d bytes of cells, of %d that are taken", len(l.cells), l.taken.Load())
	}
}

// checkHeads checks that what a branch finds its children by is what they say.
func checkHeads(t testing.TB, b *branch) {
	t.Helper()
	made := branch{kids: b.kids}
	made.index()
	if made.shared != b.shared || made.seps != b.seps || !slices.Equal(made.heads, b.heads) {
		t.Fatalf("a branch of %d children has %q and %x, want %q and %x", len(b.kids), b.shared, b.heads, made.shared, made.heads)
	}
}

// randomKey makes keys that share prefixes, differ by zeros, and are of all
// lengths.
func randomKey(rng *rand.Rand, space int) string {
	n := rng.IntN(space)
	switch rng.IntN(5) {
	case 3: // a branch tells them from the others, and not from each other, by eight bytes
		return "k" + strings.Repeat("y", 12) + fmt.Sprintf("%04d", n)
	case 0:
		return fmt.Sprintf("k%04d", n)
	case 1:
		return "k0" + strings.Repeat("\x00", n%7) + fmt.Sprint(n%5)
	case 2:
		return fmt.Sprintf("k%04d%s", n, strings.Repeat("x", n%40))
	}
	return "k" + string(rune('a'+n%26))
}

func TestTreeIsASortedMap(t *testing.T) {
	for _, page := range []int{96, 256, PageBytes} {
		t.Run(fmt.Sprintf("page=%d", page), func(t *testing.T) {
			seed := seed.Fresh(t)
			for round := range 4 {
				rng := seed.Rand(uint64(round))
				s := &subject{t: t, tree: New(page), m: &model{values: map[string]string{}}}
				script(s, rng, 3000)
			}
		})
	}
}

// script does n random things to a tree.
func script(s *subject, rng *rand.Rand, n int) {
	type kept struct {
		tree *Tree
		m    *model
	}
	var snapshots []kept
	hand := ""
	for i := range n {
		space := 20 + 400*(i/500%2) // it grows and shrinks
		key := randomKey(rng, space)
		switch op := rng.IntN(100); {
		case op < 45+20*(i/700%2):
			s.set(key, strings.Repeat("v", rng.IntN(2*blobFrom))+fmt.Sprint(i))
		case op < 70:
			if m := len(s.m.keys); m > 0 && rng.IntN(2) == 0 {
				key = s.m.keys[rng.IntN(m)]
			}
			s.del(key)
		case op < 74:
			snapshots = append(snapshots, kept{s.tree.Snapshot(), s.m.clone()})
		case op < 78:
			hand, _ = s.tree.Evict(hand, int64(rng.IntN(2000)), nil)
		case op < 80:
			if gap := s.tree.AbsentAt(key); gap != nil {
				s.tree.Cut(key, s.m.rank(key)-gap.Before)
			}
		default:
			s.check(rng, s.tree, key)
		}
		if i%97 == 0 {
			s.checkAll(s.tree, key)
		}
		account(s.t, s.tree)
		if len(snapshots) > 4 || len(snapshots) > 0 && i == n-1 {
			k := snapshots[0]
			snapshots = snapshots[1:]
			old := &subject{t: s.t, tree: k.tree.Fork(), m: k.m}
			old.checkAll(old.tree, key)
			account(s.t, old.tree)
		}
	}
	s.checkAll(s.tree, "")
}

// TestEndsFillTheirPages: what grows at either end leaves full pages behind.
func TestEndsFillTheirPages(t *testing.T) {
	for name, step := range map[string]int{"up": 1, "down": -1} {
		tree := New(0)
		const n = 20000
		for i := range n {
			tree.Set(fmt.Sprintf("list:%08d", n+step*i), Value{Bytes: []byte("12345678")})
		}
		account(t, tree)
		if each := float64(tree.Bytes()) / n; each > 26 {
			t.Errorf("%s: got %.1f bytes an entry, want at most 26", name, each)
		}
	}
}

// TestShrinkingGivesMemoryBack removes all but a few of many entries.
func TestShrinkingGivesMemoryBack(t *testing.T) {
	seed := seed.Fresh(t)
	rng := seed.Rand(0)
	tree := New(0)
	const n = 20000
	order := rng.Perm(n)
	for _, i := range order {
		tree.Set(fmt.Sprintf("member:%08d", i), Value{Bytes: []byte("12345678")})
	}
	full := tree.Bytes()
	for _, i := range order[:n-n/50] {
		tree.Delete(fmt.Sprintf("member:%08d", i))
	}
	account(t, tree)
	if got, want := tree.Bytes(), full/20; got > want {
		t.Errorf("bytes of a fiftieth: got %d of %d, want at most %d", got, full, want)
	}
	for _, i := range order[n-n/50:] {
		tree.Delete(fmt.Sprintf("member:%08d", i))
	}
	if tree.Bytes() != 0 || tree.Len() != 0 {
		t.Errorf("empty: got %d bytes, %d entries, want none", tree.Bytes(), tree.Len())
	}
}

func TestSmallMapsAreSmall(t *testing.T) {
	tree := New(0)
	for i := range 10 {
		tree.Set(fmt.Sprintf("0123456789/member:%08d", i*7919%97), Value{Bytes: []byte("12345678")})
	}
	if got := tree.Bytes(); got > 600 {
		t.Errorf("ten members: got %d bytes, want at most 600", got)
	}
}

func TestWrongCountsAreRefused(t *testing.T) {
	tree := New(0)
	for i := range 10 {
		tree.Set(fmt.Sprint("key", i), Value{})
	}
	tree.Evict("", 1<<20, nil)
	tree.Evict("", 1<<20, nil)
	if tree.Pages() != 0 || tree.Len() != 10 {
		t.Fatalf("after eviction: got %d pages, %d entries, want 0, 10", tree.Pages(), tree.Len())
	}
	var b Builder
	for i := range 9 {
		b.Add(fmt.Sprint("key", i), Value{})
	}
	if err := tree.Install("key3", b.Tree()); err != ErrCount {
		t.Errorf("nine of ten: got %v, want %v", err, ErrCount)
	}
}

// TestBuildersCountWhatIsElsewhere makes trees of which parts are known only by
// their number.
func TestBuildersCountWhatIsElsewhere(t *testing.T) {
	seed := seed.Fresh(t)
	rng := seed.Rand(0)
	for range 50 {
		s := &subject{t: t, m: &model{values: map[string]string{}}}
		for range 300 {
			s.m.set(randomKey(rng, 300), "v")
		}
		b := Builder{Page: 128}
		for keys := s.m.keys; len(keys) > 0; {
			some := keys[:min(1+rng.IntN(40), len(keys))]
			if keys = keys[len(some):]; len(s.m.keys) > len(some)+len(keys) {
				b.Cut(some[0])
			}
			if rng.IntN(2) == 0 {
				b.Absent(len(some), 0)
				continue
			}
			for _, key := range some {
				b.Add(key, valueOf("v"))
			}
		}
		s.tree = b.Tree()
		account(t, s.tree)
		for range 100 {
			s.set(randomKey(rng, 300), "v")
			s.del(randomKey(rng, 300))
		}
		s.checkAll(s.tree, randomKey(rng, 300))
	}
}

// FuzzTree reads operations from bytes.
func FuzzTree(f *testing.F) {
	f.Add([]byte("\x00a\x01b\x02c\x03d\x04e\x05f\x00aa\x01ab"))
	f.Add([]byte("0123456789abcdefghijklmnopqrstuvwxyz"))
	f.Fuzz(func(t *testing.T, ops []byte) {
		s := &subject{t: t, tree: New(80), m: &model{values: map[string]string{}}}
		for i := 0; i+1 < len(ops); i += 2 {
			key := strings.Repeat(string(ops[i+1:i+2]), 1+int(ops[i]>>5))
			switch ops[i] % 8 {
			case 0, 1, 2, 3:
				s.set(key, strings.Repeat("v", int(ops[i+1])%40))
			case 4, 5:
				s.del(key)
			case 6:
				s.tree.Evict(key, int64(ops[i+1]), nil)
			case 7:
				s.checkAll(s.tree, key)
			}
			account(t, s.tree)
		}
		s.checkAll(s.tree, "")
	})
}
