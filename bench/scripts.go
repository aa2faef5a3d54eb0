package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// scriptLoad is a script whose rate is compared.
type scriptLoad struct {
	name, shown string
	source      string
	command     string   // EVALSHA or EVALSHA_RO
	words       []string // what follows the script's name
	keyspace    int
	pipelines   []int
}

// counterScript is what rate limiters and sessions are made of: a counter that
// has an end. limiterScript is the one that looks back over a window.
const (
	counterScript = `local n = redis.call('INCR', KEYS[1])
if n == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return n`
	getScript     = `return redis.call('GET', KEYS[1])`
	limiterScript = `local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, now - ARGV[1])
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], now, ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[1] / 1000)
return 1`
)

// scriptLoads are measured on keys as redis-benchmark draws them.
var scriptLoads = []scriptLoad{
	{"counter", "EVALSHA: INCR, and PEXPIRE if it is the first", counterScript, "EVALSHA", []string{"1", "n:__rand_int__", "60000"}, fewKeys, pipelines},
	{"get", "EVALSHA_RO: GET", getScript, "EVALSHA_RO", []string{"1", "key:__rand_int__"}, fewKeys, []int{1}},
	// 1,000 clients, of which each may come 100 times in 10 s.
	{"limiter", "EVALSHA: a window that slides", limiterScript, "EVALSHA", []string{"1", "w:__rand_int__", "10000000", "100", "__rand_int__"}, 1000, []int{1}},
}

const (
	// scriptWait is how long the script computes that others wait for, or
	// do not.
	scriptWait = time.Second

	// scriptWaits is how many of them run, one after the other: 10,000 GETs
	// are sent meanwhile.
	scriptWaits = 5

	// cachedScripts is how many scripts are weighed, of about 1 KiB each.
	cachedScripts = 1000
)

// measureScripts compares scripts with Redis's.
func measureScripts(ctx context.Context, l *lab) (s section, err error) {
	s = section{
		title: "Scripts",
		method: fmt.Sprintf("redis-benchmark with 50 connections against scripts that are loaded, in turns, everysec, medians. *µs* is the server's processor time for one. "+
			"*GET beside*: %d connections send a GET every %v while %d scripts compute for %v each, with as long a pause between them; the p99, for Redis too. "+
			"*memory*: by how much the process has grown with %d scripts of 1 KiB loaded.", stallClients, stallPause, scriptWaits, scriptWait, cachedScripts),
		header: []string{"script", "P", "Redis", "Firn", "ratio", "bar", "Redis µs", "Firn µs"},
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
	both := pair{"everysec", redis, firn}
	memory, err := scriptMemoryRow(ctx, both)
	if err != nil {
		return s, err
	}
	if s.rows, err = scriptRates(ctx, l, both); err != nil {
		return s, err
	}
	beside, err := besideScriptRow(ctx, both)
	s.rows = append(s.rows, beside, memory)
	return s, err
}

// scriptRates measures all loads in all rounds.
func scriptRates(ctx context.Context, l *lab, p pair) ([][]string, error) {
	for _, s := range []*server{p.redis, p.firn} {
		if err := loadKeys(s, fewKeys); err != nil {
			return nil, err
		}
	}
	var rows [][]string
	for _, load := range scriptLoads {
		for _, pipeline := range load.pipelines {
			var o outcome
			for round := range l.cfg.rounds {
				if err := scriptTurns(ctx, l, p, load, pipeline, round, &o); err != nil {
					return rows, err
				}
			}
			redis, firn := medianLoad(o.redis), medianLoad(o.firn)
			times := ratio(firn.rps, redis.rps)
			rows = append(rows, []string{
				load.shown, strconv.Itoa(pipeline), showRate(redis.rps), showRate(firn.rps), showRatio(times),
				verdict(fmt.Sprintf("scripts/%s/P=%d", load.name, pipeline), times), showCPU(redis.cpu), showCPU(firn.cpu),
			})
		}
	}
	return rows, nil
}

// scriptTurns runs one load on both servers once.
func scriptTurns(ctx context.Context, l *lab, p pair, load scriptLoad, pipeline, round int, o *outcome) error {
	turns := []*server{p.redis, p.firn}
	if round%2 == 1 {
		turns = []*server{p.firn, p.redis}
	}
	n := l.cfg.requests
	if pipeline > 1 {
		n *= 2
	}
	for _, server := range turns {
		sha, err := loadScript(server, load.source)
		if err != nil {
			return err
		}
		command := append([]string{load.command, sha}, load.words...)
		got, err := benchmarkOf(ctx, server, strings.Join(command, " "), command, pipeline, n, load.keyspace)
		if err != nil {
			return err
		}
		if server == p.redis {
			o.redis = append(o.redis, got)
		} else {
			o.firn = append(o.firn, got)
		}
		settle(ctx, server.pid())
	}
	return nil
}

// loadScript has the server know a script, and returns its name.
func loadScript(s *server, source string) (sha string, err error) {
	err = withClient(s, func(c *client) error {
		reply, err := c.do("SCRIPT", "LOAD", source)
		sha, _ = reply.(string)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("load a script into %s: %w", s.label, err)
	}
	return sha, nil
}

// besideScriptRow asks what others notice of a script that computes.
func besideScriptRow(ctx context.Context, p pair) ([]string, error) {
	var p99 [2]time.Duration
	for i, s := range []*server{p.redis, p.firn} {
		latencies, err := besideScripts(ctx, s)
		if err != nil {
			return nil, err
		}
		p99[i] = percentile(latencies, 99)
	}
	return []string{
		"GET beside a script that computes for 1 s, p99", "", showMillis(p99[0]), showMillis(p99[1]),
		showRatio(ratio(float64(p99[1]), float64(p99[0]))), verdict("scripts/beside", millis(p99[1])), "", "",
	}, nil
}

// besideScripts are the latencies of GETs while scripts compute.
func besideScripts(ctx context.Context, s *server) (latencies []time.Duration, err error) {
	settle(ctx, s.pid())
	loops, err := loopsOf(s, scriptWait)
	if err != nil {
		return nil, err
	}
	computing, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1) // room for the one result, so the goroutine ends without a receiver
	go func() {
		defer cancel()
		ended <- withClient(s, func(c *client) error {
			for range scriptWaits {
				rest := time.NewTimer(scriptWait) // what was held up is answered
				select {
				case <-ctx.Done():
					rest.Stop()
					return ctx.Err()
				case <-rest.C:
				}
				if _, err := c.do("EVAL", busyScript, "1", "busy", strconv.Itoa(loops)); err != nil {
					return fmt.Errorf("compute on %s: %w", s.label, err)
				}
			}
			return nil
		})
	}()
	latencies, err = pacedClients(computing, s, 3*scriptWaits*scriptWait, func() []string { return []string{"GET", numberedKey(rand.IntN(fewKeys))} })
	return latencies, errors.Join(err, <-ended)
}

// busyScript computes so many loops, and then writes.
const busyScript = `local n = 0
for i = 1, tonumber(ARGV[1]) do n = n + i % 7 end
return redis.call('SET', KEYS[1], n)`

// loopsOf is how many loops a server computes in so much time.
func loopsOf(s *server, takes time.Duration) (loops int, err error) {
	const some = 10_000_000 // 100 ms in Redis, which is enough to measure
	err = withClient(s, func(c *client) error {
		// A machine that is busy with others may take longer than a server's patience.
		if _, err := c.do("CONFIG", "SET", "busy-reply-threshold", "0"); err != nil {
			return err
		}
		began := time.Now()
		_, err := c.do("EVAL", busyScript, "1", "busy", strconv.Itoa(some))
		loops = int(some * takes.Seconds() / time.Since(began).Seconds())
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("compute on %s: %w", s.label, err)
	}
	return loops, nil
}

// scriptMemoryRow weighs scripts that are kept.
func scriptMemoryRow(ctx context.Context, p pair) ([]string, error) {
	var grown [2]int64
	for i, s := range []*server{p.redis, p.firn} {
		settle(ctx, s.pid())
		before, err := residentBytes(s.pid())
		if err != nil {
			return nil, err
		}
		err = withClient(s, func(c *client) error {
			return c.load(cachedScripts, func(i int) []string { return []string{"SCRIPT", "LOAD", numberedScript(i)} }, nil)
		})
		if err != nil {
			return nil, fmt.Errorf("load scripts into %s: %w", s.label, err)
		}
		settle(ctx, s.pid())
		after, err := residentBytes(s.pid())
		if err != nil {
			return nil, err
		}
		grown[i] = after - before
	}
	return []string{
		fmt.Sprintf("memory of %d scripts", cachedScripts), "", showMiB(grown[0]), showMiB(grown[1]),
		showRatio(ratio(float64(grown[1]), float64(grown[0]))), verdict("scripts/memory", mebibytes(grown[1])), "", "",
	}, nil
}

// numberedScript is a script of 1 KiB like no other.
func numberedScript(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "local number = %d\n", i)
	for line := range 3 {
		fmt.Fprintf(&b, "local function step%d(key)\n%s\nend\n", line, limiterScript[strings.Index(limiterScript, "redis.call('ZREM"):])
	}
	b.WriteString("return number")
	return b.String()
}
