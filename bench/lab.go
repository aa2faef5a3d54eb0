package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// defaultSubject is how Firn is started; see subject for the words in braces.
const defaultSubject = "{firn} serve {path} --listen {addr} --fsync {fsync} {flags}"

// config is what the flags say.
type config struct {
	rounds   int    // repetitions, of which the median counts; at least 1
	requests int    // requests of one redis-benchmark run without pipelining
	keys     int    // keys of the large data set
	only     string // comma-separated names; empty means all
	subject  string // command template of the server under test
	out      string // file for the report; empty means decide by what was run
	dir      string // where temporary directories are made; empty means the system's
}

// lab is what the measurements share: the programs and a place for files.
type lab struct {
	cfg  config
	firn string // path of the built binary; empty when the subject does not use it
	dir  string // removed by close
}

// newLab makes the directory, checks that Redis's programs are there and
// builds Firn when the subject is Firn.
func newLab(ctx context.Context, cfg config) (*lab, error) {
	for _, program := range []string{"redis-server", "redis-benchmark"} {
		if _, err := exec.LookPath(program); err != nil {
			return nil, fmt.Errorf("%s is not on PATH: install Debian's redis-server and redis-tools", program)
		}
	}
	dir, err := os.MkdirTemp(cfg.dir, "firn-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for the servers: %w", err)
	}
	l := &lab{cfg: cfg, dir: dir}
	if !strings.Contains(cfg.subject, "{firn}") {
		return l, nil
	}
	l.firn = filepath.Join(dir, "firn")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", l.firn, "./cmd/firn")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		l.close()
		return nil, fmt.Errorf("build ./cmd/firn: %w\n%s", err, output)
	}
	return l, nil
}

// close removes the files. The servers have been ended by then.
func (l *lab) close() { _ = os.RemoveAll(l.dir) }
