package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

// measureFollow asks what a client that follows costs those who write.
func measureFollow(ctx context.Context, l *lab) (s section, err error) {
	s = section{
		title: "A follower",
		method: "redis-benchmark SET as under *Throughput*, without a pipeline and with an fsync each second, in turns without anybody who follows and beside " +
			"a client with CHANGES BLOCK 0, which keeps up and shares the processors. *µs* is the server's processor time of a request.",
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
		if got, err = besideFollower(ctx, server, r, l.cfg.requests); err != nil {
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

// besideFollower is a load while somebody follows, who must have kept up.
func besideFollower(ctx context.Context, server *server, r row, requests int) (got load, err error) {
	c, err := dial(server.addr())
	if err != nil {
		return got, err
	}
	defer c.close()
	f := follower{client: c, token: "$"}
	if err := f.page("COUNT", "1"); err != nil {
		return got, err
	}
	ended := make(chan error, 1) // room for the one result
	go func() { ended <- f.follow(requests) }()
	if got, err = redisBenchmark(ctx, server, r, requests); err != nil {
		return got, err
	}
	return got, <-ended
}

// follower is a client that reads the feed, and looks at its tokens alone.
type follower struct {
	*client
	token   string
	commits int
}

// follow reads pages until so many commits have come.
func (f *follower) follow(commits int) error {
	for f.commits < commits {
		if err := f.page("BLOCK", "0", "COUNT", "10000"); err != nil {
			return err
		}
	}
	return nil
}

// page reads a page. Of the commits it counts how many there are: what a
// follower does with them is its own affair.
func (f *follower) page(options ...string) error {
	f.send(append([]string{"CHANGES", f.token}, options...)...)
	if err := f.out.Flush(); err != nil {
		return err
	}
	if line, err := f.in.ReadString('\n'); err != nil || line != "*2\r\n" {
		return fmt.Errorf("CHANGES: got %q, %v, want a token and commits", line, err)
	}
	token, err := f.receive()
	if err != nil {
		return err
	}
	commits, err := f.skim()
	f.token, f.commits = token.(string), f.commits+commits
	return err
}

// skim passes over a reply, and returns how many elements it has.
func (f *follower) skim() (elements int, err error) {
	line, err := f.in.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(string(line[1 : len(line)-2]))
	switch {
	case err != nil || line[0] == ':':
		return 0, err
	case line[0] == '$':
		_, err = f.in.Discard(n + len("\r\n"))
		return 0, err
	}
	for range n {
		if _, err := f.skim(); err != nil {
			return n, err
		}
	}
	return n, nil
}
