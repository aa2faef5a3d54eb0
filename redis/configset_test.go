package redis

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/seed"
)

// CONFIG SET of several parameters sets all or none: the error names the
// parameter that Redis names, and afterwards all are as they are in Redis.

// configDraws are parameters with values, good ones and bad ones.
var configDraws = []string{
	"timeout 0", "timeout 5", "TIMEOUT 7", "timeout x", "timeout -1", "timeout 010", "maxclients 100", "maxclients 0", "hz 10", "Hz 20", "hz x",
	"hash-max-listpack-entries 9", "hash-max-ziplist-entries 8", "hash-max-listpack-value 1kb", "hash-max-listpack-value -1", "zset-max-ziplist-value 99999999999999999999",
	"notify-keyspace-events KEg", "notify-keyspace-events q", "notify-keyspace-events \"\"", "slowlog-max-len 3", "slowlog-log-slower-than -2", "loglevel warning", "loglevel foo",
	"daemonize no", "daemonize yes", "databases 16", "supervised no", "dir /tmp", "nosuch 1", "NoSuch x", "activedefrag no", "activedefrag yes", "watchdog-period 0",
	"oom-score-adj-values \"1 2\"", "oom-score-adj-values \"1 2 3\"", "shutdown-on-sigint \"force now\"", "shutdown-on-sigint \"save nosave\"", "shutdown-on-sigterm default",
	"maxmemory-clients 5%", "maxmemory-clients 101%", "maxmemory-clients x", "maxmemory 0", "maxmemory -1", "repl-backlog-size 0", "repl-backlog-size 32kb", "save \"3600 1\"", "save 1",
	"client-output-buffer-limit \"pubsub 1mb 2mb 3\"", "client-output-buffer-limit \"normal 1 2\"", "latency-tracking-info-percentiles \"1 101\"", "latency-tracking-info-percentiles 50",
	"proc-title-template {foo}", "proc-title-template x", "acllog-max-len 4", "list-max-ziplist-size -3", "lazyfree-lazy-user-del maybe", "lazyfree-lazy-user-del YES", "appendfsync sometimes",
	"key-load-delay 0", "rdb-key-save-delay x", "latency-monitor-threshold 3", "list-compress-depth 2", "stream-node-max-bytes 1mb", "set-proc-title yes", "aclfile x", "io-threads 1",
}

func TestConfigSetOfSeveralAgreesWithRealRedis(t *testing.T) {
	redis := startRedis(t)()
	mine := newOurs(t, New(openStore(t, firn.Options{Durability: firn.None}), Options{Level: new(slog.LevelVar)}))
	both := func(line string) (got, want string) {
		words := SplitWords(t, line)
		return inOneOrder(mine.tell(t, words...), 2), inOneOrder(redis.tell(t, words...), 2)
	}
	names := map[string]bool{}
	for _, draw := range configDraws {
		name, _, _ := strings.Cut(strings.ToLower(draw), " ")
		names[name] = true
	}
	for _, same := range []string{"dir", "daemonize", "databases", "nosuch", "appendfsync"} {
		delete(names, same) // what holds here is not what holds there
	}
	look := "CONFIG GET"
	for name := range names {
		look += " " + name
	}
	g := seed.Fresh(t).Rand(0)
	refused, n := 0, seed.Steps(t, 2000)
	for range n {
		line := "CONFIG SET"
		for range 1 + g.IntN(4) {
			line += " " + configDraws[g.IntN(len(configDraws))]
		}
		if g.IntN(30) == 0 {
			line += " timeout"
		}
		got, want := both(line)
		if got != want {
			t.Fatalf("%s\n got %s\nwant %s", line, got, want)
		}
		if strings.HasPrefix(want, "(error)") {
			refused++
		}
		if got, want = both(look); got != want {
			t.Fatalf("after %s\n got %s\nwant %s", line, got, want)
		}
	}
	if refused < n/4 || refused > n-n/20 {
		t.Errorf("refused: got %d of %d, which shows too little", refused, n)
	}
}

// TestHiddenParametersAreShownByName: a pattern does not find them.
func TestHiddenParametersAreShownByName(t *testing.T) {
	redis := startRedis(t)()
	mine := newOurs(t, New(openStore(t, firn.Options{Durability: firn.None}), Options{}))
	for _, line := range []string{
		"CONFIG GET watchdog-period", "CONFIG GET watchdog-perio?", "CONFIG GET key-load-delay rdb-key-save-delay use-exit-on-panic",
		"CONFIG GET Key-Load-Delay", "CONFIG GET *panic*", "CONFIG SET key-load-delay -3", "CONFIG GET key-load-delay", "CONFIG SET watchdog-period x",
	} {
		words := SplitWords(t, line)
		got, want := inOneOrder(mine.tell(t, words...), 2), inOneOrder(redis.tell(t, words...), 2)
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", line, got, want)
		}
	}
}

// TestWhereTheServerListensStays: what it is can be set, another value not.
func TestWhereTheServerListensStays(t *testing.T) {
	mine := newOurs(t, New(openStore(t, firn.Options{Durability: firn.None}), Options{Port: 6390, Bind: "127.0.0.1 *", Unix: "/run/firn.sock"}))
	const stays = "sockets stay where they are: start the server with other addresses"
	for _, tt := range [][2]string{
		{"CONFIG GET bind", "1) \"bind\"\n2) \"127.0.0.1 *\""},
		{"CONFIG GET unixsocket", "1) \"unixsocket\"\n2) \"/run/firn.sock\""},
		{"CONFIG SET port 6390", "OK"},
		{"CONFIG SET bind \"127.0.0.1 *\" port 6390", "OK"},
		{"CONFIG SET port 6391", "(error) ERR CONFIG SET failed (possibly related to argument 'port') - " + stays},
		{"CONFIG SET port x", "(error) ERR CONFIG SET failed (possibly related to argument 'port') - argument couldn't be parsed into an integer"},
		{"CONFIG SET timeout 9 bind *", "(error) ERR CONFIG SET failed (possibly related to argument 'bind') - " + stays},
		{"CONFIG GET timeout", "1) \"timeout\"\n2) \"0\""},
		{"CONFIG SET appendfsync no", "(error) ERR CONFIG SET failed (possibly related to argument 'appendfsync') - can't set immutable config"},
	} {
		if got := render(mine.tell(t, SplitWords(t, tt[0])...)); got != tt[1] {
			t.Errorf("%s\n got %s\nwant %s", tt[0], got, tt[1])
		}
	}
}
