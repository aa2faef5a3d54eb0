package redis

// The rule: a power cut in or after a script that writes leaves all of it or
// nothing, and all of it once it was answered under fsync always.

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/crashvfs"
	"github.com/firndb/firn/internal/inside"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/schema"
)

// crashScript writes a number wherever it can, so that a part of a script would
// be seen. With an argument it also takes a while.
const crashScript = `local n = redis.call('INCR', 'n')
for i = 1, 12 do redis.call('SET', 'w' .. i, n) redis.call('HSET', 'h', i, n) end
for i = 1, tonumber(ARGV[1]) do n = n + 0 end
redis.call('RPUSH', 'l', n) redis.call('ZADD', 'z', n, n) redis.call('DEL', 'd' .. n - 1) redis.call('SET', 'd' .. n, n)
return n`

// crashedScripts is how many scripts run before the power is cut.
const crashedScripts = 20

// runOnCrashDisk runs scripts on a disk that can lose power, and says how far
// the disk was when each was answered.
func runOnCrashDisk(t *testing.T, d firn.Durability) (disk *crashvfs.Disk, points []int) {
	t.Helper()
	disk, err := crashvfs.Register("firn-" + t.Name())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(disk.Unregister)
	o := firn.Options{Tables: keyspace.Tables(), Durability: d, TailEntries: 8, CompactByHand: true}
	opened, err := inside.Open(filepath.Join(t.TempDir(), "power.db"), schema.Options{VFS: disk.Name()}, o)
	if err != nil {
		t.Fatal(err)
	}
	store := opened.(*firn.Store)
	client := newOurs(t, New(store, Options{}))
	for i := range crashedScripts {
		loops := []byte("0")
		if i%5 == 0 {
			loops = []byte("100000") // more than an event loop gives a script
		}
		reply := client.tell(t, []byte("EVAL"), []byte(crashScript), []byte("0"), loops)
		Check(t, "script", string(reply), fmt.Sprintf(":%d\r\n", i+1))
		points = append(points, disk.Len())
		if i%4 != 3 {
			continue
		}
		if err := inside.Of(store).Writer.Maintain(t.Context(), func(a schema.Appender) error {
			_, err := a.Checkpoint()
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	client.session.Close()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return disk, points
}

// wholeScripts is how many scripts a file has in it; it fails the test if that
// is not the same wherever they wrote.
func wholeScripts(t *testing.T, path string) int {
	t.Helper()
	store, err := firn.Open(path, firn.Options{Tables: keyspace.Tables(), Durability: firn.None, CompactByHand: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	client := newOurs(t, New(store, Options{}))
	defer client.session.Close()
	n, _ := strconv.Atoi(oneLine(client.value(t, "GET n")))
	if n == 0 {
		Check(t, "no script, no key", client.Run(t, "DBSIZE"), ":0\r\n")
		return 0
	}
	want := strings.TrimSuffix(strings.Repeat(strconv.Itoa(n)+" ", 24), " ")
	got := client.value(t, "EVAL_RO \"local all = redis.call('HVALS', 'h') for i = 1, 12 do all[#all + 1] = redis.call('GET', 'w' .. i) end return all\" 0")
	if text := strings.Trim(oneLine(got), "*[]"); text != want {
		t.Errorf("of %d scripts: got %s", n, text)
	}
	Check(t, "list, sorted set, and the last key", client.Run(t, "LLEN l", "ZCARD z", fmt.Sprintf("EXISTS d%d d%d", n, n-1)), fmt.Sprintf(":%d\r\n:%d\r\n:1\r\n", n, n))
	return n
}

// value is a reply taken apart.
func (o *ours) value(t testing.TB, command string) value {
	t.Helper()
	v, _, err := parseValue([]byte(o.Run(t, command)))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestPowerCutsLeaveWholeScripts(t *testing.T) {
	for name, d := range map[string]firn.Durability{"always": firn.Always, "no": firn.None} {
		t.Run(name, func(t *testing.T) {
			random := seed.Fresh(t).Rand(0)
			disk, points := runOnCrashDisk(t, d)
			lost, between := 0, 0
			for i, answered := range points {
				for _, point := range []int{answered, random.IntN(disk.Len() + 1)} {
					dir := t.TempDir()
					if err := disk.Rebuild(dir, point, random.Uint64(), crashvfs.Cut{}); err != nil {
						t.Fatal(err)
					}
					acknowledged := 0
					for acknowledged < len(points) && points[acknowledged] <= point {
						acknowledged++
					}
					n := wholeScripts(t, filepath.Join(dir, "power.db"))
					if n < acknowledged && d == firn.Always || n > acknowledged+1 {
						t.Errorf("power cut at %d of script %d: got %d scripts, want the first %d", point, i, n, acknowledged)
					}
					lost += max(acknowledged-n, 0)
					if n > 0 && n < len(points) {
						between++
					}
				}
			}
			if between == 0 || d == firn.None && lost == 0 {
				t.Errorf("%d cuts between the first and the last script, %d scripts lost: that shows nothing", between, lost)
			}
		})
	}
}
