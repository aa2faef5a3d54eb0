package values

import (
	"math"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// BITFIELD sees a string as integers of 1 to 64 bits, at any offset.

// overflowMode is what becomes of a number that a field cannot hold.
type overflowMode uint8

const (
	overflowWrap overflowMode = iota // it loses its high bits
	overflowSat                      // it becomes the nearest that the field can hold
	overflowFail                     // the field stays as it is
)

// field is where an integer stands in a string, and how.
type field struct {
	signed bool
	width  int64 // bits: 1 to 64, or to 63 if it has no sign
	offset int64 // of its highest bit
}

// fieldOp is one operation of BITFIELD.
type fieldOp struct {
	field
	write    bool  // SET or INCRBY
	add      bool  // INCRBY
	operand  int64 // what to set or to add
	overflow overflowMode
}

const errFieldType = resp.Error("ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.")

// parseFieldOp takes one operation off args, in the overflow mode that the
// ones before have chosen; ok is false if that only chose a mode.
func parseFieldOp(c *command.Call, args [][]byte, mode *overflowMode) (op fieldOp, rest [][]byte, ok bool, err error) {
	name := args[0]
	taken := 4
	switch {
	case command.Is(name, "GET") && len(args) >= 3:
		taken = 3
	case command.Is(name, "SET") && len(args) >= 4:
		op.write = true
	case command.Is(name, "INCRBY") && len(args) >= 4:
		op.write, op.add = true, true
	case command.Is(name, "OVERFLOW") && len(args) >= 2:
		*mode, err = parseOverflow(args[1])
		return op, args[2:], false, err
	default:
		return op, nil, false, command.ErrSyntax
	}
	if op.field, err = parseField(c, args[1], args[2]); err != nil {
		return op, nil, false, err
	}
	op.overflow = *mode
	if op.write {
		var isInt bool
		if op.operand, isInt = resp.ParseInt(args[3]); !isInt {
			return op, nil, false, command.ErrNotInteger
		}
	}
	return op, args[taken:], true, nil
}

func parseOverflow(arg []byte) (overflowMode, error) {
	switch {
	case command.Is(arg, "WRAP"):
		return overflowWrap, nil
	case command.Is(arg, "SAT"):
		return overflowSat, nil
	case command.Is(arg, "FAIL"):
		return overflowFail, nil
	}
	return 0, resp.Error("ERR Invalid OVERFLOW type specified")
}

func parseField(c *command.Call, encoding, offset []byte) (f field, err error) {
	if len(encoding) == 0 || encoding[0] != 'i' && encoding[0] != 'u' {
		return f, errFieldType
	}
	f.signed = encoding[0] == 'i'
	width, ok := resp.ParseInt(encoding[1:])
	if !ok || width < 1 || width > 64 || width == 64 && !f.signed {
		return f, errFieldType
	}
	f.width = width
	f.offset, err = parseBitOffset(c, offset, width)
	return f, err
}

// bitField runs all operations on the string at the key that the call names first, one after the
// other.
func bitField(c *command.Call, readOnly bool) error {
	var ops []fieldOp
	mode, last := overflowWrap, int64(-1)
	for args := c.Args[1:]; len(args) > 0; {
		op, rest, ok, err := parseFieldOp(c, args, &mode)
		if err != nil {
			return err
		}
		if ok {
			ops = append(ops, op)
		}
		if op.write {
			last = max(last, op.offset+op.width-1)
		}
		args = rest
	}
	switch {
	case last < 0:
		return readFields(c, ops)
	case readOnly:
		return resp.Error("ERR BITFIELD_RO only supports the GET subcommand")
	}
	return writeFields(c, ops, last)
}

// bitFieldUse is how BITFIELD uses its key: it may only read.
func bitFieldUse(args [][]byte) command.Use {
	if onlyGets(args[1:]) {
		return command.Reads
	}
	return command.Changes
}

// onlyGets says whether all operations read.
func onlyGets(args [][]byte) bool {
	for len(args) > 0 {
		taken := 0
		switch {
		case isGet(args[0]):
			taken = 3
		case command.Is(args[0], "OVERFLOW"):
			taken = 2
		}
		if taken == 0 || len(args) < taken {
			return false
		}
		args = args[taken:]
	}
	return true
}

// readFields replies fields when no operation writes.
func readFields(c *command.Call, ops []fieldOp) error {
	k, _, err := c.FindKind(c.Args[0], keyspace.KindString)
	if err != nil {
		return err
	}
	c.Reply.Array(len(ops))
	for _, op := range ops {
		c.Reply.Int(op.read(k.Value))
	}
	return nil
}

// writeFields runs operations of which some write, up to the bit last. The
// string gets that long in any case.
func writeFields(c *command.Call, ops []fieldOp, last int64) error {
	s, err := c.OpenKind(c.Args[0], keyspace.KindString)
	if err != nil {
		return err
	}
	value := grown(s.Key.Value, last)
	changed := len(value) > len(s.Key.Value)
	c.Reply.Array(len(ops))
	for _, op := range ops {
		was := op.read(value)
		if !op.write {
			c.Reply.Int(was)
			continue
		}
		next, ok := op.result(was)
		if !ok {
			c.Reply.Null()
			continue
		}
		op.store(value, next)
		changed = changed || op.read(value) != was
		if !op.add {
			next = was
		}
		c.Reply.Int(next)
	}
	if !changed && !mustWriteBits(&s) {
		return nil
	}
	return writeBits(c, &s, value, changed)
}

// read is the field's number; bits behind the end of the string are 0.
func (f *field) read(value []byte) int64 {
	var n uint64
	for i := range f.width {
		n = n<<1 | uint64(bitAt(value, f.offset+i))
	}
	return f.fit(int64(n))
}

// store puts the low bits of a number into the field, which the string has.
func (f *field) store(value []byte, n int64) {
	for i := range f.width {
		setBitAt(value, f.offset+i, n>>(f.width-1-i)&1)
	}
}

// fit is what the field holds after a number is stored in it.
func (f *field) fit(n int64) int64 {
	unused := uint(64 - f.width)
	if f.signed {
		return n << unused >> unused
	}
	return int64(uint64(n) << unused >> unused)
}

// result is what the operation leaves in a field that holds was; ok is false
// if that is not possible and the overflow mode is to fail.
func (op *fieldOp) result(was int64) (n int64, ok bool) {
	start, more := op.operand, int64(0)
	if op.add {
		start, more = was, op.operand
	}
	over, under := op.overflows(start, more)
	switch {
	case !over && !under:
		return start + more, true
	case op.overflow == overflowFail:
		return 0, false
	case op.overflow == overflowWrap:
		return op.fit(start + more), true
	case over:
		return op.most(), true
	}
	return op.least(), true
}

// most is the largest number that the field can hold.
func (f *field) most() int64 {
	if f.signed {
		return math.MaxInt64 >> (64 - f.width)
	}
	return int64(uint64(math.MaxUint64) >> (64 - f.width))
}

// least is the smallest.
func (f *field) least() int64 {
	if f.signed {
		return -f.most() - 1
	}
	return 0
}

// overflows says whether the sum of n, which the field may not hold either,
// and more is too large or too small for the field. Without a sign, n counts
// as a number of 64 bits without a sign. With one, a number of fewer than 64
// bits that is so far below the least that its distance to the most is not an
// int64 counts as too large, as in Redis.
func (f *field) overflows(n, more int64) (over, under bool) {
	room := f.most() - n
	if !f.signed {
		over = uint64(n) > uint64(f.most()) || more > 0 && uint64(more) > uint64(room)
		return over, !over && more < 0 && more < -n
	}
	over = n > f.most() || f.width < 64 && more > room || n >= 0 && more > 0 && more > room
	if over {
		return true, false
	}
	down := f.least() - n
	return false, n < f.least() || f.width < 64 && more < down || n < 0 && more < 0 && more < down
}
