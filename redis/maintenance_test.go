package redis

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
)

// Maintenance says what it did, and what a reader kept it from.

func TestCheckpointSaysWhatAReaderKeeps(t *testing.T) {
	a, _ := NewPair(t, firn.Options{Memory: -1})
	a.expect(t, "SET k v", "OK")
	err := a.Store.View(func(s *firn.Snapshot) error {
		if _, err := s.Get(a.Store.Table(keyspace.KeysTable), keyspace.AppendKeyID(nil, keyspace.UID{}, []byte("nosuch"))); err != firn.ErrNotFound {
			return err
		}
		a.expect(t, "SET k w", "OK")
		logged, moved, busy, bytes := a.checkpoint(t)
		if logged <= moved || busy != 1 || bytes == 0 {
			t.Errorf("with a reader: got %d of %d pages moved, busy %d, a log of %d bytes; want fewer, 1, some", moved, logged, busy, bytes)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	logged, moved, busy, bytes := a.checkpoint(t)
	if logged == 0 || moved != logged || busy != 0 || bytes != 0 {
		t.Errorf("without: got %d of %d pages moved, busy %d, a log of %d bytes; want all, 0, 0", moved, logged, busy, bytes)
	}
	a.expect(t, "GET k", `"w"`, "VACUUM", "(integer) 0")
}

// checkpoint runs CHECKPOINT.
func (o *ours) checkpoint(t *testing.T) (logged, moved, busy, bytes int64) {
	t.Helper()
	reply := o.Run(t, "CHECKPOINT")
	_, err := fmt.Sscanf(strings.ReplaceAll(reply, "\r\n", " "),
		"*8 $9 log_pages :%d $11 moved_pages :%d $4 busy :%d $9 wal_bytes :%d", &logged, &moved, &busy, &bytes)
	if err != nil {
		t.Fatalf("CHECKPOINT: got %q, %v", reply, err)
	}
	return logged, moved, busy, bytes
}
