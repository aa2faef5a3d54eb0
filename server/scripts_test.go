package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn/redis"
)

// Scripts that take their time hold up nobody but those who write, and end when
// they are told to.

const (
	busyScript   = "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.\r\n"
	busyFunction = "-BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.\r\n"
	endless      = "while true do end"
	killed       = "-ERR Script killed by user with SCRIPT KILL... script: "
	unkillable   = "-UNKILLABLE Sorry the script already executed write commands against the dataset. " +
		"You can either wait the script termination or kill the server in a hard way using the SHUTDOWN NOSAVE command.\r\n"
)

// command is a command in one line, with arguments of any kind.
func command(words ...string) string {
	text := fmt.Sprintf("*%d\r\n", len(words))
	for _, w := range words {
		text += fmt.Sprintf("$%d\r\n%s\r\n", len(w), w)
	}
	return text
}

// line reads one line of a reply.
func (c *client) line() string {
	c.t.Helper()
	text, err := c.in.ReadString('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	return text
}

// until sends a command until its reply begins with want.
func (c *client) until(text, want string) {
	c.t.Helper()
	var got string
	waitFor(c.t, fmt.Sprintf("%q answered with %q", text, want), func() bool {
		c.send(text)
		got = c.line()
		if strings.HasPrefix(got, "$") && got != "$-1\r\n" {
			got += c.line()
		}
		return strings.HasPrefix(got, want)
	})
}

// startImpatient starts a server that says that it is busy after 50 ms.
func startImpatient(t *testing.T, o Options, ro redis.Options) (r *running, busy, other *client) {
	t.Helper()
	r = start(t, o, ro)
	busy, other = r.connect(), r.connect()
	other.send("CONFIG SET busy-reply-threshold 50\r\nSET k v\r\nSCRIPT KILL\r\n")
	other.expect("+OK\r\n+OK\r\n-NOTBUSY No scripts in execution right now.\r\n")
	return r, busy, other
}

func TestWhoWritesIsToldThatAScriptTakesLong(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		r, busy, other := startImpatient(t, o, redis.Options{})
		reader, blocks := r.connect(), r.connect()
		blocks.send("BLPOP list 0\r\n")
		other.blockedClients(1)
		busy.send(command("EVAL", endless, "0") + "PING\r\n")
		other.until("SET x w\r\n", busyScript)
		reader.send("GET k\r\nPING\r\nMULTI\r\nGET k\r\nEXEC\r\nMULTI\r\nGET k\r\nSET k w\r\nEXEC\r\nCLIENT ID\r\n")
		reader.expect("$1\r\nv\r\n+PONG\r\n+OK\r\n+QUEUED\r\n*1\r\n$1\r\nv\r\n+OK\r\n+QUEUED\r\n" + busyScript +
			"-EXECABORT Transaction discarded because of: " + busyScript[1:])
		reader.line()
		reader.send("FUNCTION KILL\r\nSHUTDOWN\r\n" + command("EVAL_RO", "return redis.call('GET', KEYS[1])", "1", "k") + command("EVAL", "return 1", "0"))
		reader.expect(busyScript + busyScript + "$1\r\nv\r\n" + busyScript)
		reader.send("SCRIPT KILL\r\n")
		reader.expect("+OK\r\n")
		if got := busy.line(); !strings.HasPrefix(got, killed) {
			t.Errorf("the script: got %q, want %q", got, killed)
		}
		busy.expect("+PONG\r\n")
		other.until("RPUSH list x\r\n", ":1\r\n")
		blocks.expect("*2\r\n$4\r\nlist\r\n$1\r\nx\r\n")
	})
}

// TestWhatWaitsForAScriptIsToldToo: what was handed to the writer before anybody
// knew how long the script takes.
func TestWhatWaitsForAScriptIsToldToo(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		r, busy, other := startImpatient(t, o, redis.Options{})
		other.send("CONFIG SET busy-reply-threshold 500\r\n")
		other.expect("+OK\r\n")
		busy.send(command("EVAL", endless, "0"))
		other.until("FUNCTION KILL\r\n", busyScript) // others know of it
		writer := r.connect()
		writer.send("SET k w\r\nGET k\r\nMULTI\r\nSET k w\r\nEXEC\r\n")
		writer.expect(busyScript + busyScript)
		writer.line() // MULTI
		other.send("GET k\r\nSCRIPT KILL\r\n")
		other.expect("$1\r\nv\r\n+OK\r\n")
		busy.line()
	})
}

func TestScriptsThatHaveWrittenEndWithTheServer(t *testing.T) {
	endings := map[string]func(r *running, c *client){
		"SHUTDOWN NOSAVE": func(_ *running, c *client) { c.send("SHUTDOWN NOSAVE\r\n") },
		"a signal":        func(r *running, _ *client) { r.stop() },
	}
	for name, end := range endings {
		t.Run(name, func(t *testing.T) {
			eachDriver(t, func(t *testing.T, o Options) {
				asked := make(chan struct{})
				r, busy, other := startImpatient(t, o, redis.Options{Shutdown: func() { close(asked) }})
				busy.send(command("EVAL", "redis.pcall('SET', 'k', 'w') while true do pcall(function() while true do end end) end", "0"))
				other.until("SET x w\r\n", busyScript)
				other.send("SCRIPT KILL\r\nSHUTDOWN\r\nGET k\r\n")
				other.expect(unkillable + busyScript + "$1\r\nv\r\n")
				end(r, other)
				if name == "SHUTDOWN NOSAVE" {
					<-asked
				}
				r.end()
				busy.expectEnd("-ERR the server is shutting down: the script was ended, and nothing of it was kept\r\n")
				checkKept(t, r, "k", "v")
			})
		})
	}
}

// checkKept compares what a key has, in the store of a server that has ended.
func checkKept(t *testing.T, r *running, key, want string) {
	t.Helper()
	s := redis.New(r.store, redis.Options{}).NewSession("test", "test")
	defer s.Close()
	input := "GET " + key + "\r\n"
	s.Fill(copy(s.Space(len(input)), input))
	for s.Run() == redis.NeedCold {
		s.RunCold()
	}
	if got := string(s.Output()); got != fmt.Sprintf("$%d\r\n%s\r\n", len(want), want) {
		t.Errorf("%s: got %q, want %q", key, got, want)
	}
}

func TestScriptsThatReadHoldUpNobody(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		_, busy, other := startImpatient(t, o, redis.Options{})
		busy.send(command("EVAL_RO", endless, "0"))
		other.until("FUNCTION KILL\r\n", busyScript) // others know of it
		began := time.Now()
		for time.Since(began) < 200*time.Millisecond { // beyond the threshold
			other.send("INCR n\r\n")
			if got := other.line(); !strings.HasPrefix(got, ":") {
				t.Fatalf("a write: got %q", got)
			}
		}
		other.send("SCRIPT KILL\r\n")
		other.expect("+OK\r\n")
		if got := busy.line(); !strings.HasPrefix(got, killed) {
			t.Errorf("the script: got %q, want %q", got, killed)
		}
	})
}

// TestReadersGoOnWhileAScriptComputes: whoever reads waits for no script.
func TestReadersGoOnWhileAScriptComputes(t *testing.T) {
	for name, script := range map[string]string{
		"writes": "redis.call('SET', 'k', 'w') while true do end", "reads": endless,
	} {
		t.Run(name, func(t *testing.T) {
			eachDriver(t, func(t *testing.T, o Options) {
				r := start(t, o, redis.Options{})
				busy, reader := r.connect(), r.connect()
				reader.send("SET k v\r\n")
				reader.expect("+OK\r\n")
				what := "EVAL"
				if name == "reads" {
					what = "EVAL_RO"
				}
				busy.send(command(what, script, "0"))
				reader.until("FUNCTION KILL\r\n", "-")
				for range 1000 {
					reader.send("GET k\r\n")
					reader.expect("$1\r\nv\r\n")
				}
			})
		})
	}
}
