package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// tests are redis-benchmark's, by the names that it takes and prints, in an
// order in which what is popped or read has been put in before.
var tests = []struct {
	name, printed string
	weight        int      // of one request, which divides the number of requests
	keyspace      int      // -r: how many different keys, fields or members
	command       []string // for what redis-benchmark has no test of its own
	onlyEverysec  bool     // not compared in every mode
	always        bool     // but with an fsync for each answer, too
}{
	{name: "set", printed: "SET", weight: 1, keyspace: fewKeys},
	{name: "get", printed: "GET", weight: 1, keyspace: fewKeys},
	{name: "incr", printed: "INCR", weight: 1, keyspace: fewKeys},
	{name: "hset", printed: "HSET", weight: 1, keyspace: fewKeys},
	{name: "mset", printed: "MSET", weight: 10, keyspace: fewKeys},
	{name: "lpush", printed: "LPUSH", weight: 1, keyspace: fewKeys, onlyEverysec: true, always: true},
	{name: "rpop", printed: "RPOP", weight: 1, keyspace: fewKeys, onlyEverysec: true, always: true},
	{name: "sadd", printed: "SADD", weight: 1, keyspace: manyKeys, onlyEverysec: true, always: true},
	{name: "spop", printed: "SPOP", weight: 1, keyspace: manyKeys, onlyEverysec: true},
	{name: "zadd", printed: "ZADD", weight: 1, keyspace: manyKeys, onlyEverysec: true},
	{name: "zpopmin", printed: "ZPOPMIN", weight: 1, keyspace: manyKeys, onlyEverysec: true},
	{name: "xadd", printed: "XADD", weight: 1, keyspace: manyKeys, onlyEverysec: true,
		command: []string{"XADD", "mystream", "*", "field", "__rand_int__"}},
	{name: "lrange_100", printed: "LRANGE_100", weight: 4, keyspace: fewKeys, onlyEverysec: true},
	{name: "lrange_600", printed: "LRANGE_600", weight: 10, keyspace: fewKeys, onlyEverysec: true},
}

// Keyspaces: keys are overwritten, members of sets are new.
const (
	fewKeys  = 100_000
	manyKeys = 100_000_000
)

// pipelines are the depths measured: none, and the depth of redis-benchmark's
// own documentation.
var pipelines = []int{1, 16}

// pair is the two servers that promise the same about a lost machine.
type pair struct {
	fsync       string // Firn's mode, as the report names the row
	redis, firn *server
}

// load is the outcome of one redis-benchmark run.
type load struct {
	rps float64
	p50 time.Duration
	p99 time.Duration
	cpu time.Duration // of the server, user and system, for one request
}

// row names one line of the table.
type row struct {
	fsync    string
	test     int // index in tests
	pipeline int
}

// outcome collects the rounds of one row.
type outcome struct{ redis, firn []load }

func measureThroughput(ctx context.Context, l *lab) (s section, err error) {
	s = section{
		title: "Throughput",
		method: "redis-benchmark with 50 connections, 64-byte values and 100,000 keys (or new members of one set, list or stream), in turns against both servers of a row, " +
			"each turn after the server of the turn before has come to rest; the order changes every round; medians. " +
			"*no* is compared with a Redis without a file, *everysec* and *always* with an append-only file of that policy. " +
			"*µs* is the processor time of the server, user and system, for one request; on a shared machine it moves less than the rate.",
		header: []string{"fsync", "command", "P", "Redis /s", "Firn /s", "ratio", "bar", "Redis p50 / p99", "Firn p50 / p99", "Redis µs", "Firn µs", "ratio of µs", "bar of µs"},
	}
	pairs, err := startPairs(ctx, l)
	defer func() {
		for _, p := range pairs {
			err = errors.Join(err, p.redis.stop(), p.firn.stop())
		}
	}()
	if err != nil {
		return s, err
	}
	outcomes := map[row]*outcome{}
	for round := range l.cfg.rounds {
		for test := range tests {
			for _, pipeline := range pipelines {
				for _, p := range pairs {
					if !compared(test, p.fsync) {
						continue
					}
					r := row{p.fsync, test, pipeline}
					if outcomes[r] == nil {
						outcomes[r] = &outcome{}
					}
					if err := takeTurns(ctx, l, p, r, round, outcomes[r]); err != nil {
						return s, err
					}
				}
			}
		}
	}
	s.rows = throughputRows(pairs, outcomes)
	return s, nil
}

// compared says whether a test is one of a mode's rows.
func compared(test int, fsync string) bool {
	t := tests[test]
	return !t.onlyEverysec || fsync == "everysec" || t.always && fsync == "always"
}

// startPairs starts both servers for each promise. On an error the pairs so
// far are returned with it, so that the caller can stop them.
func startPairs(ctx context.Context, l *lab) ([]pair, error) {
	var pairs []pair
	for _, mode := range []struct{ fsync, redis string }{{"no", "memory"}, {"everysec", "everysec"}, {"always", "always"}} {
		redis, err := l.redisServer(mode.redis)
		if err != nil {
			return pairs, err
		}
		firn, err := l.subject(mode.fsync)
		if err != nil {
			return pairs, err
		}
		pairs = append(pairs, pair{mode.fsync, redis, firn})
		if err := errors.Join(redis.start(ctx), firn.start(ctx)); err != nil {
			return pairs, err
		}
	}
	return pairs, nil
}

// takeTurns runs one row on both servers once.
func takeTurns(ctx context.Context, l *lab, p pair, r row, round int, o *outcome) error {
	turns := []*server{p.redis, p.firn}
	if round%2 == 1 {
		turns = []*server{p.firn, p.redis}
	}
	for _, server := range turns {
		got, err := redisBenchmark(ctx, server, r, requests(l.cfg.requests, r))
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

// requests scales a run so that each takes about as long: a pipeline of 16 is
// some four times as fast, and a request that writes ten keys is slower.
func requests(base int, r row) int {
	n := base
	if r.pipeline > 1 {
		n *= 4
	}
	return max(n/tests[r.test].weight, 1000)
}

// redisBenchmark runs one test and returns what it printed.
func redisBenchmark(ctx context.Context, s *server, r row, n int) (load, error) {
	return redisBenchmarkOf(ctx, s, r, n, tests[r.test].keyspace)
}

// runLimit ends a run that would never end: redis-benchmark waits for ever.
const runLimit = 3 * time.Minute

// redisBenchmarkOf is redisBenchmark with so many different keys.
func redisBenchmarkOf(ctx context.Context, s *server, r row, n, keyspace int) (load, error) {
	test := tests[r.test]
	command := test.command
	if command == nil {
		command = []string{"-t", test.name}
	}
	return benchmarkOf(ctx, s, test.printed, command, r.pipeline, n, keyspace)
}

// benchmarkOf runs redis-benchmark with a command, or one of its tests, of which
// it prints the figures in a line with that name.
func benchmarkOf(ctx context.Context, s *server, printed string, command []string, pipeline, n, keyspace int) (load, error) {
	args := []string{
		"-h", "127.0.0.1", "-p", strconv.Itoa(s.port), "-c", "50", "-d", "64", "-r", strconv.Itoa(keyspace),
		"-P", strconv.Itoa(pipeline), "-n", strconv.Itoa(n), "--csv",
	}
	args = append(append(args, s.benchmarkFlags...), command...)
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	before := cpuTicks(s.pid())
	out, err := exec.CommandContext(ctx, "redis-benchmark", args...).CombinedOutput()
	spent := cpuTicks(s.pid()) - before
	if err != nil {
		return load{}, fmt.Errorf("redis-benchmark %s against %s: %w\n%s", printed, s.label, err, out)
	}
	got, err := parseBenchmark(string(out), printed)
	if err != nil {
		return load{}, fmt.Errorf("redis-benchmark %s against %s: %w", printed, s.label, err)
	}
	got.cpu = time.Duration(spent) * tick / time.Duration(n)
	return got, nil
}

// parseBenchmark finds a test's line in redis-benchmark's CSV. Older releases
// print warnings around it, and a test's name may have a remark behind it.
func parseBenchmark(text, test string) (load, error) {
	_, table, found := strings.Cut(text, `"test",`)
	if !found {
		return load{}, fmt.Errorf("no table in %q", text)
	}
	reader := csv.NewReader(strings.NewReader(`"test",` + table))
	reader.FieldsPerRecord = -1
	lines, err := reader.ReadAll()
	if err != nil {
		return load{}, fmt.Errorf("read its table: %w", err)
	}
	column := map[string]int{}
	for i, name := range lines[0] {
		column[name] = i
	}
	for _, line := range lines[1:] {
		if len(line) != len(lines[0]) || line[0] != test && !strings.HasPrefix(line[0], test+" ") {
			continue
		}
		rps, err1 := strconv.ParseFloat(line[column["rps"]], 64)
		p50, err2 := strconv.ParseFloat(line[column["p50_latency_ms"]], 64)
		p99, err3 := strconv.ParseFloat(line[column["p99_latency_ms"]], 64)
		if err := errors.Join(err1, err2, err3); err != nil || rps <= 0 {
			return load{}, fmt.Errorf("its line %q has no figures", line)
		}
		return load{rps: rps, p50: milliseconds(p50), p99: milliseconds(p99)}, nil
	}
	return load{}, fmt.Errorf("no line for %s in %q", test, text)
}

// milliseconds rounds to the microsecond, the last digit that is printed.
func milliseconds(ms float64) time.Duration {
	return time.Duration(ms * float64(time.Millisecond)).Round(time.Microsecond)
}

// throughputRows prints the medians, grouped by promise.
func throughputRows(pairs []pair, outcomes map[row]*outcome) [][]string {
	var rows [][]string
	for _, p := range pairs {
		for test := range tests {
			for _, pipeline := range pipelines {
				o := outcomes[row{p.fsync, test, pipeline}]
				if o == nil {
					continue
				}
				redis, firn := medianLoad(o.redis), medianLoad(o.firn)
				times, more := ratio(firn.rps, redis.rps), ratio(float64(firn.cpu), float64(redis.cpu))
				key := fmt.Sprintf("throughput/%s/P=%d/%s", tests[test].printed, pipeline, p.fsync)
				rows = append(rows, []string{
					p.fsync, tests[test].printed, strconv.Itoa(pipeline),
					showRate(redis.rps), showRate(firn.rps), showRatio(times), verdict(key, times),
					showMillis(redis.p50) + " / " + showMillis(redis.p99),
					showMillis(firn.p50) + " / " + showMillis(firn.p99),
					showCPU(redis.cpu), showCPU(firn.cpu), showRatio(more), verdict("cpu/"+key, more),
				})
			}
		}
	}
	return rows
}

// medianLoad is the median of each figure by itself.
func medianLoad(loads []load) load {
	var rps []float64
	var p50, p99, cpu []time.Duration
	for _, l := range loads {
		rps, p50, p99, cpu = append(rps, l.rps), append(p50, l.p50), append(p99, l.p99), append(cpu, l.cpu)
	}
	return load{median(rps), median(p50), median(p99), median(cpu)}
}

// showCPU prints the processor time of one request, in microseconds.
func showCPU(d time.Duration) string { return fmt.Sprintf("%.1f", micros(d)) }
