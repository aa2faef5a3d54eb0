package values

import (
	"encoding/binary"
	"math/bits"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// Bitmaps are strings. Bit 0 is the highest of the first byte.
//
// A string is one document, so changing a bit writes all of it.
var bitmapCommands = []command.Command{
	{
		Name: "SETBIT", Args: "key offset value", Min: 3, Flags: command.Writes | command.DenyOOM, Keys: command.FirstKey(command.Changes),
		Group: "bitmap", Since: "2.2.0", Complexity: "O(n), n the bytes of the string",
		Summary: "Sets or clears a bit of the string at key and returns what it was.",
		Run:     setBit,
	},
	{
		Name: "GETBIT", Args: "key offset", Min: 2, Flags: command.ReadOnly | command.Fast, Keys: command.FirstKey(command.Reads),
		Group: "bitmap", Since: "2.2.0", Complexity: "O(1)",
		Summary: "Returns a bit of the string at key; 0 behind its end.",
		Run:     getBit,
	},
	{
		Name: "BITCOUNT", Args: "key [start end [BYTE|BIT]]", Min: 1, Max: -1, Flags: command.ReadOnly, Keys: command.FirstKey(command.Reads),
		Group: "bitmap", Since: "2.6.0", Complexity: "O(n), n the bytes of the range",
		Summary: "Returns how many bits are set in the string at key, or in a range of it.",
		Run:     bitCount,
	},
	{
		Name: "BITPOS", Args: "key bit [start [end [BYTE|BIT]]]", Min: 2, Max: -1, Flags: command.ReadOnly, Keys: command.FirstKey(command.Reads),
		Group: "bitmap", Since: "2.8.7", Complexity: "O(n), n the bytes of the range",
		Summary: "Returns where the first bit is that is set, or clear, in the string at key; -1 if there is none.",
		Run:     bitPos,
	},
	{
		Name: "BITOP", Args: "AND|OR|XOR|NOT destkey key [key ...]", Min: 3, Max: -1, Flags: command.Writes | command.DenyOOM,
		Keys:  command.KeyAt(2, command.Overwrites).And(command.KeysFrom(3, -1, 1, command.Reads)),
		Group: "bitmap", Since: "2.6.0", Complexity: "O(n), n the bytes of the strings",
		Summary: "Combines strings bit by bit into one at destkey and returns its length. A shorter one counts as filled up with zeros.",
		Run:     bitOp,
	},
	{
		Name: "BITFIELD", Args: "key [GET encoding offset | [OVERFLOW WRAP|SAT|FAIL] SET encoding offset value | INCRBY encoding offset increment ...]",
		Min: 1, Max: -1, Flags: command.Writes | command.DenyOOM,
		Keys:  command.FirstKey(command.Changes).Varying(bitFieldUse).Noted("This command allows both access and modification of the key"),
		Group: "bitmap", Since: "3.2.0", Complexity: "O(m) for m operations that read; with one that writes, O(n + m), n the bytes of the string",
		Summary: "Reads and writes integers of any number of bits, anywhere in the string at key.",
		Run:     func(c *command.Call) error { return bitField(c, false) },
	},
	{
		Name: "BITFIELD_RO", Args: "key [GET encoding offset [GET encoding offset ...]]", Min: 1, Max: -1, Flags: command.ReadOnly | command.Fast,
		Keys:  command.FirstKey(command.Reads),
		Group: "bitmap", Since: "6.0.0", Complexity: "O(m), m the operations",
		Summary: "BITFIELD that can only read.",
		Run:     func(c *command.Call) error { return bitField(c, true) },
	},
}

const (
	errBitOffset   = resp.Error("ERR bit offset is not an integer or out of range")
	errBitValue    = resp.Error("ERR bit is not an integer or out of range")
	errBitArgument = resp.Error("ERR The bit argument must be 1 or 0.")
)

// parseBitOffset reads the offset of a bit, which lies within the longest
// string. If width is not 0, the offset may be a number of fields of so many
// bits, with a # before it.
func parseBitOffset(c *command.Call, arg []byte, width int64) (int64, error) {
	most, times := c.MaxBulkBytes.Load()*8-1, int64(1)
	if width > 0 && len(arg) > 0 && arg[0] == '#' {
		arg, times = arg[1:], width
	}
	n, ok := resp.ParseInt(arg)
	if !ok || n < 0 || n > most/times {
		return 0, errBitOffset
	}
	return n * times, nil
}

// bitAt is a bit of a string: 0 or 1, and 0 behind the end.
func bitAt(value []byte, offset int64) int64 {
	if offset>>3 >= int64(len(value)) {
		return 0
	}
	return int64(value[offset>>3] >> (7 - offset&7) & 1)
}

func setBitAt(value []byte, offset, bit int64) {
	mask := byte(1) << (7 - offset&7)
	value[offset>>3] &^= mask
	value[offset>>3] |= byte(bit) << (7 - offset&7)
}

// grown is a copy of a string that has the bit at an offset.
func grown(value []byte, offset int64) []byte {
	longer := make([]byte, max(int64(len(value)), offset>>3+1))
	copy(longer, value)
	return longer
}

// writeBits stores the string that a command has changed bits in. Like
// Redis's it is raw from then on, and nothing is told if that is all.
func writeBits(c *command.Call, s *keyspace.Slot, value []byte, changed bool) error {
	err := c.WriteString(s, value, keyspace.Large, s.Key.Expires)
	if changed {
		c.Notify(keyspace.EventString, "setbit", c.Args[0])
	}
	return err
}

// mustWriteBits says that a command that writes bits, and that changes
// nothing, changes the string's encoding all the same.
func mustWriteBits(s *keyspace.Slot) bool { return !s.Live || keyspace.StringEncoding(&s.Key) != "raw" }

func setBit(c *command.Call) error {
	offset, err := parseBitOffset(c, c.Args[1], 0)
	if err != nil {
		return err
	}
	bit, ok := resp.ParseInt(c.Args[2])
	if !ok || bit&^1 != 0 {
		return errBitValue
	}
	s, err := c.OpenKind(c.Args[0], keyspace.KindString)
	if err != nil {
		return err
	}
	old := s.Key.Value
	was := bitAt(old, offset)
	c.Reply.Int(was)
	changed := was != bit || offset>>3 >= int64(len(old))
	if !changed && !mustWriteBits(&s) {
		return nil
	}
	value := grown(old, offset)
	setBitAt(value, offset, bit)
	return writeBits(c, &s, value, changed)
}

func getBit(c *command.Call) error {
	offset, err := parseBitOffset(c, c.Args[1], 0)
	if err != nil {
		return err
	}
	k, _, err := c.FindKind(c.Args[0], keyspace.KindString)
	if err != nil {
		return err
	}
	c.Reply.Int(bitAt(k.Value, offset))
	return nil
}

// parseBitUnit reads BYTE or BIT.
func parseBitUnit(arg []byte) (inBits bool, err error) {
	inBits = command.Is(arg, "BIT")
	if !inBits && !command.Is(arg, "BYTE") {
		return false, command.ErrSyntax
	}
	return inBits, nil
}

// bitRange turns two indexes, which may count from the end, into the bits
// that they enclose in a string of so many bytes: none if from is to.
func bitRange(start, end, length int64, inBits bool) (from, to int64) {
	width := int64(8)
	if inBits {
		length, width = 8*length, 1
	}
	start, end = clampRange(start, end, length)
	if start > end {
		return 0, 0
	}
	return start * width, (end + 1) * width
}

func bitCount(c *command.Call) error {
	k, ok, err := c.FindKind(c.Args[0], keyspace.KindString)
	if err != nil {
		return err
	}
	if !ok {
		c.Reply.Int(0)
		return nil
	}
	length := int64(len(k.Value))
	from, to := int64(0), 8*length
	switch len(c.Args) {
	case 1:
	case 3, 4:
		start, end, err := command.ParseBounds(c.Args[1], c.Args[2])
		if err != nil {
			return err
		}
		if start < 0 && end < 0 && start > end {
			c.Reply.Int(0)
			return nil
		}
		inBits := false
		if len(c.Args) == 4 {
			if inBits, err = parseBitUnit(c.Args[3]); err != nil {
				return err
			}
		}
		from, to = bitRange(start, end, length, inBits)
	default:
		return command.ErrSyntax
	}
	c.Reply.Int(countBits(k.Value, from, to))
	return nil
}

// countBits is how many bits are set from one offset to another.
func countBits(value []byte, from, to int64) (n int64) {
	for ; from < to && from&7 != 0; from++ {
		n += bitAt(value, from)
	}
	for ; to-from >= 64; from += 64 {
		n += int64(bits.OnesCount64(binary.LittleEndian.Uint64(value[from>>3:])))
	}
	for ; from < to; from++ {
		n += bitAt(value, from)
	}
	return n
}

func bitPos(c *command.Call) error {
	bit, ok := resp.ParseInt(c.Args[1])
	switch {
	case !ok:
		return command.ErrNotInteger
	case bit&^1 != 0:
		return errBitArgument
	}
	k, ok, err := c.FindKind(c.Args[0], keyspace.KindString)
	if err != nil {
		return err
	}
	if !ok {
		c.Reply.Int(-bit) // nothing but zeros
		return nil
	}
	from, to, err := parsePosRange(c.Args[2:], int64(len(k.Value)))
	if err != nil {
		return err
	}
	position := findBit(k.Value, bit, from, to)
	if position == to {
		position = -1
		if bit == 0 && from < to && len(c.Args) < 4 {
			position = to // the first of the zeros behind the end
		}
	}
	c.Reply.Int(position)
	return nil
}

// parsePosRange reads the range of BITPOS.
func parsePosRange(args [][]byte, length int64) (from, to int64, err error) {
	start, end, inBits := int64(0), int64(-1), false
	if len(args) > 3 {
		return 0, 0, command.ErrSyntax
	}
	if len(args) > 0 {
		var ok bool
		if start, ok = resp.ParseInt(args[0]); !ok {
			return 0, 0, command.ErrNotInteger
		}
	}
	if len(args) > 2 {
		if inBits, err = parseBitUnit(args[2]); err != nil {
			return 0, 0, err
		}
	}
	if len(args) > 1 {
		var ok bool
		if end, ok = resp.ParseInt(args[1]); !ok {
			return 0, 0, command.ErrNotInteger
		}
	}
	from, to = bitRange(start, end, length, inBits)
	return from, to, nil
}

// findBit is the offset of the first bit of a kind, from one offset to
// another; the other if there is none.
func findBit(value []byte, bit, from, to int64) int64 {
	for ; from < to && from&7 != 0; from++ {
		if bitAt(value, from) == bit {
			return from
		}
	}
	same := -uint64(1 - bit) // 64 bits of the other kind
	for ; to-from >= 64; from += 64 {
		if word := binary.BigEndian.Uint64(value[from>>3:]); word != same {
			return from + int64(bits.LeadingZeros64(word^same))
		}
	}
	for ; from < to; from++ {
		if bitAt(value, from) == bit {
			return from
		}
	}
	return to
}
