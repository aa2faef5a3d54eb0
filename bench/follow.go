package main

import (
	"context"
	"errors"
	"os/exec"
)

// measureFollow asks what a client that follows costs those who write.
func measureFollow(ctx context.Context, l *lab) (s section, err error) {
	s = section{
		title: "A follower",
		method: "redis-benchmark SET as under *Throughput*, without a pipeline and with an fsync each second, in turns without anybody who follows and beside " +
			"`firn watch --json`, which keeps up with CHANGES BLOCK 0 and shares the processors. *µs* is the server's processor time of a request.",
		header: []string{"SET /s alone", "SET /s followed", "kept", "bar", "µs alone", "µs followed"},
	}
	server, err := l.subject("everysec")
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	if err := server.start(ctx); err != nil {
		return s, err
	}
	r := row{test: 0, pipeline: 1}
	var alone, followed, aloneCPU, followedCPU []float64
	for range l.cfg.rounds {
		got, err := redisBenchmark(ctx, server, r, l.cfg.requests)
		if err != nil {
			return s, err
		}
		alone, aloneCPU = append(alone, got.rps), append(aloneCPU, got.cpu.Seconds())
		if got, err = besideFollower(ctx, l, server, r); err != nil {
			return s, err
		}
		followed, followedCPU = append(followed, got.rps), append(followedCPU, got.cpu.Seconds())
	}
	kept := ratio(median(followed), median(alone))
	s.rows = [][]string{{
		showRate(median(alone)), showRate(median(followed)), showRatio(kept), verdict("follow/SET", kept),
		showCPU(seconds(median(aloneCPU))), showCPU(seconds(median(followedCPU))),
	}}
	return s, nil
}

// besideFollower is a load while somebody follows.
func besideFollower(ctx context.Context, l *lab, server *server, r row) (got load, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	follower := exec.CommandContext(ctx, l.firn, "watch", "redis://"+server.addr(), "--json")
	if err := follower.Start(); err != nil {
		return got, err
	}
	got, err = redisBenchmark(ctx, server, r, l.cfg.requests)
	cancel()
	_ = follower.Wait() // it was ended
	return got, err
}
