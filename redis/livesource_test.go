package redis

import (
	"testing"
	"time"

	"github.com/firndb/firn"
)

// TestReachWaitsForThoseWhoAreTold: everybody whom a commit concerns has been
// told of it when a moment behind it is reached.
func TestReachWaitsForThoseWhoAreTold(t *testing.T) {
	_, w := NewPair(t, firn.Options{Durability: firn.None})
	from := liveSource{w.Store}
	now, err := from.Now()
	if err != nil {
		t.Fatal(err)
	}
	read := func(snap *firn.Snapshot) error {
		_, err := snap.Last(w.Store.Table("keys"), []byte("nothing"))
		if err == firn.ErrNotFound {
			err = nil
		}
		_, err2 := snap.Count(w.Store.Table("keys"), nil)
		if err == nil {
			err = err2
		}
		return err
	}
	reads, err := from.Record(now, read)
	if err != nil {
		t.Fatal(err)
	}
	told, release, reached := make(chan struct{}), make(chan struct{}), make(chan firn.Timestamp, 1)
	stop := reads.Watch(func(firn.Timestamp) {
		close(told)
		<-release
	})
	defer stop()
	w.Run(t, "SET k 1")
	<-told
	go func() {
		ts, _ := from.Reach(from.Newest())
		reached <- ts
	}()
	select {
	case ts := <-reached:
		t.Errorf("while somebody is being told: got %d, want to wait", ts)
	case <-time.After(50 * time.Millisecond):
	}
	close(release)
	if ts := <-reached; ts != from.Newest() {
		t.Errorf("reached: got %d, want %d", ts, from.Newest())
	}
}
