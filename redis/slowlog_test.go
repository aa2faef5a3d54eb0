package redis

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/measure"
)

// What is slow is remembered, in bounds, and what is fast is not.

func TestSlowCommandsAreRemembered(t *testing.T) {
	a, b := NewPair(t, firn.Options{})
	a.Run(t, "CLIENT SETNAME me", "CONFIG SET slowlog-log-slower-than 0", "SLOWLOG RESET")
	long := strings.Repeat("x", 200)
	many := strings.Repeat("k ", 40)
	a.Run(t, "SET k "+long, "GET k", "CLIENT ID", "MGET "+many, "MULTI", "INCR n", "EXEC")
	b.Run(t, "AUTH x y", "CONFIG SET slowlog-log-slower-than 1000000")
	b.Run(t, "GET k")
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
	Check(t, "SLOWLOG LEN", b.Run(t, "SLOWLOG LEN"), fmt.Sprintf(":%d\r\n", len(want)))
	b.Run(t, "CONFIG SET slowlog-max-len 2")
	Check(t, "SLOWLOG LEN of 2", b.Run(t, "SLOWLOG LEN"), ":2\r\n")
	if ids := ask(t, b, "SLOWLOG GET 1").elements[0].elements[0].text; ids != "6" {
		t.Errorf("id of the newest: got %s, want 6", ids)
	}
}

func TestNothingIsSlowWhenTheLogIsOff(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	a.Run(t, "CONFIG SET slowlog-log-slower-than -1", "SLOWLOG RESET", "GET k", "SET k 1", "CLIENT LIST")
	Check(t, "SLOWLOG LEN", a.Run(t, "SLOWLOG LEN"), ":0\r\n")
	if a.session.srv.slow.Floor() < time.Hour || a.session.srv.slow.All.Load() {
		t.Error("commands are still timed for the slow log")
	}
}

// TestTimesInABatchAreTheCommandsOwn: a command is not charged for its
// neighbours, nor for what lies between two batches.
func TestTimesInABatchAreTheCommandsOwn(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	a.Run(t, "CONFIG SET slowlog-log-slower-than 60000000", "SET k 1", "APPEND k 2")
	a.session.times.ended -= time.Hour // as if long had passed since
	a.Run(t, "SET k 3")
	Check(t, "SLOWLOG GET", a.Run(t, "SLOWLOG GET"), "*0\r\n")
}

func TestLatencyEvents(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	l := &a.session.srv.latency
	at := time.Unix(1_000_000, 0)
	l.Add("command", at, time.Second)
	Check(t, "while off", a.Run(t, "LATENCY LATEST"), "*0\r\n")
	a.Run(t, "CONFIG SET latency-monitor-threshold 100")
	l.Add("command", at, 99*time.Millisecond)
	l.Add("command", at, 100*time.Millisecond)
	l.Add("command", at, 300*time.Millisecond)
	l.Add("command", at.Add(time.Second), 200*time.Millisecond)
	l.Add("commit", at, 150*time.Millisecond)
	Check(t, "LATEST", render([]byte(a.Run(t, "LATENCY LATEST"))), `1) 1) "command"
   2) (integer) 1000001
   3) (integer) 200
   4) (integer) 300
2) 1) "commit"
   2) (integer) 1000000
   3) (integer) 150
   4) (integer) 150`)
	Check(t, "HISTORY", a.Run(t, "LATENCY HISTORY command"), "*2\r\n*2\r\n:1000000\r\n:300\r\n*2\r\n:1000001\r\n:200\r\n")
	graph := ask(t, a, "LATENCY GRAPH command").text
	if !strings.HasPrefix(graph, "command - high 300 ms, low 200 ms (all time high 300 ms)\n") || !strings.Contains(graph, "\n#_\n") {
		t.Errorf("GRAPH: got %q", graph)
	}
	if doctor := ask(t, a, "LATENCY DOCTOR").text; !strings.Contains(doctor, "1. command: 2 latency spikes (average 250ms, worst all time event 300ms).") {
		t.Errorf("DOCTOR: got %q", doctor)
	}
	for i := range 2 * measure.MaxSamples {
		l.Add("commit", at.Add(time.Duration(i)*time.Second), time.Second)
	}
	if e, _ := l.Event("commit"); len(e.Samples) != measure.MaxSamples {
		t.Errorf("samples kept: got %d, want %d", len(e.Samples), measure.MaxSamples)
	}
	Check(t, "RESET", a.Run(t, "LATENCY RESET commit nosuch"), ":1\r\n")
	Check(t, "RESET of all", a.Run(t, "LATENCY RESET"), ":1\r\n")
}

func TestLatencyHistogramCountsCalls(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	for range 40 {
		a.Run(t, "GET k")
	}
	v := ask(t, a, "LATENCY HISTOGRAM get nosuch GET")
	if words := v.words(); words[0] != "get" || words[1] != "calls" || words[2] != "40" || words[3] != "histogram_usec" || words[len(words)-1] != "40" {
		t.Errorf("LATENCY HISTOGRAM get: got %q, want 40 calls in the end", words)
	}
	a.Run(t, "CONFIG RESETSTAT")
	Check(t, "after RESETSTAT", a.Run(t, "LATENCY HISTOGRAM get"), "*0\r\n")
}
