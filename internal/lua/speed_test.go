package lua

import (
	"runtime"
	"testing"
)

// What running costs.

var speeds = []struct{ name, source string }{
	{"return1", `return 1`},
	{"adds", `local s = 0 for i = 1, 1000000 do s = s + i end return s`},
	{"calls", `local function f(a, b) return a + b end local s = 0 for i = 1, 300000 do s = f(s, i) end return s`},
	{"fib", `local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end return fib(22)`},
	{"table", `local t = {} for i = 1, 100000 do t[i] = i end local s = 0 for i = 1, #t do s = s + t[i] end return s`},
	{"fields", `local o = {a = 1, b = 2} for i = 1, 200000 do o.a = o.a + o.b end return o.a`},
	{"pairs", `local t = {} for i = 1, 1000 do t["k" .. i] = i end local s = 0 for n = 1, 50 do for k, v in pairs(t) do s = s + v end end return s`},
	{"concat", `local t = {} for i = 1, 20000 do t[#t + 1] = "item:" .. i .. "," end return #table.concat(t)`},
	{"strings", `local n = 0 for i = 1, 20000 do local s = string.format("%d:%s", i, "abc") n = n + #s:sub(2, 4) + (s:find("abc", 1, true) or 0) end return n`},
	{"patterns", `local n = 0 for k, v in ("a=1, b=22, c=333, "):rep(1000):gmatch("(%w+)=(%w+)") do n = n + #v end return n`},
	{"sort", `local t = {} for i = 1, 20000 do t[i] = (i * 7919) % 20011 end table.sort(t) return t[1]`},
}

func BenchmarkCall(b *testing.B) {
	for _, bench := range speeds {
		b.Run("program="+bench.name, func(b *testing.B) {
			chunk, err := Compile("user_script", bench.source)
			if err != nil {
				b.Fatal(err)
			}
			s := New(nil)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Call(s.Load(chunk), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		New(nil)
	}
}

// TestChunkKnowsItsSize holds Chunk.Bytes against what the process takes.
func TestChunkKnowsItsSize(t *testing.T) {
	const source = `local key, limit, window = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
		local n = redis.call('INCR', key)
		if n == 1 then redis.call('PEXPIRE', key, window) end
		if n > limit then return {0, redis.call('PTTL', key)} end
		local all = {} for i = 1, 10 do all[#all + 1] = 'k' .. i .. ':' .. tostring(n) end
		return {1, table.concat(all, ',')}`
	const n = 500
	var before, after runtime.MemStats
	chunks := make([]*Chunk, n)
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range chunks {
		chunks[i], _ = Compile("user_script", source)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	took, said := int(after.HeapAlloc-before.HeapAlloc)/n, chunks[0].Bytes()
	t.Logf("a program of %d bytes takes %d, and says %d", len(source), took, said)
	if said < took*2/3 || said > took*3/2 {
		t.Errorf("it says %d bytes, and takes %d", said, took)
	}
	runtime.KeepAlive(chunks)
}
