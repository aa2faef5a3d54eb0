package cmsgpack

import (
	"math"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/firndb/firn/internal/invariant"
	"github.com/firndb/firn/internal/lua/arg"
	"github.com/firndb/firn/internal/lua/val"
)

// maxNesting is how many tables may lie in each other. One that lies deeper is
// written as nil, which also ends those that contain themselves.
const maxNesting = 16

// packer writes values one after the other.
type packer struct {
	c         arg.Call
	encoder   *msgpack.Encoder
	out       output
	allowance arg.Allowance
}

// output is where the encoder writes to. It never fails.
type output []byte

func (o *output) Write(b []byte) (int, error) {
	*o = append(*o, b...)
	return len(b), nil
}

func (o *output) WriteByte(b byte) error {
	*o = append(*o, b)
	return nil
}

// pack returns its arguments, one after the other.
func pack(c arg.Call) int {
	arg.Check(c, c.Top() > 0, 0, "MessagePack pack needs input.")
	p := packer{c: c, encoder: msgpack.GetEncoder()}
	p.encoder.Reset(&p.out)
	for n := 1; n <= c.Top(); n++ {
		p.value(c.Arg(n), 0)
	}
	msgpack.PutEncoder(p.encoder)
	c.Push(val.String(p.out))
	return 1
}

// headerBytes is what a value takes at most that is no string and no table,
// and what comes before one that is.
const headerBytes = 9

// value writes one value, which lies in so many tables.
func (p *packer) value(v val.Value, level int) {
	p.allowance.Take(p.c, headerBytes)
	var err error
	switch v := v.(type) {
	case val.String:
		p.allowance.Take(p.c, len(v))
		err = p.encoder.EncodeString(string(v))
	case val.Number:
		err = p.number(float64(v))
	case val.Bool:
		err = p.encoder.EncodeBool(bool(v))
	default:
		if t, ok := p.c.Table(v); ok && level < maxNesting {
			p.table(t, level)
		} else {
			err = p.encoder.EncodeNil()
		}
	}
	invariant.Check(err == nil, "memory cannot be written: %v", err)
}

// number writes the shortest form that has the same value.
func (p *packer) number(f float64) error {
	switch {
	case f >= -1<<63 && f < 1<<63 && math.Trunc(f) == f:
		return p.encoder.EncodeInt(int64(f))
	case float64(float32(f)) == f:
		return p.encoder.EncodeFloat32(float32(f))
	}
	return p.encoder.EncodeFloat64(f)
}

// table writes an array or a map.
func (p *packer) table(t arg.Table, level int) {
	arg.SpendOn(p.c, t)
	members, isArray := count(t)
	if isArray {
		err := p.encoder.EncodeArrayLen(members)
		invariant.Check(err == nil, "memory cannot be written: %v", err)
		for i := range members {
			p.value(t.Index(i+1), level+1)
		}
		return
	}
	err := p.encoder.EncodeMapLen(members)
	invariant.Check(err == nil, "memory cannot be written: %v", err)
	for k, v := range t.Walk {
		p.value(k, level+1)
		p.value(v, level+1)
	}
}

// count returns how many members a table has, and whether their keys are the
// numbers from 1 on.
func count(t arg.Table) (members int, isArray bool) {
	greatest, isArray := 0.0, true
	for k := range t.Walk {
		f, ok := k.(val.Number)
		isArray = isArray && ok && f > 0 && f <= math.MaxInt32 && math.Trunc(float64(f)) == float64(f)
		greatest = max(greatest, float64(f))
		members++
	}
	return members, isArray && greatest == float64(members)
}
