package storefile

import (
	"maps"
	"slices"
	"strings"

	"github.com/firndb/firn/retention"
	"github.com/firndb/firn/schema"
)

// A copy of the past has the log of then, and what has been forgotten since is
// not in it. Who reads the copy must not take that for what never was: where
// the records of then reach further back than the source does, those of the
// copy say so, right behind its moment.

// state is how much of whose history there is if retention is set to records.
func (o *origin) state(records map[retention.Scope]retention.Record) *retention.State {
	state := new(retention.State)
	state.Take(o.stored, retention.Policy{}) // that of a store without a policy is in its horizon
	state.Restore(records)
	return state
}

// policies ends the log of a copy of the past. One that lacks something gets the
// policies of now: it must say what it lacks of the same scopes.
func (c *copier) policies() error {
	if c.left != nil {
		return c.setRecords(c.origin.records, true)
	}
	then, err := c.recordsThen()
	if err != nil {
		return err
	}
	return c.setRecords(c.origin.late(then), false)
}

// recordsThen is what retention was set to at the copy's moment.
func (c *copier) recordsThen() (map[retention.Scope]retention.Record, error) {
	then := map[retention.Scope]retention.Record{}
	for id, row := range c.records {
		if row.Deleted {
			continue
		}
		scope, r, err := retention.ParseRecord(id, row.Value)
		if err != nil {
			return nil, err
		}
		then[scope] = *r.SetAt(row.TS)
	}
	return then, nil
}

// late are the records of then that must begin later than they did, since the
// source has forgotten more: the same policies, from where it can be read.
func (o *origin) late(then map[retention.Scope]retention.Record) map[retention.Scope]retention.Record {
	now, copied := o.state(o.records), o.state(then)
	scopes := maps.Clone(o.records)
	maps.Copy(scopes, then)
	scopes[retention.Scope{}] = retention.Record{}
	late := map[retention.Scope]retention.Record{}
	for _, scope := range slices.SortedFunc(maps.Keys(scopes), retention.Scope.Compare) { // the store and groups first: others inherit
		if covers(copied, now, scope) {
			continue
		}
		r, set := then[scope]
		r.Inherit = r.Inherit || !set
		_, r.Start, _ = now.Horizon(scope)
		late[scope] = r
		copied.Put(scope, &r)
	}
	return late
}

// covers says whether a scope is nowhere taken for readable in one state where
// it is not in the other.
func covers(one, other *retention.State, scope retention.Scope) bool {
	oldest, applied, versions := one.Horizon(scope)
	otherOldest, otherApplied, otherVersions := other.Horizon(scope)
	return oldest >= otherApplied || versions == otherVersions && oldest >= otherOldest && applied >= otherApplied
}

// setRecords makes records those of the copy. all says that others go.
func (c *copier) setRecords(records map[retention.Scope]retention.Record, all bool) error {
	table, at := c.origin.catalog[retention.RecordsTable].ID, c.At+1
	var rows []*schema.Row
	for scope, r := range records {
		value, err := r.Encode()
		if err != nil {
			return err
		}
		row := &schema.Row{Table: table, ID: string(retention.RecordID(scope)), TS: at, Value: value, JSON: true}
		if before := c.records[row.ID]; before != nil {
			row.Prev = before.TS
		}
		delete(c.records, row.ID)
		rows = append(rows, row)
	}
	for id, before := range c.records {
		if all && !before.Deleted {
			rows = append(rows, &schema.Row{Table: table, ID: id, TS: at, Prev: before.TS, Deleted: true})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	slices.SortFunc(rows, func(a, b *schema.Row) int { return strings.Compare(a.ID, b.ID) })
	return c.append(bytesIn(rows), len(rows), func(a schema.Appender) error { return a.Append(rows) })
}
