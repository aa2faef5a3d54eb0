package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	// stallClients and stallPause make 2,000 requests a second, a fraction
	// of what either server can do: what is measured is how long a request
	// is held up, not how long it queues behind others.
	stallClients = 50
	stallPause   = 25 * time.Millisecond

	// stallPhase is how long each phase lasts: 10,000 requests, so that a
	// hundred of them are above the p99.
	stallPhase = 5 * time.Second

	// stallBacklog is how many writes lie unmerged when the busy phase
	// begins: twice as many as Firn's default tail holds.
	stallBacklog = 200_000
)

// measureStalls asks what a client notices of the work behind the scenes.
func measureStalls(ctx context.Context, l *lab) (s section, err error) {
	s = section{
		title: "Latency during maintenance",
		method: fmt.Sprintf("%d connections send a SET of 64 bytes every %v for %v, with an fsync each second. *Quiet*: the server had come to rest. "+
			"*Busy*: %d writes lie unmerged, and CHECKPOINT is sent again and again where the server knows it (for Redis: BGREWRITEAOF).",
			stallClients, stallPause, stallPhase, stallBacklog),
		header: []string{"server", "quiet p50 / p99 / max", "busy p50 / p99 / max", "busy p99 / quiet p99", "bar"},
	}
	redis, err := l.redisServer("everysec")
	if err != nil {
		return s, err
	}
	firn, err := l.subject("everysec")
	if err != nil {
		return s, err
	}
	for _, subject := range []struct {
		name, maintain string
		server         *server
	}{{"Redis", "BGREWRITEAOF", redis}, {"Firn", "CHECKPOINT", firn}} {
		quiet, busy, err := stallPhases(ctx, subject.server, subject.maintain)
		if err != nil {
			return s, err
		}
		times := ratio(float64(percentile(busy, 99)), float64(percentile(quiet, 99)))
		s.rows = append(s.rows, []string{
			subject.name, showLatencies(quiet), showLatencies(busy), showRatio(times),
			verdict("stalls/"+subject.name, times),
		})
	}
	return s, nil
}

func showLatencies(values []time.Duration) string {
	return showMillis(percentile(values, 50)) + " / " + showMillis(percentile(values, 99)) + " / " + showMillis(percentile(values, 100))
}

// stallPhases measures one server in both phases, from start to stop.
func stallPhases(ctx context.Context, s *server, maintain string) (quiet, busy []time.Duration, err error) {
	defer func() { err = errors.Join(err, s.stop()) }()
	err = inOrder(
		func() error { return s.start(ctx) },
		func() error { return loadKeys(s, stallBacklog) },
	)
	if err != nil {
		return nil, nil, err
	}
	settle(ctx, s.pid())
	if quiet, err = pacedSets(ctx, s, stallPhase); err != nil {
		return nil, nil, err
	}
	if err := loadKeys(s, stallBacklog); err != nil {
		return nil, nil, err
	}
	maintaining, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1) // room for the one result, so the goroutine ends without a receiver
	go func() { ended <- maintainUntil(maintaining, s, maintain) }()
	busy, err = pacedSets(ctx, s, stallPhase)
	cancel()
	return quiet, busy, errors.Join(err, <-ended)
}

// maintainUntil sends a maintenance command, a tenth of a second apart, until
// ctx ends. A server that is still at the last one may say so. One that does
// not know the command is left to maintain itself.
func maintainUntil(ctx context.Context, s *server, command string) error {
	c, err := dial(s.addr())
	if err != nil {
		return fmt.Errorf("maintain %s: %w", s.label, err)
	}
	defer c.close()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		_, err := c.do(command)
		if _, refused := errors.AsType[errorReply](err); err != nil && !refused {
			return fmt.Errorf("maintain %s: %w", s.label, err)
		}
		if unsupported(err) {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-again.C:
		}
	}
}

// pacedSets sends SETs for so long and returns every request's latency.
func pacedSets(ctx context.Context, s *server, lasts time.Duration) ([]time.Duration, error) {
	return pacedClients(ctx, s, lasts, func() []string { return []string{"SET", numberedKey(rand.IntN(stallBacklog)), value64} })
}

// pacedClients sends commands for so long, or until ctx ends, and returns every
// request's latency.
func pacedClients(ctx context.Context, s *server, lasts time.Duration, command func() []string) ([]time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, lasts)
	defer cancel()
	var (
		mu       sync.Mutex // guards what follows
		all      []time.Duration
		failures []error
		clients  sync.WaitGroup
	)
	for n := range stallClients {
		clients.Go(func() {
			latencies, err := pacedClient(ctx, s, n, command)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, latencies...)
			failures = append(failures, err)
		})
	}
	clients.Wait()
	return all, errors.Join(failures...)
}

// pacedClient sends one command per pause until ctx ends. A latency counts from
// when the request was due: a server that stalls must not be spared the
// requests that it kept from being sent.
func pacedClient(ctx context.Context, s *server, n int, command func() []string) ([]time.Duration, error) {
	c, err := dial(s.addr())
	if err != nil {
		return nil, fmt.Errorf("paced commands on %s: %w", s.label, err)
	}
	defer c.close()
	var latencies []time.Duration
	due := time.Now().Add(time.Duration(n) * stallPause / stallClients)
	for {
		wait := time.NewTimer(time.Until(due))
		select {
		case <-ctx.Done():
			wait.Stop()
			return latencies, nil
		case <-wait.C:
		}
		if _, err := c.do(command()...); err != nil {
			return nil, fmt.Errorf("paced commands on %s: %w", s.label, err)
		}
		latencies = append(latencies, time.Since(due))
		due = due.Add(stallPause)
	}
}
