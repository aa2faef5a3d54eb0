package storefile

import (
	"context"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/retention"
	"github.com/firndb/firn/schema"
)

// walkBytes is how much of ids and values, whether they are read or not, lies
// between the ends of a read transaction: what it takes to copy it is how long
// the write-ahead log cannot start afresh.
const walkBytes = 16 << 20

// eachRow visits the rows of the log behind a place, up to a moment, in read
// transactions of checkPage rows or walkBytes.
func eachRow(ctx context.Context, s schema.Session, after schema.Cursor, to schema.Timestamp, visit func(*schema.Visit) error) error {
	for done := false; !done; {
		err := context.Cause(ctx)
		if err != nil {
			return err
		}
		bytes := 0
		after, done, err = s.Walk(after, to, checkPage, func(v *schema.Visit) (bool, error) {
			if bytes >= walkBytes {
				return false, nil
			}
			bytes += len(v.ID) + v.ValueBytes
			return true, visit(v)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// readRecords reads what retention is set to now.
func readRecords(s schema.Session, cat Catalog) (map[retention.Scope]retention.Record, error) {
	records := map[retention.Scope]retention.Record{}
	err := eachRecord(s, cat, func(row *schema.Row) error {
		if row.Deleted {
			scope, err := retention.ParseRecordID(row.ID)
			delete(records, scope)
			return err
		}
		scope, r, err := retention.ParseRecord(row.ID, row.Value)
		records[scope] = *r.SetAt(row.TS)
		return err
	})
	return records, err
}

// eachRecord visits what retention is set to: the live documents that
// are in the index, and all versions that are not merged yet, tombstones too.
func eachRecord(s schema.Session, cat Catalog, visit func(*schema.Row) error) error {
	table, ok := cat[retention.RecordsTable]
	if !ok {
		return nil
	}
	watermark, err := index.ReadWatermark(s)
	if err != nil {
		return err
	}
	if err := eachMerged(s, table.ID, visit); err != nil {
		return err
	}
	return eachRow(context.Background(), s, schema.Cursor{TS: watermark + 1}, schema.MaxTimestamp, func(v *schema.Visit) error {
		if v.Table != table.ID {
			return nil
		}
		row, err := v.Copy()
		if err != nil {
			return err
		}
		return visit(row)
	})
}

// eachMerged visits the live documents of a table, as far as they are in the
// index.
func eachMerged(s schema.Session, table schema.TableID, visit func(*schema.Row) error) error {
	keys, done := schema.KeyRange{Index: schema.ByID(table)}, false
	for !done {
		var page []schema.Entry
		var err error
		if page, keys, done, err = s.Scan(nil, keys, schema.MaxTimestamp, checkPage); err != nil {
			return err
		}
		for _, e := range page {
			row, err := s.Row(table, e.Key, e.TS)
			if err == nil && row != nil {
				err = visit(row)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
