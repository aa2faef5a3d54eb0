package firn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/retention"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// copier writes a store that is another one as of a moment: the rows of the
// log up to there, in their order, the entries of the indexes that were merged
// up to there, and the globals. The entries are copied and not derived anew,
// so that no table need be declared; the check at the end holds each against
// the log.
type copier struct {
	ctx      context.Context
	from     schema.Session
	source   string    // the file's path, for its size
	at       Timestamp // the moment
	now      Timestamp // later moments have not come
	newest   bool      // at is everything there is, so nothing that it needs is forgotten
	sameLine bool      // keep the incarnation
	progress func(done, total int64)

	partial string // where it is written
	app     schema.Appender
	origin  origin
	merged  Timestamp    // of the newest entry copied: the copy's watermark
	counts  index.Counts // of live documents there
	total   int64        // bytes that the copy may have
	dirty   int          // bytes written since the last checkpoint
	pieces  int          // rows and entries written
}

// origin is what the source says about itself, read at one moment.
type origin struct {
	globals     [][2]string
	catalog     catalog
	watermark   Timestamp
	first, last Timestamp // of the log
}

// recordsTable holds what retention is set to, as documents.
const recordsTable = "firn.retention"

const (
	// copyBytes is about what is read and written at once.
	copyBytes = 4 << 20

	// maxCopyPage bounds it in rows, which cost more than their bytes.
	maxCopyPage = 8192

	// rowBytes and entryBytes are what they take beside their id or key and
	// their value, about.
	rowBytes, entryBytes = 32, 12

	// checkpointBytes is how large the copy's write-ahead log becomes.
	checkpointBytes = 16 << 20
)

func (c *copier) copy(path string, target schema.Options) error {
	if err := c.readOrigin(); err != nil {
		return err
	}
	return writeStore(path, target, func(engine *schema.SQLite) error {
		c.partial, c.app, c.counts = engine.Path(), engine.Appender(), index.Counts{}
		for _, step := range []func() error{c.log, c.entries, c.globals, c.checkpoint} {
			if err := step(); err != nil {
				return err
			}
		}
		return c.verify(engine)
	})
}

func (c *copier) readOrigin() (err error) {
	if err := c.from.Begin(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.from.End()) }()
	o := &c.origin
	names := []string{schema.GlobalCreated, tablesGlobal, retention.HorizonGlobal, retention.ClassesGlobal}
	if c.sameLine {
		names = append(names, schema.GlobalIncarnation)
	}
	for _, name := range names {
		text, ok, err := c.from.Global(name)
		if err != nil {
			return err
		}
		if ok && name == retention.ClassesGlobal {
			text, err = restartClasses(text)
		}
		if err != nil {
			return err
		}
		if ok {
			o.globals = append(o.globals, [2]string{name, text})
		}
	}
	if o.catalog, err = readCatalog(c.from); err != nil {
		return err
	}
	if o.watermark, err = index.ReadWatermark(c.from); err != nil {
		return err
	}
	if err := c.bounds(); err != nil {
		return err
	}
	return c.checkWhole()
}

// bounds reads how far the log reaches, and estimates what there is to copy.
func (c *copier) bounds() error {
	head, err := c.from.Log(nil, schema.Cursor{}, schema.MaxTimestamp, 1)
	if err != nil {
		return err
	}
	last, err := c.from.Last()
	if err != nil {
		return err
	}
	c.total = fileBytes(c.source)
	if len(head) == 0 || last == nil {
		return nil
	}
	o := &c.origin
	o.first, o.last = head[0].TS, last.TS
	if o.first < c.at && c.at < o.last {
		c.total = int64(float64(c.total) * float64(c.at-o.first) / float64(o.last-o.first))
	}
	return nil
}

// checkWhole refuses a moment at which something can no longer be read: the
// copy would lack it at its newest moment. It refuses the future, too.
func (c *copier) checkWhole() error {
	switch {
	case c.newest:
		return nil
	case c.at > max(c.origin.last, c.now):
		return &FutureError{Asked: c.at, Newest: c.origin.last}
	case c.at >= c.origin.last:
		return nil
	}
	whole, err := c.wholeFrom()
	if err != nil {
		return err
	}
	if c.at < whole {
		return &CompactedError{Asked: c.at, Oldest: whole}
	}
	return nil
}

// wholeFrom is the moment from which on everything can be read, whatever
// policy holds for it: the latest of all horizons that the file knows of.
func (c *copier) wholeFrom() (whole Timestamp, err error) {
	created, err := createdAt(c.from)
	if err != nil {
		return 0, err
	}
	var horizon retention.Horizon
	if err := horizon.Load(c.from, created); err != nil {
		return 0, err
	}
	whole = horizon.Oldest()
	text, ok, err := c.from.Global(retention.ClassesGlobal)
	if err != nil {
		return 0, err
	}
	var classes map[string]retention.Progress
	if ok {
		if classes, err = parseClasses(text); err != nil {
			return 0, err
		}
	}
	for _, p := range classes {
		whole = max(whole, p.Horizon, p.Applied)
	}
	err = c.eachRecord(func(row *schema.Row) error {
		var r retention.Record
		if err := json.Unmarshal(row.Value, &r); err != nil {
			return fmt.Errorf("%w: document %q of %s: %v", schema.ErrCorrupt, row.ID, recordsTable, err)
		}
		whole = max(whole, r.Start)
		return nil
	})
	return whole, err
}

// eachRecord visits what retention is set to now, and versions that are not
// merged yet.
func (c *copier) eachRecord(visit func(*schema.Row) error) error {
	table, ok := c.origin.catalog[recordsTable]
	if !ok {
		return nil
	}
	keys, done := schema.KeyRange{Index: schema.ByID(table.ID)}, false
	for !done {
		var page []schema.Entry
		var err error
		if page, keys, done, err = c.from.Scan(nil, keys, schema.MaxTimestamp, checkPage); err != nil {
			return err
		}
		for _, e := range page {
			row, err := c.from.Row(table.ID, e.Key, e.TS)
			if err == nil && row != nil {
				err = visit(row)
			}
			if err != nil {
				return err
			}
		}
	}
	return c.eachRow(c.origin.watermark, schema.MaxTimestamp, func(page []*schema.Row) error {
		for _, row := range page {
			if row.Table != table.ID || row.Deleted {
				continue
			}
			if err := visit(row); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachRow visits the rows of the log behind a timestamp, up to another, in
// pages that are as long as the rows are short.
func (c *copier) eachRow(after, to Timestamp, visit func(page []*schema.Row) error) error {
	cursor, limit := schema.Cursor{TS: after + 1}, 64
	for {
		if err := context.Cause(c.ctx); err != nil {
			return err
		}
		page, err := c.from.Log(nil, cursor, to, limit)
		if err != nil || len(page) == 0 {
			return err
		}
		if err := visit(page); err != nil {
			return err
		}
		end := page[len(page)-1]
		cursor = schema.Cursor{TS: end.TS, Table: end.Table, ID: end.ID}
		limit = min(max(copyBytes*len(page)/bytesIn(page), 1), maxCopyPage)
	}
}

func bytesIn(page []*schema.Row) (bytes int) {
	for _, row := range page {
		bytes += rowBytes + len(row.ID) + len(row.Value)
	}
	return bytes
}

// log copies the rows.
func (c *copier) log() error {
	return c.eachRow(0, c.at, func(page []*schema.Row) error {
		return c.write(bytesIn(page), len(page), func(a schema.Appender) error { return a.Append(page) })
	})
}

// write runs fn in a transaction on the copy.
func (c *copier) write(bytes, pieces int, fn func(schema.Appender) error) error {
	if err := transact(c.app, fn); err != nil {
		return err
	}
	c.pieces += pieces
	if c.dirty += bytes; c.dirty < checkpointBytes {
		return nil
	}
	return c.checkpoint()
}

// checkpoint bounds the copy's write-ahead log, and reports how large the file
// has become: half of what is to be done.
func (c *copier) checkpoint() error {
	c.dirty = 0
	if _, err := c.app.Truncate(); err != nil {
		return err
	}
	info, err := os.Stat(c.partial)
	if err == nil {
		c.total = max(c.total, info.Size())
		c.report(info.Size(), 2*c.total)
	}
	return err
}

func (c *copier) report(done, total int64) {
	if c.progress != nil {
		c.progress(done, total)
	}
}

// upTo is how far entries are copied. Behind the source's watermark there may
// be those of a merge that has not ended; they are derived when the copy is
// opened.
func (c *copier) upTo() Timestamp { return min(c.at, c.origin.watermark) }

// entries copies the indexes, and counts live documents on the way.
func (c *copier) entries() error {
	counted := map[schema.TableID]int{}
	for _, t := range c.origin.catalog {
		if t.Counted {
			counted[t.ID] = t.Prefix
		}
	}
	var page, kept []schema.Entry
	var after, last schema.Entry // last of those that were kept
	count := func() {
		prefix, ok := counted[last.Index.Table()]
		if !ok || last.Index.Number() != 0 || last.Deleted {
			return
		}
		if n, ok := tuple.PrefixLen(last.Key, prefix); ok {
			c.counts.Add(last.Index.Table(), last.Key[:n], 1)
		}
	}
	for {
		if err := context.Cause(c.ctx); err != nil {
			return err
		}
		var err error
		if page, err = c.from.Entries(page[:0], after, maxCopyPage); err != nil {
			return err
		}
		if len(page) == 0 {
			count()
			return nil
		}
		kept = kept[:0]
		bytes := 0
		for _, e := range page {
			if e.TS > c.upTo() {
				continue
			}
			if e.Index != last.Index || e.Key != last.Key {
				count()
				bytes += len(e.Key) + len(e.ID)
			}
			kept, last, c.merged = append(kept, e), e, max(c.merged, e.TS)
			bytes += entryBytes
		}
		after = page[len(page)-1]
		if err := c.write(bytes, len(kept), func(a schema.Appender) error { return a.Merge(kept) }); err != nil {
			return err
		}
	}
}

// globals makes the copy's those of the source.
func (c *copier) globals() error {
	return c.write(0, 0, func(a schema.Appender) error {
		for _, g := range c.origin.globals {
			if err := a.SetGlobal(g[0], g[1]); err != nil {
				return err
			}
		}
		return index.StoreWatermark(a, c.merged, c.counts)
	})
}

// restartClasses is how far each policy has forgotten, but for the place where
// it is in the log: the copy's log is walked anew.
func restartClasses(text string) (string, error) {
	classes, err := parseClasses(text)
	if err != nil {
		return "", err
	}
	for name, p := range classes {
		p.Cursor = 0
		classes[name] = p
	}
	restarted, err := json.Marshal(classes)
	return string(restarted), err
}

// verify reads the copy back and compares what refers to what: the other half
// of what is to be done.
func (c *copier) verify(engine *schema.SQLite) error {
	session, err := engine.Session()
	if err != nil {
		return err
	}
	defer session.Close()
	bytes, first, read := fileBytes(c.partial), "", 0
	k := checker{s: session, page: func(n int) error {
		read += n
		c.report(bytes+int64(float64(bytes)*float64(read)/float64(max(c.pieces, read))), 2*bytes)
		return context.Cause(c.ctx)
	}}
	k.report = func(problem string) {
		if k.problems == 1 {
			first = problem
		}
	}
	if err := k.run(); err != nil {
		return err
	}
	switch {
	case k.problems > 0:
		return fmt.Errorf("%w: the copy has %d problems, the first: %s", schema.ErrCorrupt, k.problems, first)
	case read != c.pieces:
		return fmt.Errorf("%w: the copy has %d rows and entries, %d were written", schema.ErrCorrupt, read, c.pieces)
	}
	c.report(2*bytes, 2*bytes)
	return nil
}

func parseClasses(text string) (classes map[string]retention.Progress, err error) {
	if err := json.Unmarshal([]byte(text), &classes); err != nil {
		return nil, fmt.Errorf("%w: global %s: %v", schema.ErrCorrupt, retention.ClassesGlobal, err)
	}
	return classes, nil
}
