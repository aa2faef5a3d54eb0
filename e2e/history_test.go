package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// The past as a client meets it that knows nothing of Firn, and as the command
// line does, beside the server.

// do runs a command that must succeed.
func do(t *testing.T, client *redis.Client, words ...any) any {
	t.Helper()
	reply, err := client.Do(t.Context(), words...).Result()
	if err != nil {
		t.Fatalf("%v: %v", words, err)
	}
	return reply
}

// refusal runs a command that must be refused, and returns the first word of
// the error.
func refusal(t *testing.T, client *redis.Client, words ...any) string {
	t.Helper()
	reply, err := client.Do(t.Context(), words...).Result()
	if err == nil {
		t.Fatalf("%v: got %v, want an error", words, reply)
	}
	code, _, _ := strings.Cut(err.Error(), " ")
	return code
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

// pinned is a client of one connection, so that LASTTS is that of its writes.
func pinned(t *testing.T, addr string) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: addr, PoolSize: 1})
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("close client: %v", err)
		}
	})
	return client
}

func TestThePastOverRESP3(t *testing.T) {
	client := pinned(t, startFirn(t, "--retention", "unlimited"))
	do(t, client, "HSET", "cart", "pear", "1")
	first := do(t, client, "LASTTS")
	do(t, client, "HSET", "cart", "pear", "2", "fig", "1")
	second := do(t, client, "LASTTS")
	do(t, client, "DEL", "cart")

	same(t, "AT", do(t, client, "AT", first, "HGETALL", "cart"), map[any]any{"pear": "1"})
	events := do(t, client, "HISTORY", "GET", "cart", "VALUES").([]any)
	operations := ""
	for _, e := range events {
		fields := e.(map[any]any)
		operations += fmt.Sprintf("%v %v %v; ", fields["operation"], fields["deleted"], fields["value"])
	}
	same(t, "HISTORY GET", operations, "HSET false map[pear:1]; HSET false map[fig:1 pear:2]; DEL true <nil>; ")
	diff := do(t, client, "HISTORY", "DIFF", "cart", first, second).(map[any]any)
	same(t, "HISTORY DIFF", fmt.Sprint(diff["added"], diff["changed"]), "map[fig:1] [[pear 1 2]]")
	do(t, client, "HISTORY", "REVERT", "cart", "TO", second)
	same(t, "after HISTORY REVERT", do(t, client, "HGETALL", "cart"), map[any]any{"fig": "1", "pear": "2"})

	do(t, client, "HOLD", "backup", "AT", second, "TTL", 60)
	held := do(t, client, "HOLDS").([]any)[0].(map[any]any)
	same(t, "HOLDS", fmt.Sprint(held["name"], held["ts"]), fmt.Sprint("backup", second))
	done := do(t, client, "COMPACT", "BEFORE", "now").(map[any]any)
	same(t, "the horizon is held", done["horizon"], second)
	same(t, "before the hold", refusal(t, client, "AT", first, "HGETALL", "cart"), "COMPACTED")
	same(t, "at the hold", do(t, client, "AT", second, "HGET", "cart", "fig"), "1")
	same(t, "RELEASE", do(t, client, "RELEASE", "backup"), 1)
	do(t, client, "COMPACT", "BEFORE", "now")
	same(t, "behind the hold", refusal(t, client, "AT", second, "HGET", "cart", "fig"), "COMPACTED")

	do(t, client, "HISTORY", "ENABLE", "KEY", "cart", "RETENTION", "COUNT", 2)
	policy := do(t, client, "HISTORY", "POLICY", "cart").(map[any]any)
	same(t, "HISTORY POLICY", fmt.Sprint(policy["level"], policy["target"], policy["enabled"], policy["retention"]), "key0:carttruecount 2")
	same(t, "the future", refusal(t, client, "HISTORY", "PRUNE", "BEFORE", "4000000000s"), "FUTURE")
	same(t, "no moment", refusal(t, client, "COMPACT", "BEFORE", "lunch"), "ERR")
}

func TestThePastOfALiveFile(t *testing.T) {
	dir := t.TempDir()
	client := pinned(t, startFirn(t))
	do(t, client, "SET", "price", "100")
	first := do(t, client, "LASTTS")
	do(t, client, "SET", "price", "0")
	live := liveFile(t, client)
	firn := func(args ...string) string {
		t.Helper()
		path, err := binary()
		if err != nil {
			t.Fatal(err)
		}
		output, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("firn %v: %v\n%s", args, err, output)
		}
		return string(output)
	}
	for _, want := range []string{fmt.Sprint(first), "SET", "default"} {
		if got := firn("history", live, "price"); !strings.Contains(got, want) {
			t.Errorf("firn history: got %q, want %q in it", got, want)
		}
	}
	backup, restored := filepath.Join(dir, "backup.db"), filepath.Join(dir, "restored.db")
	firn("backup", live, backup, "--quiet")
	firn("restore", backup, restored, "--at", fmt.Sprint(first), "--quiet")
	if got := firn("at", restored, "now", "GET", "price"); !strings.Contains(got, "100") {
		t.Errorf("restored: got %q, want 100", got)
	}
	same(t, "the live store", do(t, client, "GET", "price"), "0")
}

// liveFile is the path of the server's file.
func liveFile(t *testing.T, client *redis.Client) string {
	t.Helper()
	dir := do(t, client, "CONFIG", "GET", "dir").(map[any]any)["dir"]
	name := do(t, client, "CONFIG", "GET", "dbfilename").(map[any]any)["dbfilename"]
	return filepath.Join(fmt.Sprint(dir), fmt.Sprint(name))
}
