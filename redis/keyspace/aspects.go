package keyspace

import (
	"bytes"
	"fmt"
	"math/bits"

	"github.com/firndb/firn"
	"github.com/firndb/firn/journal"
	"github.com/firndb/firn/tuple"
)

// Aspect is what a command needs to know of a key's document. Where it is
// recorded what is read, a write that leaves that as it is does not matter.
//
// Every write to a key writes its document, so AspectWhole is always right. The
// others are for commands that read the elements which their replies are made
// of, and take no hint from the document where it is recorded what is read:
// where a collection begins and ends, whether it has fields with an end.
type Aspect int

// The aspects, as the table declares them.
const (
	AspectWhole    Aspect = iota // all of it
	AspectLength                 // as AspectIdentity, and how many elements there are
	AspectIdentity               // whether it is there, its type, which collection it is, and when it ends
	AspectFront                  // as AspectIdentity, and where a list or a stream begins
)

// keyAspects are the aspects but the first, in their order.
func keyAspects() []journal.Aspect {
	return []journal.Aspect{
		keyAspect(func(k *KeyDoc, p *print) {
			p.add(k.Length)
			p.add(k.FieldEnds().First)
		}),
		keyAspect(func(*KeyDoc, *print) {}),
		keyAspect(func(k *KeyDoc, p *print) {
			switch k.Kind {
			case KindList:
				if q, err := SequenceOf(k); err == nil {
					p.add(q.First)
				}
			case KindStream:
				if st, err := ParseStream(k); err == nil {
					p.add(int64(st.First.Ms))
					p.add(int64(st.First.Seq))
				}
			}
		}),
	}
}

// keyAspect is a key's identity and what more adds.
func keyAspect(more func(*KeyDoc, *print)) journal.Aspect {
	return func(doc *firn.Document) uint64 {
		k, ok := decodeKeyDoc(doc.Value)
		if !ok {
			return uint64(doc.TS) // reading it is the error
		}
		var p print
		for _, n := range [...]int64{int64(k.Kind), int64(k.UID.TS), k.UID.N, k.Expires, k.end()} {
			p.add(n)
		}
		more(&k, &p)
		return uint64(p)
	}
}

// print is a fingerprint of numbers.
type print uint64

func (p *print) add(n int64) {
	high, low := bits.Mul64(uint64(*p)^0x9e3779b97f4a7c15, uint64(n)^0xbf58476d1ce4e5b9)
	*p = print(high^low) + 0x94d049bb133111eb
}

// until says that what is read holds until an end, in ms, has passed; 0 is none.
func until(v *View, end int64) {
	if end != 0 && !Expired(end, v.Now()) {
		v.R.Until(firn.Timestamp((end + 1) * 1000))
	}
}

// Depend says that the reply needs to know more of the key that was found last
// than the command's entry says.
func Depend(v *View, a Aspect) error {
	if !v.R.Recorded() {
		return nil
	}
	_, err := v.R.GetAspect(v.Keys, v.Work.found, int(a), nil)
	if err == firn.ErrNotFound { //nolint:errorlint // documented to be returned bare
		return nil
	}
	return err
}

// untilNextEnd says when the next field of a hash ends that has not.
func untilNextEnd(v *View, k *KeyDoc) error {
	e := k.FieldEnds()
	if e.Count == 0 || !v.R.Recorded() {
		return nil
	}
	if !Expired(e.First, v.Now()) {
		until(v, e.First)
		return nil
	}
	if Expired(e.Last, v.Now()) {
		return nil
	}
	prefix := AppendUID(nil, k.UID)
	return untilFirst(v, firn.Range{
		Index: v.ByEnd, From: tuple.AppendInt(bytes.Clone(prefix), v.Now()), To: tuple.PrefixEnd(prefix), Limit: 1,
	}, len(prefix))
}

// untilFirst says that what is read holds until the end that the first key of a
// range has, behind skip bytes.
func untilFirst(v *View, r firn.Range, skip int) error {
	for key, err := range v.R.Keys(r, 0) {
		if err != nil {
			return err
		}
		end, _, err := tuple.TakeInt([]byte(key[skip:]))
		if err != nil {
			return fmt.Errorf("end in %x: %w: %w", key, ErrDamaged, err)
		}
		until(v, end)
	}
	return nil
}
