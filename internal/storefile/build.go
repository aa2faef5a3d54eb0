package storefile

import (
	"errors"
	"fmt"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
)

// Rebuild derives the indexes anew from the whole log. row, if not nil, is
// called with each row.
func Rebuild(engine schema.Engine, session schema.Session, defs Definitions, row func(*schema.Visit) error) error {
	app := engine.Appender()
	err := Transact(app, func(a schema.Appender) error {
		return errors.Join(a.DropIndexes(), a.SetGlobal(index.WatermarkGlobal, "0"), a.SetGlobal(index.CountsGlobal, "{}"), a.SetGlobal(index.MergingGlobal, "[]"))
	})
	if err != nil {
		return fmt.Errorf("drop indexes: %w", err)
	}
	tail, counts := index.NewTail(0), index.Counts{}
	r := index.Replayer{Tables: defs.Indexes(), Session: session, Tail: tail, Counts: counts, Row: row, Fresh: true}
	r.Full = MergeWhenFull(app, tail, nil, counts) // the ranges are counted when all is there
	if _, err := r.Run(0); err != nil {
		return err
	}
	if err := MergeAll(app, tail, nil, counts); err != nil {
		return err
	}
	return buildFences(app, session, defs.Indexes())
}

// MergeWhenFull keeps the tail bounded while a log is replayed.
func MergeWhenFull(app schema.Appender, tail *index.Tail, tables map[schema.TableID]*index.Table, counts index.Counts) func(schema.Timestamp) error {
	return func(schema.Timestamp) error {
		if active, _ := tail.Size(); active.Entries < maxTail {
			return nil
		}
		return MergeAll(app, tail, tables, counts)
	}
}

// maxTail is how many entries the tail may have meanwhile.
const maxTail = 1 << 20

// rebuildSlice is how many entries are merged in one transaction while nobody
// waits.
const rebuildSlice = 1 << 14

// MergeAll merges the tail into the file. Fences are kept for tables.
func MergeAll(app schema.Appender, tail *index.Tail, tables map[schema.TableID]*index.Table, counts index.Counts) error {
	m := index.NewMerger(tail, tables)
	if !m.Start(counts) {
		return nil
	}
	for m.Active() {
		err := Transact(app, func(a schema.Appender) error {
			_, err := m.Write(a, rebuildSlice)
			return err
		})
		if err != nil {
			return err
		}
		m.Committed()
	}
	_, err := app.Checkpoint()
	return err
}

// Transact runs fn in a transaction on a write session that nobody else uses
// yet.
func Transact(app schema.Appender, fn func(schema.Appender) error) error {
	if err := app.Begin(); err != nil {
		return err
	}
	err := fn(app)
	if err == nil {
		err = app.Commit()
	}
	if err != nil {
		return errors.Join(err, app.Rollback())
	}
	return nil
}
