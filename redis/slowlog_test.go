package redis

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
)

// What is slow is remembered, in bounds, and what is fast is not.

func TestSlowCommandsAreRemembered(t *testing.T) {
	a, b := newPair(t, firn.Options{})
	a.run(t, "CLIENT SETNAME me", "CONFIG SET slowlog-log-slower-than 0", "SLOWLOG RESET")
	long := strings.Repeat("x", 200)
	many := strings.Repeat("k ", 40)
	a.run(t, "SET k "+long, "GET k", "CLIENT ID", "MGET "+many, "MULTI", "INCR n", "EXEC")
	b.run(t, "AUTH x y", "CONFIG SET slowlog-log-slower-than 1000000")
	b.run(t, "GET k")
	var got []string
	for _, e := range ask(t, b, "SLOWLOG GET -1").elements {
		if e.elements[2].mark != ':' || e.elements[4].text != "127.0.0.1:1" {
			t.Errorf("entry: got %v", e)
		}
		got = append(got, strings.Join(e.elements[3].words(), " ")+" by "+e.elements[5].text)
	}
	want := []string{
		"incr n by me", "multi by me", "mget " + strings.Repeat("k ", 30) + "... (10 more arguments) by me", "client id by me", "get k by me",
		"set k " + long[:128] + "... (72 more bytes) by me", "slowlog reset by me",
	}
	if !slices.Equal(got, want) {
		t.Errorf("SLOWLOG GET:\n got %q\nwant %q", got, want)
	}
	check(t, "SLOWLOG LEN", b.run(t, "SLOWLOG LEN"), fmt.Sprintf(":%d\r\n", len(want)))
	b.run(t, "CONFIG SET slowlog-max-len 2")
	check(t, "SLOWLOG LEN of 2", b.run(t, "SLOWLOG LEN"), ":2\r\n")
	if ids := ask(t, b, "SLOWLOG GET 1").elements[0].elements[0].text; ids != "6" {
		t.Errorf("id of the newest: got %s, want 6", ids)
	}
}

func TestNothingIsSlowWhenTheLogIsOff(t *testing.T) {
	a, _ := newPair(t, firn.Options{})
	a.run(t, "CONFIG SET slowlog-log-slower-than -1", "SLOWLOG RESET", "GET k", "SET k 1", "CLIENT LIST")
	check(t, "SLOWLOG LEN", a.run(t, "SLOWLOG LEN"), ":0\r\n")
	if a.session.srv.slow.floor() != never || a.session.srv.slow.all.Load() {
		t.Error("commands are still timed for the slow log")
	}
}

// TestTimesInABatchAreTheCommandsOwn: a command is not charged for its
// neighbours, nor for what lies between two batches.
func TestTimesInABatchAreTheCommandsOwn(t *testing.T) {
	a, _ := newPair(t, firn.Options{})
	a.run(t, "CONFIG SET slowlog-log-slower-than 60000000", "SET k 1", "APPEND k 2")
	a.session.ended -= time.Hour // as if long had passed since
	a.run(t, "SET k 3")
	check(t, "SLOWLOG GET", a.run(t, "SLOWLOG GET"), "*0\r\n")
}

func TestHistogramsFindPercentiles(t *testing.T) {
	var h histogram
	for range 99 {
		h.add(3 * time.Microsecond)
	}
	h.add(20 * time.Millisecond)
	for _, tt := range []struct{ percent, least, most float64 }{{50, 3, 3.6}, {99, 3, 3.6}, {99.9, 20_000, 25_000}, {0, 3, 3.6}, {100, 20_000, 25_000}} {
		if got := h.percentile(tt.percent); got < tt.least || got > tt.most {
			t.Errorf("p%v: got %v µs, want %v to %v", tt.percent, got, tt.least, tt.most)
		}
	}
	upTo := h.octaves()
	if upTo[1] != 0 || upTo[2] != 99 || upTo[14] != 99 || upTo[15] != 100 || upTo[len(upTo)-1] != 100 {
		t.Errorf("octaves: got %v, want 99 from 4 µs and 100 from 32 ms", upTo)
	}
	var edges histogram
	for _, d := range []time.Duration{-1, 0, 1, 1023, 1024, 2047, 2048, 1<<63 - 1} {
		edges.add(d)
	}
	if edges[0].Load() != 4 || edges[len(edges)-1].Load() != 1 {
		t.Errorf("edges: got %d in the first bucket and %d in the last, want 4 and 1", edges[0].Load(), edges[len(edges)-1].Load())
	}
}

func TestLatencyEvents(t *testing.T) {
	a, _ := newPair(t, firn.Options{})
	l := &a.session.srv.latency
	at := time.Unix(1_000_000, 0)
	l.add("command", at, time.Second)
	check(t, "while off", a.run(t, "LATENCY LATEST"), "*0\r\n")
	a.run(t, "CONFIG SET latency-monitor-threshold 100")
	l.add("command", at, 99*time.Millisecond)
	l.add("command", at, 100*time.Millisecond)
	l.add("command", at, 300*time.Millisecond)
	l.add("command", at.Add(time.Second), 200*time.Millisecond)
	l.add("commit", at, 150*time.Millisecond)
	check(t, "LATEST", render([]byte(a.run(t, "LATENCY LATEST"))), `1) 1) "command"
   2) (integer) 1000001
   3) (integer) 200
   4) (integer) 300
2) 1) "commit"
   2) (integer) 1000000
   3) (integer) 150
   4) (integer) 150`)
	check(t, "HISTORY", a.run(t, "LATENCY HISTORY command"), "*2\r\n*2\r\n:1000000\r\n:300\r\n*2\r\n:1000001\r\n:200\r\n")
	graph := ask(t, a, "LATENCY GRAPH command").text
	if !strings.HasPrefix(graph, "command - high 300 ms, low 200 ms (all time high 300 ms)\n") || !strings.Contains(graph, "\n#_\n") {
		t.Errorf("GRAPH: got %q", graph)
	}
	if doctor := ask(t, a, "LATENCY DOCTOR").text; !strings.Contains(doctor, "1. command: 2 latency spikes (average 250ms, worst all time event 300ms).") {
		t.Errorf("DOCTOR: got %q", doctor)
	}
	for i := range 2 * maxLatencySamples {
		l.add("commit", at.Add(time.Duration(i)*time.Second), time.Second)
	}
	if e, _ := l.event("commit"); len(e.samples) != maxLatencySamples {
		t.Errorf("samples kept: got %d, want %d", len(e.samples), maxLatencySamples)
	}
	check(t, "RESET", a.run(t, "LATENCY RESET commit nosuch"), ":1\r\n")
	check(t, "RESET of all", a.run(t, "LATENCY RESET"), ":1\r\n")
}

func TestLatencyHistogramCountsCalls(t *testing.T) {
	a, _ := newPair(t, firn.Options{})
	for range 40 {
		a.run(t, "GET k")
	}
	v := ask(t, a, "LATENCY HISTOGRAM get nosuch GET")
	if words := v.words(); words[0] != "get" || words[1] != "calls" || words[2] != "40" || words[3] != "histogram_usec" || words[len(words)-1] != "40" {
		t.Errorf("LATENCY HISTOGRAM get: got %q, want 40 calls in the end", words)
	}
	a.run(t, "CONFIG RESETSTAT")
	check(t, "after RESETSTAT", a.run(t, "LATENCY HISTOGRAM get"), "*0\r\n")
}
