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
	rankProbes = 200 // of each command; the third slowest is the p99
	pastProbes = 20
)

// ranked is a command that asks for places in a large collection.
type ranked struct {
	name string
	args func(n int) []string // for collections of n elements
	past bool                 // asked at a past moment too: it only reads
}

var rankedCommands = []ranked{
	{"ZRANK", func(n int) []string { return []string{"ZRANK", "ranks:zset", member(rand.IntN(n / 2))} }, true},
	{"ZRANGE by rank", func(n int) []string {
		at := strconv.Itoa(rand.IntN(n / 2))
		return []string{"ZRANGE", "ranks:zset", at, at}
	}, true},
	{"ZCOUNT", func(n int) []string {
		return []string{"ZCOUNT", "ranks:zset", strconv.Itoa(rand.IntN(1 << 29)), strconv.Itoa(1<<29 + rand.IntN(1<<29))}
	}, true},
	{"LINDEX in the middle", func(n int) []string { return []string{"LINDEX", "ranks:list", strconv.Itoa(n/4 + rand.IntN(n/4))} }, true},
	{"ZREMRANGEBYRANK of 2", func(n int) []string {
		at := rand.IntN(n / 2)
		return []string{"ZREMRANGEBYRANK", "ranks:zset", strconv.Itoa(at), strconv.Itoa(at + 1)}
	}, false},
}

// measureRanks asks for ranks in large collections: held, not held, just after
// a restart, and in the past.
func measureRanks(ctx context.Context, l *lab) (s section, err error) {
	s = section{
		title: "Ranks",
		method: fmt.Sprintf("A sorted set and a list of so many elements, %d commands of each kind over one connection, none before it; *first* is the first of them. "+
			"*held*: after loading, `--memory 2gb`. *restarted*: the same, after a restart. *cold*: after a restart with `--memory 16mb`. "+
			"*AT*: %d commands at the moment at which half of the elements were there. The bar is on the p99, in ms.", rankProbes, pastProbes),
		header: []string{"command", "elements", "where", "first", "p50", "p99", "bar"},
	}
	for _, n := range []int{l.cfg.keys, 10 * l.cfg.keys} {
		rows, err := ranksOf(ctx, l, n)
		s.rows = append(s.rows, rows...)
		if err != nil {
			return s, err
		}
	}
	row, err := rankGrowth(ctx, l)
	s.rows = append(s.rows, row)
	return s, err
}

// ranksOf measures collections of n elements.
func ranksOf(ctx context.Context, l *lab, n int) (rows [][]string, err error) {
	firn, err := l.subject("no", "--memory", "2gb")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, firn.stop()) }()
	if err := firn.start(ctx); err != nil {
		return nil, err
	}
	var half string
	err = withClient(firn, func(c *client) (err error) {
		half, err = fillRanked(c, n)
		return err
	})
	if err != nil {
		return nil, err
	}
	settle(ctx, firn.pid())
	probe := func(where string, n int, at string) error {
		return withClient(firn, func(c *client) error {
			found, err := probeRanks(c, n, where, at)
			rows = append(rows, found...)
			return err
		})
	}
	restart := func() error {
		err := inOrder(firn.stop, func() error { return firn.start(ctx) })
		if err == nil {
			settle(ctx, firn.pid())
		}
		return err
	}
	err = inOrder(
		func() error { return probe("held", n, "") },
		restart,
		func() error { return probe("restarted", n, "") },
		func() error { firn.command = replaced(firn.command, "2gb", "16mb"); return restart() },
		func() error { return probe("cold", n, "") },
		func() error { return probe("AT", n, half) },
	)
	return rows, err
}

func replaced(words []string, old, new string) []string {
	var all []string
	for _, word := range words {
		if word == old {
			word = new
		}
		all = append(all, word)
	}
	return all
}

// fillRanked makes the collections, and returns the moment at which half of
// the elements were there.
func fillRanked(c *client, n int) (half string, err error) {
	fill := func(from, n int) error {
		return inOrder(
			func() error {
				return fillCollection(c, "ZADD", "ranks:zset", n, func(i int) []string { return []string{strconv.Itoa(scattered(from + i)), member(from + i)} })
			},
			func() error {
				return fillCollection(c, "RPUSH", "ranks:list", n, func(i int) []string { return []string{member(from + i)} })
			},
		)
	}
	if err := fill(0, n/2); err != nil {
		return "", err
	}
	reply, err := c.do("LASTTS")
	if err != nil {
		return "", err
	}
	return fmt.Sprint(reply), fill(n/2, n/2)
}

// probeRanks times each of the commands, at a past moment if at is not empty.
func probeRanks(c *client, n int, where, at string) ([][]string, error) {
	var rows [][]string
	for _, r := range rankedCommands {
		if at != "" && !r.past {
			continue
		}
		key, probes := "ranks/now", rankProbes
		if at != "" {
			key, probes = "ranks/then", pastProbes
		}
		var times []time.Duration
		for range probes {
			args := r.args(n)
			if at != "" {
				args = append([]string{"AT", at}, args...)
			}
			began := time.Now()
			if _, err := c.do(args...); err != nil {
				return rows, fmt.Errorf("%q: %w", args, err)
			}
			times = append(times, time.Since(began))
		}
		p99 := percentile(times, 99)
		rows = append(rows, []string{
			r.name, strconv.Itoa(n), where, showMillis(times[0]), showMillis(percentile(times, 50)), showMillis(p99), verdict(key, millis(p99)),
		})
	}
	return rows, nil
}

// rankGrowth asks whether adding to a sorted set costs more the more it has.
func rankGrowth(ctx context.Context, l *lab) (line []string, err error) {
	firn, err := l.subject("everysec")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, firn.stop()) }()
	if err := firn.start(ctx); err != nil {
		return nil, err
	}
	n := l.cfg.keys
	part := max(n/10, loadWindow)
	var first, last time.Duration
	err = withClient(firn, func(c *client) error {
		began := time.Now()
		var before time.Duration
		return c.load(n, func(int) []string {
			return []string{"ZADD", "growing", strconv.Itoa(rand.IntN(1 << 30)), member(rand.IntN(1 << 30))}
		}, func(done int) error {
			switch now := time.Since(began); {
			case done == part:
				first = now
			case done == n-part:
				before = now
			case done == n:
				last = now - before
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	times := ratio(float64(last), float64(first))
	return []string{
		"ZADD, random: the last tenth against the first", strconv.Itoa(n), "", "", showRatio(times), "", verdict("ranks/growth", times),
	}, nil
}
