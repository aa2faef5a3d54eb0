package rdb

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
)

// maxNodeBytes is the size of a list's nodes: list-max-listpack-size -2 of
// Redis, its default.
const maxNodeBytes = 8 << 10

// Append appends a value as Redis 7.0 writes it, without the footer. Like
// there, a stream's groups and consumers are written whole; the ends of a
// hash's fields have no place in that version and are left out.
func Append(dst []byte, v *Value) []byte {
	switch v.Kind {
	case String:
		return appendString(append(dst, typeString), v.String)
	case List:
		return appendList(append(dst, typeListQuicklist2), v.Items)
	case Set:
		return appendSet(dst, v)
	case ZSet:
		return appendZSet(dst, v)
	case Hash:
		return appendHash(dst, v)
	}
	return appendLog(append(dst, typeStreamListpacks2), v.Stream)
}

// appendStrings appends strings behind their number, or that of their pairs.
func appendStrings(dst []byte, items [][]byte, step int) []byte {
	dst = appendLength(dst, uint64(len(items)/step))
	for _, item := range items {
		dst = appendString(dst, item)
	}
	return dst
}

// appendPacked appends strings as one listpack.
func appendPacked(dst []byte, items [][]byte) []byte {
	var p listpack
	for _, item := range items {
		p.add(item)
	}
	return appendString(dst, p.finish())
}

func appendList(dst []byte, items [][]byte) []byte {
	var nodes [][][]byte
	for len(items) > 0 {
		n, size := 1, entryBytes(items[0])
		for n < len(items) && size+entryBytes(items[n]) <= maxNodeBytes {
			size += entryBytes(items[n])
			n++
		}
		nodes = append(nodes, items[:n])
		items = items[n:]
	}
	dst = appendLength(dst, uint64(len(nodes)))
	for _, node := range nodes {
		dst = appendPacked(appendLength(dst, nodePacked), node)
	}
	return dst
}

// entryBytes is about what a string takes in a listpack.
func entryBytes(item []byte) int { return len(item) + 10 }

func appendSet(dst []byte, v *Value) []byte {
	if !v.Compact {
		return appendStrings(append(dst, typeSet), v.Items, 1)
	}
	numbers := make([]int64, 0, len(v.Items))
	for _, item := range v.Items {
		n, ok := parseInt(item)
		if !ok {
			return appendStrings(append(dst, typeSet), v.Items, 1)
		}
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	return appendString(append(dst, typeSetIntset), newIntset(numbers))
}

func appendZSet(dst []byte, v *Value) []byte {
	if v.Compact {
		var p listpack
		for i, member := range v.Items {
			p.add(member)
			p.add(appendScore(nil, v.Scores[i]))
		}
		return appendString(append(dst, typeZSetListpack), p.finish())
	}
	dst = appendLength(append(dst, typeZSet2), uint64(len(v.Items)))
	for i, member := range v.Items {
		dst = appendString(dst, member)
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.Scores[i]))
	}
	return dst
}

// appendScore appends a score as text that says it exactly.
func appendScore(dst []byte, score float64) []byte {
	switch {
	case math.IsInf(score, 1):
		return append(dst, "inf"...)
	case math.IsInf(score, -1):
		return append(dst, "-inf"...)
	}
	return strconv.AppendFloat(dst, score, 'g', 17, 64)
}

func appendHash(dst []byte, v *Value) []byte {
	if v.Compact {
		return appendPacked(append(dst, typeHashListpack), v.Items)
	}
	return appendStrings(append(dst, typeHash), v.Items, 2)
}
