package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"
)

const (
	// probes is how many commands a figure is made of.
	probes = 20_000

	// queueLength is how many items wait in the queue all the time.
	queueLength = 1000

	// fieldsPerCommand fills the large hashes quickly.
	fieldsPerCommand = 500

	// coldFactor: the cold hash has this many times -keys fields.
	coldFactor = 10
)

// measureCollections asks whether large collections cost what they should.
// Redis has all of it in memory, so Firn is held against fixed bars.
func measureCollections(ctx context.Context, l *lab) (s section, err error) {
	s = section{
		title: "Large collections",
		method: fmt.Sprintf("One connection; times per command are those of windows of %d commands under way, divided. *queue*: "+
			"the last 10,000 of %d pushes and pops against the first. Firn runs with `--memory 2gb`, so that the set is held. *hash, cold*: after a restart, with a budget of 64 MiB.", loadWindow, l.cfg.keys),
		header: []string{"what", "figure", "bar"},
	}
	firn, err := l.subject("everysec", "--memory", "2gb")
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, firn.stop()) }()
	if err := firn.start(ctx); err != nil {
		return s, err
	}
	c, err := dial(firn.addr())
	if err != nil {
		return s, err
	}
	defer c.close()
	rest := func() { settle(ctx, firn.pid()) }
	for _, measure := range []func(*client, int, func()) ([][]string, error){measureQueue, measureZSet, measureHash} {
		rows, err := measure(c, l.cfg.keys, rest)
		if err != nil {
			return s, err
		}
		s.rows = append(s.rows, rows...)
	}
	rows, err := measureColdHash(ctx, l)
	s.rows = append(s.rows, rows...)
	return s, err
}

// measureQueue uses a list as a queue.
func measureQueue(c *client, n int, _ func()) ([][]string, error) {
	if err := c.load(queueLength, func(int) []string { return []string{"LPUSH", "queue", value64} }, nil); err != nil {
		return nil, err
	}
	var windows []time.Duration
	began := time.Now()
	err := c.load(2*n, func(i int) []string {
		if i%2 == 0 {
			return []string{"LPUSH", "queue", value64}
		}
		return []string{"RPOP", "queue"}
	}, func(int) error {
		now := time.Now()
		windows = append(windows, now.Sub(began))
		began = now
		return nil
	})
	if err != nil {
		return nil, err
	}
	compared := min(20_000/loadWindow, len(windows)/2)
	first, last := median(windows[:compared]), median(windows[len(windows)-compared:])
	times := ratio(float64(last), float64(first))
	return [][]string{{
		fmt.Sprintf("queue: last 10,000 of %d against the first", n), showRatio(times), verdict("collections/queue", times),
	}}, nil
}

// each times n commands in windows and returns the time of one.
func (c *client) each(n int, command func(i int) []string) (time.Duration, error) {
	began := time.Now()
	err := c.load(n, command, nil)
	return time.Since(began) / time.Duration(n), err
}

func member(i int) string { return fmt.Sprintf("member:%09d", i) }

// measureZSet adds to a large sorted set.
func measureZSet(c *client, n int, rest func()) ([][]string, error) {
	add := func(key string, from int) func(int) []string {
		return func(i int) []string {
			return []string{"ZADD", key, strconv.Itoa(rand.IntN(1 << 30)), member(from + i)}
		}
	}
	if err := c.load(n, add("large", 0), nil); err != nil {
		return nil, err
	}
	large, err := c.each(probes, add("large", n))
	if err != nil {
		return nil, err
	}
	rest()
	small, err := c.each(probes, add("small", 0))
	if err != nil {
		return nil, err
	}
	times := ratio(float64(large), float64(small))
	return [][]string{
		{fmt.Sprintf("ZADD into %d members, against an empty set", n), showRatio(times), verdict("collections/zadd", times)},
	}, nil
}

// loadHash makes a hash of n fields.
func loadHash(c *client, key string, n int) error {
	return c.load(n/fieldsPerCommand, func(i int) []string {
		command := []string{"HSET", key}
		for j := range fieldsPerCommand {
			command = append(command, member(i*fieldsPerCommand+j), "value")
		}
		return command
	}, nil)
}

// measureHash deletes a large hash.
func measureHash(c *client, n int, _ func()) ([][]string, error) {
	if err := loadHash(c, "hash", n); err != nil {
		return nil, err
	}
	began := time.Now()
	if _, err := c.do("DEL", "hash"); err != nil {
		return nil, err
	}
	took := time.Since(began)
	return [][]string{{fmt.Sprintf("DEL of a hash of %d fields", n), showMillis(took), verdict("collections/del", millis(took))}}, nil
}

// measureColdHash reads single fields of a hash that does not fit the budget.
func measureColdHash(ctx context.Context, l *lab) (rows [][]string, err error) {
	firn, err := l.subject("no", "--memory", "64mb")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, firn.stop()) }()
	if err := firn.start(ctx); err != nil {
		return nil, err
	}
	n := coldFactor * l.cfg.keys
	err = withClient(firn, func(c *client) error { return loadHash(c, "hash", n) })
	if err != nil {
		return nil, err
	}
	if err := inOrder(firn.stop, func() error { return firn.start(ctx) }); err != nil {
		return nil, err
	}
	settle(ctx, firn.pid())
	var times []time.Duration
	err = withClient(firn, func(c *client) error {
		for range 500 {
			began := time.Now()
			got, err := c.do("HGET", "hash", member(rand.IntN(n)))
			if err != nil || got != "value" {
				return fmt.Errorf("HGET answered %v, %w", got, err)
			}
			times = append(times, time.Since(began))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	p50 := percentile(times, 50)
	return [][]string{{
		fmt.Sprintf("HGET in a hash of %d fields, cold: p50 (p99 %s)", n, showMillis(percentile(times, 99))), showMillis(p50), verdict("collections/hget", millis(p50)),
	}}, nil
}

// withClient runs fn on a connection of its own.
func withClient(s *server, fn func(*client) error) error {
	c, err := dial(s.addr())
	if err != nil {
		return err
	}
	defer c.close()
	return fn(c)
}
