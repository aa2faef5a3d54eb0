package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	slowReaders = 20
	slowGets    = 16 // that each of them sends
	slowBytes   = 10_000_000
	slowProbes  = 2000
)

// measureReaders asks what others notice of clients that ask for a lot and do
// not read it.
func measureReaders(ctx context.Context, l *lab) (s section, err error) {
	s = section{
		title: "Clients that do not read",
		method: fmt.Sprintf("%d connections send %d GETs of %d bytes each and read nothing; then one client sends %d GETs of 64 bytes, one after the other, and meanwhile each of the others reads one reply. "+
			"The bar is on the p99 in ms. *resident* is the server's memory behind it; Redis is not asked, it would keep all replies.", slowReaders, slowGets, slowBytes, slowProbes),
		header: []string{"server", "p50 / p99 / max", "resident", "bar"},
	}
	firn, err := l.subject("everysec")
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, firn.stop()) }()
	if err := firn.start(ctx); err != nil {
		return s, err
	}
	fill := func(c *client) error {
		_, err1 := c.do("SET", "large", strings.Repeat("v", slowBytes))
		_, err2 := c.do("SET", "small", value64)
		return errors.Join(err1, err2)
	}
	if err := withClient(firn, fill); err != nil {
		return s, err
	}
	slow, err := openSlowReaders(firn)
	defer func() {
		for _, c := range slow {
			c.close()
		}
	}()
	if err != nil {
		return s, err
	}
	times, err := probeBesideSlow(firn, slow)
	if err != nil {
		return s, err
	}
	resident, err := residentBytes(firn.pid())
	if err != nil {
		return s, err
	}
	s.rows = append(s.rows, []string{"Firn", showLatencies(times), showMiB(resident), verdict("readers/Firn", millis(percentile(times, 99)))})
	return s, nil
}

// openSlowReaders connects clients that have sent their GETs.
func openSlowReaders(s *server) (slow []*client, err error) {
	for range slowReaders {
		c, err := dial(s.addr())
		if err != nil {
			return slow, err
		}
		slow = append(slow, c)
		for range slowGets {
			c.send("GET", "large")
		}
		if err := c.out.Flush(); err != nil {
			return slow, err
		}
	}
	return slow, nil
}

// probeBesideSlow times GETs while the slow readers take one reply each, one
// after the other.
func probeBesideSlow(s *server, slow []*client) (times []time.Duration, err error) {
	reading := make(chan error, 1) // room for the one result, so the goroutine ends without a receiver
	go func() {
		for _, c := range slow {
			if _, err := c.in.Discard(slowBytes); err != nil {
				reading <- err
				return
			}
		}
		reading <- nil
	}()
	err = withClient(s, func(c *client) error {
		for range slowProbes {
			began := time.Now()
			if _, err := c.do("GET", "small"); err != nil {
				return err
			}
			times = append(times, time.Since(began))
		}
		return nil
	})
	return times, errors.Join(err, <-reading)
}
