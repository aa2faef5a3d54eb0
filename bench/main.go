// Command bench measures Firn side by side with redis-server and writes
// docs/benchmarks.md.
//
// Absolute figures of a shared machine mean little, so everything that Redis
// can do as well is measured on both in one run, in turns, and quoted as a
// ratio. A measurement is a function in a file of its own; -only picks some
// by name. A whole run of Firn rewrites docs/benchmarks.md, a partial one, or
// one with another -subject, prints to the terminal alone unless -out says
// where to.
//
// Every server listens on 127.0.0.1 at a free port, on a temporary directory,
// and is ended by the process that started it. A server that is found to
// listen anywhere else is stopped before anything is measured.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
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

// measurement is one thing that can be measured.
type measurement struct {
	name string
	run  func(context.Context, *lab) (section, error)
}

// measurements are run and reported in this order.
var measurements = []measurement{
	{"throughput", measureThroughput},
	{"embedded", measureEmbedded},
	{"wal", measureWAL},
	{"memory", measureMemory},
	{"open", measureOpen},
	{"stalls", measureStalls},
	{"expiry", measureExpiry},
	{"at", measureAt},
	{"history", measureHistory},
	{"compaction", measureCompaction},
	{"collections", measureCollections},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	cfg, err := parseFlags(args)
	if err != nil {
		return err
	}
	chosen, err := choose(cfg.only)
	if err != nil {
		return err
	}
	l, err := newLab(ctx, cfg)
	if err != nil {
		return err
	}
	defer l.close()
	report := report{machine: describeMachine(l), started: time.Now()}
	var failed []error
	for _, m := range chosen {
		fmt.Fprintf(os.Stderr, "measuring %s\n", m.name)
		s, err := m.run(ctx, l)
		if err != nil {
			s.failure = err.Error()
			failed = append(failed, fmt.Errorf("measure %s: %w", m.name, err))
		}
		report.sections = append(report.sections, s)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if err := report.write(out); err != nil {
		return err
	}
	if path := reportPath(cfg); path != "" {
		failed = append(failed, report.save(path))
	}
	return errors.Join(failed...)
}

func parseFlags(args []string) (config, error) {
	var cfg config
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.IntVar(&cfg.rounds, "rounds", 3, "repetitions; the median is reported")
	flags.IntVar(&cfg.requests, "requests", 100_000, "requests of one redis-benchmark run without pipelining")
	flags.IntVar(&cfg.keys, "keys", 1_000_000, "keys, and versions of one key, of the large data sets")
	flags.StringVar(&cfg.only, "only", "", "comma-separated measurements: "+strings.Join(names(), ","))
	flags.StringVar(&cfg.subject, "subject", defaultSubject, "command that starts the server under test")
	flags.StringVar(&cfg.out, "out", "", "file for the report (a whole run of Firn: docs/benchmarks.md)")
	flags.StringVar(&cfg.dir, "dir", "", "directory for the servers' files (default: the system's temporary one)")
	if err := flags.Parse(args); err != nil {
		return config{}, err
	}
	if flags.NArg() > 0 {
		return config{}, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	// 1,000 is the smallest load whose p99 is more than a handful of requests.
	if cfg.rounds < 1 || cfg.requests < 1000 || cfg.keys < 1000 {
		return config{}, errors.New("-rounds must be at least 1, -requests and -keys at least 1000")
	}
	return cfg, nil
}

// choose picks the measurements that a comma-separated list names.
func choose(only string) ([]measurement, error) {
	if only == "" {
		return measurements, nil
	}
	var chosen []measurement
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(measurements, func(m measurement) bool { return m.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no measurement %q; there are %s", name, strings.Join(names(), ", "))
		}
		chosen = append(chosen, measurements[i])
	}
	return chosen, nil
}

func names() []string {
	var names []string
	for _, m := range measurements {
		names = append(names, m.name)
	}
	return names
}

// reportPath is where the report goes besides the terminal, or nothing.
func reportPath(cfg config) string {
	switch {
	case cfg.out != "":
		return cfg.out
	case cfg.only != "" || cfg.subject != defaultSubject:
		return ""
	}
	return filepath.Join("docs", "benchmarks.md")
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
