package storefile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/retention"
	"github.com/firndb/firn/schema"
)

// Check examines the store at path, which may be in use: the file's own
// integrity, every entry of an index against the log, the counts of ranges, the chain of versions
// of every document, that the log has no row that the indexes lack, and that
// the author of each version is there. Each problem is reported as one line;
// their number is returned. The error is for a store that cannot be examined.
func Check(path string, report func(problem string)) (problems int, err error) {
	lost, err := schema.InspectWAL(path)
	if err != nil {
		return 0, err
	}
	engine, err := schema.Open(path, schema.Options{ReadOnly: true})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	s, err := engine.Session()
	if err != nil {
		return 0, err
	}
	defer s.Close()
	if err := s.Begin(); err != nil {
		return 0, err
	}
	c := checker{s: s, report: report, page: func(int) error { return nil }}
	if lost.Commits > 0 {
		c.problem("%v", lost)
	}
	err = c.run()
	return c.problems, errors.Join(err, s.End())
}

// checkPage is how many rows or entries are read at once.
const checkPage = 1024

// maxAhead is how far a timestamp may be ahead of the clock before it is a
// problem. Clocks are set wrong by hours; a year is damage.
const maxAhead = 366 * 24 * time.Hour

type checker struct {
	s        schema.Session
	report   func(string)
	page     func(read int) error // called for each page of entries or rows; its error ends the check
	problems int

	latest    schema.Timestamp // no timestamp is later
	watermark schema.Timestamp
	forgotten schema.Timestamp // what was current after it is there
	merged    int              // entries by id up to the watermark
	last      schema.Entry     // the entry before the present one
	fences    fenceChecker     // of its index

	authors schema.TableID        // their table
	named   map[int64]*schema.Row // the first row by each author
	there   map[int64]bool        // authors that have a document
}

func (c *checker) problem(format string, args ...any) {
	c.problems++
	c.report(fmt.Sprintf(format, args...))
}

func (c *checker) run() (err error) {
	if err := c.s.Check(); err != nil {
		c.problem("file: %v", err)
	}
	if c.watermark, err = index.ReadWatermark(c.s); err != nil {
		return err
	}
	c.latest = schema.TimestampOf(time.Now().Add(maxAhead))
	if c.watermark > c.latest {
		c.problem("global %s is %d, more than a year from now: what is committed before then is in no index", index.WatermarkGlobal, c.watermark)
	}
	stored, err := retention.ReadStored(c.s)
	if err != nil {
		return err
	}
	cat, err := ReadCatalog(c.s)
	if err != nil {
		return err
	}
	c.forgotten = stored.Forgotten()
	if err := c.records(cat); err != nil {
		return err
	}
	if err := c.indexes(); err != nil {
		return err
	}
	c.authors, c.named, c.there = cat[AuthorsTable].ID, map[int64]*schema.Row{}, map[int64]bool{}
	if err := c.log(); err != nil {
		return err
	}
	for _, number := range slices.Sorted(maps.Keys(c.named)) {
		if row := c.named[number]; !c.there[number] {
			c.problem("document %q of table %d at %d: its author %d is not there", row.ID, row.Table, row.TS, number)
		}
	}
	return nil
}

// records notes what was forgotten of single scopes.
func (c *checker) records(cat Catalog) error {
	return eachRecord(c.s, cat, func(row *schema.Row) error {
		if row.Deleted {
			return nil
		}
		_, r, err := retention.ParseRecord(row.ID, row.Value)
		if err != nil {
			c.problem("document %q of %s at %d: %v", row.ID, retention.RecordsTable, row.TS, err)
			return nil
		}
		c.forgotten = max(c.forgotten, r.Start)
		return nil
	})
}

// author notes who wrote a row, and which author it is.
func (c *checker) author(row *schema.Row) {
	if row.Author != 0 && c.named[row.Author] == nil {
		c.named[row.Author] = row
	}
	if row.Table != c.authors || c.authors == 0 {
		return
	}
	number, err := AuthorNumber(row.ID)
	if err != nil {
		c.problem("table %d at %d: %v", row.Table, row.TS, err)
	}
	c.there[number] = true
}

// indexes looks every entry up in the log, and counts the keys of each fence.
func (c *checker) indexes() error {
	c.fences.problem = c.problem
	var page []schema.Entry
	for {
		var err error
		if page, err = c.s.Entries(page[:0], c.last, checkPage); err != nil {
			return err
		}
		if len(page) == 0 {
			c.fences.end()
			return nil
		}
		if err := c.page(len(page)); err != nil {
			return err
		}
		for _, e := range page {
			if err := c.fence(e); err != nil {
				return err
			}
			if err := c.entry(e); err != nil {
				return err
			}
			c.last = e
		}
	}
}

// fence shows an entry to the fences of its index.
func (c *checker) fence(e schema.Entry) error {
	if e.Index != c.last.Index {
		c.fences.end()
		fences, err := c.s.Fences(nil, schema.KeyRange{Index: e.Index}, "", 0)
		if err != nil {
			return err
		}
		c.fences.begin(fences)
	}
	c.fences.entry(&e)
	return nil
}

func (c *checker) entry(e schema.Entry) error {
	var row *schema.Row
	_, err := c.s.Peek(e.Index.Table(), e.Document(), e.TS, func(v *schema.Visit) error {
		found := v.Row
		row = &found
		return nil
	})
	if err != nil {
		return err
	}
	byID := e.Index.Number() == 0
	switch {
	case row == nil && (byID || e.TS > c.forgotten):
		c.problem("index %d: entry of %q at %d leads to no row", e.Index, e.Key, e.TS)
	case row == nil || !byID:
	case row.Deleted != e.Deleted:
		c.problem("index %d: entry of %q at %d says deleted=%t, its row %t", e.Index, e.Key, e.TS, e.Deleted, row.Deleted)
	default:
		c.chain(e, row)
	}
	if byID && e.TS <= c.watermark {
		c.merged++
	}
	return nil
}

// chain holds a row's prev_ts against the version before it.
func (c *checker) chain(e schema.Entry, row *schema.Row) {
	var before schema.Timestamp
	if c.last.Index == e.Index && c.last.Key == e.Key {
		before = c.last.TS
	}
	if row.Prev == before || before == 0 && row.Prev <= c.forgotten {
		return // it was replaced, or was a tombstone, when its horizon passed
	}
	if e.TS > c.watermark && before < row.Prev {
		return // the version between is not merged yet
	}
	c.problem("document %q of table %d at %d: prev_ts is %d, the version before it is at %d", row.ID, row.Table, row.TS, row.Prev, before)
}

// log counts the rows that must have entries.
func (c *checker) log() error {
	rows := 0
	err := c.walkLog(schema.MaxTimestamp, c.page, func(v *schema.Visit) error {
		row := v.Row
		c.author(&row)
		if row.TS <= c.watermark {
			rows++
		}
		if row.Prev >= row.TS {
			c.problem("document %q of table %d at %d: prev_ts %d is not older", row.ID, row.Table, row.TS, row.Prev)
		}
		return c.content(v)
	})
	if err != nil || rows == c.merged {
		return err
	}
	left, err := c.leftOver()
	if err == nil && rows != c.merged+left {
		c.problem("the log has %d rows up to %d, the indexes by id have %d entries", rows, c.watermark, c.merged)
	}
	return err
}

// content looks at a row by itself. Of values only JSON can be wrong, and only
// that is read.
func (c *checker) content(v *schema.Visit) error {
	if v.TS > c.latest {
		c.problem("document %q of table %d at %d: that is more than a year from now", v.ID, v.Table, v.TS)
	}
	if !v.JSON {
		return nil
	}
	value, err := v.Value()
	if err != nil {
		return err
	}
	if err := schema.CheckJSON(value); err != nil {
		c.problem("document %q of table %d at %d: %v", v.ID, v.Table, v.TS, err)
	}
	return nil
}

// leftOver counts the rows that a compaction which has not ended has taken out
// of the indexes: they were replaced, or are tombstones, and may be forgotten.
// What has replaced them is in the index, or a row that is left over too: rows
// go in the order of the log. Others without an entry are problems.
func (c *checker) leftOver() (n int, err error) {
	type place struct {
		table schema.TableID
		id    string
		ts    schema.Timestamp
	}
	open := map[place]bool{}                      // rows whose replacement has not come yet
	again := func(int) error { return c.page(0) } // every row was counted
	err = c.walkLog(c.watermark, again, func(row *schema.Visit) error {
		if row.TS <= c.forgotten && open[place{row.Table, row.ID, row.Prev}] {
			delete(open, place{row.Table, row.ID, row.Prev})
			n++
		}
		x := schema.ByID(row.Table)
		entries, err := c.s.Versions(nil, x, row.ID, row.TS-1, row.TS, false, 1)
		if err != nil || len(entries) > 0 {
			return err
		}
		later, err := c.s.Versions(nil, x, row.ID, row.TS, c.forgotten, false, 1)
		switch {
		case err != nil:
			return err
		case len(later) > 0 || row.Deleted && row.TS <= c.forgotten:
			n++
		default:
			open[place{row.Table, row.ID, row.TS}] = true
		}
		return nil
	})
	for at := range open {
		c.problem("document %q of table %d at %d is in no index", at.id, at.table, at.ts)
	}
	return n, err
}

// walkLog visits each row of the log up to a moment, and calls page with the
// number of rows now and then.
func (c *checker) walkLog(to schema.Timestamp, page func(read int) error, visit func(*schema.Visit) error) error {
	rows := 0
	err := eachRow(context.Background(), c.s, schema.Cursor{}, to, func(v *schema.Visit) error {
		if rows++; rows == checkPage {
			rows = 0
			if err := page(checkPage); err != nil {
				return err
			}
		}
		return visit(v)
	})
	return errors.Join(err, page(rows))
}
