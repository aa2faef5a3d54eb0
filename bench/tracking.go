package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	trackingClients = 50
	trackingSets    = 2000 // of each client in a turn
	trackingReads   = 100  // keys that each client has read before
)

// measureTracking asks what it costs writers that clients keep copies.
func measureTracking(ctx context.Context, l *lab) (s section, err error) {
	s = section{
		title: "Client-side caching",
		method: fmt.Sprintf("%d connections with protocol 3 send SETs of 64 bytes to %d keys, one after the other, without CLIENT TRACKING and with it, in turns; then each has read %d of the keys, "+
			"so that some of the SETs invalidate copies. Medians. *µs* is the server's processor time for one SET, and the bar is on its ratio, off to on.", trackingClients, fewKeys, trackingReads),
		header: []string{"server", "tracking", "SET /s", "µs", "off / on", "bar"},
	}
	for _, side := range []struct {
		name string
		make func() (*server, error)
	}{
		{"Redis", func() (*server, error) { return l.redisServer("everysec") }},
		{"Firn", func() (*server, error) { return l.subject("everysec") }},
	} {
		server, err := side.make()
		if err != nil {
			return s, err
		}
		if err := server.start(ctx); err != nil {
			return s, err
		}
		rows, err := trackingRows(ctx, server, l.cfg.rounds, side.name)
		s.rows = append(s.rows, rows...)
		if err = errors.Join(err, server.stop()); err != nil {
			return s, err
		}
	}
	return s, nil
}

func trackingRows(ctx context.Context, s *server, rounds int, name string) ([][]string, error) {
	took := [2][]time.Duration{}
	cpu := [2][]time.Duration{}
	for round := range 2 * rounds {
		on := (round + round/2) % 2 // off on on off …
		settle(ctx, s.pid())
		d, used, err := trackedSets(s, on == 1)
		if err != nil {
			return nil, err
		}
		took[on], cpu[on] = append(took[on], d), append(cpu[on], used)
	}
	const sets = trackingClients * trackingSets
	rate := func(d time.Duration) string { return fmt.Sprintf("%.0f", sets/d.Seconds()) }
	off, on := median(cpu[0])/sets, median(cpu[1])/sets
	quotient := ratio(float64(off), float64(on))
	return [][]string{
		{name, "off", rate(median(took[0])), showCPU(off), "", ""},
		{name, "on", rate(median(took[1])), showCPU(on), showRatio(quotient), verdict("tracking/"+name, quotient)},
	}, nil
}

// trackedSets has all clients send their SETs, and says how long that took, and
// the server's processor.
func trackedSets(s *server, on bool) (took, cpu time.Duration, err error) {
	var clients []*pushed
	defer func() {
		for _, c := range clients {
			c.close()
		}
	}()
	for range trackingClients {
		c, err := dialPushed(s, on)
		if err != nil {
			return 0, 0, err
		}
		clients = append(clients, c)
	}
	ticks, began := cpuTicks(s.pid()), time.Now()
	done := make(chan error, len(clients)) // room for all, so that each ends without a receiver
	for _, c := range clients {
		go func() { done <- c.sets(trackingSets) }()
	}
	for range clients {
		err = errors.Join(err, <-done)
	}
	return time.Since(began), time.Duration(cpuTicks(s.pid())-ticks) * tick, err
}

// pushed is a client that is sent invalidations between its replies.
type pushed struct{ *client }

func dialPushed(s *server, on bool) (*pushed, error) {
	c, err := dial(s.addr())
	if err != nil {
		return nil, err
	}
	p := &pushed{c}
	c.send("HELLO", "3")
	c.send("ECHO", "ready")
	if on {
		c.send("CLIENT", "TRACKING", "ON")
		for range trackingReads {
			c.send("EXISTS", trackedKey())
		}
	}
	c.send("ECHO", "begin")
	if err = c.out.Flush(); err == nil {
		err = p.skipTo("begin")
	}
	return p, err
}

func trackedKey() string { return fmt.Sprintf("key:%012d", rand.IntN(fewKeys)) }

// skipTo reads lines up to one.
func (p *pushed) skipTo(line string) error {
	for {
		got, err := p.in.ReadString('\n')
		if err != nil || got == line+"\r\n" {
			return err
		}
	}
}

func (p *pushed) sets(n int) error {
	for range n {
		p.send("SET", trackedKey(), value64)
		if err := p.out.Flush(); err != nil {
			return err
		}
		if err := p.skipTo("+OK"); err != nil {
			return err
		}
	}
	return nil
}
