package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

// A benchmark that misreads its own figures is worse than none: everything
// that reads, computes or prints a figure is held to a case done by hand.

const benchmarkOutput = `WARNING: Could not fetch server CONFIG
"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"
"SET","598802.44","1.124","0.208","1.047","1.951","2.567","5.039"
"MSET (10 keys)","215982.72","3.576","0.864","3.183","6.599","10.063","11.271"
`

func TestBenchmarkOutputIsRead(t *testing.T) {
	got, err := parseBenchmark(benchmarkOutput, "SET")
	want := load{rps: 598802.44, p50: 1047 * time.Microsecond, p99: 2567 * time.Microsecond}
	if err != nil || got != want {
		t.Errorf("SET: got %v, %v, want %v", got, err, want)
	}
	got, err = parseBenchmark(benchmarkOutput, "MSET")
	want = load{rps: 215982.72, p50: 3183 * time.Microsecond, p99: 10063 * time.Microsecond}
	if err != nil || got != want {
		t.Errorf("MSET: got %v, %v, want %v", got, err, want)
	}
	for _, broken := range []string{"", "Connection refused", strings.ReplaceAll(benchmarkOutput, "598802.44", "nan?")} {
		if got, err := parseBenchmark(broken, "SET"); err == nil {
			t.Errorf("parse %q: got %v, want an error", broken, got)
		}
	}
	if _, err := parseBenchmark(benchmarkOutput, "GET"); err == nil {
		t.Error("a test that was not run: got no error, want one")
	}
}

func TestMedianAndPercentileByHand(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		median float64
		p99    float64
	}{
		{nil, 0, 0},
		{[]float64{7}, 7, 7},
		{[]float64{3, 1, 2}, 2, 3},
		{[]float64{4, 1, 3, 2}, 2.5, 4},
	} {
		if got := median(tt.values); got != tt.median {
			t.Errorf("median %v: got %v, want %v", tt.values, got, tt.median)
		}
		if got := percentile(tt.values, 99); got != tt.p99 {
			t.Errorf("p99 %v: got %v, want %v", tt.values, got, tt.p99)
		}
	}
	var hundred []int
	for n := range 100 {
		hundred = append(hundred, 100-n)
	}
	for p, want := range map[float64]int{50: 50, 99: 99, 100: 100, 0.5: 1} {
		if got := percentile(hundred, p); got != want {
			t.Errorf("percentile %v of 1..100: got %d, want %d", p, got, want)
		}
	}
}

func TestListenersAreFoundWithTheirAddress(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000
   1: 00000000:1F91 00000000:0000 0A 00000000:00000000
   2: 0100007F:1F92 0100007F:1F90 01 00000000:00000000
   3: 00000000000000000000000001000000:1F93 00000000000000000000000000000000:0000 0A 00000000:00000000
   4: 00000000000000000000000000000000:1F94 00000000000000000000000000000000:0000 0A 00000000:00000000
`
	for _, tt := range []struct {
		port     int
		ip       string
		loopback bool
	}{{0x1F90, "127.0.0.1", true}, {0x1F91, "0.0.0.0", false}, {0x1F93, "::1", true}, {0x1F94, "::", false}} {
		got := listeners(table, tt.port)
		if len(got) != 1 || got[0].String() != tt.ip || got[0].IsLoopback() != tt.loopback {
			t.Errorf("port %d: got %v, want %s, loopback %v", tt.port, got, tt.ip, tt.loopback)
		}
	}
	if got := listeners(table, 0x1F92); got != nil {
		t.Errorf("a connection, not a listener: got %v, want none", got)
	}
}

func TestOwnListenerIsSeenOnLoopback(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := onlyLoopback(l.Addr().(*net.TCPAddr).Port); err != nil {
		t.Errorf("listener on 127.0.0.1: got %v, want nil", err)
	}
}

func TestTemplateBecomesACommand(t *testing.T) {
	words := map[string]string{"{path}": "a b.db", "{fsync}": "no", "{none}": ""}
	got := expand("firn serve {path} --fsync={fsync} {none} {flags}", words, []string{"--memory", "64mb"})
	want := []string{"firn", "serve", "a b.db", "--fsync=no", "", "--memory", "64mb"}
	if !slices.Equal(got, want) {
		t.Errorf("command:\n got %q\nwant %q", got, want)
	}
}

func TestClientReadsReplies(t *testing.T) {
	in := "+OK\r\n:-7\r\n$-1\r\n$3\r\na\r\n\r\n*2\r\n:1\r\n$1\r\nx\r\n-ERR unknown command 'x'\r\n$9999999\r\n"
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	c := &client{ours, bufio.NewReader(strings.NewReader(in)), bufio.NewWriter(io.Discard)}
	for _, want := range []any{"OK", int64(-7), nil, "a\r\n"} {
		if got, err := c.receive(); err != nil || got != want {
			t.Errorf("reply: got %v, %v, want %v", got, err, want)
		}
	}
	got, err := c.receive()
	if items, ok := got.([]any); err != nil || !ok || !slices.Equal(items, []any{int64(1), "x"}) {
		t.Errorf("array: got %v, %v, want [1 x]", got, err)
	}
	if _, err := c.receive(); !unsupported(err) {
		t.Errorf("error reply: got %v, want one that says the command is unknown", err)
	}
	if _, err := c.receive(); err == nil {
		t.Error("announced 10 MB: got no error, want one")
	}
}

func TestVerdictNamesTheBar(t *testing.T) {
	for _, tt := range []struct {
		key    string
		figure float64
		want   string
	}{
		{"throughput/SET/P=1/everysec", 1, "≥ 0.85: met; aim 1 met"},
		{"throughput/SET/P=1/everysec", 0.85, "≥ 0.85: met; aim 1 missed"},
		{"throughput/SET/P=1/everysec", 0.84, "≥ 0.85: **missed**"},
		{"wal/P=1", 350, "≤ 700: met; aim 350 met"},
		{"wal/P=1", 701, "≤ 700: **missed**"},
		{"wal/P=3", 1, ""},
	} {
		if got := verdict(tt.key, tt.figure); got != tt.want {
			t.Errorf("verdict %s %v: got %q, want %q", tt.key, tt.figure, got, tt.want)
		}
	}
}

// Every bar belongs to a row that exists; a misspelt key would be a bar that
// nobody is held to.
func TestEveryBarHasItsRow(t *testing.T) {
	keys := map[string]bool{
		"open/clean": true, "open/killed": true, "memory/1": true, "memory/10": true, "embedded": true, "stalls/Firn": true,
		"readers/Firn": true, "at/versions=1000000": true, "collector": true, "large/MiB": true,
	}
	for _, name := range []string{"now", "then", "growth"} {
		keys["ranks/"+name] = true
	}
	for _, name := range []string{"SET/P=16", "GET/P=1", "GET/P=16"} {
		keys["large/"+name] = true
	}
	for _, name := range []string{"SET/P=1", "GET/P=1"} {
		keys["tls/"+name] = true
	}
	for _, kind := range memoryKinds {
		keys["members/"+kind.name] = true
	}
	for _, t := range tests {
		keys["beyond/"+t.printed] = true
	}
	for _, name := range []string{"rate", "shrink", "bytes", "throughput", "p99"} {
		keys["compaction/"+name] = true
	}
	for _, name := range []string{"point", "range", "last", "bytes"} {
		keys["history/"+name] = true
	}
	pairs := []pair{{fsync: "no"}, {fsync: "everysec"}, {fsync: "always"}}
	outcomes := map[row]*outcome{}
	for _, p := range pairs {
		for test := range tests {
			for _, pipeline := range pipelines {
				if compared(test, p.fsync) {
					outcomes[row{p.fsync, test, pipeline}] = &outcome{}
				}
			}
		}
	}
	barred := 0
	for _, cells := range throughputRows(pairs, outcomes) {
		for _, column := range []int{6, len(cells) - 1} {
			if cells[column] != "" {
				barred++
			}
		}
	}
	keys["wal/P=1"], keys["wal/P=16"] = true, true
	keys["follow/SET"], keys["tracking/Firn"] = true, true
	keys["expiry/keys/Firn"], keys["expiry/fields/Firn"] = true, true
	for _, name := range []string{"log", "ring", "resume"} {
		keys["feed/"+name] = true
	}
	for _, name := range []string{"commit", "bytes", "fans", "keys", "memory"} {
		keys["live/"+name] = true
	}
	for _, name := range []string{"queue", "zadd", "del", "hget"} {
		keys["collections/"+name] = true
	}
	addScriptKeys(keys)
	for key := range bars {
		if strings.HasPrefix(key, "throughput/") || strings.HasPrefix(key, "cpu/") {
			barred--
		} else if !keys[key] {
			t.Errorf("bar %q has no row", key)
		}
	}
	if barred != 0 {
		t.Errorf("throughput rows less throughput bars: got %d, want 0", barred)
	}
}

// addScriptKeys adds the rows of scripts.
func addScriptKeys(keys map[string]bool) {
	keys["scripts/beside"], keys["scripts/memory"] = true, true
	for _, load := range scriptLoads {
		for _, pipeline := range load.pipelines {
			keys[fmt.Sprintf("scripts/%s/P=%d", load.name, pipeline)] = true
		}
	}
}

func TestOnlyAWholeRunOfFirnReplacesTheReport(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "docs/benchmarks.md"},
		{[]string{"-only", "wal"}, ""},
		{[]string{"-subject", "redis-server"}, ""},
		{[]string{"-only", "wal", "-out", "x.md"}, "x.md"},
	} {
		cfg, err := parseFlags(tt.args)
		if got := reportPath(cfg); err != nil || got != tt.want {
			t.Errorf("report of %q: got %q, %v, want %q", tt.args, got, err, tt.want)
		}
	}
}

func TestNonsenseFlagsAreRefused(t *testing.T) {
	for _, args := range [][]string{{"-rounds", "0"}, {"-requests", "10"}, {"-keys", "1"}, {"extra"}} {
		if _, err := parseFlags(args); err == nil {
			t.Errorf("flags %q: got no error, want one", args)
		}
	}
	if _, err := choose("wal,unheard"); err == nil || !strings.Contains(err.Error(), `"unheard"`) {
		t.Errorf("choose: got %v, want an error that names the measurement", err)
	}
}

func TestReportLinesUpItsTables(t *testing.T) {
	r := report{machine: []string{"2 cores"}, sections: []section{
		{title: "T", method: "How.", header: []string{"a", "µ"}, rows: [][]string{{"long", "×"}}},
		{title: "U", method: "Why.", failure: "it broke"},
	}}
	var out bytes.Buffer
	if err := r.write(&out); err != nil {
		t.Fatal(err)
	}
	const want = "- 2 cores\n\n## T\n\nHow.\n\n| a    | µ |\n| ---- | - |\n| long | × |\n\n## U\n\nWhy.\n\nNot measured: it broke\n"
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("report:\n got %s\nwant it to end in %s", out.String(), want)
	}
}

func TestStepsStopAtTheFirstError(t *testing.T) {
	broken := errors.New("broken")
	ran := 0
	step := func() error { ran++; return nil }
	err := inOrder(step, func() error { return broken }, step)
	if !errors.Is(err, broken) || ran != 1 {
		t.Errorf("inOrder: got %v after %d steps, want %v after 1", err, ran, broken)
	}
}

func TestInfoFieldIsFoundByItsWholeName(t *testing.T) {
	const info = "# Firn\r\nmax_wal_written_bytes:1\r\nwal_written_bytes:42\r\n"
	if got, ok := infoField(info, "wal_written_bytes"); !ok || got != "42" {
		t.Errorf("field: got %q, %v, want 42", got, ok)
	}
	if _, ok := infoField(info, "written_bytes"); ok {
		t.Error("part of a name: got a field, want none")
	}
}
