package journal

// The rule: a subscription has run on the newest state when nothing changes any
// more, never twice at once, and its end is final.

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firndb/firn/schema"
)

// joined is workers that have ended before the test does. The matcher is made
// after them.
func joined(t *testing.T) *Workers {
	w := new(Workers)
	t.Cleanup(w.Wait)
	return w
}

// documentReader is a query that reads one document, in some time.
func documentReader(m *Matcher, c *fakeCommits, id string, takes time.Duration, ran func(schema.Timestamp) error) func() (*Reads, error) {
	return func() (*Reads, error) {
		m.begin()
		defer m.end()
		ts := c.newest()
		time.Sleep(takes)
		var rec Recorder
		rec.Document(testTable, []byte(id), Whole, nil, nil)
		return m.reads(&rec, ts), ran(ts)
	}
}

func TestASubscriptionRunsAgainWhenItIsStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &fakeCommits{last: 10}
		w := joined(t)
		m := running(t, c, never)
		runs, newest := 0, schema.Timestamp(0)
		sub := subscribe(t.Context(), m, w, documentReader(m, c, "b", 0, func(ts schema.Timestamp) error {
			runs, newest = runs+1, ts
			return nil
		}))
		settle()
		if runs != 1 {
			t.Fatalf("got %d runs at first, want 1", runs)
		}
		c.commit(put("a", ""))
		settle()
		if runs != 1 {
			t.Errorf("got %d runs after another document has changed, want 1", runs)
		}
		for range 10 {
			want := c.commit(put("b", ""))
			settle()
			if newest != want {
				t.Fatalf("got a run on %d, want %d", newest, want)
			}
		}
		if runs != 11 || sub.Err() != nil {
			t.Errorf("got %d runs and %v, want 11", runs, sub.Err())
		}
	})
}

func TestASlowSubscriptionIsCoalescedAndNeverRunsTwiceAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &fakeCommits{last: 10}
		w := joined(t)
		m := running(t, c, never)
		var at, runs atomic.Int64
		var newest schema.Timestamp
		query := documentReader(m, c, "b", time.Second, func(ts schema.Timestamp) error {
			runs.Add(1)
			newest = ts
			return nil
		})
		subscribe(t.Context(), m, w, func() (*Reads, error) {
			if at.Add(1) != 1 {
				t.Error("it runs twice at once")
			}
			defer at.Add(-1)
			return query()
		})
		var want schema.Timestamp
		for range 1000 {
			want = c.commit(put("b", ""))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(10 * time.Second)
		settle()
		if newest != want || runs.Load() > 4 {
			t.Errorf("got %d runs, the last on %d, want few, on %d", runs.Load(), newest, want)
		}
	})
}

func TestSlowSubscriptionsKeepNoOtherWaitingForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &fakeCommits{last: 10}
		w := joined(t)
		m := running(t, c, never)
		ctx, cancel := context.WithCancel(t.Context())
		for range 20 {
			subscribe(ctx, m, w, documentReader(m, c, "b", time.Hour, func(schema.Timestamp) error { return nil }))
		}
		began, took := time.Now(), time.Duration(0)
		subscribe(ctx, m, w, documentReader(m, c, "b", 0, func(schema.Timestamp) error {
			took = time.Since(began)
			return nil
		}))
		time.Sleep(time.Minute)
		settle()
		if took == 0 || took > time.Second {
			t.Errorf("got it run after %s, want below a second", took)
		}
		time.Sleep(2 * time.Hour)
		cancel()
		settle()
		w.Wait()
	})
}

func TestASubscriptionEndsForGood(t *testing.T) {
	errQuery, errContext := errors.New("of the query"), errors.New("of the context")
	for _, tt := range []struct {
		name string
		end  func(fail *atomic.Bool, c *fakeCommits, cancel context.CancelCauseFunc)
		want error
	}{
		{"query", func(fail *atomic.Bool, c *fakeCommits, _ context.CancelCauseFunc) {
			fail.Store(true)
			c.commit(put("b", ""))
		}, errQuery},
		{"context, idle", func(_ *atomic.Bool, _ *fakeCommits, cancel context.CancelCauseFunc) { cancel(errContext) }, errContext},
		{"context, while it runs", func(_ *atomic.Bool, c *fakeCommits, cancel context.CancelCauseFunc) {
			c.commit(put("b", ""))
			time.Sleep(time.Millisecond)
			cancel(errContext)
		}, errContext},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &fakeCommits{last: 10}
				w := joined(t)
				m := running(t, c, never)
				var fail atomic.Bool
				var runs atomic.Int64
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				sub := subscribe(ctx, m, w, documentReader(m, c, "b", time.Second, func(schema.Timestamp) error {
					runs.Add(1)
					if fail.Load() {
						return errQuery
					}
					return nil
				}))
				time.Sleep(time.Minute)
				tt.end(&fail, c, cancel)
				<-sub.Done()
				n := runs.Load()
				c.commit(put("b", ""))
				time.Sleep(time.Minute)
				if !errors.Is(sub.Err(), tt.want) || runs.Load() != n || m.Stats().Watches != 0 {
					t.Errorf("got %v, %d runs after the end, %d watches; want %v and none", sub.Err(), runs.Load()-n, m.Stats().Watches, tt.want)
				}
				<-sub.Done()
			})
		})
	}
}

func TestAContextEndsAllItsSubscriptionsAndIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &fakeCommits{last: 10}
		w := joined(t)
		m := running(t, c, never)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var all []*Subscription
		for _, of := range []context.Context{ctx, context.WithValue(ctx, w, nil), context.Background(), t.Context()} {
			for range 3 {
				all = append(all, subscribe(of, m, w, documentReader(m, c, "b", 0, func(schema.Timestamp) error { return nil })))
			}
		}
		settle()
		cancel()
		settle()
		for i, sub := range all {
			if ended := sub.Err() != nil; ended != (i < 6) {
				t.Errorf("subscription %d: got %v", i, sub.Err())
			}
		}
		if got := len(w.contexts.bound); got != 1 || m.Stats().Watches != 6 {
			t.Errorf("got %d contexts and %d watches, want 1 and 6", got, m.Stats().Watches)
		}
		late := subscribe(ctx, m, w, documentReader(m, c, "b", 0, func(schema.Timestamp) error { return nil }))
		<-late.Done()
		if !errors.Is(late.Err(), context.Canceled) {
			t.Errorf("of a context that has ended: got %v", late.Err())
		}
	})
}
