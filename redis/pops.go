package redis

import (
	"time"

	"github.com/firndb/firn/resp"
)

// What lists and sorted sets have in common where elements are taken off an
// end of the first of several keys: LMPOP and ZMPOP, and those that wait.

const (
	errNumKeys  = resp.Error("ERR numkeys should be greater than 0")
	errPopCount = resp.Error("ERR count should be greater than 0")
)

// popper takes elements off the collections of one kind.
type popper struct {
	kind      kind
	near, far string // what the ends are called
	// take takes up to count elements off an end, and replies them.
	take func(c *Call, s *slot, key []byte, count int64, far bool) error
	// takeOne takes one, and replies the key and it.
	takeOne func(c *Call, s *slot, key []byte, far bool) error
}

// popQuery is what LMPOP and ZMPOP ask for.
type popQuery struct {
	keys  [][]byte
	far   bool
	count int64
}

// parse reads numkeys, the keys, and what follows them.
func (p *popper) parse(args [][]byte) (q popQuery, err error) {
	n, ok := resp.ParseInt(args[0])
	if !ok || n < 1 {
		return q, errNumKeys
	}
	if n >= int64(len(args)-1) {
		return q, errSyntax
	}
	q.keys, q.count = args[1:1+n], 1
	rest := args[1+n:]
	switch {
	case is(rest[0], p.far):
		q.far = true
	case !is(rest[0], p.near):
		return q, errSyntax
	}
	switch {
	case len(rest) == 1:
		return q, nil
	case len(rest) < 3 || !is(rest[1], "COUNT"):
		return q, errSyntax
	}
	if q.count, ok = resp.ParseInt(rest[2]); !ok || q.count < 1 {
		return q, errPopCount
	}
	if len(rest) > 3 {
		return q, errSyntax
	}
	return q, nil
}

// pop replies the first key that there is and what it takes from it; done is
// false, and nothing replied, if there is none.
func (p *popper) pop(c *Call, q *popQuery) (done bool, err error) {
	s, key, ok, err := openFirst(c, q.keys, p.kind)
	if err != nil || !ok {
		return false, err
	}
	c.Reply.Array(2)
	c.Reply.Bulk(key)
	return true, p.take(c, &s, key, q.count, q.far)
}

// run is LMPOP and ZMPOP.
func (p *popper) run(c *Call) error {
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

// runOrWait is BLMPOP and BZMPOP.
func (p *popper) runOrWait(c *Call) error {
	q, err := p.parse(c.Args[1:])
	if err != nil {
		return err
	}
	timeout, err := parseTimeout(c.Args[0])
	if err != nil {
		return err
	}
	done, err := p.pop(c, &q)
	if err != nil || done {
		return err
	}
	return p.wait(c, q.keys, timeout)
}

// oneOrWait is BLPOP, BRPOP, BZPOPMIN and BZPOPMAX.
func (p *popper) oneOrWait(far bool) func(*Call) error {
	return func(c *Call) error {
		last := len(c.Args) - 1
		timeout, err := parseTimeout(c.Args[last])
		if err != nil {
			return err
		}
		keys := c.Args[:last]
		s, key, ok, err := openFirst(c, keys, p.kind)
		if err != nil {
			return err
		}
		if !ok {
			return p.wait(c, keys, timeout)
		}
		return p.takeOne(c, &s, key, far)
	}
}

func (p *popper) wait(c *Call, keys [][]byte, timeout time.Duration) error {
	return c.wait(wait{keys: keys, kind: p.kind, timeout: timeout, nothing: replyNullArray})
}

// openSource opens a key to take elements off; ok is false if there is none. A
// key of another type is an error, unless the command has waited.
func openSource(c *Call, key []byte, want kind) (s slot, ok bool, err error) {
	s, err = c.openKind(key, want)
	if err == errWrongType && c.Waited {
		return s, false, nil
	}
	return s, s.live, err
}

// openFirst is openSource for the first of several keys that is there.
func openFirst(c *Call, keys [][]byte, want kind) (s slot, key []byte, ok bool, err error) {
	for _, key := range keys {
		s, ok, err := openSource(c, key, want)
		if err != nil || ok {
			return s, key, ok, err
		}
	}
	return slot{}, nil, false, nil
}

// replyNullArray is the reply of a command that has waited in vain.
func replyNullArray(w *resp.Writer) { w.NullArray() }
