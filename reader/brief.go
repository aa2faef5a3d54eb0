package reader

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"sync/atomic"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/internal/pages"
	"github.com/firndb/firn/schema"
)

// A question about one place in a leaf that is absent is answered by walking
// there from the leaf's nearer end: a quarter of its keys, mostly, and nothing
// is built of them. A leaf that is asked again and again is read as a whole and
// kept, from when the short walks have cost as much as that.

// briefs is how often absent leaves were asked a short question lately. What it
// says of a leaf may be wrong, which costs time and nothing else.
type briefs struct {
	seed  maphash.Seed
	asked [1024]atomic.Uint32 // by hash: a mark of the leaf, and how often in the last two bits
}

// briefTimes is how many short walks of a leaf cost about as much as reading
// it.
const briefTimes = 3

// again counts a question about the leaf of a range that begins at from, and
// says whether that was one too many.
func (b *briefs) again(k rangeKey, from string) bool {
	sum := maphash.String(b.seed, k.prefix) ^ 3*maphash.String(b.seed, from) ^ uint64(k.index)
	slot, mark := &b.asked[sum%uint64(len(b.asked))], uint32(sum>>32)&^3
	was := slot.Load()
	if was&^3 != mark {
		was = mark
	}
	if was&3 == briefTimes {
		return true
	}
	slot.Store(was + 1)
	return false
}

// brief says whether to answer a question about a gap by a short walk.
func (r *held) brief(g *pages.Gap) bool {
	return !r.view.hot && !r.apart && g.Count >= leastBrief && (r.gap == nil || *r.gap != *g) && !r.view.head.briefs.again(r.key, g.From)
}

// leastBrief is the size of a leaf from which it is not read for one question:
// finding where a walk begins costs as much as so many keys.
const leastBrief = 32

// keysOf is the keys of a range that belong to a gap.
func (k rangeKey) keysOf(g *pages.Gap) schema.KeyRange {
	all := index.PrefixRange(k.index, k.prefix)
	if g.From != "" {
		all.From = g.From
	}
	if g.To != "" {
		all.To = g.To
	}
	return all
}

// rankIn is how many keys of a gap come before key.
func (r *held) rankIn(g *pages.Gap, key string) (rank int, err error) {
	part := r.key.keysOf(g)
	share := shareBefore(part, key)
	if part.Reverse = share > 0.5; part.Reverse {
		part.From, share = key, 1-share
	} else {
		part.To = key
	}
	m := walking(r.view, part, chunkFor(int(share*float64(g.Count))))
	for {
		_, ok, err := m.next()
		if err != nil {
			return 0, r.unread(err)
		}
		if !ok {
			break
		}
		if rank++; rank > g.Count {
			return 0, r.checked(pages.ErrCount)
		}
	}
	if part.Reverse {
		rank = g.Count - rank
	}
	return rank, nil
}

// atIn is the entry of a rank in a gap.
func (r *held) atIn(g *pages.Gap, rank int) (e schema.Entry, err error) {
	part, at, before := r.key.keysOf(g), rank, ""
	if part.Reverse = rank >= g.Count/2; part.Reverse {
		rank = g.Count - 1 - rank
	}
	m := walking(r.view, part, chunkFor(rank))
	for ; ; rank-- {
		e, ok, err := m.next()
		if err != nil {
			return e, r.unread(err)
		}
		if !ok {
			return e, r.checked(pages.ErrCount)
		}
		if rank == 0 {
			r.cut(part.Reverse, at, before, e.Key)
			return e, nil
		}
		before = e.Key
	}
}

// cut makes two gaps of one, in a transaction, between the entry of a rank in
// it, and the one that was met before that, if there was one: the next question
// is nearer to an end then.
func (r *held) cut(reverse bool, rank int, before, key string) {
	switch {
	case before == "" || !r.view.tx || r.warm == nil || r.apart:
	case reverse:
		r.warm.work.Cut(pages.Separator(key, before), rank+1)
	default:
		r.warm.work.Cut(pages.Separator(before, key), rank)
	}
}

// fewKeys is how many keys a walk may want that does not read the leaves of
// where it comes.
const fewKeys = 64

// walkFew visits at most limit keys from start on, from tail and file.
func (r *held) walkFew(keys schema.KeyRange, start string, limit int, visit visitor) error {
	if limit == 1 {
		visit([]byte(start), pages.Value{})
		return nil
	}
	if keys.Reverse {
		keys.To = start + "\x00"
	} else {
		keys.From = start
	}
	m := walking(r.view, keys, chunkFor(limit))
	for {
		e, ok, err := m.next()
		if err != nil {
			return r.unread(err)
		}
		if !ok || !visit([]byte(e.Key), pages.Value{}) {
			return nil
		}
	}
}

// unread says what could not be read.
func (r *held) unread(err error) error {
	return fmt.Errorf("walk a part of a range of %s at %d: %w", r.t.Name, r.view.at, err)
}

// chunkFor is the size of the chunks of a walk of about n keys, so that most
// are one.
func chunkFor(n int) int { return min(max(n+n/8+firstChunk, firstChunk), maxChunk) }

// shareBefore guesses which part of a range's keys comes before key, from the
// first bytes in which its ends differ.
func shareBefore(r schema.KeyRange, key string) float64 {
	same := 0
	for same < min(len(r.From), len(r.To)) && r.From[same] == r.To[same] {
		same++
	}
	number := func(s string) float64 {
		var b [8]byte
		copy(b[:], s[min(same, len(s)):])
		return float64(binary.BigEndian.Uint64(b[:]))
	}
	from, to := number(r.From), number(r.To)
	if to <= from {
		return 0
	}
	return min(max((number(key)-from)/(to-from), 0), 1)
}
