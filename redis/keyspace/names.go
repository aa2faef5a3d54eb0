package keyspace

import (
	"errors"
	"iter"

	"github.com/firndb/firn"
)

// InEither walks the names of the keys that are in one of two keyspaces or in
// both, each once, as they stand in ids.
func (t *Catalog) InEither(r firn.Reader, first, second UID) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		a, b := t.names(r, first), t.names(r, second)
		defer a.stop()
		defer b.stop()
		a.next()
		b.next()
		for a.err == nil && b.err == nil && (a.more || b.more) {
			sub := a.sub
			if !a.more || b.more && b.sub < a.sub {
				sub = b.sub
			}
			if !yield(sub, nil) {
				return
			}
			for _, n := range []*nameWalk{a, b} {
				if n.more && n.sub == sub {
					n.next()
				}
			}
		}
		if err := errors.Join(a.err, b.err); err != nil {
			yield("", err)
		}
	}
}

// nameWalk is a walk over the keys of a keyspace.
type nameWalk struct {
	pull func() (string, error, bool)
	stop func()
	skip int // bytes of the keyspace's uid
	sub  string
	more bool // sub is one
	err  error
}

func (t *Catalog) names(r firn.Reader, space UID) *nameWalk {
	prefix := AppendUID(nil, space)
	n := &nameWalk{skip: len(prefix)}
	n.pull, n.stop = iter.Pull2(r.Keys(firn.Range{Index: t.Keys.ByID(), Prefix: prefix}, 0))
	return n
}

func (n *nameWalk) next() {
	var id string
	if id, n.err, n.more = n.pull(); n.err != nil {
		n.more = false
	}
	if n.more {
		n.sub = id[n.skip:]
	}
}
