package redis

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/redis/scripting"
	"github.com/firndb/firn/resp"
)

// Functions are documents: each moment has its own, and what holds for keys
// holds for them.

// loadFunction is a command that loads a library of one function, which may not
// write.
func loadFunction(library, function, body string) string {
	return fmt.Sprintf(`FUNCTION LOAD REPLACE "#!lua name=%s\nredis.register_function{function_name='%s', flags={'no-writes'}, callback=function(keys, args) %s end}"`, library, function, body)
}

func TestFunctionsAreThoseOfTheMoment(t *testing.T) {
	for _, memory := range []int64{0, -1} {
		a, _, clock := clockedPair(t, memory)
		var moments []string
		step := func(command string) {
			a.Run(t, command)
			moments = append(moments, a.lastTS(t))
			clock.advance(time.Second)
		}
		step("SET k old")
		step(loadFunction("l", "f", "return 'first ' .. redis.call('GET', keys[1])"))
		step("SET k new")
		step(loadFunction("l", "f", "return 'second ' .. redis.call('GET', keys[1])"))
		step("FLUSHALL")
		step("SET k last")
		step("FUNCTION DELETE l")
		gone := "-ERR Function not found\r\n"
		for i, want := range []string{gone, "$9\r\nfirst old\r\n", "$9\r\nfirst new\r\n", "$10\r\nsecond new\r\n", "", "$11\r\nsecond last\r\n", gone} {
			if want == "" {
				continue
			}
			Check(t, "AT "+moments[i], a.Run(t, "AT "+moments[i]+" FCALL_RO f 1 k"), want)
			Check(t, "ASOF "+moments[i], a.Run(t, "CLIENT ASOF "+moments[i], "FCALL_RO f 1 k", "CLIENT ASOF OFF"), "+OK\r\n"+want+"+OK\r\n")
		}
		for i, want := range []string{"", "first", "first", "second", "second", "second", ""} {
			list := a.Run(t, "AT "+moments[i]+" FUNCTION LIST WITHCODE")
			if want == "" && list != "*0\r\n" || !strings.Contains(list, want) {
				t.Errorf("libraries at step %d: got %q, want %q", i, list, want)
			}
			if dump := a.Run(t, "AT "+moments[i]+" FUNCTION DUMP"); len(dump) > 20 != (want != "") {
				t.Errorf("dump at step %d: got %q", i, dump)
			}
		}
		Check(t, "a write", a.Run(t, "AT "+moments[0]+" FUNCTION FLUSH"), "-READONLY AT runs read commands only\r\n")
		Check(t, "a call that may write", a.Run(t, "AT "+moments[1]+" FCALL f 1 k"), "-READONLY AT runs read commands only\r\n")
	}
}

// TestLibrariesAreAsLoadedInEachCall: what functions leave in the variables of
// their library is gone.
func TestLibrariesAreAsLoadedInEachCall(t *testing.T) {
	a, b := NewPair(t, firn.Options{})
	const code = `#!lua name=l
local count, seen, nested, helper = 0, {}, {deep = {1}}, nil
local words = {'a', 'b'}
local function add() count = count + 1; return count end
redis.register_function('count', function() return add() end)
redis.register_function('seen', function(keys, args) seen[args[1]] = true; local n = 0; for _ in pairs(seen) do n = n + 1 end; return n end)
redis.register_function('push', function() table.insert(nested.deep, 2); return #nested.deep end)
redis.register_function('meta', function() if getmetatable(words) then return 'kept' end; setmetatable(words, {__index = function() return 1 end}); return 'none' end)
redis.register_function('later', function() if helper then return 'kept' end; helper = function() end; return 'none' end)
redis.register_function('fails', function() count = count + 1; error('with ' .. count) end)
redis.register_function('caught', function() local ok = pcall(function() seen.x = 1; error('x') end); return seen.y and 'kept' or 'none' end)`
	if got := string(a.tell(t, []byte("FUNCTION"), []byte("LOAD"), []byte(code))); got != "$1\r\nl\r\n" {
		t.Fatal(got)
	}
	for range 3 {
		for i, who := range []*ours{a, b} {
			for _, tt := range []struct{ command, want string }{
				{"FCALL count 0", ":1\r\n"},
				{fmt.Sprintf("FCALL seen 0 %d", i), ":1\r\n"},
				{"FCALL push 0", ":2\r\n"},
				{"FCALL meta 0", "$4\r\nnone\r\n"},
				{"FCALL later 0", "$4\r\nnone\r\n"},
				{"FCALL caught 0", "$4\r\nnone\r\n"},
				{"MULTI", "+OK\r\n"}, {"FCALL count 0", "+QUEUED\r\n"}, {"FCALL count 0", "+QUEUED\r\n"}, {"EXEC", "*2\r\n:1\r\n:1\r\n"},
			} {
				Check(t, tt.command, who.Run(t, tt.command), tt.want)
			}
			if got := who.Run(t, "FCALL fails 0"); !strings.HasPrefix(got, "-ERR user_function:10: with 1 ") {
				t.Errorf("a function that fails: got %q", got)
			}
		}
	}
}

// TestLargeLibrariesAreLoadedAnew: more variables than are compared.
func TestLargeLibrariesAreLoadedAnew(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	code := "#!lua name=l\nlocal all = {" + strings.Repeat("0,", 5000) + "}\nredis.register_function('f', function() all[1] = all[1] + 1; return all[1] end)"
	for range 3 {
		a.tell(t, []byte("FUNCTION"), []byte("LOAD"), []byte("REPLACE"), []byte(code))
		Check(t, "call", a.Run(t, "FCALL f 0", "FCALL f 0"), ":1\r\n:1\r\n")
	}
}

// TestCompiledLibrariesAreDropped: there are more libraries than are kept
// compiled, and each call finds its own.
func TestCompiledLibrariesAreDropped(t *testing.T) {
	a, _ := NewPair(t, firn.Options{Durability: firn.None})
	const n = 1500
	for i := range n {
		a.Run(t, loadFunction(fmt.Sprintf("l%d", i), fmt.Sprintf("f%d", i), fmt.Sprintf("return %d", i)))
	}
	for i := range n {
		Check(t, "call", a.Run(t, fmt.Sprintf("FCALL_RO f%d 0", i)), fmt.Sprintf(":%d\r\n", i))
	}
	Check(t, "flush", a.Run(t, "FUNCTION FLUSH", "FUNCTION LIST", "FCALL f1 0"), "+OK\r\n*0\r\n-ERR Function not found\r\n")
}

func TestFunctionsOutliveTheServer(t *testing.T) {
	path, o := filepath.Join(t.TempDir(), "firn.db"), firn.Options{Tables: keyspace.Tables()}
	backup := filepath.Join(t.TempDir(), "backup.db")
	open := func(path string, fn func(o *ours)) {
		t.Helper()
		store, err := firn.Open(path, o)
		if err != nil {
			t.Fatal(err)
		}
		fn(newOurs(t, New(store, Options{})))
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
	open(path, func(o *ours) {
		o.Run(t, "SET k v", loadFunction("l", "f", "return redis.call('GET', keys[1])"))
		Check(t, "backup", o.Run(t, "BACKUP TO "+backup), "+OK\r\n")
		o.Run(t, loadFunction("l", "f", "return 'newer'"))
	})
	open(path, func(o *ours) { Check(t, "restarted", o.Run(t, "FCALL f 1 k"), "$5\r\nnewer\r\n") })
	open(backup, func(o *ours) { Check(t, "restored", o.Run(t, "FCALL f 1 k"), "$1\r\nv\r\n") })
}

// TestHistorySaysWhoLoadedWhat: the versions of a library have authors.
func TestHistorySaysWhoLoadedWhat(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	a.Run(t, "CLIENT SETNAME deploy", loadFunction("l", "f", "return 1"), "FCALL f 0", loadFunction("l", "f", "return 2"), "FUNCTION DELETE l")
	changes, err := keyspace.NewChanges(a.Store, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	err = a.Store.View(func(snap *firn.Snapshot) error {
		for doc, err := range snap.Versions(a.Store.Table(keyspace.FunctionsTable), libraryID("l"), firn.VersionRange{}) {
			if err != nil {
				return err
			}
			author, err := snap.Author(doc)
			if err != nil {
				return err
			}
			c, ok, err := changes.Of(keyspace.FunctionsTable, doc)
			if err != nil || !ok {
				t.Errorf("version at %d: got %v %t %v", doc.TS, c, ok, err)
			}
			got = append(got, fmt.Sprintf("%s %s %q %t %s%s", c.Type, c.Key, c.Operation, c.Deleted, author.Client, author.Reason))
		}
		return nil
	})
	want := []string{`library l "FUNCTION LOAD" false deploy`, `library l "FUNCTION LOAD" false deploy`, `library l "FUNCTION DELETE" true deploy`}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q %v\nwant %q", got, err, want)
	}
}

// TestLibrariesAreExchangedWithRedis: what one dumps the other restores, and
// calls.
func TestLibrariesAreExchangedWithRedis(t *testing.T) {
	redis := startRedis(t)()
	a, _ := NewPair(t, firn.Options{})
	var commands []string
	for i := range 8 {
		commands = append(commands, loadFunction(fmt.Sprintf("l%d", i), fmt.Sprintf("f%d", i), fmt.Sprintf("return '%s'", strings.Repeat("ab", 40*i))))
	}
	pairs := []struct {
		name     string
		from, to talker
	}{{"to Redis", a, redis}, {"from Redis", redis, a}}
	for _, p := range pairs {
		p.to.tell(t, []byte("FUNCTION"), []byte("FLUSH"))
		p.from.tell(t, []byte("FUNCTION"), []byte("FLUSH"))
		for _, command := range commands {
			p.from.tell(t, SplitWords(t, command)...)
		}
		payload, _, err := parseValue(p.from.tell(t, []byte("FUNCTION"), []byte("DUMP")))
		if err != nil {
			t.Fatal(err)
		}
		Check(t, p.name, string(p.to.tell(t, []byte("FUNCTION"), []byte("RESTORE"), []byte(payload.text))), "+OK\r\n")
		for i := range commands {
			call := SplitWords(t, fmt.Sprintf("FCALL_RO f%d 0", i))
			if got, want := p.to.tell(t, call...), p.from.tell(t, call...); !bytes.Equal(got, want) || want[0] != '$' {
				t.Errorf("%s: call %d: got %q, want %q", p.name, i, got, want)
			}
		}
	}
}

// natives registers functions written in Go.
func natives(t *testing.T, srv *Server) {
	t.Helper()
	for _, f := range []struct {
		name  string
		flags scripting.Flags
		fn    scripting.Native
	}{
		{"incr", 0, func(in *scripting.Invocation) error {
			reply, err := in.Do("INCRBY", string(in.Keys[0]), string(in.Args[0]))
			in.Reply.Buf = append(in.Reply.Buf, reply...)
			return err
		}},
		{"size", scripting.NoWrites, func(in *scripting.Invocation) error {
			k, ok, err := in.Find(in.Keys[0])
			if err != nil || !ok {
				in.Reply.Null()
				return err
			}
			in.Reply.Int(int64(len(k.Value)))
			return nil
		}},
		{"sneaky", scripting.NoWrites, func(in *scripting.Invocation) error {
			if in.Tx != nil {
				t.Error("a function that may not write has a transaction")
			}
			_, err := in.Do("SET", "k", "v")
			return err
		}},
		{"refuses", 0, func(in *scripting.Invocation) error {
			in.Reply.Int(1)
			if _, err := in.Do("SET", "left", "1"); err != nil {
				return err
			}
			return resp.Error("LIMITED come back later")
		}},
		{"breaks", 0, func(in *scripting.Invocation) error {
			if _, err := in.Do("SET", "lost", "1"); err != nil {
				return err
			}
			return errors.New("disk on fire")
		}},
		{"panics", 0, func(in *scripting.Invocation) error {
			if _, err := in.Do("SET", "lost", "1"); err != nil {
				return err
			}
			panic("our own mistake")
		}},
		{"empty", 0, func(in *scripting.Invocation) error { _, err := in.Do(); return err }},
	} {
		if err := srv.RegisterFunction(f.name, f.flags, f.fn); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFunctionsMayBeWrittenInGo(t *testing.T) {
	for _, memory := range []int64{0, -1} {
		srv := New(openStore(t, firn.Options{Memory: memory}), Options{})
		natives(t, srv)
		a := newOurs(t, srv)
		for _, tt := range []struct{ command, want string }{
			{"FCALL incr 1 k 5", ":5\r\n"},
			{"FCALL INCR 1 k 37", ":42\r\n"},
			{"FCALL size 1 k", ":2\r\n"},
			{"FCALL_RO size 1 k", ":2\r\n"},
			{"FCALL_RO size 1 none", "$-1\r\n"},
			{"FCALL_RO incr 1 k 1", "-ERR Can not execute a script with write flag using *_ro command.\r\n"},
			{"FCALL sneaky 0", "-ERR Write commands are not allowed from read-only scripts.\r\n"},
			{"FCALL_RO sneaky 0", "-ERR Write commands are not allowed from read-only scripts.\r\n"},
			{"FCALL incr x", "-ERR Bad number of keys provided\r\n"},
			{"FCALL incr 2 k", "-ERR Number of keys can't be greater than number of args\r\n"},
			{"FCALL refuses 0", "-LIMITED come back later\r\n"},
			{"GET left", "$1\r\n1\r\n"},
			{"FCALL breaks 0", "-ERR internal error\r\n"},
			{"FCALL panics 0", "-ERR internal error\r\n"},
			{"GET lost", "$-1\r\n"},
			{"FCALL empty 0", "-ERR Please specify at least one argument for this redis.call() call\r\n"},
			{"SET word x", "+OK\r\n"},
			{"FCALL incr 1 word 1", "-ERR value is not an integer or out of range\r\n"},
			{"MULTI", "+OK\r\n"}, {"FCALL incr 1 k 1", "+QUEUED\r\n"}, {"FCALL size 1 k", "+QUEUED\r\n"}, {"EXEC", "*2\r\n:43\r\n:2\r\n"},
			{`FUNCTION LOAD "#!lua name=go\nredis.register_function('x', function() end)"`, "-ERR Library 'go' already exists\r\n"},
			{`FUNCTION LOAD "#!lua name=l\nredis.register_function('Size', function() end)"`, "-ERR Function Size already exists\r\n"},
			{"FUNCTION DELETE go", "-ERR Library 'go' is part of the server's program\r\n"},
			{"FUNCTION FLUSH", "+OK\r\n"},
			{"FCALL incr 1 k 1", ":44\r\n"},
		} {
			Check(t, tt.command, a.Run(t, tt.command), tt.want)
		}
		list := a.Run(t, "FUNCTION LIST WITHCODE")
		for _, want := range []string{"$2\r\ngo\r\n", "$2\r\nGO\r\n", "$4\r\nsize\r\n", "+no-writes\r\n", "$12\r\nlibrary_code\r\n$0\r\n\r\n"} {
			if !strings.Contains(list, want) {
				t.Errorf("FUNCTION LIST: got %q, want %q in it", list, want)
			}
		}
		Check(t, "a dump without them", a.Run(t, "FUNCTION DUMP"), "$10\r\n\n\x00]\x9b\\@\x0f\x7f\xa2\xda\r\n")
		past := a.lastTS(t)
		a.Run(t, "SET k longer")
		Check(t, "at a moment", a.Run(t, "AT "+past+" FCALL_RO size 1 k"), ":2\r\n")
	}
}

func TestNamesOfFunctionsInGoAreChecked(t *testing.T) {
	srv := New(openStore(t, firn.Options{}), Options{})
	fn := func(*scripting.Invocation) error { return nil }
	for _, tt := range []struct {
		name  string
		flags scripting.Flags
		fn    scripting.Native
		ok    bool
	}{
		{"f", 0, fn, true}, {"F", 0, fn, false}, {"", 0, fn, false}, {"a-b", 0, fn, false},
		{"g", 1 << 7, fn, false}, {"h", 0, nil, false}, {"i", scripting.NoWrites | scripting.AllowOOM, fn, true},
	} {
		if err := srv.RegisterFunction(tt.name, tt.flags, tt.fn); errors.Is(err, scripting.ErrNative) == tt.ok || (err == nil) != tt.ok {
			t.Errorf("%q with %#x: got %v, want ok %t", tt.name, tt.flags, err, tt.ok)
		}
	}
}

// TestFunctionsInGoAskForRights: the keys that are named, and those of Do.
func TestFunctionsInGoAskForRights(t *testing.T) {
	srv := New(openStore(t, firn.Options{}), Options{})
	natives(t, srv)
	u := newUser(t, srv, "+fcall +fcall_ro +incrby ~mine*")
	const noKey = "NOPERM this user has no permissions to access one of the keys used as arguments\r\n"
	Check(t, "a key of its own", u.Run(t, "FCALL incr 1 mine 1"), ":1\r\n")
	Check(t, "a key of others", u.Run(t, "FCALL incr 1 other 1"), "-"+noKey)
	if got := u.Run(t, "FCALL refuses 0"); !strings.HasPrefix(got, "-") || strings.Contains(got, "LIMITED") {
		t.Errorf("a command that the user may not run: got %q", got)
	}
}

func TestINFOCountsFunctions(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	natives(t, a.session.srv)
	a.Run(t, loadFunction("l", "f", "return 1"), loadFunction("m", "g", "return 1"), `FUNCTION LOAD REPLACE "#!lua name=m\nredis.register_function('g', function() end) redis.register_function('h', function() end)"`, `EVAL "return 1" 0`)
	then := a.lastTS(t)
	a.Run(t, "FUNCTION DELETE m")
	figures := func() string {
		t.Helper()
		got := info(t, a, "memory")
		return got["number_of_libraries"] + " " + got["number_of_functions"] + " " + got["number_of_cached_scripts"]
	}
	Check(t, "now", figures(), "1 1 1")
	a.Run(t, "CLIENT ASOF "+then)
	Check(t, "then", figures(), "2 3 1")
	if got := info(t, a, "memory")["used_memory_vm_functions"]; len(got) < 3 {
		t.Errorf("compiled code: got %s bytes, want some hundred", got)
	}
}

// TestHistoryNamesTheFunction: why a key was written.
func TestHistoryNamesTheFunction(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	natives(t, a.session.srv)
	a.Run(t, `FUNCTION LOAD "#!lua name=l\nredis.register_function('Put', function(keys) redis.call('SET', keys[1], 1) end)"`,
		"FCALL put 1 k", "FCALL incr 1 k 1", `CLIENT SETINFO REASON ticket`, "FCALL put 1 k", "SET k v")
	Check(t, "history", writersOf(t, a, "k"), strings.Join([]string{
		"SET|default||127.0.0.1|FCALL Put", "INCRBY|default||127.0.0.1|FCALL incr", "SET|default||127.0.0.1|ticket FCALL Put", "SET|default||127.0.0.1|ticket",
	}, "\n"))
}
