package oracle

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/firndb/firn/journal/journaltest"
	"github.com/firndb/firn/resp/reply"
	"github.com/firndb/firn/schema"
)

// feedClient follows CHANGES. With values it keeps a copy of the keyspace, which
// it compares with the past; what it was told is judged in any case.
type feedClient struct {
	*recorder
	proto  int
	values bool
	held   bool // it holds the horizon back, so it must never be too late

	token   string // where it stands; empty: nowhere
	at      schema.Timestamp
	replica replica
	touched []keyName // since the last comparison
	recent  []string  // the newest commits, to tell what a difference came of

	seenAll bool
}

func newFeedClient(r *run, name string, f *filter) *feedClient {
	return &feedClient{recorder: &recorder{run: r, name: name, filter: f}, proto: 3}
}

func (f *feedClient) done() bool { return f.seenAll }

// session follows over one connection.
func (f *feedClient) session(rng *rand.Rand) error {
	r := f.run
	w, err := r.connect(f.proto, r.dialClient)
	if err != nil {
		return err
	}
	defer w.Close()
	asker, err := r.asker()
	if err != nil {
		return err
	}
	defer asker.Close()
	if f.token == "" {
		if err := f.begin(w, asker); err != nil {
			return err
		}
	} else {
		r.did("%s resumes from %d", f.name, f.at)
		r.count.resumes.Add(1)
		f.start(journaltest.Resumed, f.token)
	}
	for pages := 1 + rng.IntN(30); (pages > 0 || r.over()) && !f.seenAll; pages-- {
		if err := f.page(rng, w, asker); err != nil {
			return err
		}
	}
	return errCut
}

// begin reads a snapshot, to follow from.
func (f *feedClient) begin(w, asker *wire) error {
	v, err := w.ask("HORIZON")
	if err != nil {
		return err
	}
	token := fieldsOf(&v)["token"].Text
	if f.values {
		if f.replica, err = (past{asker, token}).everything(); err != nil {
			return err
		}
	}
	f.token = token
	f.recent = nil
	f.at, f.touched = must(moment(token)), nil
	f.run.did("%s begins at %d with %d", f.name, f.at, len(f.replica))
	f.start(journaltest.Began, token)
	return nil
}

// page takes one page, and compares.
func (f *feedClient) page(rng *rand.Rand, w, asker *wire) error {
	r := f.run
	words := append([]string{"CHANGES", f.token, "COUNT", fmt.Sprint(1 + rng.IntN(60))}, f.filter.options()...)
	if f.values {
		words = append(words, "VALUES")
	}
	if rng.IntN(8) == 0 {
		words = append(words, "WHO")
	}
	if rng.IntN(3) > 0 {
		words = append(words, "BLOCK", fmt.Sprint(1+rng.IntN(300)))
	}
	v, err := w.ask(words...)
	switch {
	case err != nil:
		return err
	case isCompacted(&v) && f.held:
		r.fail(f.name, "%q while it was held: %s", words, v.Text)
		return errCut
	case isCompacted(&v):
		r.did("%s: %s", f.name, v.Text)
		r.count.resets.Add(1)
		f.token = ""
		return errCut
	case v.IsError():
		r.fail(f.name, "%q: %s", words, v.Text)
		return errCut
	}
	if err := f.take(&v); err != nil {
		r.fail(f.name, "%q: %v\nof\n%s", words, err, f.recent[len(f.recent)-1])
		return errCut
	}
	if f.held {
		if _, err := w.ask("HOLD", f.name, "AT", f.token, "TTL", "60"); err != nil {
			return err
		}
	}
	if err := f.compare(rng, asker); err != nil {
		return err
	}
	f.seenAll = r.over() && f.at >= schema.Timestamp(r.last.Load())
	return nil
}

// take takes a page in.
func (f *feedClient) take(page *reply.Value) error {
	for i := range page.Elements[1].Elements {
		if err := f.delivered(&page.Elements[1].Elements[i]); err != nil {
			return err
		}
	}
	f.token = page.Elements[0].Text
	f.at = f.bookmark(f.token)
	return nil
}

const recentCommits = 200

// mentions are the newest commits in which a key, or a database, occurs.
func (f *feedClient) mentions(key string) string {
	quoted := string(reply.AppendString(nil, key))
	var lines []string
	for _, line := range f.recent {
		if strings.Contains(line, quoted) || strings.Contains(line, `"database"`) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}

// delivered takes a commit in.
func (f *feedClient) delivered(c *reply.Value) error {
	f.commit(c)
	if !f.values {
		return nil
	}
	if f.recent = append(f.recent, fmt.Sprintf("%.3000s", shown(c))); len(f.recent) > 2*recentCommits {
		f.recent = append(f.recent[:0], f.recent[recentCommits:]...)
	}
	touched, err := f.replica.apply(c)
	f.touched = append(f.touched, touched...)
	if gone, ok := errors.AsType[*notThere](err); ok {
		return fmt.Errorf("%w\nof %s", err, f.mentions(gone.source.key))
	}
	return err
}

// compare holds the copy against what was at the token: what has changed, and
// everything now and then.
func (f *feedClient) compare(rng *rand.Rand, asker *wire) error {
	if !f.values {
		return nil
	}
	r, p := f.run, past{asker, f.token}
	names := slices.Compact(slices.SortedFunc(slices.Values(f.touched), func(a, b keyName) int {
		return slices.Compare([]string{fmt.Sprint(a.db), a.key}, []string{fmt.Sprint(b.db), b.key})
	}))
	whole := rng.IntN(10) == 0 || r.over()
	if whole {
		there, err := p.keys()
		if err != nil {
			return f.unread(err)
		}
		for name := range f.replica {
			there = append(there, name)
		}
		names = there
		r.count.wholeChecks.Add(1)
	}
	want, err := p.values(names)
	if err != nil {
		return f.unread(err)
	}
	f.touched = nil
	r.count.checks.Add(1)
	for _, name := range names {
		if got, want := f.replica[name].shown(f.at.Millis()), want[name].shown(f.at.Millis()); got != want {
			r.fail(f.name, "%v at %d:\n got %s\nwant %s\nof\n%s", name, f.at, got, want, f.mentions(name.key))
			return errCut
		}
	}
	return nil
}

// unread says that a comparison could not be made.
func (f *feedClient) unread(err error) error {
	if errors.Is(err, errForgotten) {
		f.run.count.compacted.Add(1)
		return nil
	}
	return err
}

// must is a value that there is: the recorder has complained if there is none.
func must[T any](v T, _ error) T { return v }
