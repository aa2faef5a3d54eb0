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
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// measurement is one thing that can be measured.
type measurement struct {
	name string
	run  func(context.Context, *lab) (section, error)
}

// measurements are run and reported in this order.
var measurements = []measurement{
	{"throughput", measureThroughput},
	{"tls", measureTLS},
	{"embedded", measureEmbedded},
	{"wal", measureWAL},
	{"memory", measureMemory},
	{"members", measureMembers},
	{"large", measureLarge},
	{"beyond", measureBeyond},
	{"collector", measureCollector},
	{"open", measureOpen},
	{"stalls", measureStalls},
	{"expiry", measureExpiry},
	{"readers", measureReaders},
	{"at", measureAt},
	{"history", measureHistory},
	{"compaction", measureCompaction},
	{"collections", measureCollections},
	{"ranks", measureRanks},
	{"tracking", measureTracking},
	{"feed", measureFeed},
	{"follow", measureFollow},
	{"live", measureLive},
	{"scripts", measureScripts},
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
