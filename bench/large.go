package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// largeFactor: the large store has this many times -keys keys.
	largeFactor = 3

	// largeBudget is what a store of 3,000,000 keys does not fit in.
	largeBudget = "256mb"
)

// measureLarge asks for keys at random that are mostly not in memory. The
// bars are twice what the structures before these reached on the machine that
// the first report was made on, and four times.
func measureLarge(ctx context.Context, l *lab) (s section, err error) {
	keys := largeFactor * l.cfg.keys
	s = section{
		title: "More keys than memory",
		method: fmt.Sprintf("%d keys of 64 bytes, asked for uniformly at random by 50 connections; Firn runs with `--memory %s`, an fsync each second. "+
			"The bars are on Firn's rate and on its resident MiB behind all of it.", keys, largeBudget),
		header: []string{"command", "P", "Redis", "Firn", "ratio", "bar"},
	}
	redis, err := l.redisServer("everysec")
	if err != nil {
		return s, err
	}
	firn, err := l.subject("everysec", "--memory", largeBudget)
	if err != nil {
		return s, err
	}
	servers := []*server{redis, firn}
	defer func() { err = errors.Join(err, redis.stop(), firn.stop()) }()
	for _, server := range servers {
		if err := inOrder(func() error { return server.start(ctx) }, func() error { return loadKeys(server, keys) }); err != nil {
			return s, err
		}
		settle(ctx, server.pid())
	}
	for _, r := range []row{{test: 0, pipeline: 16}, {test: 1, pipeline: 1}, {test: 1, pipeline: 16}} {
		var loads [2][]load
		for range l.cfg.rounds {
			for i, server := range servers {
				got, err := redisBenchmarkOf(ctx, server, r, requests(l.cfg.requests, r), keys)
				if err != nil {
					return s, err
				}
				loads[i] = append(loads[i], got)
				settle(ctx, server.pid())
			}
		}
		theirs, ours := medianLoad(loads[0]).rps, medianLoad(loads[1]).rps
		name := tests[r.test].printed
		s.rows = append(s.rows, []string{
			name, fmt.Sprint(r.pipeline), showRate(theirs), showRate(ours), showRatio(ratio(ours, theirs)),
			verdict(fmt.Sprintf("large/%s/P=%d", name, r.pipeline), ours),
		})
	}
	theirs, err := residentBytes(redis.pid())
	if err != nil {
		return s, err
	}
	ours, err := residentBytes(firn.pid())
	if err != nil {
		return s, err
	}
	s.rows = append(s.rows, []string{
		"resident", "", showMiB(theirs), showMiB(ours), showRatio(ratio(float64(ours), float64(theirs))), verdict("large/MiB", mebibytes(ours)),
	})
	return s, nil
}

// beyondBudget is a tenth of what the collections of measureBeyond take.
const beyondBudget = "8mb"

// measureBeyond asks what is left of the speed when one collection is ten
// times as large as the memory for it.
func measureBeyond(ctx context.Context, l *lab) (s section, err error) {
	n := 2 * l.cfg.keys
	s = section{
		title: "Collections beyond memory",
		method: fmt.Sprintf("redis-benchmark as under *Throughput*, without a pipeline, on one set, sorted set or stream of %d elements; "+
			"Firn runs with `--memory %s`, a tenth of what the smallest of them takes; an fsync each second.", n, beyondBudget),
		header: []string{"command", "Redis /s", "Firn /s", "ratio", "bar", "Redis p50 / p99", "Firn p50 / p99"},
	}
	redis, err := l.redisServer("everysec")
	if err != nil {
		return s, err
	}
	firn, err := l.subject("everysec", "--memory", beyondBudget)
	if err != nil {
		return s, err
	}
	servers := []*server{redis, firn}
	defer func() { err = errors.Join(err, redis.stop(), firn.stop()) }()
	for _, server := range servers {
		fill := func() error { return withClient(server, func(c *client) error { return fillBeyond(c, n) }) }
		if err := inOrder(func() error { return server.start(ctx) }, fill); err != nil {
			return s, err
		}
		settle(ctx, server.pid())
	}
	for test, t := range tests {
		if _, has := bars["beyond/"+t.printed]; !has {
			continue
		}
		o := outcome{}
		r := row{"everysec", test, 1}
		for round := range l.cfg.rounds {
			if err := takeTurns(ctx, l, pair{"everysec", redis, firn}, r, round, &o); err != nil {
				return s, err
			}
		}
		theirs, ours := medianLoad(o.redis), medianLoad(o.firn)
		times := ratio(ours.rps, theirs.rps)
		s.rows = append(s.rows, []string{
			t.printed, showRate(theirs.rps), showRate(ours.rps), showRatio(times), verdict("beyond/"+t.printed, times),
			showMillis(theirs.p50) + " / " + showMillis(theirs.p99), showMillis(ours.p50) + " / " + showMillis(ours.p99),
		})
	}
	return s, nil
}

// fillBeyond makes the collections that redis-benchmark's tests work on.
func fillBeyond(c *client, n int) error {
	element := func(i int) string { return fmt.Sprintf("element:%012d", i) }
	return inOrder(
		func() error {
			return fillCollection(c, "SADD", "myset", n, func(i int) []string { return []string{element(i)} })
		},
		func() error {
			return fillCollection(c, "ZADD", "myzset", n, func(i int) []string { return []string{fmt.Sprint(scattered(i)), element(i)} })
		},
		func() error {
			return c.load(n, func(i int) []string { return []string{"XADD", "mystream", "*", "field", element(i)} }, nil)
		},
	)
}

// measureCollector asks what the collector of garbage takes when the head is
// full.
func measureCollector(ctx context.Context, l *lab) (s section, err error) {
	s = section{
		title: "Garbage collection",
		method: fmt.Sprintf("The collector's share of the processor time of the server (`gc_cpu_seconds` in INFO), in percent, under redis-benchmark with 50 connections and a pipeline of 16, "+
			"after %d keys have filled a head of 64 MiB.", l.cfg.keys),
		header: []string{"command", "share", "bar"},
	}
	firn, err := l.subject("everysec", "--memory", "64mb")
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, firn.stop()) }()
	if err := inOrder(func() error { return firn.start(ctx) }, func() error { return loadKeys(firn, l.cfg.keys) }); err != nil {
		return s, err
	}
	for test, t := range tests {
		share, err := collectorShare(ctx, firn, row{"everysec", test, 16}, requests(l.cfg.requests, row{test: test, pipeline: 16}))
		if err != nil {
			return s, err
		}
		s.rows = append(s.rows, []string{t.printed, fmt.Sprintf("%.1f %%", share), verdict("collector", share)})
	}
	return s, nil
}

// collectorShare runs one test, and is the collector's part of it in percent.
func collectorShare(ctx context.Context, s *server, r row, n int) (float64, error) {
	collector, err := infoSeconds(s, "gc_cpu_seconds")
	if err != nil {
		return 0, err
	}
	before := cpuTicks(s.pid())
	if _, err := redisBenchmark(ctx, s, r, n); err != nil {
		return 0, err
	}
	spent := time.Duration(cpuTicks(s.pid())-before) * tick
	after, err := infoSeconds(s, "gc_cpu_seconds")
	if err != nil {
		return 0, err
	}
	return 100 * ratio(after-collector, spent.Seconds()), nil
}
