package redis

import (
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
)

// TestExpiredKeysStayExpiredAfterCompaction: neither the key nor the moment it
// ended at comes back when versions around its end are deleted, before the
// sweeper has seen it or after.
func TestExpiredKeysStayExpiredAfterCompaction(t *testing.T) {
	for name, o := range forgetfulOptions() {
		for _, swept := range []bool{false, true} {
			clock := newFakeClock()
			o.Now = clock.now
			r := &restarted{options: o, path: t.TempDir() + "/firn.db"}
			mine := r.open(t)
			for _, command := range []string{"SET k 0", "SET k 1 PX 1000", "SET k 2 PX 500", "HSET h f v g w", "HPEXPIRE h 500 FIELDS 1 f", "PEXPIRE h 5000", "SET other x"} {
				mine.ask(t, command)
				clock.advance(time.Millisecond)
			}
			clock.advance(time.Second)
			if swept {
				if err := keyspace.NewSweeper(r.store).Sweep(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				if _, err := r.store.Prune(t.Context(), firn.Timestamp(clock.now().UnixMicro())); err != nil {
					t.Fatal(err)
				}
				mine = r.open(t)
				for command, want := range map[string]string{
					"TYPE k": "none", "TTL k": "(integer) -2", "EXISTS k": "(integer) 0", "GET k": "(nil)", "STRLEN k": "(integer) 0", "DBSIZE": "(integer) 2",
					"KEYS k*": "(empty array)", "EXPIRETIME k": "(integer) -2", "HGET h f": "(nil)", "HLEN h": "(integer) 1", "HKEYS h": `1) "g"`, "HEXISTS h f": "(integer) 0", "OBJECT ENCODING k": "(nil)",
				} {
					if got := mine.ask(t, command); got != want {
						t.Errorf("%s, swept %t: %s\n got %s\nwant %s", name, swept, command, got, want)
					}
				}
				if got := mine.ask(t, "SCAN 0 COUNT 100"); strings.Contains(got, `"k"`) || !strings.Contains(got, `"other"`) {
					t.Errorf("%s, swept %t: SCAN: got %s, want no k", name, swept, got)
				}
				clock.advance(time.Second)
				if err := keyspace.NewSweeper(r.store).Sweep(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			clock.advance(time.Hour)
			mine.ask(t, "DEL other")
			if err := keyspace.NewSweeper(r.store).Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := r.store.Prune(t.Context(), r.store.Bounds().Newest); err != nil {
				t.Fatal(err)
			}
			r.close(t)
			if left := leftovers(t, r.path); len(left) > 0 {
				t.Errorf("%s, swept %t: left in the file: got %q, want nothing", name, swept, left)
			}
		}
	}
}
