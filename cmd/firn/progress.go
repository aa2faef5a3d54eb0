package main

import (
	"fmt"
	"io"
	"time"
)

// progress shows how far a copy has come: a line that is written over on a
// terminal, a line now and then elsewhere, nothing if quiet.
type progress struct {
	out      io.Writer
	terminal bool
	quiet    bool
	now      func() time.Time

	began, shown time.Time
	finished     bool // all of it was shown
}

const (
	drawEvery = 100 * time.Millisecond
	lineEvery = 10 * time.Second // in a log
)

func newProgress(out io.Writer, quiet bool) *progress {
	return &progress{out: out, terminal: isTerminal(out), quiet: quiet, now: time.Now, began: time.Now()}
}

// show is told of done of total bytes.
func (p *progress) show(done, total int64) {
	now, every := p.now(), lineEvery
	if p.terminal {
		every = drawEvery
	}
	if p.quiet || p.finished || now.Sub(p.shown) < every && done < total || p.shown.IsZero() && !p.terminal && now.Sub(p.began) < every {
		return
	}
	p.shown, p.finished = now, done >= total
	line := p.line(done, total, now.Sub(p.began))
	if p.terminal {
		fmt.Fprintf(p.out, "\r\x1b[K%s", line)
		return
	}
	fmt.Fprintln(p.out, line)
}

// line is a percentage, what is done, the rate and what is left. Half of the
// bytes are those that are read again to check them.
func (p *progress) line(done, total int64, spent time.Duration) string {
	what := "copying"
	if 2*done >= total {
		what = "checking"
	}
	percent := done * 100 / max(total, 1)
	line := fmt.Sprintf("%3d %%  %s", percent, what)
	if spent < time.Second || done == 0 {
		return line
	}
	rate := float64(done) / spent.Seconds()
	left := time.Duration(float64(total-done) / rate * float64(time.Second))
	return fmt.Sprintf("%s  %s/s  %s left", line, size(int64(rate)), duration(left))
}

// end wipes the line.
func (p *progress) end() {
	if p.terminal && !p.shown.IsZero() {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// size is a number of bytes for people.
func size(bytes int64) string {
	units, n, unit := []string{"B", "kB", "MB", "GB", "TB"}, float64(bytes), 0
	for n >= 1000 && unit < len(units)-1 {
		n, unit = n/1000, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", bytes)
	}
	return fmt.Sprintf("%.1f %s", n, units[unit])
}
