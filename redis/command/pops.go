package command

import (
	"time"

	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// What lists and sorted sets have in common where elements are taken off an
// end of the first of several keys: LMPOP and ZMPOP, and those that wait.

const (
	ErrNumKeys  = resp.Error("ERR numkeys should be greater than 0")
	errPopCount = resp.Error("ERR count should be greater than 0")
)

// Popper takes elements off the collections of one kind.
type Popper struct {
	Kind      keyspace.Kind
	Near, Far string // what the ends are called
	// take takes up to count elements off an end, and replies them.
	Take func(c *Call, s *keyspace.Slot, key []byte, count int64, far bool) error
	// takeOne takes one, and replies the key and it.
	TakeOne func(c *Call, s *keyspace.Slot, key []byte, far bool) error
}

// popQuery is what LMPOP and ZMPOP ask for.
type popQuery struct {
	keys  [][]byte
	far   bool
	count int64
}

// parse reads numkeys, the keys, and what follows them.
func (p *Popper) parse(args [][]byte) (q popQuery, err error) {
	n, ok := resp.ParseInt(args[0])
	if !ok || n < 1 {
		return q, ErrNumKeys
	}
	if n >= int64(len(args)-1) {
		return q, ErrSyntax
	}
	q.keys, q.count = args[1:1+n], 1
	rest := args[1+n:]
	switch {
	case Is(rest[0], p.Far):
		q.far = true
	case !Is(rest[0], p.Near):
		return q, ErrSyntax
	}
	switch {
	case len(rest) == 1:
		return q, nil
	case len(rest) < 3 || !Is(rest[1], "COUNT"):
		return q, ErrSyntax
	}
	if q.count, ok = resp.ParseInt(rest[2]); !ok || q.count < 1 {
		return q, errPopCount
	}
	if len(rest) > 3 {
		return q, ErrSyntax
	}
	return q, nil
}

// pop replies the first key that there is and what it takes from it; done is
// false, and nothing replied, if there is none.
func (p *Popper) pop(c *Call, q *popQuery) (done bool, err error) {
	s, key, ok, err := openFirst(c, q.keys, p.Kind)
	if err != nil || !ok {
		return false, err
	}
	c.Reply.Array(2)
	c.Reply.Bulk(key)
	return true, p.Take(c, &s, key, q.count, q.far)
}

// Run is LMPOP and ZMPOP.
func (p *Popper) Run(c *Call) error {
	q, err := p.parse(c.Args)
	if err != nil {
		return err
	}
	done, err := p.pop(c, &q)
	if err == nil && !done {
		c.Reply.NullArray()
	}
	return err
}

// RunOrWait is BLMPOP and BZMPOP.
func (p *Popper) RunOrWait(c *Call) error {
	q, err := p.parse(c.Args[1:])
	if err != nil {
		return err
	}
	timeout, err := ParseTimeout(c.Args[0])
	if err != nil {
		return err
	}
	done, err := p.pop(c, &q)
	if err != nil || done {
		return err
	}
	return p.wait(c, q.keys, timeout)
}

// OneOrWait is BLPOP, BRPOP, BZPOPMIN and BZPOPMAX.
func (p *Popper) OneOrWait(far bool) func(*Call) error {
	return func(c *Call) error {
		last := len(c.Args) - 1
		timeout, err := ParseTimeout(c.Args[last])
		if err != nil {
			return err
		}
		keys := c.Args[:last]
		s, key, ok, err := openFirst(c, keys, p.Kind)
		if err != nil {
			return err
		}
		if !ok {
			return p.wait(c, keys, timeout)
		}
		return p.TakeOne(c, &s, key, far)
	}
}

func (p *Popper) wait(c *Call, keys [][]byte, timeout time.Duration) error {
	return c.Wait(Wait{Keys: keys, Kind: p.Kind, Timeout: timeout, Nothing: ReplyNullArray})
}

// OpenSource opens a key to take elements off; ok is false if there is none. A
// key of another type is an error, unless the command has waited.
func OpenSource(c *Call, key []byte, want keyspace.Kind) (s keyspace.Slot, ok bool, err error) {
	s, err = c.OpenKind(key, want)
	if err == keyspace.ErrWrongType && c.Waited {
		return s, false, nil
	}
	return s, s.Live, err
}

// openFirst is OpenSource for the first of several keys that is there.
func openFirst(c *Call, keys [][]byte, want keyspace.Kind) (s keyspace.Slot, key []byte, ok bool, err error) {
	for _, key := range keys {
		s, ok, err := OpenSource(c, key, want)
		if err != nil || ok {
			return s, key, ok, err
		}
	}
	return keyspace.Slot{}, nil, false, nil
}

// ReplyNullArray is the reply of a command that has waited in vain.
func ReplyNullArray(w *resp.Writer) { w.NullArray() }
