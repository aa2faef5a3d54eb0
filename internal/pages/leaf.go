package pages

import (
	"encoding/binary"
	"strings"
	"sync/atomic"
	"unsafe"
)

// leaf is entries in order, in two pieces of memory:
//
//	index  prefix, common to all keys; then slots, 8 bytes each: the first 4
//	       bytes of the key behind the prefix, a big endian number, zeros if it
//	       is shorter; and where the cell begins
//	cells  one appended to the other, in no order: length of the key behind the
//	       prefix, twice the length of the value (one more if there is a
//	       blob), the key behind those 4 bytes, the value, the number of the
//	       blob
//
// A copy of a leaf has an index of its own and shares the cells: what it adds
// to them is behind everything that others see, and only one of all that share
// them gets any piece of the room, see take. So a change copies a quarter of the
// leaf. A cell that others may see is never written to.
type leaf struct {
	gen    uint64
	index  []byte
	cells  []byte
	taken  *atomic.Int32 // how much of the room for cells has been taken
	blobs  [][]byte      // those of dead cells are nil
	n      int32
	prefix int32       // its length
	dead   int32       // bytes of cells that no slot leads to
	own    int32       // cells from here on are this leaf's alone
	used   atomic.Bool // since the clock's hand came by
}

const (
	slotBytes = 8
	headBytes = 4
	blobBytes = 4
	leastPage = 48 // bytes of the smallest piece of memory
)

// cell is an entry as the page has it.
type cell struct {
	length int    // of the key behind the prefix
	rest   []byte // of the key, behind prefix and head
	value  []byte
	blob   int // its number, from 1; 0 is none
	size   int
}

func (l *leaf) slot(i int) []byte {
	at := int(l.prefix) + i*slotBytes
	return l.index[at : at+slotBytes : at+slotBytes]
}

func (l *leaf) head(i int) uint32 { return binary.LittleEndian.Uint32(l.slot(i)) }

func (l *leaf) place(i int) int { return int(binary.LittleEndian.Uint32(l.slot(i)[4:])) }

func (l *leaf) setSlot(i int, head uint32, place int) {
	s := l.slot(i)
	binary.LittleEndian.PutUint32(s, head)
	binary.LittleEndian.PutUint32(s[4:], uint32(place))
}

func (l *leaf) cell(i int) (c cell) {
	page := l.cells[l.place(i):]
	length, a := uvarint(page)
	value, b := uvarint(page[a:])
	at := a + b
	rest := max(int(length)-headBytes, 0)
	n := int(value >> 1)
	c.length = int(length)
	c.rest = page[at : at+rest : at+rest]
	at += rest
	c.value = page[at : at+n : at+n]
	at += n
	if value&1 != 0 {
		c.blob = int(binary.LittleEndian.Uint32(page[at:]))
		at += blobBytes
	}
	c.size = at
	return c
}

// uvarint is binary.Uvarint, quick for what fits in a byte.
func uvarint(b []byte) (uint64, int) {
	if b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return binary.Uvarint(b)
}

func uvarintBytes(x uint64) int {
	n := 1
	for ; x >= 0x80; x >>= 7 {
		n++
	}
	return n
}

func (l *leaf) value(i int) Value { return l.valueOf(l.cell(i)) }

func (l *leaf) valueOf(c cell) Value {
	v := Value{Bytes: c.value}
	if c.blob > 0 {
		v.Blob = l.blobs[c.blob-1]
	}
	return v
}

// entry is an entry, its key behind the prefix, which room holds already.
func (l *leaf) entry(room []byte, i int) (key []byte, v Value) {
	c := l.cell(i)
	head := l.head(i)
	key = append(room, byte(head>>24), byte(head>>16), byte(head>>8), byte(head))
	if c.length < headBytes {
		key = key[:len(room)+c.length]
	}
	return append(key, c.rest...), l.valueOf(c)
}

// appendKey appends the key of an entry.
func (l *leaf) appendKey(dst []byte, i int) []byte {
	c := l.cell(i)
	if n := len(dst) + int(l.prefix) + c.length; n > cap(dst) {
		dst = append(make([]byte, 0, n), dst...)
	}
	dst = append(dst, l.index[:l.prefix]...)
	var head [headBytes]byte
	binary.BigEndian.PutUint32(head[:], l.head(i))
	dst = append(dst, head[:min(c.length, headBytes)]...)
	return append(dst, c.rest...)
}

func headOf[K string | []byte](rest K) (head uint32) {
	switch {
	case len(rest) >= 4:
		return uint32(rest[0])<<24 | uint32(rest[1])<<16 | uint32(rest[2])<<8 | uint32(rest[3])
	case len(rest) == 3:
		return uint32(rest[0])<<24 | uint32(rest[1])<<16 | uint32(rest[2])<<8
	case len(rest) == 2:
		return uint32(rest[0])<<24 | uint32(rest[1])<<16
	case len(rest) == 1:
		return uint32(rest[0]) << 24
	}
	return 0
}

// search is where a key is, or would be.
func (l *leaf) search(key string) (i int, found bool) {
	if l.n == 0 {
		return 0, false
	}
	if prefix := l.index[:l.prefix]; !hasPrefix(key, prefix) {
		if key < string(prefix) {
			return 0, false
		}
		return int(l.n), false
	}
	rest := key[l.prefix:]
	head := headOf(rest)
	low, high := 0, int(l.n)
	for low < high {
		middle := int(uint(low+high) >> 1)
		c := 0
		switch at := l.head(middle); {
		case at < head:
			c = -1
		case at > head:
			c = 1
		default:
			c = l.compareTail(middle, rest)
		}
		if c == 0 {
			return middle, true
		}
		if c < 0 {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, false
}

func hasPrefix(key string, prefix []byte) bool {
	return len(key) >= len(prefix) && key[:len(prefix)] == string(prefix)
}

// compareTail compares an entry with a key of the same head.
func (l *leaf) compareTail(i int, rest string) int {
	c := l.cell(i)
	if c.length <= headBytes || len(rest) <= headBytes {
		return c.length - len(rest)
	}
	return strings.Compare(unsafe.String(unsafe.SliceData(c.rest), len(c.rest)), rest[headBytes:])
}

// fill is the bytes that the entries need.
func (l *leaf) fill() int {
	return int(l.prefix) + int(l.n)*slotBytes + len(l.cells) - int(l.dead)
}

// bytes is the memory that the leaf takes. What it shares counts.
func (l *leaf) bytes() int64 {
	n := int64(leafOverhead + cap(l.index) + cap(l.cells) + cap(l.blobs)*sliceBytes)
	for _, blob := range l.blobs {
		n += int64(cap(blob))
	}
	return n
}

// room is memory for at least n bytes, as large as what is to be had for it.
func room(n int) []byte {
	page := append([]byte(nil), make([]byte, max(n, leastPage))...)
	return page[:cap(page)]
}

// cellBytes is the size of a new entry's cell.
func (l *leaf) cellBytes(key string, v Value) int {
	return cellBytes(len(key)-int(l.prefix), len(v.Bytes), v.Blob != nil)
}

// cellBytes is the size of a cell: of a key of length bytes behind the prefix.
func cellBytes(length, value int, blob bool) int {
	n := uvarintBytes(uint64(length)) + uvarintBytes(uint64(value)*2) + max(length-headBytes, 0) + value
	if blob {
		n += blobBytes
	}
	return n
}

// need is how much an entry adds to fill, about: a prefix that it does not
// share is written out in every cell.
func (l *leaf) need(key string, v Value) int {
	n := slotBytes + l.cellBytes(key, v)
	if l.n > 0 && !hasPrefix(key, l.index[:l.prefix]) {
		n += int(l.n) * (int(l.prefix) - shared(key, string(l.index[:l.prefix])))
	}
	return n
}

// shared is how many leading bytes two strings share.
func shared(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// insert puts an entry at i, where search says that it would be. The leaf
// must be the caller's.
func (l *leaf) insert(i int, key string, v Value) {
	if l.n > 0 && !hasPrefix(key, l.index[:l.prefix]) {
		l.rebuild(0, int(l.n), shared(key, string(l.index[:l.prefix])), l.cellBytes(key, v))
	}
	if l.n == 0 {
		l.index, l.cells, l.taken, l.blobs, l.prefix, l.dead, l.own = nil, nil, nil, nil, 0, 0, 0
	}
	place := l.claim(key, v)
	l.n++
	l.stretch(int(l.prefix) + int(l.n)*slotBytes)
	from := int(l.prefix) + i*slotBytes
	copy(l.index[from+slotBytes:], l.index[from:])
	write(l, i, place, key[l.prefix:], v)
}

// claim takes room for the cell of a new entry. The prefix may be another one
// afterwards.
func (l *leaf) claim(key string, v Value) int {
	place, ok := l.take(l.cellBytes(key, v))
	if !ok {
		l.grow(key, l.cellBytes(key, v))
		place, _ = l.take(l.cellBytes(key, v))
	}
	return place
}

// stretch makes the index n bytes long.
func (l *leaf) stretch(n int) {
	if n > cap(l.index) {
		index := room(n + n/8)
		copy(index, l.index)
		l.index = index
	}
	l.index = l.index[:n]
}

// take takes room for a cell, behind all that whoever shares the cells sees. It
// fails if there is none, or if another one that shares them has taken it.
func (l *leaf) take(n int) (place int, ok bool) {
	at := len(l.cells)
	if at+n > cap(l.cells) || !l.taken.CompareAndSwap(int32(at), int32(at+n)) {
		return 0, false
	}
	l.cells = l.cells[:at+n]
	return at, true
}

// setCells makes a piece of memory that nobody else has the leaf's cells, of
// which n bytes are written.
func (l *leaf) setCells(page []byte, n int) {
	l.cells, l.taken, l.own = page[:n], new(atomic.Int32), 0
	l.taken.Store(int32(n))
}

// write writes a cell for which room was taken, and its slot. rest is the key
// behind the prefix.
func write[K string | []byte](l *leaf, i, place int, rest K, v Value) {
	cell := l.cells[place:place]
	cell = binary.AppendUvarint(cell, uint64(len(rest)))
	twice := uint64(len(v.Bytes)) * 2
	if v.Blob != nil {
		twice++
	}
	cell = binary.AppendUvarint(cell, twice)
	if len(rest) > headBytes {
		cell = append(cell, rest[headBytes:]...)
	}
	cell = append(cell, v.Bytes...)
	if v.Blob != nil {
		l.blobs = append(l.blobs, v.Blob)
		binary.LittleEndian.AppendUint32(cell, uint32(len(l.blobs)))
	}
	l.setSlot(i, headOf(rest), place)
}

// inPlace says that replace would write over the value at i.
func (l *leaf) inPlace(i int, key string, v Value) bool {
	return l.place(i) >= int(l.own) && l.cell(i).size == l.cellBytes(key, v)
}

// replace changes the value at i.
func (l *leaf) replace(i int, key string, v Value) {
	old := l.cell(i)
	size := l.cellBytes(key, v)
	place := l.place(i)
	if !l.inPlace(i, key, v) {
		var ok bool
		if place, ok = l.take(size); !ok {
			l.remove(i)
			l.insert(i, key, v)
			return
		}
		l.dead += int32(old.size)
	}
	if old.blob > 0 {
		l.blobs[old.blob-1] = nil
	}
	write(l, i, place, key[l.prefix:], v)
}

// remove takes the entry at i out.
func (l *leaf) remove(i int) {
	c := l.cell(i)
	if c.blob > 0 {
		l.blobs[c.blob-1] = nil
	}
	l.dead += int32(c.size)
	from := int(l.prefix) + i*slotBytes
	copy(l.index[from:], l.index[from+slotBytes:])
	l.n--
	l.index = l.index[:int(l.prefix)+int(l.n)*slotBytes]
}

// grow makes room for a key's cell of n bytes, and for some more: where dead
// cells are, if they are an eighth, else in a larger piece of memory.
func (l *leaf) grow(key string, n int) {
	spare := spareOf(len(l.cells) + n)
	if int(l.dead)*8 >= len(l.cells) || len(l.blobs) > 2*int(l.n)+4 {
		l.rebuild(0, int(l.n), int(l.prefix), n+spare)
		return
	}
	longer := l.commonPrefix(0, int(l.n))
	if longer > 0 {
		longer = min(longer, shared(key, string(l.appendKey(nil, 0))))
	}
	if int(l.n)*(longer-int(l.prefix))*8 > l.fill()+n {
		l.rebuild(0, int(l.n), longer, n+spare)
		return
	}
	page := room(len(l.cells) + n + spare)
	copy(page, l.cells)
	l.setCells(page, len(l.cells))
}

// spareOf is how much room is kept beside n bytes of cells: an eighth, which a
// dozen changes fill, and more for what begins to grow.
func spareOf(n int) int {
	if n < 1024 {
		return n / 4
	}
	return n / 8
}

// clone is a copy of the leaf that shares its cells.
func (l *leaf) clone(gen uint64) *leaf {
	c := &leaf{gen: gen, cells: l.cells, taken: l.taken, n: l.n, prefix: l.prefix, dead: l.dead, own: int32(len(l.cells))}
	c.used.Store(l.used.Load())
	if l.blobs != nil {
		c.blobs = append([][]byte(nil), l.blobs...)
	}
	index := room(len(l.index) + slotBytes)
	c.index = index[:copy(index, l.index)]
	return c
}

// rebuild writes entries from up to to anew, behind a prefix of some bytes of
// all their keys, with room for more bytes of cells.
func (l *leaf) rebuild(from, to, prefix, more int) {
	old := &leaf{index: l.index, cells: l.cells, blobs: l.blobs, n: l.n, prefix: l.prefix}
	longer := int(old.prefix) - prefix
	size := 0
	for i := from; i < to; i++ {
		c := old.cell(i)
		size += cellBytes(c.length+longer, len(c.value), c.blob > 0)
	}
	l.index = room(prefix + (to-from)*slotBytes)[:prefix+(to-from)*slotBytes]
	l.setCells(room(size+more), size)
	l.n, l.prefix, l.dead, l.blobs = int32(to-from), int32(prefix), 0, nil
	if longer == 0 && old.blobs == nil {
		l.copyCells(old, from, to)
		return
	}
	var key []byte
	place := 0
	for i := from; i < to; i++ {
		key = old.appendKey(key[:0], i)
		if i == from {
			copy(l.index, key[:prefix])
		}
		v, rest := old.value(i), key[prefix:]
		write(l, i-from, place, rest, v)
		place += cellBytes(len(rest), len(v.Bytes), v.Blob != nil)
	}
}

// copyCells is the end of rebuild where the cells stay what they are.
func (l *leaf) copyCells(old *leaf, from, to int) {
	copy(l.index, old.index[:old.prefix])
	place := 0
	for i := from; i < to; i++ {
		at := old.place(i)
		size := old.cell(i).size
		copy(l.cells[place:], old.cells[at:at+size])
		l.setSlot(i-from, old.head(i), place)
		place += size
	}
}

// commonPrefix is how long the prefix of entries from up to to may be.
func (l *leaf) commonPrefix(from, to int) int {
	if to-from < 2 {
		return 0
	}
	return shared(string(l.appendKey(nil, from)), string(l.appendKey(nil, to-1)))
}
