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
	page    int                  // rows to read at once
	walked  int64                // rows that were read
	counted map[documentKey]bool // documents whose versions were counted
	last    []*schema.Row        // the commit that commitAt has read
}

// A chunk of the log is judged before what it condemns is deleted. The longer
// it is, the more versions of a document go at once, which costs less each:
// 0.4 µs an entry with 65,536 rows of 1,000 keys, 3 µs with 4,096. A row that
// is condemned takes about 70 bytes.
const (
	chunkRows = 1 << 18

	// chunkWalk is how many rows of the log a chunk has at most, so that little
	// is lost if the walk ends in the middle.
	chunkWalk = 1 << 20

	// pageBytes is about how much of the log is in memory at once.
	pageBytes            = 4 << 20
	firstPage, largePage = 64, 4096 // rows
)

// newChunk is the stretch of the log behind from, up to to at most. alone says
// that everything has the pass's policy.
func (w *pass) newChunk(from, to schema.Timestamp, alone bool) *chunk {
	ch := &chunk{w: w, to: to, page: firstPage}
	ch.judge = judge{
		table: w.c.opts.Table, alone: alone, counts: w.policy.Versions > 0, from: from, shared: w.passedByAll(),
		mine: func(scope Scope) bool {
			p, _ := w.c.opts.State.Effective(scope)
			return p == w.policy
		},
		past: func(t schema.TableID, id string, ts schema.Timestamp) (*schema.Row, error) {
			return ch.session.Row(t, id, ts)
		},
	}
	return ch
}

// walk judges the commits of the chunk, or as many as make one. It returns the
// timestamp up to which it came.
func (ch *chunk) walk() (end schema.Timestamp, err error) {
	w, sizes := ch.w, ch.w.c.sizes
	defer func() { w.report.Walked += ch.walked }()
	for end = ch.from; end < ch.to && len(ch.batch.rows) < sizes.chunkRows && ch.walked < sizes.chunkWalk; {
		if err := w.ctx.Err(); err != nil {
			return end, err
		}
		began := time.Now()
		err := w.c.read(func(s schema.Session) (err error) {
			ch.session = s
			end, err = ch.commits(end)
			return err
		})
		ch.session = nil
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

// errFull ends a chunk that has condemned enough.
var errFull = errors.New("retention: chunk is full")

// commits judges a page of whole commits behind from; end is how far it came.
func (ch *chunk) commits(from schema.Timestamp) (end schema.Timestamp, err error) {
	rows, end, err := ch.readCommits(from)
	if err != nil {
		return from, err
	}
	look := ch.commit
	if ch.w.counting {
		look = ch.countCommit
	}
	ch.walked += int64(len(rows))
	for len(rows) > 0 {
		n := commitLength(rows)
		if err := look(rows[:n]); err != nil {
			return rows[0].TS - 1, err
		}
		rows = rows[n:]
	}
	return end, nil
}

// readCommits reads whole commits behind from.
func (ch *chunk) readCommits(from schema.Timestamp) (rows []*schema.Row, end schema.Timestamp, err error) {
	for ; ; ch.page *= 2 {
		if rows, err = ch.session.Log(nil, behind(from), ch.to, ch.page); err != nil {
			return nil, 0, err
		}
		if len(rows) < ch.page {
			return rows, ch.to, nil
		}
		last := rows[len(rows)-1].TS
		whole := len(rows)
		for whole > 0 && rows[whole-1].TS == last {
			whole--
		}
		if whole > 0 {
			ch.page = pageFor(rows)
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
