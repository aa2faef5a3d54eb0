package e2e

import (
	"net"
	"os/exec"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// Functions with the tools that deploy them: redis-cli loads a file, go-redis
// has a helper for each subcommand.

const counterLibrary = `#!lua name=counters
local function limited(keys, args)
  local n = redis.call('INCR', keys[1])
  if n == 1 then redis.call('PEXPIRE', keys[1], args[2]) end
  return n <= tonumber(args[1])
end
redis.register_function('take', limited)
redis.register_function{function_name = 'taken', callback = function(keys) return redis.call('GET', keys[1]) end, flags = {'no-writes'}, description = 'how many'}
`

func TestGoRedisFunctions(t *testing.T) {
	ctx, client := t.Context(), goRedis(t)
	want(t, client.FunctionLoad(ctx, counterLibrary), "counters")
	if err := client.FunctionLoad(ctx, counterLibrary).Err(); err == nil || err.Error() != "ERR Library 'counters' already exists" {
		t.Errorf("loaded twice: got %v", err)
	}
	want(t, client.FunctionLoadReplace(ctx, counterLibrary), "counters")
	for i, allowed := range []any{int64(1), int64(1), nil} {
		got, err := client.FCall(ctx, "take", []string{"k"}, 2, 60_000).Result()
		if got != allowed || allowed != nil && err != nil || allowed == nil && err != redis.Nil {
			t.Errorf("call %d: got %v, %v, want %v", i, got, err, allowed)
		}
	}
	got, err := client.FCallRO(ctx, "taken", []string{"k"}).Text()
	if got != "3" || err != nil {
		t.Errorf("FCALL_RO: got %q, %v, want 3", got, err)
	}
	libraries, err := client.FunctionList(ctx, redis.FunctionListQuery{WithCode: true}).Result()
	if err != nil || len(libraries) != 1 || libraries[0].Name != "counters" || libraries[0].Engine != "LUA" || libraries[0].Code != counterLibrary || len(libraries[0].Functions) != 2 {
		t.Errorf("FUNCTION LIST: got %+v, %v", libraries, err)
	}
	stats, err := client.FunctionStats(ctx).Result()
	if err != nil || stats.Running() || len(stats.Engines) != 1 || stats.Engines[0].FunctionsCount != 2 || stats.Engines[0].LibrariesCount != 1 {
		t.Errorf("FUNCTION STATS: got %+v, %v", stats, err)
	}
	payload, err := client.FunctionDump(ctx).Result()
	must(t, err)
	want(t, client.FunctionFlush(ctx), "OK")
	if err := client.FCall(ctx, "take", []string{"k"}, 1, 1).Err(); err == nil || err.Error() != "ERR Function not found" {
		t.Errorf("after FLUSH: got %v", err)
	}
	want(t, client.FunctionRestore(ctx, payload), "OK")
	want(t, client.FunctionDelete(ctx, "counters"), "OK")
	if err := client.FunctionKill(ctx).Err(); err == nil || !strings.HasPrefix(err.Error(), "NOTBUSY ") {
		t.Errorf("FUNCTION KILL: got %v, want NOTBUSY", err)
	}
}

func TestRedisCLILoadsFunctions(t *testing.T) {
	cli, err := exec.LookPath("redis-cli")
	if err != nil {
		t.Skip("redis-cli is not on PATH")
	}
	host, port, err := net.SplitHostPort(startFirn(t))
	if err != nil {
		t.Fatal(err)
	}
	run := func(input string, args ...string) string {
		t.Helper()
		command := exec.Command(cli, append([]string{"-h", host, "-p", port}, args...)...)
		command.Stdin = strings.NewReader(input)
		output, err := command.CombinedOutput()
		if err != nil {
			t.Errorf("redis-cli %q: %v\n%s", args, err, output)
		}
		return string(output)
	}
	for _, tt := range []struct {
		input string
		args  []string
		want  string
	}{
		{counterLibrary, []string{"-x", "FUNCTION", "LOAD", "REPLACE"}, "counters\n"},
		{"", []string{"FCALL", "take", "1", "k", "1", "1000"}, "1\n"},
		{"", []string{"FCALL_RO", "taken", "1", "k"}, "1\n"},
		{"", []string{"FUNCTION", "LIST", "LIBRARYNAME", "c*"}, "library_name\ncounters\nengine\nLUA\nfunctions\nname\ntake\ndescription\n\nflags\nname\ntaken\ndescription\nhow many\nflags\nno-writes\n"},
		{counterLibrary[:40], []string{"-x", "FUNCTION", "LOAD", "REPLACE"}, "ERR Error compiling function: user_function:"},
	} {
		got := run(tt.input, tt.args...)
		got = strings.ReplaceAll(got, "flags\n\nname", "flags\nname")
		if !strings.HasPrefix(got, tt.want) {
			t.Errorf("redis-cli %q:\n got %q\nwant %q", tt.args, got, tt.want)
		}
	}
}
