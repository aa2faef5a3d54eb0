package storefile

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/retention"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// Copy is what a copy of a store is to be: the other one as of a moment.
type Copy struct {
	From     schema.Session
	Source   string           // the file's path, for its size
	At       schema.Timestamp // the moment
	Now      schema.Timestamp // later moments have not come
	Newest   bool             // At is everything there is, so nothing that it needs is forgotten
	SameLine bool             // keep the incarnation
	Target   schema.Options   // of the new file
	Progress func(done, total int64)

	// Tables are what is declared, to know whose history documents are.
	Tables []*retention.Table

	// LeftOut is called, before anything is written, with each scope that can
	// no longer be read at At and so is left out, and from when on it can. An
	// error ends the copy. If it is nil, such a moment is refused.
	LeftOut func(scope retention.Scope, from schema.Timestamp) error
}

// copier writes a store that is another one as of a moment: the rows of the
// log up to there, in their order, the entries of the indexes that were merged
// up to there, and the globals. The entries are copied and not derived anew,
// so that no table need be declared; the check at the end holds each against
// the log.
type copier struct {
	Copy
	ctx context.Context

	partial string // where it is written
	app     schema.Appender
	origin  origin
	left    *omission              // nil: nothing is left out
	rows    []*schema.Row          // the page that is written next
	bytes   int                    // of them
	records map[string]*schema.Row // what retention was set to at At, if that is past
	merged  schema.Timestamp       // of the newest entry copied: the copy's watermark
	counts  index.Counts           // of live documents there
	total   int64                  // bytes that the copy may have
	dirty   int                    // bytes written since the last checkpoint
	pieces  int                    // rows and entries written
}

// origin is what the source says about itself, read at one moment.
type origin struct {
	globals     [][2]string
	stored      retention.Stored
	catalog     Catalog
	watermark   schema.Timestamp
	first, last schema.Timestamp                     // of the log
	records     map[retention.Scope]retention.Record // what retention is set to now, if At is past
}

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

// Write makes the copy at path. What it reads must not be forgotten meanwhile.
func (c Copy) Write(ctx context.Context, path string) error {
	return (&copier{Copy: c, ctx: ctx}).write(path)
}

// WriteInOneState is Write in one read transaction, so that what the process
// that has the store open forgets meanwhile is still seen. An At of 0 is the
// newest moment.
func (c Copy) WriteInOneState(ctx context.Context, path string) (err error) {
	session := c.From
	if err := session.Begin(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.End()) }()
	c.From = OneState{session}
	if c.At == 0 {
		c.At, c.Newest = schema.MaxTimestamp, true
	}
	return c.Write(ctx, path)
}

// OneState is a session between Begin and End, for code that would begin for
// itself.
type OneState struct{ schema.Session }

// Begin does nothing: the session has begun.
func (OneState) Begin() error { return nil }

// End does nothing: who began the session ends it.
func (OneState) End() error { return nil }

func (c *copier) write(path string) error {
	if err := c.readOrigin(); err != nil {
		return err
	}
	return writeStore(path, c.Target, func(engine *schema.SQLite) error {
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
	if err := c.From.Begin(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.From.End()) }()
	o := &c.origin
	names := []string{schema.GlobalCreated, tablesGlobal}
	if c.SameLine {
		names = append(names, schema.GlobalIncarnation)
	}
	for _, name := range names {
		text, ok, err := c.From.Global(name)
		if err != nil {
			return err
		}
		if ok {
			o.globals = append(o.globals, [2]string{name, text})
		}
	}
	if o.stored, err = retention.ReadStored(c.From); err != nil {
		return err
	}
	if o.catalog, err = ReadCatalog(c.From); err != nil {
		return err
	}
	if o.watermark, err = index.ReadWatermark(c.From); err != nil {
		return err
	}
	if err := c.bounds(); err != nil {
		return err
	}
	return c.checkWhole()
}

// bounds reads how far the log reaches, and estimates what there is to copy.
func (c *copier) bounds() error {
	next, _, err := c.From.Walk(schema.Cursor{}, schema.MaxTimestamp, 1, func(*schema.Visit) (bool, error) { return true, nil })
	if err != nil {
		return err
	}
	last, err := c.From.Last()
	if err != nil {
		return err
	}
	c.total = FileBytes(c.Source)
	if last == 0 {
		return nil
	}
	o := &c.origin
	o.first, o.last = next.TS, last
	if o.first < c.At && c.At < o.last {
		c.total = int64(float64(c.total) * float64(c.At-o.first) / float64(o.last-o.first))
	}
	return nil
}

// checkWhole refuses a moment at which something can no longer be read: the
// copy would lack it at its newest moment. It refuses the future, too.
func (c *copier) checkWhole() error {
	switch {
	case c.Newest:
		return nil
	case c.At > max(c.origin.last, c.Now):
		return &retention.FutureError{Asked: c.At, Newest: c.origin.last}
	case c.At >= c.origin.last:
		return nil
	}
	records, err := readRecords(c.From, c.origin.catalog)
	if err != nil {
		return err
	}
	whole := c.origin.stored.Forgotten()
	for _, r := range records {
		whole = max(whole, r.Start)
	}
	c.origin.records, c.records = records, map[string]*schema.Row{}
	if c.At >= whole {
		return nil
	}
	state := c.origin.state(records)
	readable := retention.Bound{Oldest: state.Oldest(), Began: state.Created()}
	if c.LeftOut == nil {
		readable.Oldest = max(readable.Oldest, whole)
	}
	if err := readable.Admit(c.At); err != nil {
		return err
	}
	if c.left, err = c.findOmission(state); err != nil {
		return err
	}
	return c.left.tell(c.LeftOut)
}

func bytesIn(page []*schema.Row) (bytes int) {
	for _, row := range page {
		bytes += rowBytes + len(row.ID) + len(row.Value)
	}
	return bytes
}

// log copies the rows.
func (c *copier) log() error {
	err := eachRow(c.ctx, c.From, schema.Cursor{}, c.At, c.copy)
	if err == nil {
		err = c.flush()
	}
	if err != nil || c.records == nil {
		return err
	}
	return c.policies()
}

// copy takes a row into the page that is written next. A row that is as large
// as a page is written as it lies in the source's memory.
func (c *copier) copy(v *schema.Visit) error {
	if c.records != nil && v.Table == c.origin.catalog[retention.RecordsTable].ID {
		row, err := v.Copy()
		if err != nil {
			return err
		}
		c.records[row.ID] = row
	}
	if c.left.leaves(v.Table, v.ID) {
		return nil
	}
	if v.ValueBytes >= copyBytes {
		return c.copyLarge(v)
	}
	row, err := v.Copy()
	if err != nil {
		return err
	}
	c.rows = append(c.rows, row)
	c.bytes += rowBytes + len(row.ID) + len(row.Value)
	if len(c.rows) < maxCopyPage && c.bytes < copyBytes {
		return nil
	}
	return c.flush()
}

func (c *copier) copyLarge(v *schema.Visit) error {
	if err := c.flush(); err != nil {
		return err
	}
	value, err := v.Value()
	if err != nil {
		return err
	}
	row := v.Row
	row.Value = value
	return c.append(rowBytes+len(row.ID)+len(value), 1, func(a schema.Appender) error { return a.Append([]*schema.Row{&row}) })
}

// flush writes the page.
func (c *copier) flush() error {
	if len(c.rows) == 0 {
		return nil
	}
	rows, bytes := c.rows, c.bytes
	c.rows, c.bytes = c.rows[:0], 0
	defer clear(rows)
	return c.append(bytes, len(rows), func(a schema.Appender) error { return a.Append(rows) })
}

// append runs fn in a transaction on the copy.
func (c *copier) append(bytes, pieces int, fn func(schema.Appender) error) error {
	if err := Transact(c.app, fn); err != nil {
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
	if c.Progress != nil {
		c.Progress(done, total)
	}
}

// upTo is how far entries are copied. Behind the source's watermark there may
// be those of a merge that has not ended; they are derived when the copy is
// opened.
func (c *copier) upTo() schema.Timestamp { return min(c.At, c.origin.watermark) }

// entries copies the indexes, and counts live documents on the way.
func (c *copier) entries() error {
	counted := map[schema.TableID]int{}
	for _, t := range c.origin.catalog {
		if t.Counted {
			counted[t.ID] = t.Prefix
		}
	}
	b := index.FenceBuilder{Tables: c.origin.catalog.Readable(c.Tables).Indexes()}
	var page, kept []schema.Entry
	var fences []schema.Fence
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
		if page, err = c.From.Entries(page[:0], after, maxCopyPage); err != nil {
			return err
		}
		if len(page) == 0 {
			count()
			return c.append(0, 0, func(a schema.Appender) error { return a.SetFences(b.End(nil)) })
		}
		kept, fences = kept[:0], fences[:0]
		bytes := 0
		for _, e := range page {
			if e.TS > c.upTo() || c.left.leaves(e.Index.Table(), e.Document()) {
				continue
			}
			if e.Index != last.Index || e.Key != last.Key {
				count()
				bytes += len(e.Key) + len(e.ID)
			}
			kept, last, c.merged = append(kept, e), e, max(c.merged, e.TS)
			bytes += entryBytes
			fences = b.Add(fences, &e)
		}
		after = page[len(page)-1]
		if err := c.append(bytes, len(kept), func(a schema.Appender) error { return errors.Join(a.Merge(kept), a.SetFences(fences)) }); err != nil {
			return err
		}
	}
}

// globals makes the copy's those of the source.
func (c *copier) globals() error {
	return c.append(0, 0, func(a schema.Appender) error {
		for _, g := range c.origin.globals {
			if err := a.SetGlobal(g[0], g[1]); err != nil {
				return err
			}
		}
		return errors.Join(c.origin.stored.Restarted().Write(a), index.StoreWatermark(a, c.merged, c.counts))
	})
}

// verify reads the copy back and compares what refers to what: the other half
// of what is to be done.
func (c *copier) verify(engine *schema.SQLite) error {
	session, err := engine.Session()
	if err != nil {
		return err
	}
	defer session.Close()
	bytes, first, read := FileBytes(c.partial), "", 0
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
