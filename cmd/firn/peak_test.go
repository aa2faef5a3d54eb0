package main

// The rule: a store whose values are much larger than its memory can be opened,
// checked, copied, rebuilt and pruned. What a path takes is --memory, a base,
// and as many copies of the largest value as it must have at once.

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn/internal/race"
	"github.com/firndb/firn/resp"
)

// peakVariable names the file that a firn of a test writes its peak into.
const peakVariable = "FIRN_TEST_PEAK"

func tellPeak() {
	if path := os.Getenv(peakVariable); path != "" {
		status, _ := os.ReadFile("/proc/self/status")
		os.WriteFile(path, status, 0o600)
	}
}

// peakOf is the most memory that a process has had, from its status.
func peakOf(t *testing.T, path string) (bytes int64) {
	t.Helper()
	status, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "VmHWM:" {
			kib, err := strconv.ParseInt(words[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Skipf("%s does not tell a process's peak", path)
	return 0
}

func TestLargeValuesPassInBoundedMemory(t *testing.T) {
	if race.Enabled || testing.Short() {
		t.Skip("the race detector takes memory of its own")
	}
	largeValues{values: 6, bytes: 48 << 20, memory: 16 << 20, base: 88 << 20}.run(t)
}

// TestSoakLargestValues takes 34 GiB of disk and half an hour.
func TestSoakLargestValues(t *testing.T) {
	if os.Getenv("FIRN_SOAK") == "" || race.Enabled {
		t.Skip("only in a soak")
	}
	largeValues{values: 16, bytes: 512 << 20, memory: 64 << 20, base: 200 << 20}.run(t)
}

type largeValues struct {
	values       int
	bytes        int64 // of each
	memory, base int64
}

func (l largeValues) run(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	l.fill(t, path("x.db"))

	// SQLite holds the value that is looked at. A copy has the value that it
	// reads, the row that is made of it, and the large row before, which SQLite
	// compares with.
	l.serve(t, "open after SIGKILL", path("x.db"), 1)
	l.tool(t, "check", 1, "check", path("x.db"))
	l.tool(t, "log", 1, "log", path("x.db"), "--limit", "1")
	l.tool(t, "backup", 3, "backup", path("x.db"), path("b.db"))
	l.tool(t, "restore", 3, "restore", path("b.db"), path("r.db"), "--at", "-0s")
	os.Remove(path("r.db"))
	l.tool(t, "reindex", 1, "reindex", path("b.db"))
	l.serve(t, "COMPACT", path("b.db"), 1, "COMPACT")
	l.serve(t, "PRUNE", path("b.db"), 1, "HISTORY", "PRUNE", "BEFORE", "-0s")
	l.serve(t, "COMPACT of what is pruned", path("b.db"), 1, "COMPACT")
}

// fill writes each value twice to one of half as many keys, and kills the
// server.
func (l largeValues) fill(t *testing.T, path string) {
	t.Helper()
	k := l.start(t, path)
	p := k.connect()
	value := bytes.Repeat([]byte("firn "), int(l.bytes)/5)
	for i := range l.values {
		p.SetDeadline(time.Now().Add(5 * time.Minute))
		head := fmt.Sprintf("*3\r\n$3\r\nSET\r\n$%d\r\n%d\r\n$%d\r\n", len(strconv.Itoa(i/2)), i/2, len(value))
		for _, part := range [][]byte{[]byte(head), value, []byte("\r\n")} {
			if _, err := p.Write(part); err != nil {
				t.Fatal(err)
			}
		}
		if reply, err := p.reply(); err != nil || reply != "+OK" {
			t.Fatalf("SET of %d bytes: got %q, %v", len(value), reply, err)
		}
	}
	k.process.Process.Kill()
	k.process.Wait()
}

func (l largeValues) start(t *testing.T, path string) *killed {
	t.Helper()
	k := &killed{t: t, dir: filepath.Dir(path), socket: filepath.Join(t.TempDir(), "s"), log: new(bytes.Buffer)}
	k.process = exec.Command("firn", "serve", path, "--listen", "127.0.0.1:0", "--unix", k.socket,
		"--fsync", "no", "--memory", strconv.FormatInt(l.memory, 10), "--retention", "unlimited")
	k.process.Stderr, k.process.Env = k.log, append(os.Environ(), "GOMEMLIMIT=off")
	if err := k.process.Start(); err != nil {
		t.Fatal(err)
	}
	process := k.process
	t.Cleanup(func() { process.Process.Kill() })
	return k
}

// serve opens the store with a server and asks it something.
func (l largeValues) serve(t *testing.T, name, path string, copies int64, words ...string) {
	t.Helper()
	k := l.start(t, path)
	p := k.connect()
	p.SetDeadline(time.Now().Add(5 * time.Minute))
	if len(words) == 0 {
		words = []string{"PING"}
	}
	var args [][]byte
	for _, w := range words {
		args = append(args, []byte(w))
	}
	if _, err := p.Write(resp.AppendCommand(nil, args...)); err != nil {
		t.Fatal(err)
	}
	if reply, err := p.reply(); err != nil || strings.HasPrefix(reply, "-") {
		t.Fatalf("%q: got %q, %v\n%s", words, reply, err, k.log)
	}
	l.judge(t, name, copies, peakOf(t, fmt.Sprintf("/proc/%d/status", k.process.Process.Pid)))
	k.process.Process.Kill()
	k.process.Wait()
}

// tool runs a command of the program.
func (l largeValues) tool(t *testing.T, name string, copies int64, args ...string) {
	t.Helper()
	peak := filepath.Join(t.TempDir(), "peak")
	c := exec.Command("firn", args...)
	c.Env = append(os.Environ(), "GOMEMLIMIT=off", peakVariable+"="+peak)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("firn %q: %v\n%s", args, err, out)
	}
	l.judge(t, name, copies, peakOf(t, peak))
}

func (l largeValues) judge(t *testing.T, name string, copies, peak int64) {
	t.Helper()
	most := l.memory + l.base + copies*l.bytes
	t.Logf("%s: %d MiB of at most %d", name, peak>>20, most>>20)
	if peak > most {
		t.Errorf("%s of %d values of %d MiB: got a peak of %d MiB, want at most %d", name, l.values, l.bytes>>20, peak>>20, most>>20)
	}
}
