package server

import (
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis"
	"github.com/firndb/firn/schema/schematest"
)

// Another process that has locked the file holds up those who write, and
// nobody else.

func TestLockedFileHoldsUpOnlyWrites(t *testing.T) {
	for name, portable := range map[string]bool{"loops": false, "portable": true} {
		t.Run(name, func(t *testing.T) {
			r := start(t, Options{Portable: portable}, redis.Options{})
			writes, reads := r.connect(), r.connect()
			writes.send("SET k 1\r\n")
			writes.expect("+OK\r\n")
			release := schematest.HoldWriteLock(t, r.store.Stats().Path)
			writes.send("SET k 2\r\n")
			slowest := time.Duration(0)
			for n := 0; n < 10 || r.store.Stats().LockWaits == 0; n++ {
				began := time.Now()
				reads.send("PING\r\nGET k\r\n")
				reads.expect("+PONG\r\n$1\r\n1\r\n")
				slowest = max(slowest, time.Since(began))
			}
			if slowest > time.Second {
				t.Errorf("slowest PING and GET beside a locked file: took %v, want no wait for it", slowest)
			}
			release()
			writes.expect("+OK\r\n")
			reads.send("GET k\r\n")
			reads.expect("$1\r\n2\r\n")
		})
	}
}

func TestLockedFileIsWhatTheErrorSays(t *testing.T) {
	r := startOn(t, Options{}, redis.Options{}, firn.Options{LockWait: 20 * time.Millisecond})
	release := schematest.HoldWriteLock(t, r.store.Stats().Path)
	defer release()
	c := r.connect()
	c.send("SET k 2\r\n")
	c.expect("-BUSY the file is locked by another process, nothing was written: try again later\r\n")
	c.send("GET k\r\n")
	c.expect("$-1\r\n")
}
