package retention

// The rule: counting versions costs as much as there are, however many of them
// share a commit.

import (
	"fmt"
	"testing"
	"time"

	"github.com/firndb/firn/schema"
)

// counter is an engine that counts the rows that are walked over.
type counter struct {
	schema.Engine
	rows int
}

func (c *counter) Session() (schema.Session, error) {
	s, err := c.Engine.Session()
	return &countingSession{s, c}, err
}

type countingSession struct {
	schema.Session
	counter *counter
}

func (s *countingSession) Walk(after schema.Cursor, to schema.Timestamp, limit int, visit func(*schema.Visit) (bool, error)) (schema.Cursor, bool, error) {
	return s.Session.Walk(after, to, limit, func(v *schema.Visit) (bool, error) {
		s.counter.rows++
		return visit(v)
	})
}

func TestCountingReadsLargeCommitsOnce(t *testing.T) {
	const documents, versions = 200, 6
	r := newRig(t)
	for range versions {
		var writes []write
		for n := range documents {
			writes = append(writes, write{things, fmt.Sprint(n), []byte("a")})
		}
		r.commit(time.Second, writes...)
	}
	record := NewRecord(Policy{Versions: 2}, 0)
	r.state.Put(Scope{}, &record)
	c := r.compactor()
	counter := &counter{Engine: r.SQLite}
	c.opts.Engine = counter
	report, err := c.Compact(t.Context())
	if want := int64(documents * (versions - 2)); err != nil || report.Rows != want {
		t.Fatalf("pass: got %d rows deleted, %v, want %d", report.Rows, err, want)
	}
	// The log is walked along once, and each commit that replaced what goes once
	// more.
	if most := 2 * documents * versions; counter.rows > most {
		t.Errorf("rows read: got %d, want at most %d", counter.rows, most)
	}
}
