package oracle

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/seed"
)

// Whatever happens to a server and to its clients, who follows it has at each
// token what was there at that moment.

const (
	soonEnough = 3000             // writes of the short form
	deadline   = 5 * time.Minute  // after which a run that has not done enough fails
	settle     = 60 * time.Second // within which followers have to reach the end

	// A server lives until it has passed over its history so often, but not for
	// ever: a pass that a kill ends has all its work before it again, and takes
	// longer each time.
	livesPasses = 5
	livesLonger = 10 * time.Second
)

// least is what a run has to have done to mean anything.
var least = []struct {
	what string
	of   func(*counts) int64
	n    int64
}{
	{"kills", func(c *counts) int64 { return c.kills.Load() }, 2},
	{"passes of the compactor", func(c *counts) int64 { return c.passes.Load() }, 10}, // of one that gives way to all others it is seconds
	{"versions forgotten", func(c *counts) int64 { return c.forgotten.Load() }, 200},
	{"resumes", func(c *counts) int64 { return c.resumes.Load() }, 40},
	{"new beginnings after COMPACTED", func(c *counts) int64 { return c.resets.Load() }, 1},
	{"states held against the past", func(c *counts) int64 { return c.checks.Load() }, 300},
	{"whole states held against the past", func(c *counts) int64 { return c.wholeChecks.Load() }, 20},
	{"commits delivered", func(c *counts) int64 { return c.commits.Load() }, 2000},
	{"pushes", func(c *counts) int64 { return c.pushes.Load() }, 100},
	{"events over HTTP", func(c *counts) int64 { return c.events.Load() }, 200},
	{"invalidations", func(c *counts) int64 { return c.drops.Load() }, 50},
	{"copies kept over a resume", func(c *counts) int64 { return c.kept.Load() }, 200},
}

// missing is what a run has not done enough of; empty: nothing.
func (c *counts) missing() string {
	for _, l := range least {
		if got := l.of(c); got < l.n {
			return fmt.Sprintf("%s: got %d, want %d at least", l.what, got, l.n)
		}
	}
	return ""
}

func TestRandomFollowersSeeWhatWasCommitted(t *testing.T) {
	v := seed.Fresh(t)
	r := newRun(t, v, newVictim(t, "--retention", retention.String(), "--http", "127.0.0.1:0"))
	defer r.stop()
	defer r.tell()
	rng := v.Rand(0)
	r.start(rng)
	clients := r.clients()
	var writing, following, behind sync.WaitGroup
	for i := range writers {
		writing.Go(func() { r.write(uint64(100 + i)) })
	}
	behind.Go(r.compact)
	behind.Go(r.truth.keep)
	for i, c := range clients {
		following.Go(func() { r.follow(c.name, uint64(200+i), c.client) })
	}
	r.live(rng, int64(seed.Steps(t, soonEnough)))
	close(r.enough)
	writing.Wait()
	r.finish(clients, &following)
	r.stop()
	behind.Wait()
	r.server.kill()
	if problems, err := firn.Check(r.server.path, func(problem string) { t.Error(problem) }); err != nil || problems > 0 {
		t.Errorf("the file has %d problems, %v", problems, err)
	}
	c := &r.count
	t.Logf("%d writes, %d kills, %d passes that forgot %d versions; %d resumes, %d new beginnings, %d unchanged; "+
		"%d commits delivered, %d pushes, %d events, %d invalidations, %d copies kept; %d states compared, %d of them whole, %d could not be",
		c.writes.Load(), c.kills.Load(), c.passes.Load(), c.forgotten.Load(), c.resumes.Load(), c.resets.Load(), c.unchanged.Load(),
		c.commits.Load(), c.pushes.Load(), c.events.Load(), c.drops.Load(), c.kept.Load(), c.checks.Load(), c.wholeChecks.Load(), c.compacted.Load())
	if missing := c.missing(); missing != "" && len(r.failed()) == 0 {
		t.Errorf("too little has happened: %s", missing)
	}
	if c.compacted.Load() > c.checks.Load()/2 {
		t.Errorf("%d states could not be compared, and %d could: too many", c.compacted.Load(), c.checks.Load())
	}
}

// start starts the server, each time otherwise.
func (r *run) start(rng *rand.Rand) {
	fsync := []string{"always", "everysec", "no"}[rng.IntN(3)]
	flags := []string{"--fsync", fsync}
	if r.server.starts%2 == 1 {
		flags = append(flags, "--portable") // the other socket driver
	}
	r.did("the server starts with %q", flags)
	r.server.start(flags...)
}

// live has the server live and die until enough was written and done.
func (r *run) live(rng *rand.Rand, writes int64) {
	for time.Since(r.began) < deadline || r.count.writes.Load() < writes {
		passes := r.count.passes.Load()
		r.rest(time.Duration(1200+rng.IntN(2200)) * time.Millisecond)
		for began := time.Now(); r.count.passes.Load() < passes+livesPasses && time.Since(began) < livesLonger && r.ctx.Err() == nil; {
			r.rest(compactEvery)
		}
		if r.ctx.Err() != nil {
			return
		}
		if r.count.writes.Load() >= writes && r.count.missing() == "" {
			return
		}
		r.did("the server is killed")
		r.server.kill()
		r.count.kills.Add(1)
		r.start(rng)
	}
}

// finish has all followers see the end, and judges them.
func (r *run) finish(clients []named, following *sync.WaitGroup) {
	if r.ctx.Err() != nil {
		following.Wait()
		return // it has failed
	}
	newest, err := r.newest()
	if err != nil {
		r.fail("oracle", "%v", err)
	}
	r.last.Store(int64(newest))
	r.did("all is written, until %d", newest)
	close(r.quiet)
	late := time.AfterFunc(settle, func() {
		for _, c := range clients {
			if !c.client.done() {
				r.fail(c.name, "has not seen the end, %d, after %s", newest, settle)
			}
		}
		r.stop()
	})
	following.Wait()
	late.Stop()
	for _, c := range clients {
		if j, ok := c.client.(interface{ judge() }); ok && r.ctx.Err() == nil {
			j.judge()
		}
	}
}

// named is a client with the name that it has in the script.
type named struct {
	name   string
	client client
}

// clients are those of a run, of all kinds.
func (r *run) clients() (all []named) {
	add := func(name string, c client) { all = append(all, named{name, c}) }
	for i := range 4 {
		f := newFeedClient(r, fmt.Sprint("copy", i), &filter{})
		f.values, f.proto, f.held = true, 2+i%2, i == 3
		add(f.name, f)
	}
	for i, narrow := range []*filter{
		{patterns: []string{"s*"}}, {patterns: []string{"c:1", "z1"}, databases: []int{0, 2}},
		{databases: []int{1}}, {operations: []string{"DEL", "SET", "expired", "FLUSHDB"}},
	} {
		f := newFeedClient(r, fmt.Sprint("narrow", i), narrow)
		f.proto = 2 + i%2
		add(f.name, f)
	}
	for i := range 5 {
		l := &liveClient{run: r, name: fmt.Sprint("live", i), most: 6}
		add(l.name, l)
	}
	for i := range 2 {
		f := newFeedClient(r, fmt.Sprint("web-copy", i), &filter{})
		f.values = true
		add(f.name, &webFeed{f})
		l := &liveClient{run: r, name: fmt.Sprint("web-live", i), most: 1}
		add(l.name, &webLive{l})
	}
	read, told, elsewhere := newCache(r, "default"), newCache(r, "bcast"), newCache(r, "redirect")
	told.bcast, elsewhere.redirects = true, true
	for _, c := range []*cacheClient{read, told, elsewhere} {
		add(c.name, c)
	}
	return all
}
