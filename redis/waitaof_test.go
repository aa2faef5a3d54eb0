package redis

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
)

// WAITAOF answers 1 only of what is on disk: at once with --fsync always, after
// the disk has caught up otherwise, and not where it cannot wait.

func TestWaitAOFTellsTheTruth(t *testing.T) {
	for _, tt := range []struct {
		durability              string
		option                  firn.Durability
		unasked, asked, inMulti string
	}{
		{"always", firn.Always, "*2\r\n:1\r\n:0\r\n", "*2\r\n:1\r\n:0\r\n", "*1\r\n*2\r\n:1\r\n:0\r\n"},
		{"everysec", firn.EverySecond, "*2\r\n:0\r\n:0\r\n", "*2\r\n:1\r\n:0\r\n", "*1\r\n*2\r\n:0\r\n:0\r\n"},
		{"no", firn.None, "*2\r\n:0\r\n:0\r\n", "*2\r\n:1\r\n:0\r\n", "*1\r\n*2\r\n:0\r\n:0\r\n"},
	} {
		t.Run(tt.durability, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "firn.db")
			store, err := firn.Open(path, firn.Options{Durability: tt.option, Tables: keyspace.Tables(), CompactByHand: true})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			a := newOurs(t, New(store, Options{Durability: tt.durability}))
			Check(t, "SET", string(a.tell(t, []byte("SET"), []byte("k"), make([]byte, 100_000))), "+OK\r\n")
			Check(t, "0", a.Run(t, "WAITAOF 0 0 0"), tt.unasked)
			before := fileSize(t, path)
			Check(t, "1", a.Run(t, "WAITAOF 1 2 10"), tt.asked)
			if moved := fileSize(t, path) > before; moved != (tt.option != firn.Always) {
				t.Errorf("the log was moved into the file: got %t, want %t", moved, !moved)
			}
			Check(t, "inside MULTI", a.Run(t, "MULTI", "WAITAOF 1 0 0", "EXEC"), "+OK\r\n+QUEUED\r\n"+tt.inMulti)
		})
	}
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
