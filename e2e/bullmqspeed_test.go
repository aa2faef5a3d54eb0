package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// How long BullMQ takes for many jobs, beside Redis. make jobs runs it; it is
// no test for every day, because it wants a machine that does nothing else.

const (
	jobsLimit  = 2.0 // times what Redis takes; the aim is 1.2
	jobsRounds = 5   // in turns, of which the median counts
)

// jobTimes are what software/bullmqspeed.mjs prints.
type jobTimes struct{ add, work time.Duration }

func (t jobTimes) all() time.Duration { return t.add + t.work }

func TestBullMQSpeed(t *testing.T) {
	jobs := os.Getenv("FIRN_JOBS")
	if jobs == "" {
		t.Skip("make jobs measures it")
	}
	install(t, t.Context(), "software")
	redis, firn := startRedis(t, "--appendonly", "yes", "--appendfsync", "everysec"), startFirn(t, "--fsync", "everysec")
	times := map[string][]jobTimes{}
	for round := range jobsRounds {
		for _, addr := range []string{redis, firn} {
			times[addr] = append(times[addr], doJobs(t, addr, jobs, round))
		}
	}
	reference, ours := medianOf(times[redis]), medianOf(times[firn])
	ratio := float64(ours.all()) / float64(reference.all())
	t.Logf("%s jobs, one worker, medians of %d: Redis %v (adding %v), Firn %v (adding %v): %.2f times",
		jobs, jobsRounds, reference.all(), reference.add, ours.all(), ours.add, ratio)
	if ratio > jobsLimit {
		t.Errorf("Firn takes %.2f times what Redis takes, want at most %.1f", ratio, jobsLimit)
	}
}

// doJobs has a queue of its own: keys that were there before a FLUSHALL cost Firn
// a look at their past.
func doJobs(t *testing.T, addr, jobs string, round int) jobTimes {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), programLimit)
	defer cancel()
	command := exec.CommandContext(ctx, "node", "bullmqspeed.mjs")
	command.Dir = "software"
	command.Env = append(os.Environ(), "SERVER="+addr, "JOBS="+jobs, fmt.Sprintf("QUEUE=speed%d", round))
	output, err := command.CombinedOutput()
	var add, work int
	if err == nil {
		_, err = fmt.Sscan(string(output), &add, &work)
	}
	if err != nil {
		t.Fatalf("bullmqspeed.mjs: %v\n%s", err, output)
	}
	return jobTimes{time.Duration(add) * time.Millisecond, time.Duration(work) * time.Millisecond}
}

func medianOf(times []jobTimes) jobTimes {
	slices.SortFunc(times, func(a, b jobTimes) int { return int(a.all() - b.all()) })
	return times[len(times)/2]
}
