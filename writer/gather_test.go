package writer

import (
	"testing"
	"testing/synctest"
	"time"
)

// Clients that come in two halves, each while the other's commit is under way,
// come together when each commit has its fsync; a client that is alone does
// not wait for others.
func TestHalvesOfACrowdComeTogether(t *testing.T) {
	const commit, think = 800 * time.Microsecond, 100 * time.Microsecond
	for _, clients := range []int{8, 1} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Options{Durability: Always})
			r.engine.commit = func() error { <-time.After(commit); return nil }
			r.start()
			began := time.Now()
			const turns = 40
			ended := make(chan struct{})
			for i := range clients {
				go func() {
					if i%2 == 1 {
						<-time.After(commit / 2)
					}
					for range turns {
						r.answer(r.submit(r.job(1)))
						<-time.After(think)
					}
					ended <- struct{}{}
				}()
			}
			for range clients {
				<-ended
			}
			took := time.Since(began)
			r.stop()
			r.wantEnd(nil)
			rows := r.engine.rows()
			if got := len(rows[len(rows)/2]); got != clients {
				t.Errorf("%d clients: a group has %d transactions, want all", clients, got)
			}
			if most := turns*(commit+think) + commit; clients == 1 && took > most {
				t.Errorf("alone: got %v, want at most %v", took, most)
			}
		})
	}
}
