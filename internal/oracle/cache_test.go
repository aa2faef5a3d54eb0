package oracle

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/firndb/firn/journal"
	"github.com/firndb/firn/resp/reply"
	"github.com/firndb/firn/schema"
)

// cacheClient keeps copies of what it has read, and drops those that it is told
// of: with CLIENT TRACKING, and SINCE when it comes back. A token that the server
// gives it is one as of which its copies are good, but for those that it has read
// later; and what it keeps on keeping is what there is.
type cacheClient struct {
	run   *run
	name  string
	bcast bool

	// redirects: the invalidations go to another connection, of protocol 2.
	redirects bool

	copies  map[string]cached
	dropped map[string]bool // while something was asked; nil: nothing is
	token   string
	seenAll bool
	heard   []string // what happened, the newest lines
}

// hears notes what happened, for who looks at a failure.
func (c *cacheClient) hears(format string, args ...any) {
	c.heard = append(c.heard[max(0, len(c.heard)-30):], fmt.Sprintf(fmt.Sprint(time.Now().UnixMicro(), " ", format), args...))
}

// cached is a copy.
type cached struct {
	text string
	end  int64            // ms; negative: none
	read schema.Timestamp // it was read before
}

func (c *cacheClient) done() bool { return c.seenAll }

// invalidate takes a push, or a message, in: keys, or a null for all.
func (c *cacheClient) invalidate(keys *reply.Value) {
	c.run.count.drops.Add(1)
	c.hears("told of %s", shown(keys))
	if keys.Null {
		clear(c.copies)
		if c.dropped != nil {
			c.dropped["*"] = true
		}
		return
	}
	for _, key := range texts(keys) {
		delete(c.copies, key)
		if c.dropped != nil {
			c.dropped[key] = true
		}
	}
}

// session keeps copies over one connection.
func (c *cacheClient) session(rng *rand.Rand) error {
	r := c.run
	t, err := c.track()
	if t != nil {
		defer t.close()
	}
	if err != nil {
		return err
	}
	asker, err := r.asker()
	if err != nil {
		return err
	}
	defer asker.Close()
	for steps := 1 + rng.IntN(40); (steps > 0 || r.over()) && !c.seenAll; steps-- {
		for range 6 {
			if err := c.read(rng, t); err != nil {
				return err
			}
		}
		if rng.IntN(4) == 0 || r.over() {
			if err := c.compare(t, asker); err != nil {
				return err
			}
		}
		r.rest(writeEvery * 5)
	}
	return errCut
}

// tracked is the connection that reads, and the one that is told.
type tracked struct {
	reads, told *wire // the same, unless it redirects
}

func (t *tracked) close() {
	t.reads.Close()
	t.told.Close()
}

// drain takes in what was told before now.
func (t *tracked) drain() error {
	if t.told == t.reads {
		return nil
	}
	_, err := t.told.ask("PING")
	return err
}

// track connects, and begins to track, from where the client stood.
func (c *cacheClient) track() (*tracked, error) {
	r := c.run
	w, err := r.connect(3, r.dialClient)
	if err != nil {
		return nil, err
	}
	t := &tracked{w, w}
	words := []string{"CLIENT", "TRACKING", "ON"}
	w.pushed = func(v reply.Value) {
		if v.Elements[0].Text == "invalidate" {
			c.invalidate(&v.Elements[1])
		}
	}
	if c.redirects {
		if t.told, err = r.connect(3, r.dialClient); err != nil {
			return &tracked{w, w}, err
		}
		t.told.pushed = w.pushed
		id, err := t.told.ask("CLIENT", "ID")
		if err != nil {
			return t, err
		}
		words = append(words, "REDIRECT", id.Text)
	}
	if c.bcast {
		words = append(words, "BCAST", "PREFIX", "c:")
	}
	if c.token == "" {
		clear(c.copies) // nobody tells which of them are good
	} else {
		r.did("%s resumes", c.name)
		r.count.resumes.Add(1)
		words = append(words, "SINCE", c.token)
	}
	c.hears("%q", words)
	if v, err := w.ask(words...); err != nil || v.IsError() {
		if err == nil {
			r.fail(c.name, "%q: %s", words, v.Text)
			err = errCut
		}
		return t, err
	}
	if names := slices.Collect(maps.Keys(c.copies)); len(names) > 0 && c.token != "" && !c.bcast {
		if _, err := w.ask(append([]string{"EXISTS"}, names...)...); err != nil {
			return t, err
		}
	}
	err = t.drain()
	if c.token != "" {
		r.count.kept.Add(int64(len(c.copies)))
	}
	return t, err
}

// read reads a key that there is no copy of, unless it is changed meanwhile.
func (c *cacheClient) read(rng *rand.Rand, t *tracked) error {
	names := slices.Concat(choices["$cached"], choices["$cachedhash"])
	key := names[rng.IntN(len(names))]
	if _, ok := c.copies[key]; ok || c.bcast && !strings.HasPrefix(key, "c:") {
		return nil
	}
	c.dropped = map[string]bool{}
	answers, err := t.reads.all([][]string{readOf(key), {"PEXPIRETIME", key}})
	if err != nil {
		return err
	}
	if err := t.drain(); err != nil {
		return err
	}
	text, end := shown(&answers[0]), answers[1].Int()
	ended := end == -2 && text != "null" && text != "{}" // between the two answers
	if !ended && !c.dropped[key] && !c.dropped["*"] && !answers[0].IsError() {
		c.copies[key] = cached{text, end, now()}
	}
	c.hears("%s is %s until %d, dropped %v", key, text, end, c.dropped)
	c.dropped = nil
	return nil
}

// readOf is the command whose reply is kept of a key.
func readOf(key string) []string {
	if strings.Contains(key, ":h") {
		return []string{"HGETALL", key}
	}
	return []string{"GET", key}
}

// compare asks for a token and holds the copies against what was then, and
// against what is newest.
func (c *cacheClient) compare(t *tracked, asker *wire) error {
	r := c.run
	v, err := t.reads.ask("HELLO", "3")
	if err != nil {
		return err
	}
	token := fieldsOf(&v)["token"]
	if token == nil {
		r.fail(c.name, "HELLO has no token: %s", shown(&v))
		return errCut
	}
	if err := t.drain(); err != nil {
		return err
	}
	at, err := journal.ParseToken(token.Text)
	if err != nil {
		r.fail(c.name, "%v", err)
	}
	c.token = token.Text
	c.hears("good as of %d", at.TS)
	wrong, err := c.wrong(asker, at.TS)
	if err == nil && len(wrong) > 0 {
		c.accuse(asker, wrong[0], at.TS)
		return errCut
	}
	if err != nil {
		return err
	}
	return c.compareNewest(t, asker)
}

// toldWithin is how late an invalidation may be, on a machine with other things
// to do: no answer says that it has come. Some answers have to come meanwhile.
const (
	toldWithin  = 400 * time.Millisecond
	toldAnswers = 10
)

// compareNewest holds the copies against what was newest a while ago.
func (c *cacheClient) compareNewest(t *tracked, asker *wire) error {
	r := c.run
	v, err := asker.ask("HORIZON")
	if err != nil {
		return err
	}
	newest := schema.Timestamp(fieldsOf(&v)["newest"].Int())
	wrong, err := c.wrong(asker, newest)
	if err != nil {
		return err
	}
	stale := map[string]cached{}
	for _, name := range wrong {
		stale[name] = c.copies[name]
	}
	late := time.Now()
	for answers := 0; len(stale) > 0 && r.ctx.Err() == nil; answers++ {
		if _, err := t.reads.ask("PING"); err != nil {
			return err
		}
		if err := t.drain(); err != nil {
			return err
		}
		maps.DeleteFunc(stale, func(name string, copied cached) bool { return c.copies[name] != copied })
		if time.Since(late) > toldWithin && answers > toldAnswers {
			for name := range stale {
				c.accuse(asker, name, newest)
			}
		}
		r.rest(writeEvery)
	}
	c.seenAll = r.over() && newest >= schema.Timestamp(r.last.Load())
	return nil
}

// accuse tells of a copy that is wrong.
func (c *cacheClient) accuse(asker *wire, name string, ts schema.Timestamp) {
	want, _ := asker.ask(append([]string{"AT", fmt.Sprint(ts)}, readOf(name)...)...)
	history, _ := asker.ask("HISTORY", "GET", name)
	c.run.fail(c.name, "%s as of %d: the copy is %v, want %s\n%s\nafter\n%s", name, ts, c.copies[name], shown(&want), shown(&history), strings.Join(c.heard, "\n"))
}

// wrong are the copies that were read before a moment, have not ended at it, and
// are not what there was.
func (c *cacheClient) wrong(asker *wire, at schema.Timestamp) (wrong []string, err error) {
	var names []string
	var commands [][]string
	for _, name := range slices.Sorted(maps.Keys(c.copies)) {
		if copied := c.copies[name]; copied.read < at && (copied.end < 0 || copied.end > at.Millis()) {
			names = append(names, name)
			commands = append(commands, append([]string{"AT", fmt.Sprint(at)}, readOf(name)...))
		}
	}
	answers, err := asker.all(commands)
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		switch {
		case isCompacted(&answers[i]):
			c.run.count.compacted.Add(1)
		case c.copies[name].text != shown(&answers[i]):
			wrong = append(wrong, name)
		default:
			c.run.count.checks.Add(1)
		}
	}
	return wrong, nil
}

// now is the clock, as commits are stamped.
func now() schema.Timestamp { return schema.Timestamp(time.Now().UnixMicro()) }

func newCache(r *run, name string) *cacheClient {
	return &cacheClient{run: r, name: fmt.Sprint("cache-", name), copies: map[string]cached{}}
}
