package e2e

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// The tools that operators point at a server: redis-cli's other modes, and the
// exporter of metrics for Prometheus. They ask for things that applications do
// not: INFO's fields by name, MEMORY USAGE of every key, MONITOR.

// tool runs redis-cli against a server until it ends, and returns what it
// printed.
func tool(t *testing.T, addr, input string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	command := redisCLI(ctx, t, addr, args...)
	command.Stdin = strings.NewReader(input)
	output, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("redis-cli %q: %v\n%s", args, err, output)
	}
	return string(output)
}

// redisCLI is redis-cli with a server's address; without redis-cli the test is
// skipped.
func redisCLI(ctx context.Context, t *testing.T, addr string, args ...string) *exec.Cmd {
	t.Helper()
	cli, err := exec.LookPath("redis-cli")
	if err != nil {
		t.Skip("redis-cli is not on PATH")
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	return exec.CommandContext(ctx, cli, append([]string{"-h", host, "-p", port}, args...)...)
}

// watchTool runs redis-cli in a mode that has no end, until it has printed a
// line with the text; do is called when a line with ready has come.
func watchTool(t *testing.T, addr, ready string, do func(), text string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	command := redisCLI(ctx, t, addr, args...)
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cancel()
		_ = command.Wait() // it was killed
	}()
	var seen strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		seen.WriteString(lines.Text() + "\n")
		if ready != "" && strings.Contains(lines.Text(), ready) {
			ready = ""
			do()
			continue
		}
		if ready == "" && strings.Contains(lines.Text(), text) {
			return
		}
	}
	t.Errorf("redis-cli %q: got %q, want a line with %q", args, seen.String(), text)
}

// oneOfEach stores a key of each type.
func oneOfEach(t *testing.T, addr string) {
	t.Helper()
	ctx, client := t.Context(), redis.NewClient(&redis.Options{Addr: addr})
	defer client.Close()
	must(t,
		client.Set(ctx, "string", "hello", time.Hour).Err(),
		client.HSet(ctx, "hash", "f", "v", "g", "w").Err(),
		client.RPush(ctx, "list", "a", "b", "c").Err(),
		client.SAdd(ctx, "set", "a", "b", "c", "d").Err(),
		client.ZAdd(ctx, "zset", redis.Z{Score: 1, Member: "a"}).Err(),
		client.XAdd(ctx, &redis.XAddArgs{Stream: "stream", ID: "1-1", Values: []string{"f", "v"}}).Err(),
		client.XGroupCreate(ctx, "stream", "readers", "0").Err(),
		client.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "readers", Consumer: "one", Streams: []string{"stream", ">"}}).Err(),
	)
}

func TestRedisCLILooksAtEveryKey(t *testing.T) {
	addr := startFirn(t)
	oneOfEach(t, addr)
	for _, mode := range []struct {
		flag  string
		wants []string
	}{
		{"--bigkeys", []string{"Sampled 6 keys", "Biggest    set found '\"set\"' has 4 members", "Biggest stream found '\"stream\"' has 1 entries", "1 hashs with 2 fields"}},
		{"--memkeys", []string{"Sampled 6 keys", "Biggest   list found '\"list\"' has", "Biggest   zset found '\"zset\"' has"}},
	} {
		got := tool(t, addr, "", mode.flag)
		for _, want := range mode.wants {
			if !strings.Contains(got, want) {
				t.Errorf("redis-cli %s: got\n%s\nwant %q in it", mode.flag, got, want)
			}
		}
	}
	if got := tool(t, addr, "", "--scan", "--pattern", "s*g"); got != "string\n" {
		t.Errorf("redis-cli --scan: got %q, want string", got)
	}
}

func TestRedisCLIPipesCommands(t *testing.T) {
	addr := startFirn(t)
	input := strings.Repeat("*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n", 10_000) + "RPUSH n x\r\n"
	command := redisCLI(t.Context(), t, addr, "--pipe")
	command.Stdin = strings.NewReader(input)
	output, _ := command.CombinedOutput() // its status is 1: one reply is an error
	if !strings.Contains(string(output), "errors: 1, replies: 10001") {
		t.Errorf("redis-cli --pipe: got %s, want 10001 replies, one an error", output)
	}
	if got := tool(t, addr, "", "GET", "n"); got != "10000\n" {
		t.Errorf("GET: got %q, want 10000", got)
	}
}

func TestRedisCLIEvaluates(t *testing.T) {
	addr := startFirn(t)
	script := filepath.Join(t.TempDir(), "free.lua")
	must(t, os.WriteFile(script, []byte(`if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return {KEYS[1], ARGV[2], cjson.encode({left = redis.call('PTTL', KEYS[1])})}
`), 0o600))
	tool(t, addr, "", "SET", "lock", "mine")
	if got, want := tool(t, addr, "", "--eval", script, "lock", ",", "another's", "x"), "lock\nx\n{\"left\":-1}\n"; got != want {
		t.Errorf("redis-cli --eval, not the owner: got %q, want %q", got, want)
	}
	if got := tool(t, addr, "", "--eval", script, "lock", ",", "mine"); got != "1\n" {
		t.Errorf("redis-cli --eval, the owner: got %q, want 1", got)
	}
	if got := tool(t, addr, "", "SCRIPT", "DEBUG", "YES"); !strings.HasPrefix(got, "ERR ") {
		t.Errorf("SCRIPT DEBUG YES: got %q, want an error", got)
	}
}

func TestRedisCLIMeasures(t *testing.T) {
	addr := startFirn(t)
	oneOfEach(t, addr)
	// "min max avg samples" when the output is no terminal.
	if got := strings.Fields(tool(t, addr, "", "-i", "1", "--latency")); len(got) != 4 {
		t.Errorf("redis-cli --latency: got %q, want four numbers", got)
	}
	// keys, memory, clients, blocked, requests and connections. The output is
	// buffered by the page, so it takes some lines until one is seen.
	watchTool(t, addr, "keys       mem", func() {}, "6          ", "-i", "0.01", "--stat")
}

func TestRedisCLIListens(t *testing.T) {
	addr := startFirn(t)
	client := redis.NewClient(&redis.Options{Addr: addr})
	defer client.Close()
	ctx := t.Context()
	watchTool(t, addr, "OK", func() { must(t, client.Set(ctx, "k", "a\nb", 0).Err()) }, `"set" "k" "a\nb"`, "MONITOR")
	for _, protocol := range []string{"-2", "-3"} {
		watchTool(t, addr, "subscribe", func() {
			// The reply to SUBSCRIBE is printed line by line, but was sent
			// whole: whoever sees its beginning is subscribed.
			want(t, client.Publish(ctx, "news", "snow"), 1)
		}, "snow", protocol, "SUBSCRIBE", "news")
	}
}

// TestExporterScrapes runs Debian's prometheus-redis-exporter with everything
// that it can collect.
func TestExporterScrapes(t *testing.T) {
	exporter, err := exec.LookPath("prometheus-redis-exporter")
	if err != nil {
		t.Skip("prometheus-redis-exporter is not on PATH")
	}
	addr, page := startFirn(t), freeAddr(t)
	oneOfEach(t, addr)
	command := exec.CommandContext(t.Context(), exporter, "-redis.addr", "redis://"+addr, "-web.listen-address", page,
		"-check-keys", "*", "-check-streams", "*", "-count-keys", "db0=s*", "-export-client-list",
		"-include-config-metrics", "-include-system-metrics", "-redis-only-metrics")
	var log strings.Builder
	command.Stdout, command.Stderr = &log, &log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1) // room for the one result, so the goroutine ends without a receiver
	go func() { exited <- command.Wait() }()
	defer func() {
		_ = command.Process.Signal(os.Kill)
		<-exited
		if t.Failed() {
			t.Logf("exporter's log:\n%s", log.String())
		}
	}()
	if err := awaitListener(t.Context(), page, exited); err != nil {
		t.Fatalf("start exporter: %v", err)
	}
	metrics := fetch(t, "http://"+page+"/metrics")
	for _, want := range []string{
		"redis_up 1\n",
		`redis_exporter_last_scrape_error{err=""} 0`,
		`redis_db_keys{db="db0"} 6`,
		`redis_db_keys_expiring{db="db0"} 1`,
		`redis_keys_count{db="db0",key="s*"} 3`,
		`redis_key_size{db="db0",key="list"} 3`,
		`redis_key_size{db="db0",key="zset"} 1`,
		`redis_stream_length{db="db0",stream="stream"} 1`,
		`redis_stream_group_messages_pending{db="db0",group="readers",stream="stream"} 1`,
		`redis_commands_total{cmd="xadd"} 1`,
		`redis_aof_enabled 1`,
		`redis_config_maxclients 10000`,
		`redis_instance_info{`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics: want %s, got\n%s", want, linesLike(metrics, want))
		}
	}
}

// fetch is the page at an address.
func fetch(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// linesLike are the lines of a page that begin with the same name as want.
func linesLike(page, want string) string {
	name, _, _ := strings.Cut(want, "{")
	name, _, _ = strings.Cut(name, " ")
	var lines []string
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, name) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}
