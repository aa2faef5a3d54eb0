package keyspace

// The rule: documents of groups and consumers are the same to the byte, written
// by the library and by the codec of key documents, and either reads exactly
// what the other does.

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/pack"
	"github.com/firndb/firn/internal/seed"
)

func packedGroup(g *StreamGroup) []byte {
	b := pack.AppendUint([]byte{0x98}, uint64(g.Serial))
	b = appendIDPair(b, g.Last, 0, 1)
	b = pack.AppendUint(b, uint64(g.Read+1))
	b = pack.AppendUint(b, uint64(g.Consumers))
	return packedBounds(b, &g.Pending)
}

func packedConsumer(m *StreamConsumer) []byte {
	return packedBounds(pack.AppendUint([]byte{0x95}, uint64(m.Seen)), &m.Pending)
}

func packedBounds(b []byte, p *pendingBounds) []byte {
	b = pack.AppendUint(b, uint64(p.Count))
	b = appendIDPair(b, p.low, 0, 1)
	b = appendIDPair(b, p.high, 0, 1)
	return pack.AppendUint(b, uint64(p.stale))
}

func unpackBounds(d *pack.Decoder) pendingBounds {
	return pendingBounds{d.Int(), readID(d), readID(d), d.Int()}
}

// unpackGroup is ParseGroup by the codec of key documents.
func unpackGroup(b []byte) (StreamGroup, bool) {
	d := pack.Decoder{B: b}
	d.Expect(0x98)
	g := StreamGroup{Serial: d.Int(), Last: readID(&d), Read: int64(d.Uint()) - 1, Consumers: d.Int(), Pending: unpackBounds(&d)}
	return g, !d.Bad && len(d.B) == 0 && bytes.Equal(packedGroup(&g), b)
}

func checkGroupDocument(t *testing.T, b []byte) {
	t.Helper()
	want, ok := unpackGroup(b)
	got, err := ParseGroup(&firn.Document{ID: "g", TS: 1, Value: b}, nil)
	switch {
	case ok != (err == nil):
		t.Fatalf("%x: the library says %v, ours %v", b, err, ok)
	case err != nil && !errors.Is(err, ErrDamaged):
		t.Fatalf("%x: got %v, want ErrDamaged", b, err)
	case ok && (got.Serial != want.Serial || got.Last != want.Last || got.Read != want.Read || got.Consumers != want.Consumers || got.Pending != want.Pending):
		t.Fatalf("%x\n got %+v\nwant %+v", b, got, want)
	}
}

func TestBothCodecsWriteTheSameGroups(t *testing.T) {
	rng := seed.Fresh(t).Rand(0)
	numbers := []uint64{0, 1, 127, 128, 255, 256, 65535, 65536, math.MaxUint32, math.MaxUint32 + 1, math.MaxInt64}
	n := func() int64 { return int64(numbers[rng.IntN(len(numbers))]) }
	id := func() StreamID {
		if rng.IntN(3) == 0 {
			return StreamID{}
		}
		return StreamID{uint64(n()) * uint64(rng.IntN(3)), uint64(n()) + uint64(rng.IntN(2))}
	}
	for range seed.Steps(t, 3000) {
		p := pendingBounds{n(), id(), id(), n()}
		g := StreamGroup{Serial: n(), Last: id(), Read: n() - 1, Consumers: n(), Pending: p}
		m := StreamConsumer{Seen: n(), Pending: p}
		if got, want := g.Encode(), packedGroup(&g); !bytes.Equal(got, want) {
			t.Fatalf("group %+v\n got %x\nwant %x", g, got, want)
		}
		if got, want := m.Encode(), packedConsumer(&m); !bytes.Equal(got, want) {
			t.Fatalf("consumer %+v\n got %x\nwant %x", m, got, want)
		}
		back, err := ParseConsumer(&firn.Document{Value: m.Encode()}, nil)
		if err != nil || back.Seen != m.Seen || back.Pending != m.Pending {
			t.Fatalf("consumer\n got %+v, %v\nwant %+v", back, err, m)
		}
		b := g.Encode()
		checkGroupDocument(t, b)
		checkGroupDocument(t, b[:rng.IntN(len(b))])
		changed := slices.Clone(b)
		changed[rng.IntN(len(b))] = byte(rng.Uint32())
		checkGroupDocument(t, changed)
		checkGroupDocument(t, append(changed, 0xc0))
	}
}

// FuzzGroupDocument: no bytes are read by one codec and refused by the other.
func FuzzGroupDocument(f *testing.F) {
	g := StreamGroup{Serial: 1, Last: StreamID{5, 1}, Read: 3, Consumers: 2}
	f.Add(g.Encode())
	f.Add([]byte{0x98, 1, 0xc0, 0, 0, 0, 0xc0, 0xc0, 0})
	f.Add([]byte{0xdc, 0, 8, 1, 0xc0, 0, 0, 0, 0xc0, 0xc0, 0}) // a longer form of the header
	f.Add([]byte{0x98, 0xff, 0xc0, 0, 0, 0, 0xc0, 0xc0, 0})    // a negative number
	f.Fuzz(func(t *testing.T, b []byte) { checkGroupDocument(t, b) })
}
