package retention

import (
	"errors"
	"time"

	"github.com/firndb/firn/schema"
)

// chunk is a stretch of the log that is judged before anything of it is
// deleted. Each is made anew, so nothing that one has learnt is taken for true
// in the next.
type chunk struct {
	w *pass
	judge
	to      schema.Timestamp     // nothing that was replaced after it is condemned
	session schema.Session       // of the page at hand
	walked  int64                // rows that were read
	counted map[documentKey]bool // documents whose versions were counted
	trims   []trimmed            // what the commits at hand let go, see count.go
}

// A chunk of the log is judged before what it condemns is deleted. The longer
// it is, the more versions of a document go at once, which costs less each:
// 0.4 µs an entry with 65,536 rows of 1,000 keys, 3 µs with 4,096. A row that
// is condemned takes about 70 bytes, and 40 more while they are sorted.
const (
	chunkRows = 1 << 18

	// chunkWalk is how many rows of the log a chunk has at most, so that little
	// is lost if the walk ends in the middle.
	chunkWalk = 1 << 20

	// chunkBytes bounds the ids of what is condemned, where they are long.
	chunkBytes = 32 << 20

	// pageRows and pageBytes are about how much of the log lies between the ends
	// of a read transaction: ids, and values that are read. A page has whole
	// commits.
	pageRows  = 4096
	pageBytes = 4 << 20

	// busyRows is pageRows while there are commits.
	busyRows = 512
)

// newChunk is the stretch of the log behind from, up to to at most. alone says
// that everything has the pass's policy.
func (w *pass) newChunk(from, to schema.Timestamp, alone bool) *chunk {
	ch := &chunk{w: w, to: to}
	ch.judge = judge{
		table: w.c.opts.Table, alone: alone, counts: w.policy.Versions > 0, from: from, shared: w.passedByAll(), barren: w.barren,
		mine: func(scope Scope) bool {
			p, _ := w.c.opts.State.Effective(scope)
			return p == w.policy
		},
		past: func(t schema.TableID, id string, ts schema.Timestamp) (*known, error) {
			return ch.table(t).peek(ch.session, &ch.deriver, id, ts)
		},
	}
	return ch
}

// walk judges the commits of the chunk, or as many as make one. It returns the
// timestamp up to which it came.
func (ch *chunk) walk() (end schema.Timestamp, err error) {
	w, sizes := ch.w, ch.w.c.sizes
	defer func() { w.report.Walked += ch.walked }()
	session, err := w.c.opts.Engine.Session()
	if err != nil {
		return ch.from, err
	}
	defer session.Close()
	for end = ch.from; end < ch.to && !ch.full() && ch.walked < sizes.chunkWalk; {
		if err := w.ctx.Err(); err != nil {
			return end, err
		}
		began := time.Now()
		err := reading(session, func() (err error) {
			ch.session = session
			end, err = ch.commits(end)
			return err
		})
		ch.session = nil
		if err == nil {
			err = w.breathe(began)
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

// full says that enough is condemned.
func (ch *chunk) full() bool {
	return len(ch.batch.rows) >= ch.w.c.sizes.chunkRows || ch.batch.idBytes >= chunkBytes
}

// errFull ends a chunk that has condemned enough.
var errFull = errors.New("retention: chunk is full")

// commits judges a page of whole commits behind from; end is how far it came.
func (ch *chunk) commits(from schema.Timestamp) (end schema.Timestamp, err error) {
	rows, end, err := ch.readCommits(from)
	if err != nil {
		return from, err
	}
	ch.walked += int64(len(rows))
	if ch.w.counting {
		if err := ch.countCommits(rows); err != nil {
			return from, err
		}
		return end, nil
	}
	for len(rows) > 0 {
		n := commitLength(rows)
		if err := ch.commit(rows[:n]); err != nil {
			return rows[0].TS - 1, err
		}
		rows = rows[n:]
	}
	return end, nil
}

// readCommits reads whole commits behind from.
func (ch *chunk) readCommits(from schema.Timestamp) (rows []*known, end schema.Timestamp, err error) {
	bytes, last, most := 0, schema.Timestamp(0), ch.w.c.sizes.pageRows
	if ch.w.busy() {
		most = min(most, ch.w.c.sizes.busyRows)
	}
	_, done, err := ch.session.Walk(behind(from), ch.to, 0, func(v *schema.Visit) (bool, error) {
		if len(rows) > 0 && v.TS != last && (len(rows) >= most || bytes >= pageBytes) {
			return false, nil
		}
		t := ch.table(v.Table)
		row, err := t.see(&ch.deriver, v)
		if err != nil {
			return false, err
		}
		if bytes += row.bytes(); t.tells() {
			bytes += v.ValueBytes
		}
		rows, last = append(rows, row), v.TS
		return true, nil
	})
	switch {
	case err != nil:
		return nil, 0, err
	case done:
		return rows, ch.to, nil
	}
	return rows, last, nil
}

// commitLength is how many of the rows are of the first commit.
func commitLength(rows []*known) int {
	n := 1
	for n < len(rows) && rows[n].TS == rows[0].TS {
		n++
	}
	return n
}
