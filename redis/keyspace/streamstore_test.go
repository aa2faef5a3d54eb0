package keyspace

import (
	"bytes"
	"errors"
	"testing"
)

func TestStreamDocumentsAreWhatTheCommentsSay(t *testing.T) {
	e := NewStreamEntry([][]byte{[]byte("f"), []byte("v")}, true)
	if want := []byte{0x93, 0xc0, 0xc4, 1, 'f', 0xc4, 1, 'v'}; !bytes.Equal(e, want) {
		t.Errorf("entry\n got % x\nwant % x", e, want)
	}
	for _, st := range []Stream{
		{},
		{Last: GreatestID, First: StreamID{0, 1}, Deleted: GreatestID, Added: 1 << 62, Nodes: 1},
		{
			Last: StreamID{1795248886164, 3}, First: StreamID{1795248880000, 0}, Deleted: StreamID{5, 5}, Added: 9, Groups: 2, Serial: 7, Nodes: 3,
			Node: StreamNode{StreamID{1795248886000, 1}, StreamID{1795248886164, 3}, 99, 4095, 1<<32 - 1}, Head: StreamNodeEnd{100, StreamID{1795248880001, 9}},
		},
	} {
		b := st.AppendTo(nil)
		got, err := ParseStream(&KeyDoc{Value: b})
		if err != nil || got != st {
			t.Errorf("stream\n got %+v, %v\nwant %+v", got, err, st)
		}
		for n := range b {
			if _, err := ParseStream(&KeyDoc{Value: b[:n]}); !errors.Is(err, ErrDamaged) {
				t.Errorf("%d bytes of % x\n got %v\nwant %v", n, b, err, ErrDamaged)
			}
		}
	}
}
