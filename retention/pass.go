package retention

import (
	"context"
	"errors"
	"time"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
)

// pass is one walk along the log for one policy.
type pass struct {
	c       *Compactor
	ctx     context.Context
	policy  Policy
	counts  bool           // versions; else the pass follows the horizon
	single  bool           // everything has this policy
	session schema.Session // of the chunk at hand

	deriver index.Deriver
	derived []schema.Entry // scratch
	page    int            // rows to read at once
	batch   condemned      // of the chunk
	lost    []orphan       // of the chunk
	applied schema.Timestamp
	report  Report

	recent  recent               // of the chunk
	from    schema.Timestamp     // of the chunk: what was replaced up to it was looked at before
	bound   schema.Timestamp     // of the chunk: nothing replaced after it is condemned
	shared  schema.Timestamp     // of the chunk: what is shared is condemned if it was replaced up to it
	counted map[documentKey]bool // whose versions were counted in this chunk
	gone    map[version]bool     // of ranges that are owned, condemned in this chunk
	last    []*schema.Row        // the commit that commitAt has read
}

// A chunk of the log is looked at before what it condemns is deleted. The
// longer it is, the more versions of a document go at once, which costs less
// each: 0.4 µs an entry with 65,536 rows of 1,000 keys, 3 µs with 4,096. A row
// that is condemned takes about 70 bytes.
const (
	chunkRows = 1 << 18

	// chunkWalk is how many rows of the log a chunk has at most, so that little
	// is lost if the walk ends in the middle.
	chunkWalk = 1 << 20

	// pageBytes is about how much of the log is in memory at once.
	pageBytes            = 4 << 20
	firstPage, largePage = 64, 4096 // rows
)

// apply brings the policy's cursor to its horizon.
func (c *Compactor) apply(ctx context.Context, p Policy) (Report, error) {
	w := &pass{c: c, ctx: ctx, policy: p}
	err := w.walk()
	if err == nil && p.Versions > 0 {
		w.counts = true
		err = w.walk()
	}
	return w.report, err
}

// walk goes along the log as far as it may.
func (w *pass) walk() error {
	for {
		progress := w.c.opts.State.Progress(w.policy)
		used := w.c.opts.State.InUse() // the pass's policy may not be in use any more
		w.single = len(used) == 1 && used[0] == w.policy
		before := w.report
		cursor := progress.cursor(w.policy, w.counts)
		to := w.mayForget()
		if !w.counts {
			to = min(to, progress.Horizon)
		}
		if to <= *cursor || w.ctx.Err() != nil {
			return w.ctx.Err()
		}
		end, err := w.chunk(*cursor, to)
		if err != nil {
			return err
		}
		*cursor = end
		err = w.forget(&progress)
		if err == errStale {
			w.report = before
		} else if err != nil {
			return err
		}
	}
}

// cursor is where a walk is: one that follows the horizon of a policy that
// counts versions has a cursor of its own.
func (p *Progress) cursor(policy Policy, counts bool) *schema.Timestamp {
	if policy.Versions > 0 && !counts {
		return &p.Pruned
	}
	return &p.Cursor
}

// mayForget is the newest moment up to which the pass may delete what its
// policy does not keep.
func (w *pass) mayForget() schema.Timestamp {
	return min(w.c.opts.Bound(), w.c.opts.Held(w.c.opts.Now()))
}

// chunk looks at the commits behind from, up to to, or as many as make a
// chunk, and condemns. It returns the timestamp up to which it came.
func (w *pass) chunk(from, to schema.Timestamp) (end schema.Timestamp, err error) {
	w.batch, w.lost, w.counted, w.gone, w.last, w.bound = condemned{}, nil, nil, nil, nil, to
	w.from, w.shared = from, w.passedByAll()
	w.page, w.recent = firstPage, recent{}
	walked := w.report.Walked
	for end = from; end < to && len(w.batch.rows) < w.c.sizes.chunkRows && w.report.Walked-walked < w.c.sizes.chunkWalk; {
		if err := w.ctx.Err(); err != nil {
			return end, err
		}
		began := time.Now()
		err := w.c.read(func(s schema.Session) (err error) {
			w.session = s
			end, err = w.commits(end, to)
			return err
		})
		w.session = nil
		if err == nil && w.busy() {
			err = w.rest(leaveReading * time.Since(began)) // only the processor is shared
		}
		if err == errFull {
			return end, nil
		}
		if err != nil {
			return end, err
		}
	}
	return end, nil
}

// errFull says that enough is condemned for one chunk.
var errFull = errors.New("retention: chunk is full")

// commits looks at a page of whole commits behind from; end is how far it
// came.
func (w *pass) commits(from, to schema.Timestamp) (end schema.Timestamp, err error) {
	rows, end, err := w.readCommits(from, to)
	if err != nil {
		return from, err
	}
	w.report.Walked += int64(len(rows))
	for len(rows) > 0 {
		n := commitLength(rows)
		if err := w.commit(rows[:n]); err != nil {
			return rows[0].TS - 1, err
		}
		rows = rows[n:]
	}
	return end, nil
}

// readCommits reads whole commits behind from.
func (w *pass) readCommits(from, to schema.Timestamp) (rows []*schema.Row, end schema.Timestamp, err error) {
	for ; ; w.page *= 2 {
		if rows, err = w.session.Log(nil, behind(from), to, w.page); err != nil {
			return nil, 0, err
		}
		if len(rows) < w.page {
			return rows, to, nil
		}
		last := rows[len(rows)-1].TS
		whole := len(rows)
		for whole > 0 && rows[whole-1].TS == last {
			whole--
		}
		if whole > 0 {
			w.page = pageFor(rows)
			return rows[:whole], rows[whole-1].TS, nil
		}
	}
}

// pageFor is how many rows like these make a page.
func pageFor(rows []*schema.Row) int {
	size := 0
	for _, row := range rows {
		size += len(row.ID) + len(row.Value) + 1
	}
	return min(max(pageBytes/(size/len(rows)+1), 1), largePage)
}

// commitLength is how many of the rows are of the first commit.
func commitLength(rows []*schema.Row) int {
	n := 1
	for n < len(rows) && rows[n].TS == rows[0].TS {
		n++
	}
	return n
}

// commit condemns what the rows of one commit have replaced, as far as the
// pass's policy holds for it.
func (w *pass) commit(rows []*schema.Row) error {
	if w.counts {
		return w.countCommit(rows)
	}
	o, err := w.ownership(rows)
	if err != nil {
		return err
	}
	for i, row := range rows {
		if !w.hasRow(o, row) {
			continue
		}
		if err := w.replace(row, o.before[i], true); err != nil {
			return err
		}
	}
	for _, lost := range o.lost {
		// What has scopes of its own in it is chosen document by document.
		if w.c.opts.Table(lost.table).Scope != nil || w.hasOwner(lost.owner, lost.ts) {
			w.lost = append(w.lost, lost)
		}
	}
	return nil
}

// has says whether the pass's policy holds for a scope.
func (w *pass) has(scope Scope) bool {
	if w.single {
		return true
	}
	p, _ := w.c.opts.State.Effective(scope)
	return p == w.policy
}

// hasRow says whether the pass is to deal with a row.
func (w *pass) hasRow(o *ownership, row *schema.Row) bool {
	return w.single || w.hasOwner(o.owner(w.c.opts.Table(row.Table), row.ID), row.TS)
}

// hasOwner says whether the pass is to deal with what was replaced at ts in
// the history of an owner. What is shared is left to the last policy that gets
// there: the others see in it what is lost.
func (w *pass) hasOwner(o owner, ts schema.Timestamp) bool {
	if o.shared && !w.single {
		return ts <= w.shared
	}
	return w.has(o.scope)
}

// passedByAll is the moment up to which nothing can be read, and every other
// policy has forgotten what it does not keep; those that count versions follow
// documents, and do not look at what is shared.
func (w *pass) passedByAll() schema.Timestamp {
	to := w.c.opts.State.Floor()
	for _, p := range w.c.opts.State.InUse() {
		if p != w.policy && p.Versions == 0 {
			to = min(to, w.c.opts.State.Progress(p).Cursor)
		}
	}
	return to
}

// replace condemns the version that row replaced, and row itself if it is a
// tombstone that need not stay. before is the version replaced, if it was
// read.
func (w *pass) replace(row, before *schema.Row, tombstone bool) error {
	t := w.c.opts.Table(row.Table)
	if held, err := w.outlived(t, row); held || err != nil {
		return err
	}
	w.applied = max(w.applied, row.TS)
	if row.Prev != 0 {
		w.condemn(version{row.Table, row.Prev, row.ID})
	}
	if t.Shared && row.Prev != 0 && row.Prev <= w.from {
		if err := w.replaceSkipped(row); err != nil {
			return err
		}
	}
	if row.Deleted && tombstone {
		w.condemn(version{row.Table, row.TS, row.ID})
	}
	if len(t.Indexes) == 0 || before == nil {
		return nil
	}
	w.derived = w.deriver.Derive(w.derived[:0], t.Table, before, row)
	for _, e := range w.derived[1:] {
		if e.Deleted {
			w.batch.keys = append(w.batch.keys, e)
		}
	}
	return nil
}

// replaceSkipped does for the version that row replaced what no pass has done
// that went by, because something could be read then that can not any more.
// Otherwise what is older would stay, and be the newest one day.
func (w *pass) replaceSkipped(row *schema.Row) error {
	skipped, err := w.session.Row(row.Table, row.ID, row.Prev)
	if err != nil || skipped == nil || skipped.Prev == 0 {
		return err
	}
	before, err := w.session.Row(row.Table, row.ID, skipped.Prev)
	if err != nil || before == nil {
		return err
	}
	return w.replace(skipped, before, false)
}

// condemn takes a version and its entry by id.
func (w *pass) condemn(v version) {
	w.batch.rows = append(w.batch.rows, v)
}

// before is the version that row replaced, if it is needed and still there.
func (w *pass) before(t *Table, row *schema.Row) (before *schema.Row, err error) {
	if t.Owns == nil && len(t.Indexes) == 0 {
		return nil, nil
	}
	if row.Prev != 0 {
		if before = w.recent.rows[documentKey{row.Table, row.ID}]; before == nil || before.TS != row.Prev {
			before, err = w.session.Row(row.Table, row.ID, row.Prev)
		}
	}
	w.recent.add(row)
	return before, err
}

// recent is rows of the chunk that may be asked for again: a document that is
// written often is mostly replaced within the chunk.
type recent struct {
	rows map[documentKey]*schema.Row
	size int
}

// recentBytes bounds what is kept of them.
const recentBytes = 32 << 20

func (r *recent) add(row *schema.Row) {
	const rowBytes = 200 // beside id and value, with its place in the map
	if r.size += len(row.ID) + len(row.Value) + rowBytes; r.size > recentBytes || r.rows == nil {
		r.rows, r.size = map[documentKey]*schema.Row{}, 0
	}
	r.rows[documentKey{row.Table, row.ID}] = row
}

// forget deletes what the chunk has condemned, and saves the progress.
//
// It is errStale if policies have changed since the chunk was begun: what was
// condemned before, and what was lost after that, would be of different scopes.
func (w *pass) forget(next *Progress) error {
	if w.c.opts.State.stale(*next) {
		return errStale
	}
	if w.counts && len(w.batch.rows)+len(w.lost) > 0 {
		if err := w.announce(*next); err != nil {
			return err
		}
	}
	if err := w.forgetOrphans(); err != nil { // while it can be seen that they are
		return err
	}
	if err := w.forgetBatch(next); err != nil {
		return err
	}
	w.c.opts.State.advanced(w.policy, *next)
	return nil
}

// errStale says that what a chunk has condemned may have to stay.
var errStale = errors.New("retention: chunk is stale")

// announce tells how far versions that are counted will be forgotten, before
// any is, so that nobody takes what is forgotten for what never was. It is
// errStale if policies have changed since the chunk was looked at, or somebody
// reads or holds what has been condemned: who comes later is told.
func (w *pass) announce(next Progress) error {
	return w.c.opts.State.Change(func() error {
		if w.c.opts.State.stale(next) {
			return errStale
		}
		now := w.c.opts.State.Progress(w.policy)
		now.Applied = max(now.Applied, w.applied)
		if err := w.c.opts.State.Advance(w.ctx, w.c.opts.Writer, w.policy, now); err != nil {
			return err
		}
		if w.mayForget() < w.bound {
			return errStale
		}
		return nil
	})
}

// forgetBatch deletes what the chunk has condemned, and writes the progress,
// if there is any, with the last slice. A walk along the log finds what a crash
// has left; one along the versions of documents does not.
func (w *pass) forgetBatch(next *Progress) error {
	return w.forgetAll(w.batch, w.counts || next == nil, next)
}

// forgetAll deletes what is condemned; whole, each version in one transaction
// with its entries.
func (w *pass) forgetAll(b condemned, whole bool, next *Progress) error {
	b.sortEntries(w.c.opts.Table)
	remove := (*condemned).deleteSome
	if whole {
		remove = (*condemned).deleteWhole
	}
	for done := b.empty() && next == nil; !done; {
		left := b
		err := w.slice(func(a schema.Appender, until time.Time) error {
			left = b
			if err := remove(&left, a, w.c.sizes.stepItems, until); err != nil {
				return err
			}
			if done = left.empty(); done && next != nil {
				return w.c.opts.State.write(a, w.policy, *next)
			}
			return nil
		})
		if err != nil {
			return err
		}
		deleted := int64(len(b.rows) - len(left.rows))
		w.report.Rows += deleted
		w.c.stats.rows.Add(deleted)
		if !whole && len(b.entries) > 0 && len(left.entries) == 0 {
			left.sortRows(w.c.opts.Table)
		}
		b = left
	}
	return nil
}
