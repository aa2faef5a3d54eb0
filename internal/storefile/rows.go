package storefile

import (
	"context"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/retention"
	"github.com/firndb/firn/schema"
)

// eachPage visits the rows of the log behind a place, up to a moment, in pages
// that are as long as the rows are short.
func eachPage(ctx context.Context, s schema.Session, after schema.Cursor, to schema.Timestamp, visit func(page []*schema.Row) error) error {
	limit := 64
	for {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		page, err := s.Log(nil, after, to, limit)
		if err != nil || len(page) == 0 {
			return err
		}
		if err := visit(page); err != nil {
			return err
		}
		end := page[len(page)-1]
		after = schema.Cursor{TS: end.TS, Table: end.Table, ID: end.ID}
		limit = min(max(copyBytes*len(page)/bytesIn(page), 1), maxCopyPage)
	}
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
	return eachPage(context.Background(), s, schema.Cursor{TS: watermark + 1}, schema.MaxTimestamp, func(page []*schema.Row) error {
		for _, row := range page {
			if row.Table != table.ID {
				continue
			}
			if err := visit(row); err != nil {
				return err
			}
		}
		return nil
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
