package e2e

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"
)

// asynq: a task queue whose every move of a task is a script.

// asynqSeen is what the handlers of checkAsynq saw.
type asynqSeen struct {
	plain, flaky, never, once, periodic, grouped atomic.Int64
	late                                         atomic.Int64 // when, in ms
}

// handlers do what the name of a task says.
func (s *asynqSeen) handlers() *asynq.ServeMux {
	mux := asynq.NewServeMux()
	count := func(n *atomic.Int64) func(context.Context, *asynq.Task) error {
		return func(context.Context, *asynq.Task) error { n.Add(1); return nil }
	}
	mux.HandleFunc("plain", count(&s.plain))
	mux.HandleFunc("once", count(&s.once))
	mux.HandleFunc("periodic", count(&s.periodic))
	mux.HandleFunc("late", func(context.Context, *asynq.Task) error {
		s.late.Store(time.Now().UnixMilli())
		return nil
	})
	mux.HandleFunc("flaky", func(_ context.Context, task *asynq.Task) error {
		if s.flaky.Add(1) < 3 {
			return errors.New("not yet")
		}
		_, err := task.ResultWriter().Write([]byte("the result"))
		return err
	})
	mux.HandleFunc("never", func(context.Context, *asynq.Task) error { s.never.Add(1); return errors.New("never") })
	mux.HandleFunc("grouped", func(_ context.Context, task *asynq.Task) error {
		s.grouped.Store(int64(len(task.Payload())))
		return nil
	})
	return mux
}

func checkAsynq(t *testing.T, addr string) {
	at := asynq.RedisClientOpt{Addr: addr}
	client, inspector, seen := asynq.NewClient(at), asynq.NewInspector(at), &asynqSeen{}
	t.Cleanup(func() { must(t, client.Close(), inspector.Close()) })
	put := func(name string, options ...asynq.Option) *asynq.TaskInfo {
		t.Helper()
		info, err := client.Enqueue(asynq.NewTask(name, []byte("x")), options...)
		must(t, err)
		return info
	}
	began := time.Now().UnixMilli()
	flaky := put("flaky", asynq.MaxRetry(5), asynq.Retention(time.Hour))
	put("never", asynq.MaxRetry(1))
	put("late", asynq.ProcessIn(2*time.Second))
	put("plain", asynq.ProcessIn(time.Hour))
	checkAsynqUnique(t, client)
	for n := range 20 {
		put("plain", asynq.TaskID(fmt.Sprint(n)))
	}
	for range 3 {
		put("grouped", asynq.Group("g"))
	}
	startAsynq(t, at, seen)
	eventually(t, "the plain tasks are done", func() bool { return seen.plain.Load() == 20 })
	eventually(t, "the late one is done", func() bool { return seen.late.Load() != 0 })
	if after := seen.late.Load() - began; after < 1000 { // asynq counts in whole seconds
		t.Errorf("a task for in two seconds came after %d ms", after)
	}
	eventually(t, "retries are done", func() bool { return seen.flaky.Load() == 3 && seen.never.Load() == 2 })
	eventually(t, "the result is kept", func() bool {
		info, err := inspector.GetTaskInfo("default", flaky.ID)
		return err == nil && info.State == asynq.TaskStateCompleted && string(info.Result) == "the result"
	})
	eventually(t, "the group came as one task", func() bool { return seen.grouped.Load() == 3 })
	eventually(t, "the periodic task came", func() bool { return seen.periodic.Load() >= 1 })
	eventually(t, "the queue is empty", func() bool {
		info, err := inspector.GetQueueInfo("default")
		return err == nil && info.Scheduled == 1 && info.Archived == 1 && info.Completed == 1 && info.Pending+info.Active+info.Retry == 0
	})
	if got := seen.once.Load(); got != 1 {
		t.Errorf("the unique task ran %d times, want once", got)
	}
	if n, err := inspector.RunAllScheduledTasks("default"); err != nil || n != 1 {
		t.Errorf("run what is scheduled: got %d, %v, want 1", n, err)
	}
	eventually(t, "what was scheduled is done", func() bool { return seen.plain.Load() == 21 })
}

// checkAsynqUnique wants a task once that may be there once.
func checkAsynqUnique(t *testing.T, client *asynq.Client) {
	t.Helper()
	for n, want := range []error{nil, asynq.ErrDuplicateTask} {
		_, err := client.Enqueue(asynq.NewTask("once", nil), asynq.Unique(time.Hour))
		if !errors.Is(err, want) {
			t.Errorf("unique task, time %d: got %v, want %v", n+1, err, want)
		}
	}
	for n, want := range []error{nil, asynq.ErrTaskIDConflict} {
		_, err := client.Enqueue(asynq.NewTask("other", nil), asynq.TaskID("same"), asynq.Queue("unserved"))
		if !errors.Is(err, want) {
			t.Errorf("task with an id, time %d: got %v, want %v", n+1, err, want)
		}
	}
}

// startAsynq starts a server and a scheduler that end with the test.
func startAsynq(t *testing.T, at asynq.RedisClientOpt, seen *asynqSeen) {
	t.Helper()
	server := asynq.NewServer(at, asynq.Config{
		Concurrency:              4,
		LogLevel:                 asynq.FatalLevel,
		TaskCheckInterval:        50 * time.Millisecond,
		DelayedTaskCheckInterval: 100 * time.Millisecond,
		RetryDelayFunc:           func(int, error, *asynq.Task) time.Duration { return 0 },
		GroupGracePeriod:         time.Second, // the least that there is
		GroupAggregator: asynq.GroupAggregatorFunc(func(_ string, tasks []*asynq.Task) *asynq.Task {
			return asynq.NewTask("grouped", make([]byte, len(tasks)))
		}),
	})
	must(t, server.Start(seen.handlers()))
	t.Cleanup(server.Shutdown)
	scheduler := asynq.NewScheduler(at, &asynq.SchedulerOpts{LogLevel: asynq.FatalLevel})
	_, err := scheduler.Register("@every 1s", asynq.NewTask("periodic", nil))
	must(t, err, scheduler.Start())
	t.Cleanup(scheduler.Shutdown)
}
