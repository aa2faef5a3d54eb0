package main

import (
	"context"
	"errors"
	"fmt"
)

// memoryBudget is the budget that the measurement gives to Firn: far less
// than a million keys need, so that the figure shows whether it holds.
const memoryBudget = "64mb"

// measureMemory asks how much memory a data set takes that Redis has to hold
// and Firn does not.
func measureMemory(ctx context.Context, l *lab) (s section, err error) {
	s = section{
		title: "Memory",
		method: fmt.Sprintf("Resident memory with %d keys of 64 bytes, written over one connection, once the server has come to rest. "+
			"Firn runs with `--memory %s`.", l.cfg.keys, memoryBudget),
		header: []string{"keys", "Redis", "Firn", "ratio", "bar"},
	}
	redis, err := l.redisServer("memory")
	if err != nil {
		return s, err
	}
	firn, err := l.subject("everysec", "--memory", memoryBudget)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, redis.stop(), firn.stop()) }()
	redisBytes, err := residentAfterLoad(ctx, redis, l.cfg.keys)
	if err != nil {
		return s, err
	}
	firnBytes, err := residentAfterLoad(ctx, firn, l.cfg.keys)
	if err != nil {
		return s, err
	}
	s.rows = [][]string{{
		fmt.Sprint(l.cfg.keys), showMiB(redisBytes), showMiB(firnBytes),
		showRatio(ratio(float64(firnBytes), float64(redisBytes))), verdict("memory/MiB", float64(firnBytes)/(1<<20)),
	}}
	return s, nil
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
