package oracle

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/firndb/firn/resp/reply"
	"github.com/firndb/firn/schema"
)

// liveClient has queries live on one connection at a time. What it was told of a
// query is what a read AT the push's token finds, and at a bookmark that holds of
// all of them.
type liveClient struct {
	run     *run
	name    string
	most    int // how many queries it has
	queries []*query
	drawn   int
	seenAll bool
}

// query is one that is live, or will be again.
type query struct {
	id    string
	db    int
	steps [][]string // one command, or those of a transaction
	multi bool

	state string // the reply as it was told last
	known bool   // state means something
	at    schema.Timestamp
	token string   // of the push or bookmark that told so; empty: none did
	live  bool     // on this connection
	heard []string // what was told of it, the newest lines
}

// hears notes what was told of a query, for who looks at a failure.
func (q *query) hears(format string, args ...any) {
	q.heard = append(q.heard[max(0, len(q.heard)-20):], fmt.Sprintf(format, args...))
}

func (l *liveClient) done() bool { return l.seenAll }

// draw draws queries in the place of those that have ended.
func (l *liveClient) draw(rng *rand.Rand) {
	for len(l.queries) < l.most {
		l.drawn++
		q := &query{id: fmt.Sprint("q", l.drawn), db: rng.IntN(4) / 2, steps: [][]string{readWords.draw(rng)}, multi: rng.IntN(4) == 0 && l.most > 1}
		for q.multi && len(q.steps) < 2+rng.IntN(3) {
			q.steps = append(q.steps, readWords.draw(rng))
		}
		l.queries = append(l.queries, q)
	}
}

// session subscribes to all queries, and takes what is pushed for a while.
func (l *liveClient) session(rng *rand.Rand) error {
	r := l.run
	w, err := r.connect(3, r.dialClient)
	if err != nil {
		return err
	}
	defer w.Close()
	asker, err := r.asker()
	if err != nil {
		return err
	}
	defer asker.Close()
	l.draw(rng)
	var early error
	w.pushed = func(v reply.Value) { early = errors.Join(early, l.push(&v, asker)) }
	for _, q := range l.queries {
		q.live = false
	}
	for _, q := range slices.Clone(l.queries) {
		if err := l.subscribe(w, q); err != nil || early != nil {
			return errors.Join(err, early)
		}
	}
	for until := time.Now().Add(time.Duration(200+rng.IntN(2400)) * time.Millisecond); !l.seenAll; {
		v, err := w.next(max(time.Until(until), time.Millisecond))
		switch {
		case err != nil && isTimeout(err):
			return errCut
		case err != nil:
			return err
		}
		if err := l.push(&v, asker); err != nil {
			return err
		}
	}
	return errCut
}

// subscribe makes a query live, from where it stood.
func (l *liveClient) subscribe(w *wire, q *query) error {
	v, resumed, err := l.request(w, q)
	if err != nil {
		return err
	}
	r := l.run
	switch {
	case isCompacted(&v) && resumed:
		r.count.resets.Add(1)
		q.token, q.known = "", false
		return l.subscribe(w, q)
	case v.IsError():
		if resumed && q.known && q.state == shown(&v) {
			r.fail(l.name, "%v resumed from %d: %s, which it was before", q.steps, q.at, v.Text)
		}
		l.end(q)
	case v.Mark == '+' && v.Text == "UNCHANGED":
		r.count.unchanged.Add(1)
		q.hears("unchanged since %d", q.at)
		q.live = true
		if !resumed {
			r.fail(l.name, "%v: UNCHANGED, though it was not resumed", q.steps)
		}
	default:
		if state := shown(&v); resumed && q.known && state == q.state {
			r.fail(l.name, "%v resumed from %d: got %s, which it was before", q.steps, q.at, state)
		}
		q.state, q.known, q.live, q.token = shown(&v), true, true, ""
		q.hears("subscribed (resumed: %t) at %d: %.300s", resumed, time.Now().UnixMicro(), q.state)
	}
	return nil
}

// request sends LIVE and returns what it says about the query.
func (l *liveClient) request(w *wire, q *query) (v reply.Value, resumed bool, err error) {
	words := []string{"LIVE", q.id}
	if q.token != "" {
		l.run.count.resumes.Add(1)
		words, resumed = append(words, "RESUME", q.token), true
	}
	commands := [][]string{{"SELECT", fmt.Sprint(q.db)}, append(slices.Clone(words), q.steps[0]...)}
	if q.multi {
		commands = append(commands[:1], append(words, "MULTI"))
		commands = append(append(commands, q.steps...), []string{"EXEC"})
	}
	answers, err := w.all(commands)
	if err != nil {
		return v, resumed, err
	}
	v = answers[len(answers)-1]
	if q.multi && answers[1].IsError() { // the token is read by LIVE itself
		v = answers[1]
	}
	return v, resumed, nil
}

// end forgets a query.
func (l *liveClient) end(q *query) {
	l.queries = slices.DeleteFunc(l.queries, func(other *query) bool { return other == q })
}

// push takes what was pushed in.
func (l *liveClient) push(v *reply.Value, asker *wire) error {
	kind := v.Elements[0].Text
	switch {
	case v.IsPush() && kind == "live-bookmark":
		return l.bookmark(schema.Timestamp(v.Elements[1].Int()), v.Elements[2].Text, asker)
	case !v.IsPush() || kind != "live" || len(v.Elements) != 5:
		l.run.fail(l.name, "got %s", shown(v))
		return errCut
	}
	at := slices.IndexFunc(l.queries, func(q *query) bool { return q.id == v.Elements[1].Text && q.live })
	if at < 0 {
		l.run.fail(l.name, "got a push for %q, which is not live", v.Elements[1].Text)
		return errCut
	}
	q := l.queries[at]
	err := l.told(q, schema.Timestamp(v.Elements[2].Int()), v.Elements[3].Text, shown(&v.Elements[4]), asker)
	if v.Elements[4].IsError() {
		l.end(q)
	}
	return err
}

// told takes a query's new state in.
func (l *liveClient) told(q *query, ts schema.Timestamp, token, state string, asker *wire) error {
	switch named, err := moment(token); {
	case err != nil || named != ts:
		l.run.fail(l.name, "the token of %d is %q: %d, %v", ts, token, named, err)
	case ts <= q.at && q.token != "":
		l.run.fail(l.name, "%v: not ordered: a push of %d after one of %d", q.steps, ts, q.at)
	case q.known && state == q.state:
		l.run.fail(l.name, "%v: not unique: got %s at %d, which it was at %d", q.steps, state, ts, q.at)
	}
	l.run.count.pushes.Add(1)
	q.hears("pushed at %d: %.300s", ts, state)
	q.state, q.known, q.at, q.token = state, true, ts, token
	return l.check(q, asker)
}

// bookmark holds all queries against the past.
func (l *liveClient) bookmark(ts schema.Timestamp, token string, asker *wire) error {
	for _, q := range l.queries {
		if !q.live {
			continue // it is not yet, or not any more
		}
		if q.token != "" && ts < q.at {
			l.run.fail(l.name, "a bookmark of %d after a push of %d", ts, q.at)
		}
		q.at, q.token = ts, token
		q.hears("bookmark at %d", ts)
		if err := l.check(q, asker); err != nil {
			return err
		}
	}
	l.run.count.wholeChecks.Add(1)
	l.seenAll = l.run.over() && ts >= schema.Timestamp(l.run.last.Load())
	return nil
}

// check reads a query's answer at its token, and compares.
func (l *liveClient) check(q *query, asker *wire) error {
	commands := [][]string{{"SELECT", fmt.Sprint(q.db)}}
	for _, step := range q.steps {
		commands = append(commands, append([]string{"AT", q.token}, step...))
	}
	answers, err := asker.all(commands)
	if err != nil {
		return err
	}
	answers = answers[1:]
	if slices.ContainsFunc(answers, func(v reply.Value) bool { return isCompacted(&v) }) {
		l.run.count.compacted.Add(1)
		return nil
	}
	want := shown(&answers[0])
	if q.multi {
		want = shown(&reply.Value{Mark: '*', Elements: answers})
	}
	l.run.count.checks.Add(1)
	if q.state != want {
		l.run.fail(l.name, "db %d %v at %d:\n got %s\nwant %s\nafter\n%s\nagain:\n%s", q.db, q.steps, q.at, q.state, want,
			strings.Join(q.heard, "\n"), l.run.evidence(asker, q, commands))
		return errCut
	}
	return nil
}

// evidence asks again, and for the history of whatever the query may read.
func (r *run) evidence(asker *wire, q *query, commands [][]string) string {
	commands = slices.Clone(commands)
	for i, step := range q.steps {
		commands = append(commands, step, append([]string{"LIVE", fmt.Sprint("evidence", i)}, step...), []string{"UNLIVE", fmt.Sprint("evidence", i)})
		for _, word := range step[1:] {
			commands = append(commands, []string{"HISTORY", "GET", word, "SINCE", fmt.Sprint(q.at - 100_000), "UNTIL", fmt.Sprint(q.at)})
		}
	}
	commands = append(commands, []string{"HISTORY", "CHANGED", fmt.Sprint(q.at - 20_000), fmt.Sprint(q.at)})
	answers, err := asker.all(commands)
	if err != nil {
		return err.Error()
	}
	var lines []string
	for i := range answers {
		lines = append(lines, fmt.Sprintf("%.100q: %.3000s", commands[i], shown(&answers[i])))
	}
	return strings.Join(lines, "\n")
}
