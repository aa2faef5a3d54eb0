package oracle

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// The writers write all types, and the compactor forgets, each over connections
// of its own that break when the server is killed.

const (
	writers    = 3
	writeEvery = 4 * time.Millisecond // of each writer: the followers have to keep up
	truthEvery = 50 * time.Millisecond

	// retention is what followers have to come back within.
	retention    = 2 * time.Second
	compactEvery = 100 * time.Millisecond

	// season is how long databases are flushed and exchanged all the time, and
	// how long after that they are not: copies in caches would never grow old.
	season = 1300 * time.Millisecond
)

// stormy says whether databases are flushed and exchanged now.
func (r *run) stormy() bool { return int(time.Since(r.began)/season)%2 == 1 }

// write writes until there is enough.
func (r *run) write(stream uint64) {
	rng := r.seed.Rand(stream)
	ticker := time.NewTicker(writeEvery)
	defer ticker.Stop()
	stopped := func() bool { return closed(r.enough) || r.ctx.Err() != nil }
	for !stopped() {
		w, err := r.connect(2, r.server.dial)
		for err == nil && !stopped() {
			<-ticker.C
			err = r.writeOnce(rng, w)
		}
		if w != nil {
			w.Close()
		}
	}
}

// writeOnce sends a write, or a transaction of some.
func (r *run) writeOnce(rng *rand.Rand, w *wire) error {
	commands, err := r.drawWrite(rng, w)
	if err != nil {
		return err
	}
	if rng.IntN(6) == 0 {
		for range 1 + rng.IntN(5) {
			more, err := r.drawWrite(rng, w)
			if err != nil {
				return err
			}
			commands = append(commands, more...)
		}
		commands = append([][]string{{"MULTI"}}, append(commands, []string{"EXEC"})...)
	}
	answers, err := w.all(commands)
	if err != nil {
		return err
	}
	r.count.writes.Add(int64(len(commands)))
	for i := range answers {
		if answers[i].IsError() && strings.Contains(answers[i].Text, "internal error") {
			r.fail("writer", "%q: %s", commands[i], answers[i].Text)
		}
	}
	return nil
}

// drawWrite draws one write.
func (r *run) drawWrite(rng *rand.Rand, w *wire) ([][]string, error) {
	any := func() string { return choices["$any"][rng.IntN(len(choices["$any"]))] }
	switch n := rng.IntN(400); {
	case n < 12 && r.stormy():
		return [][]string{rareWords.draw(rng)}, nil
	case n < 30:
		return [][]string{{"SELECT", fmt.Sprint(rng.IntN(databases))}}, nil
	case n < 40:
		ago := rng.Int64N(int64(time.Second / time.Microsecond))
		return [][]string{{"HISTORY", "REVERT", any(), "TO", fmt.Sprint(time.Now().UnixMicro() - ago)}}, nil
	case n < 50:
		v, err := w.ask("DUMP", any())
		if err != nil || v.Null || v.IsError() {
			return [][]string{{"SET", "s1", "nothing to restore"}}, err
		}
		return [][]string{{"RESTORE", any(), "0", v.Text, "REPLACE"}}, nil
	}
	return [][]string{writeWords.draw(rng)}, nil
}

// compact forgets again and again.
func (r *run) compact() {
	ticker := time.NewTicker(compactEvery)
	defer ticker.Stop()
	for r.ctx.Err() == nil {
		w, err := r.asker()
		for err == nil && r.ctx.Err() == nil {
			<-ticker.C
			v, failed := w.ask("COMPACT")
			if err = failed; err != nil {
				break
			}
			if v.IsError() {
				r.fail("compactor", "%s", v.Text)
				break
			}
			r.count.passes.Add(1)
			r.count.forgotten.Add(v.Elements[1].Int())
		}
		if w != nil {
			w.Close()
		}
	}
}
