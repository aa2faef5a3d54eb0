package keyspace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firndb/firn/resp"
	"github.com/firndb/firn/tuple"
)

// NoValue is the value of a member's document.
var NoValue = []byte{}

// OpenSet opens a key to add members. A key that is not there becomes a set
// without members, which the command must not leave so.
func OpenSet(v *View, key []byte) (Slot, error) {
	s, err := v.OpenKind(key, KindSet)
	if err == nil && !s.Live {
		s.Key = KeyDoc{Kind: KindSet, UID: v.NewUID()}
	}
	return s, err
}

// AddMember adds a member to s.key, whose document the caller writes after the
// last one, and says whether it is new.
func AddMember(v *View, s *Slot, member []byte) (added bool, err error) {
	id := v.ElementID(s.Key.UID, member)
	if there, err := hasDoc(v, v.Elements, id); there || err != nil {
		return false, err
	}
	s.Key.Length++
	if !v.Encodings.setFits(s.Key.Length, member) {
		s.Key.Encoding = Large
	}
	return true, v.Tx.Put(v.Elements, id, NoValue)
}

// DropMember takes a member from s.key, and says whether it was there.
func DropMember(v *View, s *Slot, member []byte) (dropped bool, err error) {
	id := v.ElementID(s.Key.UID, member)
	if there, err := hasDoc(v, v.Elements, id); !there {
		return false, err
	}
	s.Key.Length--
	return true, v.Tx.Delete(v.Elements, id, nil)
}

// WriteOrRemove writes the key of a set that has lost members: with its last
// member it goes.
func WriteOrRemove(v *View, s *Slot) error {
	if s.Key.Length > 0 {
		return v.Write(s, s.Key)
	}
	return v.Delete(s)
}

// EachInSet visits all members of a set: of an intset in the order of the
// numbers, as in Redis, of any other in the order of the bytes. A set that has
// not as many as its key says is ErrDamaged. A member is good during the visit.
func EachInSet(v *View, k *KeyDoc, visit func(member string) error) error {
	if k.Encoding != Large {
		members, err := intset(v, k)
		if err != nil {
			return err
		}
		for _, member := range members {
			if err := visit(member); err != nil {
				return err
			}
		}
		return nil
	}
	return walkSet(v, k, 0, lent, visit)
}

// intset is the members of a set of few integers, in their order.
func intset(v *View, k *KeyDoc) ([]string, error) {
	members := make([]string, 0, min(k.Length, DefaultIntsetEntries))
	err := walkSet(v, k, 0, lent, func(member string) error {
		members = append(members, strings.Clone(member))
		return nil
	})
	SortIntegers(members)
	return members, err
}

func DamagedSet(k *KeyDoc, n int64) error {
	return fmt.Errorf("set %d/%d has %d members, its key says %d: %w", k.UID.TS, k.UID.N, n, k.Length, ErrDamaged)
}

// SortIntegers sorts printed integers by what they are.
func SortIntegers(members []string) {
	slices.SortFunc(members, func(a, b string) int {
		x, _ := resp.ParseInt([]byte(a))
		y, _ := resp.ParseInt([]byte(b))
		return cmp.Compare(x, y)
	})
}

// HasMember says whether a set has a member.
func HasMember(v *View, k *KeyDoc, member string) (bool, error) {
	return hasDoc(v, v.Elements, tuple.AppendString(AppendUID(v.Room(), k.UID), member))
}
