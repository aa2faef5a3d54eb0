package main

import (
	"context"
	"errors"
	"fmt"
)

// measureMemory asks how much memory a data set takes that Redis has to hold
// and Firn does not.
func measureMemory(ctx context.Context, l *lab) (s section, err error) {
	s = section{
		title: "Memory",
		method: "Resident memory with so many keys of 64 bytes, written over one connection, once the server has come to rest. " +
			"Firn runs with the `--memory` of the row, far less than the keys need; the bar is on its MiB.",
		header: []string{"keys", "--memory", "Redis", "Firn", "ratio", "bar"},
	}
	for _, of := range []struct {
		times  int // as many keys as -keys
		budget string
	}{{1, "64mb"}, {10, "256mb"}} {
		keys := of.times * l.cfg.keys
		redis, firn, err := residentOfBoth(ctx, l, keys, of.budget)
		if err != nil {
			return s, err
		}
		s.rows = append(s.rows, []string{
			fmt.Sprint(keys), of.budget, showMiB(redis), showMiB(firn), showRatio(ratio(float64(firn), float64(redis))),
			verdict(fmt.Sprintf("memory/%d", of.times), mebibytes(firn)),
		})
	}
	return s, nil
}

// residentOfBoth is the memory of both servers with n keys.
func residentOfBoth(ctx context.Context, l *lab, n int, budget string) (redisBytes, firnBytes int64, err error) {
	redis, err := l.redisServer("memory")
	if err != nil {
		return 0, 0, err
	}
	firn, err := l.subject("everysec", "--memory", budget)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, redis.stop(), firn.stop()) }()
	if redisBytes, err = residentAfterLoad(ctx, redis, n); err != nil {
		return 0, 0, err
	}
	if err := redis.stop(); err != nil { // it holds gigabytes
		return 0, 0, err
	}
	firnBytes, err = residentAfterLoad(ctx, firn, n)
	return redisBytes, firnBytes, err
}

// residentAfterLoad starts the server, fills it and lets it rest. The caller
// stops it.
func residentAfterLoad(ctx context.Context, s *server, keys int) (int64, error) {
	err := inOrder(
		func() error { return s.start(ctx) },
		func() error { return loadKeys(s, keys) },
		func() error { return countKeys(s, int64(keys)) },
	)
	if err != nil {
		return 0, err
	}
	settle(ctx, s.pid())
	return residentBytes(s.pid())
}

// memoryKind is a collection whose elements are weighed.
type memoryKind struct {
	name, what string
	add        func(i int) []string // the arguments behind the key that add element i
	command    string
	touch      []string // reads one element, so that the collection is in memory
}

var memoryKinds = []memoryKind{
	{"set", "set, members of 16 bytes", func(i int) []string { return []string{member(i)} }, "SADD", []string{"SRANDMEMBER", "weighed"}},
	{"zset", "sorted set, members of 16 bytes", func(i int) []string { return []string{fmt.Sprint(scattered(i)), member(i)} }, "ZADD", []string{"ZRANK", "weighed", member(0)}},
	{"hash", "hash, fields and values of 16 bytes", func(i int) []string { return []string{member(i), member(i)} }, "HSET", []string{"HRANDFIELD", "weighed"}},
}

// scattered is a number below 2³⁰ that looks like nothing, the same for the
// same i.
func scattered(i int) int { return i * 0x9e3779b1 & (1<<30 - 1) }

// measureMembers weighs the elements of collections that are in memory.
func measureMembers(ctx context.Context, l *lab) (s section, err error) {
	s = section{
		title: "Memory of elements",
		method: fmt.Sprintf("One collection of %d elements, written with %d in a command, after everything was read once and the server has come to rest; `--memory 1gb`. "+
			"*accounted* is `head_bytes` in INFO, which the bar is on, *resident* by how much the process has grown (for Redis, too), both for each element.", l.cfg.keys, fieldsPerCommand),
		header: []string{"collection", "Redis resident", "Firn resident", "Firn accounted", "bar"},
	}
	for _, kind := range memoryKinds {
		redis, err := l.redisServer("memory")
		if err != nil {
			return s, err
		}
		theirs, _, err := weigh(ctx, redis, kind, l.cfg.keys)
		if err != nil {
			return s, err
		}
		firn, err := l.subject("everysec", "--memory", "1gb")
		if err != nil {
			return s, err
		}
		ours, accounted, err := weigh(ctx, firn, kind, l.cfg.keys)
		if err != nil {
			return s, err
		}
		s.rows = append(s.rows, []string{
			kind.what, fmt.Sprintf("%.0f B", theirs), fmt.Sprintf("%.0f B", ours), fmt.Sprintf("%.0f B", accounted),
			verdict("members/"+kind.name, accounted),
		})
	}
	return s, nil
}

// weigh fills a collection and returns what an element takes, in bytes: of the
// process, and as the server accounts for it.
func weigh(ctx context.Context, s *server, kind memoryKind, n int) (resident, accounted float64, err error) {
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.start(ctx); err != nil {
		return 0, 0, err
	}
	settle(ctx, s.pid())
	residentBefore, headBefore, err := weights(s)
	if err != nil {
		return 0, 0, err
	}
	if err := withClient(s, func(c *client) error { return fillCollection(c, kind.command, "weighed", n, kind.add) }); err != nil {
		return 0, 0, err
	}
	settle(ctx, s.pid())
	if err := withClient(s, func(c *client) error { _, err := c.do(kind.touch...); return err }); err != nil {
		return 0, 0, err
	}
	settle(ctx, s.pid())
	residentAfter, headAfter, err := weights(s)
	return float64(residentAfter-residentBefore) / float64(n), float64(headAfter-headBefore) / float64(n), err
}

// weights is what a process has in memory, and what its head is accounted
// for; 0 where there is no head.
func weights(s *server) (resident, head int64, err error) {
	if resident, err = residentBytes(s.pid()); err != nil {
		return 0, 0, err
	}
	head, err = infoNumber(s, "firn", "head_bytes")
	return resident, head, err
}

// fillCollection adds n elements to a collection, many with each command.
func fillCollection(c *client, command, key string, n int, element func(i int) []string) error {
	return c.load(n/fieldsPerCommand, func(i int) []string {
		args := []string{command, key}
		for j := range fieldsPerCommand {
			args = append(args, element(i*fieldsPerCommand+j)...)
		}
		return args
	}, nil)
}
