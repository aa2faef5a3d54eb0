package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// measureOpen asks how long a restart keeps clients waiting, after an orderly
// stop and after a crash.
func measureOpen(ctx context.Context, l *lab) (section, error) {
	s := section{
		title: "Opening",
		method: fmt.Sprintf("From the start of the process to the first answer to PING, with %d keys of 64 bytes and an fsync each second. "+
			"*Clean* follows a SIGTERM, *killed* a SIGKILL directly behind 100,000 further writes. Redis reads its append-only file. Medians.", l.cfg.keys),
		header: []string{"after", "Redis", "Firn", "ratio", "bar"},
	}
	redis, err := l.redisServer("everysec")
	if err != nil {
		return s, err
	}
	firn, err := l.subject("everysec")
	if err != nil {
		return s, err
	}
	redisClean, redisKilled, err := openingTimes(ctx, redis, l.cfg)
	if err != nil {
		return s, err
	}
	firnClean, firnKilled, err := openingTimes(ctx, firn, l.cfg)
	if err != nil {
		return s, err
	}
	for _, line := range []struct {
		after       string
		redis, firn time.Duration
	}{{"clean", redisClean, firnClean}, {"killed", redisKilled, firnKilled}} {
		s.rows = append(s.rows, []string{
			line.after, showMillis(line.redis), showMillis(line.firn),
			showRatio(ratio(float64(line.firn), float64(line.redis))),
			verdict("open/"+line.after, line.firn.Seconds()),
		})
	}
	return s, nil
}

// openingTimes fills a server and restarts it again and again. It ends the
// server.
func openingTimes(ctx context.Context, s *server, cfg config) (clean, killed time.Duration, err error) {
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.start(ctx); err != nil {
		return 0, 0, err
	}
	if err := loadKeys(s, cfg.keys); err != nil {
		return 0, 0, err
	}
	start := func() error { return s.start(ctx) }
	count := func() error { return countKeys(s, int64(cfg.keys)) }
	// Redis may lose the last second of these; they overwrite keys that are
	// there, so the count stays.
	overwrite := func() error { return loadKeys(s, min(cfg.keys, 100_000)) }
	var cleans, kills []time.Duration
	for range cfg.rounds {
		if err := inOrder(s.stop, start, count); err != nil {
			return 0, 0, err
		}
		cleans = append(cleans, s.opened)
		if err := inOrder(overwrite, s.kill, start, count); err != nil {
			return 0, 0, err
		}
		kills = append(kills, s.opened)
	}
	return median(cleans), median(kills), nil
}

// inOrder runs steps until one fails.
func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
