package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// liveFans listen to one key, which is written so often at this pace: each
	// write makes a thousand pushes, and all are sent before the next.
	liveFans    = 1000
	liveFanSets = 200
	liveFanPace = 50 * time.Millisecond

	// fanKeys is how many clients listen to a key each. The writers together
	// make 5,000 commits a second, each of another key.
	fanKeys        = 10_000
	liveWriters    = 50
	liveWriterPace = 10 * time.Millisecond
	liveLasts      = 10 * time.Second

	// liveWait is how long a push may take before the measurement fails.
	liveWait = 30 * time.Second
)

// liveClientsMethod is how liveClients measures.
var liveClientsMethod = fmt.Sprintf("Over RESP: connections that each have a GET of a value of 64 bytes live, with an fsync each second, p50 / p99 / max. All %d are live on one key: "+
	"from sending a SET to the last of their pushes, %d times. Or each of %d is live on a key of its own, and %d connections set one every %v: from sending a SET to its push. "+
	"The listeners, in one process, run on the same machine. Memory is by how much more the server's heap grows with as many connections and their LIVE than with their PING.",
	liveFans, liveFanSets, fanKeys, liveWriters, liveWriterPace)

// liveClients is how soon clients of LIVE hear of a commit, and what they take
// while they hear nothing.
func liveClients(ctx context.Context, l *lab) (rows [][]string, err error) {
	for _, measure := range []func(context.Context, *lab) ([]string, error){measureFans, measureLiveKeys, measureLiveMemory} {
		cells, err := measure(ctx, l)
		if err != nil {
			return rows, err
		}
		rows = append(rows, cells)
	}
	return rows, nil
}

// withLive runs fn on a server that lets enough clients in.
func withLive(ctx context.Context, l *lab, fn func(s *server) error) (err error) {
	s, err := l.subject("everysec", "--maxclients", strconv.Itoa(2*fanKeys))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.start(ctx); err != nil {
		return err
	}
	return fn(s)
}

// measureFans times a thousand clients of one key.
func measureFans(ctx context.Context, l *lab) ([]string, error) {
	var last []time.Duration
	err := withLive(ctx, l, func(s *server) error {
		a, err := gather(s, liveFans, func(int) string { return "fan" })
		defer a.leave()
		if err != nil {
			return err
		}
		return withClient(s, func(c *client) error {
			for n := range liveFanSets {
				sent := time.Now()
				a.expect(liveFans)
				if _, err := c.do("SET", "fan", numberedValue(n)); err != nil {
					return err
				}
				if err := a.await(ctx); err != nil {
					return err
				}
				last = append(last, time.Since(sent))
				pause(ctx, liveFanPace)
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("%d clients live on one key: SET to the last push", liveFans), showLatencies(last), verdict("live/fans", millis(percentile(last, 99)))}, nil
}

// measureLiveKeys times ten thousand clients of a key each.
func measureLiveKeys(ctx context.Context, l *lab) ([]string, error) {
	var all []time.Duration
	err := withLive(ctx, l, func(s *server) error {
		a, err := gather(s, fanKeys, numberedKey)
		defer a.leave()
		if err != nil {
			return err
		}
		if err := writeKeys(ctx, s, a); err != nil {
			return err
		}
		pause(ctx, time.Second) // for the last pushes
		a.leave()
		all = a.latencies()
		if want := int64(a.sent.Load()); int64(len(all)) < want*9/10 {
			return fmt.Errorf("%d pushes after %d commits", len(all), want)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("%d clients live on as many keys, 5,000 commits/s: SET to the push", fanKeys), showLatencies(all), verdict("live/keys", millis(percentile(all, 99)))}, nil
}

// writeKeys sets keys at a pace for a while.
func writeKeys(ctx context.Context, s *server, a *audience) error {
	ctx, cancel := context.WithTimeout(ctx, liveLasts)
	defer cancel()
	failures := make([]error, liveWriters)
	var writers sync.WaitGroup
	for w := range liveWriters {
		writers.Go(func() {
			failures[w] = withClient(s, func(c *client) error {
				again := time.NewTicker(liveWriterPace)
				defer again.Stop()
				for i := w; ; i += liveWriters {
					select {
					case <-ctx.Done():
						return nil
					case <-again.C:
					}
					key := i % fanKeys
					a.clients[key].due.Store(time.Now().UnixNano())
					a.sent.Add(1)
					if _, err := c.do("SET", numberedKey(key), numberedValue(i)); err != nil {
						return err
					}
				}
			})
		})
	}
	writers.Wait()
	return errors.Join(failures...)
}

// measureLiveMemory weighs connections with and without LIVE.
func measureLiveMemory(ctx context.Context, l *lab) ([]string, error) {
	var grown [2]float64
	for i, command := range []string{"PING", "LIVE l GET "} {
		err := withLive(ctx, l, func(s *server) error {
			before, err := serverHeap(s)
			if err != nil {
				return err
			}
			a, err := gatherWith(s, fanKeys, func(i int) string { return strings.Replace(command, "GET ", "GET "+numberedKey(i), 1) })
			defer a.leave()
			if err != nil {
				return err
			}
			pause(ctx, 5*time.Second) // buffers of clients that are quiet go back
			after, err := serverHeap(s)
			grown[i] = float64(after-before) / fanKeys
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	each := grown[1] - grown[0]
	return []string{"an idle subscription of LIVE", fmt.Sprintf("%.0f B (%.0f B with the connection)", each, grown[1]), verdict("live/memory", each)}, nil
}

// serverHeap is what a server has allocated, once its garbage is collected.
func serverHeap(s *server) (n int64, err error) {
	err = withClient(s, func(c *client) error { _, err := c.do("MEMORY", "PURGE"); return err })
	if err != nil {
		return 0, err
	}
	return infoNumber(s, "memory", "used_memory")
}

// numberedValue is a value of 64 bytes that says which it is.
func numberedValue(n int) string { return fmt.Sprintf("%064d", n) }

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	again := time.NewTimer(d)
	defer again.Stop()
	select {
	case <-ctx.Done():
	case <-again.C:
	}
}

// audience is clients that listen, each on a goroutine of its own.
type audience struct {
	clients []*fan
	all     sync.WaitGroup
	missing atomic.Int64  // pushes until done
	done    chan struct{} // gets an element when none is missing
	sent    atomic.Int64
}

// fan is one client that listens.
type fan struct {
	conn  net.Conn
	due   atomic.Int64 // when what it waits for was sent, in ns; 0: it waits for nothing
	times []time.Duration
}

// gather connects n clients that have a key's value live.
func gather(s *server, n int, key func(i int) string) (*audience, error) {
	return gatherWith(s, n, func(i int) string { return "LIVE l GET " + key(i) })
}

// gatherWith connects n clients that have sent a command.
func gatherWith(s *server, n int, command func(i int) string) (*audience, error) {
	a := &audience{done: make(chan struct{}, 1)} // nobody has to wait to say so
	for i := range n {
		conn, err := net.DialTimeout("tcp", s.addr(), replyLimit)
		if err != nil {
			return a, err
		}
		f := &fan{conn: conn}
		a.clients = append(a.clients, f)
		in := bufio.NewReaderSize(conn, 512)
		fmt.Fprintf(conn, "HELLO 3\r\n%s\r\nECHO ready\r\n", command(i))
		for line := ""; line != "ready\r\n"; {
			if line, err = in.ReadString('\n'); err != nil {
				return a, fmt.Errorf("client %d: %w", i, err)
			}
		}
		a.all.Go(func() { a.listen(f, in) })
	}
	return a, nil
}

// leave ends all clients.
func (a *audience) leave() {
	for _, f := range a.clients {
		f.conn.Close()
	}
	a.all.Wait()
}

// listen takes pushes until the connection ends.
func (a *audience) listen(f *fan, in *bufio.Reader) {
	for {
		kind, err := readPush(in)
		if err != nil {
			return
		}
		if kind != "live" {
			continue
		}
		if due := f.due.Swap(0); due != 0 {
			f.times = append(f.times, time.Duration(time.Now().UnixNano()-due))
		}
		if a.missing.Add(-1) == 0 {
			a.done <- struct{}{}
		}
	}
}

// expect says that so many pushes are to come.
func (a *audience) expect(n int64) { a.missing.Store(n) }

// await waits for those that are expected.
func (a *audience) await(ctx context.Context) error {
	limit := time.NewTimer(liveWait)
	defer limit.Stop()
	select {
	case <-a.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-limit.C:
		return fmt.Errorf("%d pushes did not come in %v", a.missing.Load(), liveWait)
	}
}

// latencies are those of all clients, which have left.
func (a *audience) latencies() (all []time.Duration) {
	for _, f := range a.clients {
		all = append(all, f.times...)
	}
	return all
}

// readPush reads a push of flat elements, and returns the first, which says
// what it is.
func readPush(in *bufio.Reader) (kind string, err error) {
	header, err := in.ReadString('\n')
	if err != nil {
		return "", err
	}
	n, err := strconv.Atoi(strings.Trim(header, ">\r\n"))
	if err != nil || header[0] != '>' {
		return "", fmt.Errorf("%q is no push", header)
	}
	for i := range n {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return "", err
		}
		if line[0] != '$' {
			continue
		}
		size, err := strconv.Atoi(string(line[1 : len(line)-2]))
		switch {
		case err != nil:
			return "", err
		case i == 0:
			text := make([]byte, size+2)
			if _, err := io.ReadFull(in, text); err != nil {
				return "", err
			}
			kind = string(text[:size])
		default:
			if _, err := in.Discard(size + 2); err != nil {
				return "", err
			}
		}
	}
	return kind, nil
}
