package lua

import (
	"math"
	"math/bits"

	"github.com/firndb/firn/internal/lua/val"
)

// table is a table of a program. It keeps an array and a hash with chained
// scatter, sized and filled as Lua 5.1 does it: so the length of a table with
// holes and the order of its keys are those of Redis, where they depend on
// anything but addresses.
type table struct {
	array    []value // of 1, 2, …; nil where there is none
	nodes    []node  // 0 or a power of two
	free     int     // nodes at and above have been handed out
	meta     *table
	readonly bool
	seen     uint32 // the walk that has been here
}

type node struct {
	key, val value // key nil: never used
	next     int32 // of the chain, relative to this one; 0: the last
}

// What a table takes, for the limit on memory.
const (
	tableBytes = 96
	slotBytes  = 16 + 8 // a value, and a number that it may point to
	nodeBytes  = 40 + 8
)

// maxArray is the largest part that is an array: Lua's MAXASIZE.
const maxArray = 1 << 26

// hashString is the hash of a string in Redis's Lua: over all bytes, where Lua
// leaves out most of a long string.
func hashString(s string) uint32 {
	h := uint32(len(s))
	for i := len(s); i > 0; i-- {
		h ^= (h << 5) + (h >> 2) + uint32(s[i-1])
	}
	return h
}

// position is where a key belongs among the nodes, which are there.
func (t *table) position(key value) int {
	n := uint32(len(t.nodes))
	switch k := key.(type) {
	case val.String:
		return int(hashString(string(k)) & (n - 1))
	case val.Number:
		return numberPosition(float64(k), n)
	case val.Bool:
		if k {
			return int(1 & (n - 1))
		}
		return 0
	}
	return int(addressOf(key) % ((n - 1) | 1))
}

func numberPosition(k float64, n uint32) int {
	if k == 0 {
		return 0
	}
	b := math.Float64bits(k)
	return int((uint32(b) + uint32(b>>32)) % ((n - 1) | 1))
}

func (t *table) getString(s string) value {
	if len(t.nodes) == 0 {
		return vnil
	}
	return t.getHashed(s, hashString(s))
}

// getHashed is getString for a key whose hash is known.
func (t *table) getHashed(s string, hash uint32) value {
	if len(t.nodes) == 0 {
		return vnil
	}
	for i := int32(hash) & int32(len(t.nodes)-1); ; {
		n := &t.nodes[i]
		if k, ok := n.key.(val.String); ok && string(k) == s {
			return n.val
		}
		if n.next == 0 {
			return vnil
		}
		i += n.next
	}
}

func (t *table) getInt(k int) value {
	if uint(k-1) < uint(len(t.array)) {
		if v := t.array[k-1]; v != nil {
			return v
		}
		return vnil
	}
	if len(t.nodes) == 0 {
		return vnil
	}
	if n := t.findNumber(float64(k)); n != nil {
		return n.val
	}
	return vnil
}

func (t *table) findNumber(k float64) *node {
	for i := int32(numberPosition(k, uint32(len(t.nodes)))); ; {
		n := &t.nodes[i]
		if x, ok := n.key.(val.Number); ok && float64(x) == k {
			return n
		}
		if n.next == 0 {
			return nil
		}
		i += n.next
	}
}

// find is the node of a key that is no index of the array, or nil.
func (t *table) find(key value) *node {
	if len(t.nodes) == 0 {
		return nil
	}
	for i := int32(t.position(key)); ; {
		n := &t.nodes[i]
		if n.key != nil && rawEqual(n.key, key) {
			return n
		}
		if n.next == 0 {
			return nil
		}
		i += n.next
	}
}

// index is a number as an index, if it is one.
func index(k float64) (int, bool) {
	if i := int(int32(int64(k))); float64(i) == k {
		return i, true
	}
	return 0, false
}

func (t *table) get(key value) value {
	switch k := key.(type) {
	case val.String:
		return t.getString(string(k))
	case val.Number:
		if i, ok := index(float64(k)); ok {
			return t.getInt(i)
		}
	}
	if n := t.find(key); n != nil {
		return n.val
	}
	return vnil
}

// set gives a key, which is not nil and not NaN, a value. What the table grows
// by is charged.
func (t *table) set(m *meter, key, v value) {
	if k, ok := key.(val.Number); ok {
		if i, ok := index(float64(k)); ok && uint(i-1) < uint(len(t.array)) {
			t.array[i-1] = v
			return
		}
	}
	if n := t.find(key); n != nil {
		n.val = v
		return
	}
	t.insert(m, key, v)
}

func (t *table) setInt(m *meter, k int, v value) {
	if uint(k-1) < uint(len(t.array)) {
		t.array[k-1] = v
		return
	}
	if len(t.nodes) > 0 {
		if n := t.findNumber(float64(k)); n != nil {
			n.val = v
			return
		}
	}
	t.insert(m, number(float64(k)), v)
}

func (t *table) setString(m *meter, s string, v value) { t.set(m, val.String(s), v) }

// insert adds a key that is not there.
func (t *table) insert(m *meter, key, v value) {
	if len(t.nodes) == 0 {
		t.grow(m, key)
		t.set(m, key, v)
		return
	}
	at := t.position(key)
	main := &t.nodes[at]
	if main.key == nil || main.val == vnil {
		main.key, main.val = key, v
		return
	}
	spare := t.spare()
	if spare < 0 {
		t.grow(m, key)
		t.set(m, key, v)
		return
	}
	if other := t.position(main.key); other != at {
		t.displace(other, at, spare)
		main.key, main.val = key, v
		return
	}
	n := &t.nodes[spare]
	n.next = 0
	if main.next != 0 {
		n.next = int32(at) + main.next - int32(spare)
	}
	main.next = int32(spare - at)
	n.key, n.val = key, v
}

// displace moves the node at, which stands in the chain of other, to spare.
func (t *table) displace(other, at, spare int) {
	for other+int(t.nodes[other].next) != at {
		other += int(t.nodes[other].next)
	}
	t.nodes[other].next = int32(spare - other)
	moved := t.nodes[at]
	if moved.next != 0 {
		moved.next += int32(at - spare)
	}
	t.nodes[spare] = moved
	t.nodes[at] = node{}
}

func (t *table) spare() int {
	for t.free > 0 {
		t.free--
		if t.nodes[t.free].key == nil {
			return t.free
		}
	}
	return -1
}

// grow makes room for one more key.
func (t *table) grow(m *meter, key value) {
	var slices [27]int // keys in (2^(i-1), 2^i]
	inArray := t.countArray(&slices)
	total := inArray
	for i := range t.nodes {
		if n := &t.nodes[i]; n.key != nil && n.val != vnil {
			inArray += countIndex(n.key, &slices)
			total++
		}
	}
	inArray += countIndex(key, &slices)
	total++
	size, used := arraySize(&slices, inArray)
	t.resize(m, size, total-used)
}

func (t *table) countArray(slices *[27]int) (used int) {
	for i, v := range t.array {
		if v != nil && v != vnil {
			slices[bits.Len(uint(i))]++
			used++
		}
	}
	return used
}

func countIndex(key value, slices *[27]int) int {
	if k, ok := key.(val.Number); ok {
		if i, ok := index(float64(k)); ok && i > 0 && i <= maxArray {
			slices[bits.Len(uint(i-1))]++
			return 1
		}
	}
	return 0
}

// arraySize is the largest n such that more than half of 1 to n is in use, and
// how many keys that are.
func arraySize(slices *[27]int, keys int) (size, used int) {
	sum := 0
	for i, n := 0, 1; i < len(slices) && n/2 < keys; i, n = i+1, n*2 {
		sum += slices[i]
		if slices[i] > 0 && sum > n/2 {
			size, used = n, sum
		}
		if sum == keys {
			break
		}
	}
	return size, used
}

// resize gives the table parts of these sizes.
func (t *table) resize(m *meter, array, hash int) {
	nodes := 0
	if hash > 0 {
		nodes = 1 << bits.Len(uint(hash-1))
	}
	m.charge(int64(max(0, array-len(t.array)))*slotBytes + int64(nodes)*nodeBytes)
	old := t.nodes
	vanishing := t.array[min(array, len(t.array)):]
	if array > len(t.array) {
		grown := make([]value, array)
		copy(grown, t.array)
		t.array = grown
	} else {
		t.array = t.array[:array:array]
	}
	t.nodes, t.free = make([]node, nodes), nodes
	for i, v := range vanishing {
		if v != nil && v != vnil {
			t.setInt(m, array+i+1, v)
		}
	}
	for i := len(old) - 1; i >= 0; i-- {
		if old[i].key != nil && old[i].val != vnil {
			t.set(m, old[i].key, old[i].val)
		}
	}
}

func (t *table) empty(i int) bool { return t.array[i] == nil || t.array[i] == vnil }

// length is a border of the table, as Lua finds it.
func (t *table) length() int {
	j := len(t.array)
	if j > 0 && t.empty(j-1) {
		i := 0
		for j-i > 1 {
			if mid := (i + j) / 2; t.empty(mid - 1) {
				j = mid
			} else {
				i = mid
			}
		}
		return i
	}
	if len(t.nodes) == 0 {
		return j
	}
	i := j
	for j++; t.getInt(j) != vnil; {
		i = j
		if j *= 2; j > math.MaxInt32 {
			return i
		}
	}
	for j-i > 1 {
		if mid := (i + j) / 2; t.getInt(mid) == vnil {
			j = mid
		} else {
			i = mid
		}
	}
	return i
}

// next is the pair after a key, or after none; ok is false when the key is not
// of this table.
func (t *table) next(key value) (k, v value, ok bool) {
	i := 0
	if key != vnil {
		if i, ok = t.place(key); !ok {
			return nil, nil, false
		}
	}
	for ; i < len(t.array); i++ {
		if v := t.array[i]; v != nil && v != vnil {
			return number(float64(i + 1)), v, true
		}
	}
	for i -= len(t.array); i < len(t.nodes); i++ {
		if n := &t.nodes[i]; n.key != nil && n.val != vnil {
			return n.key, n.val, true
		}
	}
	return vnil, vnil, true
}

// place is the position behind a key in the order of next.
func (t *table) place(key value) (int, bool) {
	if k, ok := key.(val.Number); ok {
		if i, ok := index(float64(k)); ok && uint(i-1) < uint(len(t.array)) {
			return i, true
		}
	}
	if len(t.nodes) == 0 {
		return 0, false
	}
	for i := int32(t.position(key)); ; {
		n := &t.nodes[i]
		if n.key != nil && rawEqual(n.key, key) {
			return len(t.array) + int(i) + 1, true
		}
		if n.next == 0 {
			return 0, false
		}
		i += n.next
	}
}
