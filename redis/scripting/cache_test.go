package scripting

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// The cache keeps what SCRIPT LOAD has loaded, and of what EVAL has loaded what
// was used last.

func cached(t testing.TB, e *Engine, source string, stays bool) *Script {
	t.Helper()
	var sha [shaHexBytes]byte
	s, err := e.load(string(shaOf(&sha, []byte(source))), []byte(source), stays)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheCacheDropsWhatWasNotUsedForLongest(t *testing.T) {
	e := New(Options{})
	stays := cached(t, e, "return 'stays'", true)
	used := cached(t, e, "return 'used'", false)
	first := cached(t, e, "return 'first'", false)
	for i := range maxEvaluated {
		cached(t, e, fmt.Sprintf("return %d", i), false)
		e.cache.find([]byte(used.SHA))
	}
	for _, tt := range []struct {
		what string
		s    *Script
		want bool
	}{{"loaded by SCRIPT LOAD", stays, true}, {"used", used, true}, {"not used", first, false}} {
		if got := e.cache.find([]byte(strings.ToUpper(tt.s.SHA))) != nil; got != tt.want {
			t.Errorf("%s: in the cache: got %v, want %v", tt.what, got, tt.want)
		}
	}
	scripts, _, evicted := e.Cached()
	if scripts != maxEvaluated+1 || evicted != 2 {
		t.Errorf("got %d scripts and %d dropped, want %d and 2", scripts, evicted, maxEvaluated+1)
	}
	e.cache.flush()
	if scripts, bytes, _ := e.Cached(); scripts != 0 || bytes != 0 {
		t.Errorf("after a flush: got %d scripts of %d bytes", scripts, bytes)
	}
}

func TestTheCacheIsBoundedInBytes(t *testing.T) {
	e := New(Options{})
	large := "return 1 --" + strings.Repeat("x", maxEvaluatedBytes/20)
	for i := range 60 {
		cached(t, e, fmt.Sprintf("%s%d", large, i), false)
	}
	if scripts, bytes, _ := e.Cached(); bytes > maxEvaluatedBytes || scripts < 4 {
		t.Errorf("got %d scripts of %d bytes, at most %d wanted", scripts, bytes, maxEvaluatedBytes)
	}
	last := cached(t, e, large+"59", true) // EVAL has loaded it already
	if last.place != nil {
		t.Error("what SCRIPT LOAD has loaded may be dropped")
	}
	e.cache.bytes += maxCacheBytes // as if that were full
	var sha [shaHexBytes]byte
	if _, err := e.load(string(shaOf(&sha, []byte("return 2"))), []byte("return 2"), true); err != errCacheFull {
		t.Errorf("SCRIPT LOAD into a full cache: got %v, want %v", err, errCacheFull)
	}
	if s := cached(t, e, "return 3", false); s.chunk == nil {
		t.Error("EVAL with a full cache has nothing to run")
	}
}

// TestAThousandScriptsTakeLittle: scripts as long as those of job queues.
func TestAThousandScriptsTakeLittle(t *testing.T) {
	const line = "local job = redis.call('HGETALL', KEYS[1] .. ':' .. ARGV[1])\nif #job > 0 and tonumber(job[2]) > 10 then redis.call('ZADD', KEYS[2], job[2], ARGV[1]) end\n"
	e := New(Options{})
	before := heap()
	for i := range 1000 {
		cached(t, e, fmt.Sprintf("-- %d\n%s return 1", i, strings.Repeat("do "+line+" end\n", 10)), true)
	}
	took := heap() - before
	const most = 64 << 20
	_, counted, _ := e.Cached()
	t.Logf("1,000 scripts of %d bytes take %d KiB, %d are counted", 10*(len(line)+8), took>>10, counted>>10)
	if took > most {
		t.Errorf("got %d bytes, at most %d wanted", took, most)
	}
	runtime.KeepAlive(e)
}

func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
