package server

// The rule: a script that takes time or memory without end is ended, by itself
// or by SCRIPT KILL; the memory of the process stays bounded meanwhile, and
// nobody else is held up.

import (
	"fmt"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firndb/firn/internal/race"
	"github.com/firndb/firn/redis"
)

const (
	// hostileBytes is script-max-memory in these tests, and hostileHeap how much
	// the heap may grow: what a script holds, what the collector has not got to,
	// which is as much again, and one operation that was allowed at the limit.
	hostileBytes = 32 << 20
	hostileHeap  = 8 * hostileBytes

	// besideHostile is the p99 of GETs beside a hostile script, of which the promise
	// is 5 ms, and besideMedian their median, which is below 0.1 ms when nothing
	// else runs. The rest is for machines that run other tests at the same time;
	// who waits for a script waits for hostileLasts at least.
	besideHostile = 250 * time.Millisecond
	besideMedian  = 50 * time.Millisecond

	// hostilePatience is how long a script may take that ends by itself. Most of
	// them fill their memory first, which takes a second.
	hostilePatience = 20 * time.Second

	// hostileLasts is how long a script runs before it is killed: long enough for
	// a p99 of GETs beside it.
	hostileLasts = 300 * time.Millisecond

	// besideGap is between two of these GETs.
	besideGap = time.Millisecond
)

// hostile is a script and how it ends; killed says that it does not by itself.
type hostile struct {
	name, script string
	killed       bool
	ends         string // part of the reply
}

var hostileScripts = []hostile{
	{"an endless loop", "while true do end", true, "Script killed by user with SCRIPT KILL"},
	{"an endless loop that catches", "while true do pcall(function() while true do end end) end", true, "Script killed by user with SCRIPT KILL"},
	{"an endless loop of reads", "while true do redis.call('GET', 'k') end", true, "Script killed by user with SCRIPT KILL"},
	{"an endless loop of refused calls", "while true do pcall(redis.call, 'nosuch') end", true, "Script killed by user with SCRIPT KILL"},
	{"an endless repeat", "repeat local x = 1 until false", true, "Script killed by user with SCRIPT KILL"},
	{"an endless for", "for i = 1, math.huge do end", true, "Script killed by user with SCRIPT KILL"},
	{"coroutines that never end", "local co = coroutine.wrap(function() while true do coroutine.yield() end end) while true do co() end", true, "Script killed by user with SCRIPT KILL"},
	{"coroutines within coroutines", "local function deep() return coroutine.wrap(deep)() end return deep()", false, "ERR"},
	{"a coroutine that runs for ever", "coroutine.wrap(function() while true do end end)()", true, "Script killed by user with SCRIPT KILL"},
	{"endless recursion", "local function f() return 1 + f() end return f()", false, "stack overflow"},
	{"endless tail calls", "local function f() return f() end return f()", true, "Script killed by user with SCRIPT KILL"},
	{"recursion through pcall", "local function f() return pcall(f) end return f()", false, ""},
	{"recursion through metatables", "local t = setmetatable({}, {}) getmetatable(t).__index = function(t, k) return t[k .. 'x'] end return t.a", false, "ERR"},
	{"recursion through tostring", "local t t = setmetatable({}, {__tostring = function() return tostring(t) end}) return tostring(t)", false, "ERR"},
	{"an error handler that fails", "return tostring(xpcall(error, function() error('again') end))", false, ""},
	{"string.rep to gigabytes", "return #string.rep('x', 2^31 - 1)", false, "ERR"},
	{"string.rep of string.rep", "return #string.rep(string.rep('x', 2^20), 2^20)", false, "ERR"},
	{"a string that doubles", "local s = 'x' while true do s = s .. s end", false, "ERR"},
	{"strings that are kept", "local t = {} while true do t[#t + 1] = string.rep('x', 65536) .. #t end", false, "ERR"},
	{"a table that grows", "local t = {} for i = 1, 1e12 do t[i] = i end", false, "ERR"},
	{"a table of far indexes", "local t = {} for i = 1, 1e12 do t[i * 65536] = i end", false, "ERR"},
	{"a table of tables", "local t = {} while true do t = {t, {}, {}} end", false, "ERR"},
	{"a memory bomb that catches", "local t = {} while true do pcall(function() t[#t + 1] = string.rep('x', 65536) .. #t end) end", false, "ERR"},
	{"closures without end", "local f = function() end while true do local g = f f = function() return g end end", false, "ERR"},
	{"coroutines without end", "local t = {} while true do local co = coroutine.create(function() coroutine.yield() end) coroutine.resume(co) t[#t + 1] = co end", false, "ERR"},
	{"table.concat of a doubling table", "local t = {} for i = 1, 1000 do t[i] = string.rep('x', 10000) end local s = '' while true do s = s .. table.concat(t) end", false, "ERR"},
	{"string.format that is long", "local s = string.rep('x', 2^20) while true do s = string.format('%s%s', s, s) end", false, "ERR"},
	{"string.gsub that multiplies", "local s = string.rep('x', 2^16) return #s:gsub('x', s)", false, "ERR"},
	{"a pattern that backtracks", "return string.find(string.rep('a', 40), string.rep('a?', 40) .. string.rep('a', 40) .. 'b')", true, "Script killed by user with SCRIPT KILL"},
	{"a pattern that looks far", "return string.rep('a', 2^18):find('.-.-.-.-b')", true, "Script killed by user with SCRIPT KILL"},
	{"deep cjson", "local t = {} for i = 1, 1e4 do t = {t} end return cjson.encode(t)", false, "excessive nesting"},
	{"deep JSON", "return cjson.decode(string.rep('[', 1e6) .. string.rep(']', 1e6))", false, "Found too many nested data structures"},
	{"cjson of itself", "local t = {} t.t = t return cjson.encode(t)", false, "excessive nesting"},
	{"cmsgpack of itself", "local t = {} t[1] = t return #cmsgpack.pack(t)", false, ""},
	{"deep cmsgpack", "return #cmsgpack.unpack(string.rep('\\145', 1e6))", false, ""},
	{"a cmsgpack array that claims much", "return cmsgpack.unpack('\\221\\255\\255\\255\\255')", false, "ERR"},
	{"struct of much", "return #struct.pack('c2147483647', 'x')", false, "ERR"},
	{"unpack of much", "return select('#', unpack({}, 1, 1e8))", false, "too many results to unpack"},
	{"arguments without end", "local function f(...) return f(1, ...) end return f()", true, "ERR"},
	{"a sort that lies", "local t = {} for i = 1, 1e5 do t[i] = i % 7 end table.sort(t, function() return true end)", false, "invalid order function for sorting"},
	{"bytecode", "return loadstring(string.dump(function() return 1 end))()", false, "ERR"},
	{"bytecode that is false", "return loadstring('\\27Lua\\81\\0\\1\\4\\8\\4\\8\\0broken')()", false, "ERR"},
	{"a metatable on the environment", "setmetatable(_G, {__index = function() return 1 end}) return 1", false, "ERR"},
	{"a global", "x = 1 return x", false, "ERR"},
	{"a library that is changed", "string.rep = nil return 1", false, "ERR"},
	{"a metatable of strings that is changed", "getmetatable('').__index = nil return 1", false, "ERR"},
	{"a reply that nests for ever", "local t = {} t[1] = t return t", false, ""},
	{"a file", "return io.open('/etc/passwd')", false, "nonexistent global variable 'io'"},
	{"a program", "return os.execute('true')", false, "ERR"},
	{"another module", "return require('os')", false, "nonexistent global variable 'require'"},
	{"a source with deep nesting", "return " + strings.Repeat("(", 100_000) + "1" + strings.Repeat(")", 100_000), false, "ERR"},
	{"a source of many operators", "return " + strings.Repeat("not ", 100_000) + "1", false, "ERR"},
}

func TestHostileScriptsHurtNobody(t *testing.T) {
	for name, o := range map[string]Options{"portable": {Portable: true}, "loops": {Loops: 2}} {
		t.Run(name, func(t *testing.T) {
			r := start(t, o, redis.Options{})
			set := r.connect()
			set.send(fmt.Sprintf("CONFIG SET busy-reply-threshold 20\r\nCONFIG SET script-max-memory %d\r\nSET k v\r\n", hostileBytes))
			set.expect("+OK\r\n+OK\r\n+OK\r\n")
			for _, h := range hostileScripts {
				for _, command := range []string{"EVAL", "EVAL_RO"} {
					if (testing.Short() || race.Enabled) && command == "EVAL_RO" && !h.killed {
						continue
					}
					t.Run(command+" "+h.name, func(t *testing.T) { r.runHostile(t, command, h) })
				}
			}
		})
	}
}

// runHostile runs a hostile script, and looks at what others notice.
func (r *running) runHostile(t *testing.T, command string, h hostile) {
	before := heapInUse()
	villain := r.connect()
	villain.send(fmt.Sprintf("*3\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n$1\r\n0\r\n", len(command), command, len(h.script), h.script))
	reply := make(chan string, 1) // room for the one line, so the goroutine ends without a receiver
	go func() {
		line, _ := villain.in.ReadString('\n')
		reply <- line
	}()
	beside := r.witness(t)
	var got string
	if h.killed {
		got = r.killUntil(t, reply)
	} else {
		select {
		case got = <-reply:
		case <-time.After(hostilePatience):
			t.Error("it does not end")
			got = r.killUntil(t, reply)
		}
	}
	latencies, peak := beside()
	if !strings.Contains(got, h.ends) || h.ends != "" && !strings.HasPrefix(got, "-") {
		t.Errorf("reply: got %.300q, want an error with %q", got, h.ends)
	}
	if grown := peak - before; grown > hostileHeap {
		t.Errorf("the heap has grown by %d MiB, want at most %d", grown>>20, hostileHeap>>20)
	}
	n := len(latencies)
	if n == 0 {
		t.Fatal("no GET beside it was answered")
	}
	if median := latencies[n/2]; median > besideMedian && (h.killed || n >= 5) {
		t.Errorf("GET beside it: the median of %d is %v, want at most %v", n, median, besideMedian)
	}
	if p99 := latencies[n*99/100]; p99 > besideHostile && n >= 100 && !race.Enabled {
		t.Errorf("GET beside it: p99 of %d is %v, want at most %v", n, p99, besideHostile)
	}
	villain.Close()
}

// killUntil sends SCRIPT KILL until the script's reply is there. Before the
// threshold there may be no script yet.
func (r *running) killUntil(t *testing.T, reply <-chan string) string {
	killer := r.connect()
	defer killer.Close()
	<-time.After(hostileLasts)
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		select {
		case got := <-reply:
			return got
		case <-again.C:
		}
		killer.send("SCRIPT KILL\r\n")
		if line, err := killer.in.ReadString('\n'); err != nil || line != "+OK\r\n" && !strings.HasPrefix(line, "-NOTBUSY") {
			t.Errorf("SCRIPT KILL: got %q, %v", line, err)
		}
	}
	t.Error("it cannot be killed")
	return ""
}

// witness sends GETs until it is told to stop, and then says how long they
// took, in order, and how large the heap was at most.
func (r *running) witness(t *testing.T) (stop func() ([]time.Duration, int64)) {
	c := r.connect()
	var latencies []time.Duration
	var peak int64
	end := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		again := time.NewTicker(besideGap)
		defer again.Stop()
		for {
			began := time.Now()
			if _, err := c.Write([]byte("GET k\r\n")); err != nil {
				t.Errorf("GET beside it: %v", err)
				return
			}
			if _, err := c.in.ReadString('\n'); err != nil {
				t.Errorf("GET beside it: %v", err)
				return
			}
			if line, err := c.in.ReadString('\n'); err != nil || line != "v\r\n" {
				t.Errorf("GET beside it: got %q, %v", line, err)
				return
			}
			latencies, peak = append(latencies, time.Since(began)), max(peak, heapInUse())
			select {
			case <-end:
				return
			case <-again.C:
			}
		}
	})
	return func() ([]time.Duration, int64) {
		close(end)
		done.Wait()
		c.Close()
		slices.Sort(latencies)
		return latencies, peak
	}
}

// heapInUse is what the heap takes of the machine's memory.
func heapInUse() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64() + sample[1].Value.Uint64())
}
