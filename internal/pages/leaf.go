package pages

import (
	"encoding/binary"
	"strings"
	"sync/atomic"
	"unsafe"
)

// leaf is entries in order, in one piece of memory:
//
//	prefix   common to all keys
//	slots    8 bytes each: the first 4 bytes of the key behind the prefix, a
//	         big endian number, zeros if it is shorter; and where the cell
//	         begins, counted from the page's end, so that a page can grow
//	free
//	cells    in no order: length of the key behind the prefix, twice the
//	         length of the value (one more if there is a blob), the key
//	         behind those 4 bytes, the value, the number of the blob
type leaf struct {
	gen    uint64
	page   []byte
	blobs  [][]byte // those of dead cells are nil
	n      int32
	prefix int32       // its length
	cells  int32       // bytes that cells take, dead ones included
	dead   int32       // bytes of cells that no slot leads to
	used   atomic.Bool // since the clock's hand came by
}

const (
	slotBytes = 8
	headBytes = 4
	blobBytes = 4
	leastPage = 48 // bytes of the smallest page
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
	return l.page[at : at+slotBytes : at+slotBytes]
}

func (l *leaf) head(i int) uint32 { return binary.LittleEndian.Uint32(l.slot(i)) }

func (l *leaf) place(i int) int {
	return len(l.page) - int(binary.LittleEndian.Uint32(l.slot(i)[4:]))
}

func (l *leaf) setSlot(i int, head uint32, place int) {
	s := l.slot(i)
	binary.LittleEndian.PutUint32(s, head)
	binary.LittleEndian.PutUint32(s[4:], uint32(len(l.page)-place))
}

func (l *leaf) cell(i int) (c cell) {
	page := l.page[l.place(i):]
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

func (l *leaf) value(i int) Value {
	c := l.cell(i)
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
	key = append(key, c.rest...)
	v.Bytes = c.value
	if c.blob > 0 {
		v.Blob = l.blobs[c.blob-1]
	}
	return key, v
}

// appendKey appends the key of an entry.
func (l *leaf) appendKey(dst []byte, i int) []byte {
	c := l.cell(i)
	dst = append(dst, l.page[:l.prefix]...)
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
	if prefix := l.page[:l.prefix]; !hasPrefix(key, prefix) {
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

// fill is the bytes of the page that are in use.
func (l *leaf) fill() int {
	return int(l.prefix) + int(l.n)*slotBytes + int(l.cells-l.dead)
}

func (l *leaf) free() int {
	return len(l.page) - int(l.prefix) - int(l.n)*slotBytes - int(l.cells)
}

// bytes is the memory that the leaf takes.
func (l *leaf) bytes() int64 {
	n := int64(leafOverhead + cap(l.page) + cap(l.blobs)*sliceBytes)
	for _, blob := range l.blobs {
		n += int64(cap(blob))
	}
	return n
}

// room is a page of at least n bytes, as large as memory for it is.
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
	if l.n > 0 && !hasPrefix(key, l.page[:l.prefix]) {
		n += int(l.n) * (int(l.prefix) - shared(key, string(l.page[:l.prefix])))
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
	if l.n > 0 && !hasPrefix(key, l.page[:l.prefix]) {
		l.rebuild(0, int(l.n), shared(key, string(l.page[:l.prefix])), l.cellBytes(key, v)+2*slotBytes)
	}
	if l.n == 0 {
		l.prefix, l.cells, l.dead, l.blobs = 0, 0, 0, nil
	}
	size := l.cellBytes(key, v)
	if l.free() < size+slotBytes {
		l.grow(key, size+slotBytes)
		size = l.cellBytes(key, v)
	}
	l.n++
	from := int(l.prefix) + i*slotBytes
	copy(l.page[from+slotBytes:int(l.prefix)+int(l.n)*slotBytes], l.page[from:])
	place := len(l.page) - int(l.cells) - size
	l.cells += int32(size)
	write(l, i, place, key[l.prefix:], v)
}

// write writes a cell of which the size is known, and its slot. rest is the key
// behind the prefix.
func write[K string | []byte](l *leaf, i, place int, rest K, v Value) {
	cell := l.page[place:place]
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

// replace changes the value at i.
func (l *leaf) replace(i int, key string, v Value) {
	old := l.cell(i)
	size := l.cellBytes(key, v)
	if old.size != size && l.free() < size {
		l.remove(i)
		l.insert(i, key, v)
		return
	}
	if old.blob > 0 {
		l.blobs[old.blob-1] = nil
	}
	place := l.place(i)
	if old.size != size {
		l.dead += int32(old.size)
		l.cells += int32(size)
		place = len(l.page) - int(l.cells)
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
	copy(l.page[from:], l.page[from+slotBytes:int(l.prefix)+int(l.n)*slotBytes])
	l.n--
}

// grow makes room for a key and n more bytes: where dead cells are, if they
// are an eighth of the page, else in a larger page.
func (l *leaf) grow(key string, n int) {
	if int(l.dead)*8 >= len(l.page) || len(l.blobs) > 2*int(l.n)+4 {
		l.rebuild(0, int(l.n), int(l.prefix), n)
		return
	}
	want := l.fill() + int(l.dead) + n
	longer := l.commonPrefix(0, int(l.n))
	if longer > 0 {
		longer = min(longer, shared(key, string(l.appendKey(nil, 0))))
	}
	if int(l.n)*(longer-int(l.prefix))*8 > want {
		l.rebuild(0, int(l.n), longer, n+want/8)
		return
	}
	l.move(room(want + want/4))
}

// move puts the leaf into another page.
func (l *leaf) move(page []byte) {
	copy(page, l.page[:int(l.prefix)+int(l.n)*slotBytes])
	copy(page[len(page)-int(l.cells):], l.page[len(l.page)-int(l.cells):])
	l.page = page
}

// clone is a copy of the leaf with room for n more bytes.
func (l *leaf) clone(gen uint64, n int) *leaf {
	c := &leaf{gen: gen, page: l.page, n: l.n, prefix: l.prefix, cells: l.cells, dead: l.dead}
	c.used.Store(l.used.Load())
	if l.blobs != nil {
		c.blobs = append([][]byte(nil), l.blobs...)
	}
	if int(l.dead)*8 >= len(l.page) {
		c.rebuild(0, int(c.n), int(c.prefix), n)
		return c
	}
	want := l.fill() + int(l.dead) + n
	c.move(room(want + want/16))
	return c
}

// rebuild writes entries from up to to anew, behind a prefix of some bytes of
// all their keys, in a page with room for more bytes.
func (l *leaf) rebuild(from, to, prefix, more int) {
	old := &leaf{page: l.page, blobs: l.blobs, n: l.n, prefix: l.prefix}
	longer := int(old.prefix) - prefix
	size := prefix
	for i := from; i < to; i++ {
		c := old.cell(i)
		size += slotBytes + cellBytes(c.length+longer, len(c.value), c.blob > 0)
	}
	l.page, l.n, l.prefix, l.cells, l.dead, l.blobs = room(size+more), 0, int32(prefix), 0, 0, nil
	var key []byte
	for i := from; i < to; i++ {
		key = old.appendKey(key[:0], i)
		if i == from {
			copy(l.page, key[:prefix])
		}
		v, rest := old.value(i), key[prefix:]
		l.cells += int32(cellBytes(len(rest), len(v.Bytes), v.Blob != nil))
		l.n++
		write(l, i-from, len(l.page)-int(l.cells), rest, v)
	}
}

// commonPrefix is how long the prefix of entries from up to to may be.
func (l *leaf) commonPrefix(from, to int) int {
	if to-from < 2 {
		return 0
	}
	return shared(string(l.appendKey(nil, from)), string(l.appendKey(nil, to-1)))
}
