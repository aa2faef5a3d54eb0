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
	// atReads is how many moments are read per key: enough for a p99.
	atReads = 2000

	// shortVersions is the history that the long one is compared with.
	shortVersions = 10
)

// history is a key with versions spread evenly over a run's moments.
type history struct {
	key      string
	versions int
}

// measureAt asks whether reading the past of a key costs more the more past
// it has. Redis has no past, so Firn is compared with itself.
func measureAt(ctx context.Context, l *lab) (s section, err error) {
	s = section{
		title: "Reading the past",
		method: fmt.Sprintf("`AT ts GET key` at %d random moments over one connection, after a restart with `--memory 0`, so that "+
			"every read goes through the index; the versions of both keys are spread over the same time.", atReads),
		header: []string{"versions", "p50", "p99", "ratio of p50", "bar"},
	}
	firn, err := l.subject("no", "--memory", "0")
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, firn.stop()) }()
	if err := firn.start(ctx); err != nil {
		return s, err
	}
	short, long := history{"short", shortVersions}, history{"long", l.cfg.keys}
	moments, err := writeHistories(firn, short, long)
	if err != nil {
		return s, err
	}
	if err := inOrder(firn.stop, func() error { return firn.start(ctx) }); err != nil {
		return s, err
	}
	settle(ctx, firn.pid())
	shortTimes, err := readPast(firn, short, moments)
	if err != nil {
		return s, err
	}
	longTimes, err := readPast(firn, long, moments)
	if err != nil {
		return s, err
	}
	base := percentile(shortTimes, 50)
	for _, line := range []struct {
		history
		times []time.Duration
	}{{short, shortTimes}, {long, longTimes}} {
		p50 := percentile(line.times, 50)
		times := ratio(float64(p50), float64(base))
		s.rows = append(s.rows, []string{
			strconv.Itoa(line.versions), showMicros(p50), showMicros(percentile(line.times, 99)), showRatio(times),
			verdict(fmt.Sprintf("at/versions=%d", line.versions), times),
		})
	}
	return s, nil
}

func showMicros(d time.Duration) string {
	return fmt.Sprintf("%.1f µs", micros(d))
}

// moment is a timestamp and what the histories were then.
type moment struct {
	ts    int64
	value map[string]string // by key
}

// writeHistories writes both keys' versions over one connection, and notes
// moments as it goes.
func writeHistories(s *server, short, long history) ([]moment, error) {
	c, err := dial(s.addr())
	if err != nil {
		return nil, fmt.Errorf("write histories: %w", err)
	}
	defer c.close()
	var moments []moment
	written := map[string]string{}
	windowsApart := max(long.versions/short.versions/loadWindow, 1)
	note := func(done int) error {
		if (done/loadWindow-1)%windowsApart == 0 {
			value := fmt.Sprint("short at ", done)
			if _, err := c.do("SET", short.key, value); err != nil {
				return err
			}
			written[short.key] = value
		}
		reply, err := c.do("LASTTS")
		if err != nil {
			return err
		}
		ts, ok := reply.(int64)
		if !ok || ts <= 0 {
			return fmt.Errorf("LASTTS answered %v", reply)
		}
		moments = append(moments, moment{ts, map[string]string{
			short.key: written[short.key], long.key: longValue(done - 1),
		}})
		return nil
	}
	err = c.load(long.versions, func(i int) []string { return []string{"SET", long.key, longValue(i)} }, note)
	if err != nil {
		return nil, fmt.Errorf("write histories: %w", err)
	}
	return moments, nil
}

// longValue is the long history's i-th version, 64 bytes long.
func longValue(i int) string { return fmt.Sprintf("%064d", i) }

// readPast reads a key at random moments, checks the values and returns the
// latencies.
func readPast(s *server, h history, moments []moment) ([]time.Duration, error) {
	c, err := dial(s.addr())
	if err != nil {
		return nil, fmt.Errorf("read the past of %s: %w", h.key, err)
	}
	defer c.close()
	var times []time.Duration
	for range atReads {
		m := moments[rand.IntN(len(moments))]
		began := time.Now()
		got, err := c.do("AT", strconv.FormatInt(m.ts, 10), "GET", h.key)
		times = append(times, time.Since(began))
		if err != nil {
			return nil, fmt.Errorf("read the past of %s: %w", h.key, err)
		}
		if got != m.value[h.key] {
			return nil, fmt.Errorf("%s at %d: got %v, want %q", h.key, m.ts, got, m.value[h.key])
		}
	}
	return times, nil
}
