package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// walBefore: the keys have been written by this many times -keys SETs before.
const walBefore = 5

// measureWAL counts what one small SET costs on disk before any checkpoint:
// the price of the log's layout and of how well commits group.
func measureWAL(ctx context.Context, l *lab) (s section, err error) {
	s = section{
		title: "Log bytes per SET",
		method: fmt.Sprintf("64-byte values, 50 connections, 100,000 keys, an fsync each second, behind %d SETs to these. Firn's figure is the growth of ", walBefore*l.cfg.keys) +
			"`wal_written_bytes` in INFO, Redis's the growth of its append-only file.",
		header: []string{"P", "Redis", "Firn", "ratio", "bar"},
	}
	redis, err := l.redisServer("everysec")
	if err != nil {
		return s, err
	}
	firn, err := l.subject("everysec")
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, redis.stop(), firn.stop()) }()
	if err := errors.Join(redis.start(ctx), firn.start(ctx)); err != nil {
		return s, err
	}
	for _, server := range []*server{redis, firn} {
		if _, err := redisBenchmark(ctx, server, row{fsync: "everysec", pipeline: 16}, walBefore*l.cfg.keys); err != nil {
			return s, err
		}
		settle(ctx, server.pid())
	}
	for _, pipeline := range pipelines {
		r := row{fsync: "everysec", pipeline: pipeline} // test 0 is SET
		n := requests(l.cfg.requests, r)
		aof := func() (int64, error) { return sizeBytes(filepath.Join(redis.dir, "appendonlydir")), nil }
		redisBytes, err := growth(ctx, redis, r, n, aof)
		if err != nil {
			return s, err
		}
		firnBytes, err := growth(ctx, firn, r, n, func() (int64, error) { return walWritten(firn) })
		if err != nil {
			return s, err
		}
		s.rows = append(s.rows, []string{
			strconv.Itoa(pipeline), fmt.Sprintf("%.0f B", redisBytes), fmt.Sprintf("%.0f B", firnBytes),
			showRatio(ratio(firnBytes, redisBytes)), verdict(fmt.Sprintf("wal/P=%d", pipeline), firnBytes),
		})
	}
	return s, nil
}

// growth is by how many bytes a counter grows for one request of a run.
func growth(ctx context.Context, s *server, r row, n int, counter func() (int64, error)) (float64, error) {
	before, err := counter()
	if err != nil {
		return 0, err
	}
	if _, err := redisBenchmark(ctx, s, r, n); err != nil {
		return 0, err
	}
	after, err := counter()
	if err != nil {
		return 0, err
	}
	if after <= before {
		return 0, fmt.Errorf("%s wrote %d bytes for %d requests", s.label, after-before, n)
	}
	return float64(after-before) / float64(n), nil
}

// walWritten is how many bytes a server has written to its write-ahead log:
// its own counter, or the size of the file where it has none. The file is
// reused behind a checkpoint, so its size is a lower bound only.
func walWritten(s *server) (int64, error) {
	text, err := info(s, "firn")
	if err != nil {
		return 0, err
	}
	if value, ok := infoField(text, "wal_written_bytes"); ok {
		return strconv.ParseInt(value, 10, 64)
	}
	return sizeBytes(s.path() + "-wal"), nil
}

// info is the text that a server answers INFO section with.
func info(s *server, section string) (string, error) {
	c, err := dial(s.addr())
	if err != nil {
		return "", err
	}
	defer c.close()
	reply, err := c.do("INFO", section)
	if err != nil {
		return "", fmt.Errorf("INFO %s: %w", section, err)
	}
	text, _ := reply.(string)
	return text, nil
}

// infoNumber is an integer in INFO section; 0 if there is none of the name.
func infoNumber(s *server, section, name string) (int64, error) {
	text, err := info(s, section)
	if err != nil {
		return 0, err
	}
	value, ok := infoField(text, name)
	if !ok {
		return 0, nil
	}
	return strconv.ParseInt(value, 10, 64)
}

// infoSeconds is a time in INFO firn, in seconds.
func infoSeconds(s *server, name string) (float64, error) {
	text, err := info(s, "firn")
	if err != nil {
		return 0, err
	}
	value, ok := infoField(text, name)
	if !ok {
		return 0, fmt.Errorf("INFO of %s has no %s", s.label, name)
	}
	return strconv.ParseFloat(value, 64)
}

// infoField finds name:value in the text that INFO answers with.
func infoField(text, name string) (string, bool) {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+":"); ok {
			return value, true
		}
	}
	return "", false
}
