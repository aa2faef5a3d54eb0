package keyspace

import (
	"bytes"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/invariant"
)

// The documents of groups and consumers are small and one is read a command,
// so a library writes and reads their MessagePack. It reads more than it
// writes, longer forms of integers for example; a document that does not
// come out again as it went in is refused, so that each has one encoding.

// Encode is the group's document.
func (g *StreamGroup) Encode() []byte {
	return encoded(func(e *msgpack.Encoder) error {
		err := e.EncodeArrayLen(groupElements)
		err = then(err, e.EncodeUint, uint64(g.Serial))
		err = then(err, idTo(e), g.Last)
		err = then(err, e.EncodeUint, uint64(g.Read+1))
		err = then(err, e.EncodeUint, uint64(g.Consumers))
		return then(err, boundsTo(e), g.Pending)
	})
}

// Encode is the consumer's document.
func (m *StreamConsumer) Encode() []byte {
	return encoded(func(e *msgpack.Encoder) error {
		err := e.EncodeArrayLen(consumerElements)
		err = then(err, e.EncodeUint, uint64(m.Seen))
		return then(err, boundsTo(e), m.Pending)
	})
}

// How many elements the arrays have.
const (
	groupElements    = 8
	consumerElements = 5
	idElements       = 2
)

// encoded is what write writes, exactly sized. Nothing that is written to
// memory fails.
func encoded(write func(*msgpack.Encoder) error) []byte {
	var b bytes.Buffer
	e := msgpack.GetEncoder()
	defer msgpack.PutEncoder(e)
	e.Reset(&b)
	err := write(e)
	invariant.Check(err == nil, "MessagePack to memory: %v", err)
	return bytes.Clone(b.Bytes())
}

// then goes on with a value if nothing has failed yet.
func then[T any](err error, write func(T) error, v T) error {
	if err != nil {
		return err
	}
	return write(v)
}

// idTo writes an id: nil for 0-0, or an array of two integers.
func idTo(e *msgpack.Encoder) func(StreamID) error {
	return func(id StreamID) error {
		if id == (StreamID{}) {
			return e.EncodeNil()
		}
		err := e.EncodeArrayLen(idElements)
		err = then(err, e.EncodeUint, id.Ms)
		return then(err, e.EncodeUint, id.Seq)
	}
}

func boundsTo(e *msgpack.Encoder) func(pendingBounds) error {
	return func(p pendingBounds) error {
		err := e.EncodeUint(uint64(p.Count))
		err = then(err, idTo(e), p.low)
		err = then(err, idTo(e), p.high)
		return then(err, e.EncodeUint, uint64(p.stale))
	}
}

// ParseGroup reads the document of a group.
func ParseGroup(doc *firn.Document, name []byte) (StreamGroup, error) {
	d := groupReader(doc.Value)
	defer msgpack.PutDecoder(d.Decoder)
	d.array(groupElements)
	g := StreamGroup{
		Name: name, Serial: d.int(), Last: d.id(), Read: int64(d.uint()) - 1, Consumers: d.int(), Pending: d.bounds(),
	}
	return g, d.end(doc, g.Encode)
}

// ParseConsumer reads the document of a consumer.
func ParseConsumer(doc *firn.Document, name []byte) (StreamConsumer, error) {
	d := groupReader(doc.Value)
	defer msgpack.PutDecoder(d.Decoder)
	d.array(consumerElements)
	m := StreamConsumer{Name: name, Seen: d.int(), Pending: d.bounds()}
	return m, d.end(doc, m.Encode)
}

// groupDecoder reads a document element by element; err is the first error.
type groupDecoder struct {
	*msgpack.Decoder
	err error
}

func groupReader(b []byte) groupDecoder {
	d := msgpack.GetDecoder()
	d.Reset(bytes.NewReader(b))
	return groupDecoder{Decoder: d}
}

// end is ErrDamaged unless the document is what encode makes of what was read.
func (d *groupDecoder) end(doc *firn.Document, encode func() []byte) error {
	if d.err != nil || !bytes.Equal(encode(), doc.Value) {
		return fmt.Errorf("group document %q at %d: %w", doc.ID, doc.TS, ErrDamaged)
	}
	return nil
}

// array begins an array of n elements.
func (d *groupDecoder) array(n int) {
	if d.err != nil {
		return
	}
	if got, err := d.DecodeArrayLen(); err != nil || got != n {
		d.err = ErrDamaged
	}
}

func (d *groupDecoder) uint() (v uint64) {
	if d.err == nil {
		v, d.err = d.DecodeUint64()
	}
	return v
}

// int is an integer below 1<<63.
func (d *groupDecoder) int() int64 {
	v := int64(d.uint())
	if v < 0 {
		d.err = ErrDamaged
	}
	return v
}

func (d *groupDecoder) id() (id StreamID) {
	if d.err != nil {
		return id
	}
	n, err := d.DecodeArrayLen()
	switch {
	case err != nil || n != idElements && n != -1:
		d.err = ErrDamaged
	case n == idElements:
		id = StreamID{d.uint(), d.uint()}
	}
	return id
}

func (d *groupDecoder) bounds() pendingBounds {
	return pendingBounds{d.int(), d.id(), d.id(), d.int()}
}
