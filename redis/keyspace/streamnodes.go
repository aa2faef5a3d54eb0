package keyspace

import (
	"math"

	"github.com/firndb/firn/resp"
)

// Redis keeps the entries of a stream in nodes, one behind the other, and
// XTRIM and XADD with ~ cut off whole nodes only. So that they leave as many
// entries here, the entries that would begin a node are marked, and the key
// document remembers how full the last node is, to the byte. The first entry
// of a stream begins a node whether it is marked or not. Nothing else depends
// on nodes.

// When a node is full, whatever EncodingLimits say.
const (
	mostNodeBytes = 1 << 30       // STREAM_LISTPACK_MAX_SIZE
	closedNode    = math.MaxInt32 // entries of a node that takes no more
)

// nodeIsFull says whether n bytes more do not fit into the last node.
func (l *EncodingLimits) nodeIsFull(in *StreamNode, n int64) bool {
	bytes, entries := l.NodeBytes.Load(), l.NodeEntries.Load()
	if bytes == 0 || bytes > mostNodeBytes {
		bytes = mostNodeBytes
	}
	return in.Bytes+n >= bytes || entries > 0 && in.Entries >= entries || in.Entries == closedNode
}

// beginsNode accounts for a new entry in the last node, or in a new one, and
// says which. The stream is still the one without the entry.
func (st *Stream) beginsNode(l *EncodingLimits, length int64, id StreamID, fields [][]byte) bool {
	total := int64(0)
	for _, b := range fields {
		total += int64(len(b))
	}
	hash := hashFields(fields)
	begins := st.Nodes == 0 || l.nodeIsFull(&st.Node, total)
	if st.Nodes == 1 {
		st.Head = StreamNodeEnd{} // it grows
	}
	if begins {
		if st.Nodes == 1 {
			st.Head = StreamNodeEnd{length, st.Node.Last}
		}
		st.Nodes++
		st.Node = StreamNode{First: id, Fields: hash, Bytes: sizeNodeHead(fields)}
	}
	st.Node.Entries++
	st.Node.Last = id
	st.Node.Bytes += sizeNodeEntry(id, &st.Node, fields, st.Node.Fields == hash)
	return begins
}

// closeNode makes the next entry begin a node: the last one is gone, and how
// full the one before it is was not kept.
func (st *Stream) closeNode() {
	st.Node = StreamNode{Entries: closedNode}
	if st.Nodes == 1 {
		st.Node.Last = st.Head.Last
	}
}

// hashFields is the hash of the fields' names, values skipped.
func hashFields(fields [][]byte) uint32 {
	h := NewFieldsHash()
	for i := 0; i < len(fields); i += 2 {
		h.Add(fields[i])
	}
	return uint32(h)
}

// fieldsHash is a hash (FNV-1a) of names.
type fieldsHash uint32

func NewFieldsHash() fieldsHash { return 2166136261 }

func (h *fieldsHash) Add(name []byte) {
	for _, b := range name {
		*h = (*h ^ fieldsHash(b)) * 16777619
	}
	*h = (*h ^ 0x100) * 16777619
}

// A node is a listpack: 7 bytes around its elements; first the number of live
// and of deleted entries and the fields of the first entry, then the entries.

// sizeNodeHead is the size of a node without entries.
func sizeNodeHead(fields [][]byte) int64 {
	n := 7 + sizeListpackInt(1) + sizeListpackInt(0) + sizeListpackInt(int64(len(fields)/2)) + sizeListpackInt(0)
	for i := 0; i < len(fields); i += 2 {
		n += sizeListpackString(fields[i])
	}
	return n
}

// sizeNodeEntry is what an entry adds to a node. One with the same fields as the
// node's first leaves them out.
func sizeNodeEntry(id StreamID, in *StreamNode, fields [][]byte, same bool) int64 {
	n := sizeListpackInt(0) + sizeListpackInt(int64(id.Ms-in.First.Ms)) + sizeListpackInt(int64(id.Seq-in.First.Seq))
	elements := int64(len(fields)/2) + 3
	if !same {
		n += sizeListpackInt(int64(len(fields) / 2))
		elements += int64(len(fields)/2) + 1
	}
	for i, b := range fields {
		if i%2 == 1 || !same {
			n += sizeListpackString(b)
		}
	}
	return n + sizeListpackInt(elements)
}

func sizeListpackString(b []byte) int64 {
	if n, ok := resp.ParseInt(b); ok {
		return sizeListpackInt(n)
	}
	n := int64(len(b))
	switch {
	case n < 64:
		n++
	case n < 4096:
		n += 2
	default:
		n += 5
	}
	return n + sizeListpackBack(n)
}

func sizeListpackInt(v int64) int64 {
	switch {
	case v >= 0 && v <= 127:
		return 1 + 1
	case v >= -1<<12 && v < 1<<12:
		return 2 + 1
	case v >= -1<<15 && v < 1<<15:
		return 3 + 1
	case v >= -1<<23 && v < 1<<23:
		return 4 + 1
	case v >= -1<<31 && v < 1<<31:
		return 5 + 1
	}
	return 9 + 1
}

// sizeListpackBack is how many bytes an element's length takes behind it.
func sizeListpackBack(n int64) int64 {
	switch {
	case n <= 127:
		return 1
	case n < 16383:
		return 2
	case n < 2097151:
		return 3
	case n < 268435455:
		return 4
	}
	return 5
}
