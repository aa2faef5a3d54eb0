package keyspace

import (
	"fmt"

	"github.com/firndb/firn/tuple"
)

// GroupsID is what the id of a document of the table groups says.
type GroupsID struct {
	Serial  int64    // of the group that it is a part of; 0: it is a group
	Name    []byte   // of the group, or of the consumer
	Entry   StreamID // of what is pending
	Pending bool     // it is what is pending, and otherwise a consumer or a group
}

// ParseGroupsID reads the id of a document of the table groups, whose first
// prefixBytes are the stream's uid.
func ParseGroupsID(id string, prefixBytes int) (g GroupsID, err error) {
	serial, rest, err := tuple.TakeInt(id[prefixBytes:])
	part := int64(partConsumers)
	if g.Serial = serial; err == nil && serial != 0 {
		part, rest, err = tuple.TakeInt(rest)
	}
	if g.Pending = part == partPending; err == nil && g.Pending {
		g.Entry, err = TakeIDKey(rest)
		return g, err
	}
	var name string
	if err == nil {
		name, err = MemberOf(rest, 0)
	}
	if err != nil || part != partConsumers {
		return g, fmt.Errorf("id %q of a group: %w", id, ErrDamaged)
	}
	g.Name = []byte(name)
	return g, nil
}
