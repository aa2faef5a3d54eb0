package values

import (
	"encoding/binary"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// bitOp combines strings, whatever was at the destination.
func bitOp(c *command.Call) error {
	combine, err := parseBitOp(c)
	if err != nil {
		return err
	}
	sources := make([][]byte, len(c.Args)-2)
	length := 0
	for i, key := range c.Args[2:] {
		k, _, err := c.FindKind(key, keyspace.KindString)
		if err != nil {
			return err
		}
		sources[i] = k.Value
		length = max(length, len(k.Value))
	}
	s, err := c.Open(c.Args[1])
	if err != nil {
		return err
	}
	c.Reply.Int(int64(length))
	if length > 0 {
		err = c.WriteString(&s, combineBits(sources, length, combine), keyspace.Large, 0)
		c.Notify(keyspace.EventString, "set", c.Args[1])
		return err
	}
	return c.Clear(&s)
}

// bitOperation is what BITOP does with 64 bits of the result so far and 64 of
// the next string.
type bitOperation func(a, b uint64) uint64

// parseBitOp reads BITOP's operation; nil is NOT, of one string.
func parseBitOp(c *command.Call) (bitOperation, error) {
	switch name := c.Args[0]; {
	case command.Is(name, "AND"):
		return func(a, b uint64) uint64 { return a & b }, nil
	case command.Is(name, "OR"):
		return func(a, b uint64) uint64 { return a | b }, nil
	case command.Is(name, "XOR"):
		return func(a, b uint64) uint64 { return a ^ b }, nil
	case command.Is(name, "NOT") && len(c.Args) == 3:
		return nil, nil
	case command.Is(name, "NOT"):
		return nil, resp.Error("ERR BITOP NOT must be called with a single source key.")
	}
	return nil, command.ErrSyntax
}

// combineBits folds strings, filled up with zeros to length, into one; or it
// inverts the only one if combine is nil.
func combineBits(sources [][]byte, length int, combine bitOperation) []byte {
	result := make([]byte, (length+7)/8*8)
	copy(result, sources[0])
	if combine == nil {
		for i := range result {
			result[i] = ^result[i]
		}
	}
	for _, source := range sources[1:] {
		for at := 0; at < len(result); at += 8 {
			a := binary.LittleEndian.Uint64(result[at:])
			binary.LittleEndian.PutUint64(result[at:], combine(a, wordAt(source, at)))
		}
	}
	return result[:length]
}

// wordAt is eight bytes of a string, zeros behind its end.
func wordAt(b []byte, at int) uint64 {
	if at+8 <= len(b) {
		return binary.LittleEndian.Uint64(b[at:])
	}
	var word [8]byte
	if at < len(b) {
		copy(word[:], b[at:])
	}
	return binary.LittleEndian.Uint64(word[:])
}
