package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firndb/firn/internal/seed"
)

// A server that is killed in the middle of its work keeps every write that it
// answered, and its timestamps never go back.

const (
	killRounds  = 6
	killClients = 8
	keepAll     = "24h"
	killWindow  = 400 * time.Millisecond // a server lives at most so long, once it has done what it must
)

func TestKilledServersKeepWhatTheyAnswered(t *testing.T) {
	killServers(t, killRounds, keepAll, countInMulti)
}

// TestKilledServersKeepWholeScripts: a script is a transaction like MULTI's.
func TestKilledServersKeepWholeScripts(t *testing.T) {
	killServers(t, killRounds/2, keepAll, countInScript)
}

// TestKilledServersThatForget keep hardly any history, and compact what there
// is all the time.
func TestKilledServersThatForget(t *testing.T) { killServers(t, killRounds/2, "20ms", countInMulti) }

func killServers(t *testing.T, rounds int, retention string, counts counting) {
	seed := seed.Fresh(t)
	rng := seed.Rand(0)
	k := &killed{t: t, dir: t.TempDir(), acked: make([]int, killClients), retention: retention, counts: counts, forgot: make(chan struct{})}
	k.live = sync.OnceFunc(func() { close(k.forgot) })
	modes := []string{"always", "everysec", "no"}
	for round := range rounds {
		k.start(modes[round%len(modes)])
		k.verify()
		life := time.Duration(rng.Int64N(int64(killWindow)))
		k.load(life)
	}
	k.start("always")
	k.verify()
	k.process.Process.Kill()
	k.process.Wait()
	total := 0
	for _, n := range k.acked {
		total += n
	}
	if total < rounds*killClients {
		t.Errorf("acknowledged writes: got %d, too few to mean anything", total)
	}
	out, err := exec.Command("firn", "check", filepath.Join(k.dir, "k.db")).CombinedOutput()
	if err != nil {
		t.Errorf("check after %d writes: %v\n%s", total, err, out)
	}
	if k.forgets() && (k.forgotten == 0 || k.compacted == 0) {
		t.Errorf("compaction: got %d versions forgotten in %d passes, want some", k.forgotten, k.compacted)
	}
	t.Logf("%d writes acknowledged, %d versions forgotten in %d passes", total, k.forgotten, k.compacted)
}

// killed is a server that is killed again and again, and what it promised.
type killed struct {
	t       *testing.T
	dir     string
	process *exec.Cmd
	socket  string
	log     *bytes.Buffer

	acked  []int // per client: the counter's last acknowledged value
	newest int64 // the largest timestamp that was acknowledged
	mu     sync.Mutex

	counts    counting
	retention string
	compacted int // passes that were answered
	forgotten int // versions found missing by verify

	// forgot is closed when a pass has been answered that forgot something. A
	// server that is killed after a random time may never come so far on a busy
	// machine: the first one lives until it has. Later ones may be killed within
	// their first pass.
	forgot chan struct{}
	live   func() // closes forgot
}

func (k *killed) forgets() bool { return k.retention != keepAll }

func (k *killed) start(fsync string) {
	k.t.Helper()
	k.socket = filepath.Join(k.t.TempDir(), "s")
	k.log = new(bytes.Buffer)
	k.process = exec.Command("firn", "serve", filepath.Join(k.dir, "k.db"), "--listen", "127.0.0.1:0", "--unix", k.socket, "--fsync", fsync, "--retention", k.retention)
	k.process.Stderr = k.log
	if err := k.process.Start(); err != nil {
		k.t.Fatal(err)
	}
	process := k.process
	k.t.Cleanup(func() { process.Process.Kill() })
}

func (k *killed) connect() *peer {
	k.t.Helper()
	conn, err := dial(k.t.Context(), "unix", k.socket)
	if err != nil {
		k.t.Fatalf("%v\n%s", err, k.log)
	}
	k.t.Cleanup(func() { conn.Close() })
	return newPeer(conn)
}

// load writes with all clients until the server is killed.
func (k *killed) load(life time.Duration) {
	var all sync.WaitGroup
	for i := range killClients {
		p := k.connect()
		all.Go(func() { k.count(p, i) })
	}
	if p := k.connect(); k.forgets() {
		all.Go(func() { k.compact(p) })
	}
	if k.forgets() {
		<-k.forgot
	}
	time.AfterFunc(life, func() { k.process.Process.Kill() })
	all.Wait()
	k.process.Wait()
}

// compact makes the server forget again and again.
func (k *killed) compact(p *peer) {
	defer k.live() // the server has died too early: nobody waits for it
	for {
		reply, err := p.ask("COMPACT")
		var lines [6]string // three names, three numbers
		for i := range lines {
			if err == nil && !strings.HasPrefix(reply, "-") {
				lines[i], err = p.reply()
			}
		}
		if err != nil {
			return
		}
		if strings.HasPrefix(reply, "-") {
			k.t.Errorf("COMPACT: got %q", reply)
			return
		}
		k.compacted++
		if lines[1] != ":0" {
			k.live()
		}
	}
}

// counting is a transaction that increments counter i, and a field that must
// agree with it, as commands; replies are the lines that answer it, of which the
// one with the number comes last.
type counting struct {
	commands string
	replies  int
}

// countScript does so after some work, in some of the cases more than an event
// loop gives a script, and writes other keys on the way.
const countScript = `"local n = redis.call('INCR', KEYS[1]) for i = 1, 8 do redis.call('SET', KEYS[1] .. ':' .. i, n) end ` +
	`for i = 1, n %% 10 * 10000 do end redis.call('HINCRBY', KEYS[2], 'f', 1) return n"`

var (
	countInMulti  = counting{"MULTI\r\nINCR n:%[1]d\r\nHINCRBY h:%[1]d f 1\r\nEXEC\r\n", 6} // OK, QUEUED twice, *2, two integers
	countInScript = counting{"EVAL " + countScript + " 2 n:%[1]d h:%[1]d\r\n", 1}
)

// count counts, until the connection breaks.
func (k *killed) count(p *peer, i int) {
	for {
		if _, err := fmt.Fprintf(p, k.counts.commands+"LASTTS\r\n", i); err != nil {
			return
		}
		lines := make([]string, k.counts.replies+1)
		for j := range lines {
			line, err := p.reply()
			if err != nil {
				return
			}
			lines[j] = line
			if j != k.counts.replies-1 {
				continue
			}
			n, err := strconv.Atoi(strings.TrimPrefix(line, ":"))
			if err != nil || j > 0 && lines[j-1] != line {
				k.t.Errorf("client %d: got %q", i, lines)
				return
			}
			k.acked[i] = n // the transaction's reply is complete
		}
		last := lines[k.counts.replies]
		ts, err := strconv.ParseInt(strings.TrimPrefix(last, ":"), 10, 64)
		if err != nil {
			k.t.Errorf("client %d: LASTTS got %q", i, last)
			return
		}
		k.mu.Lock()
		k.newest = max(k.newest, ts)
		k.mu.Unlock()
	}
}

// verify compares a server that has started again with what was promised.
func (k *killed) verify() {
	k.t.Helper()
	p := k.connect()
	for i, want := range k.acked {
		if want == 0 {
			continue
		}
		got := k.number(p, "GET", fmt.Sprintf("n:%d", i))
		field := k.number(p, "HGET", fmt.Sprintf("h:%d", i), "f")
		if got < want || field != got {
			k.t.Errorf("client %d: got counter %d and field %d, want at least %d and equal", i, got, field, want)
		}
		if k.counts == countInScript {
			for j := 1; j <= 8; j++ {
				if beside := k.number(p, "GET", fmt.Sprintf("n:%d:%d", i, j)); beside != got {
					k.t.Errorf("client %d: got counter %d, and %d in a key that the script set before it", i, got, beside)
				}
				p.Close()
				p = k.connect()
			}
		}
		switch versions := k.number(p, "HISTORY", "GET", fmt.Sprintf("n:%d", i)); {
		case versions != got && !k.forgets() || versions < 1 || versions > got:
			k.t.Errorf("client %d: got %d versions, want %d", i, versions, got)
		default:
			k.forgotten += got - versions
		}
		p.Close()
		p = k.connect()
		k.acked[i] = got
	}
	if got := k.number(p, "INCR", "probe"); got < 1 {
		k.t.Errorf("probe: got %d", got)
	}
	ts := int64(k.number(p, "LASTTS"))
	if ts <= k.newest {
		k.t.Errorf("timestamp after a restart: got %d, want more than %d", ts, k.newest)
	}
	k.newest = ts
}

// number is a reply's number: an integer's, an array's length, or the one in
// a string.
func (k *killed) number(p *peer, words ...string) int {
	k.t.Helper()
	reply, err := p.ask(words...)
	if err != nil {
		k.t.Fatalf("%q: %v\n%s", words, err, k.log)
	}
	n, err := strconv.Atoi(strings.TrimLeft(reply, ":*"))
	if err != nil {
		k.t.Fatalf("%q: got %q, want a number", words, reply)
	}
	return n
}
