package journal

import "github.com/firndb/firn/schema"

// following is a journal as a Matcher sees it.
type following struct{ of *Journal }

// NewMatcher makes the matcher of a journal's store, the only one. It judges
// what has ended by the journal's clock.
func NewMatcher(j *Journal, aspects map[schema.TableID][]Aspect) *Matcher {
	j.matcher = newMatcher(following{j}, j.opts.Now, aspects)
	j.matcher.closed = j.opts.Closed
	return j.matcher
}

// Matched is Matcher.Matched.
func (j *Journal) Matched() schema.Timestamp { return j.matcher.Matched() }

// Watching is figures about those who watch what they have read.
func (j *Journal) Watching() WatchStats { return j.matcher.Stats() }

// begin has the ring filled from now on. The matcher is no Follower: it is never
// behind, since what it cannot see it takes for a change.
func (f following) begin() (schema.Timestamp, func()) {
	f.of.ring.follow(1)
	return f.of.opts.Newest(), func() { f.of.ring.follow(-1) }
}

func (f following) groups(dst []Group, after schema.Timestamp, rows int) ([]Group, bool) {
	return f.of.ring.Groups(dst, after, rows)
}

func (f following) newest() schema.Timestamp { return f.of.opts.Newest() }

func (f following) notify(after schema.Timestamp, fn func()) func() { return f.of.Notify(after, fn) }
