package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// startLimit bounds the wait for a server's first answer. Opening a
	// million keys after a kill is the longest case, and it takes seconds.
	startLimit = 2 * time.Minute

	// stopLimit bounds the wait after SIGTERM before SIGKILL follows: a
	// clean stop may have a whole write-ahead log to move.
	stopLimit = 30 * time.Second
)

// server is one running process and its files. It is started by start, used
// by one measurement, and ended by stop or kill, which the measurement defers.
type server struct {
	label   string
	dir     string   // its files; kept when the server stops, so it can restart
	command []string // program and arguments
	port    int

	benchmarkFlags []string // what redis-benchmark has to be told to reach it

	process *exec.Cmd
	exited  chan error // receives once, when the process has ended
	opened  time.Duration
}

// addr is where the server listens.
func (s *server) addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// path is the store's file, for a server that has one.
func (s *server) path() string { return filepath.Join(s.dir, "bench.db") }

// redisServer plans a redis-server. fsync is an appendfsync policy, or
// "memory" for one without a file. Rewriting the AOF is off: it would fall
// into one run and not into the next.
func (l *lab) redisServer(fsync string) (*server, error) {
	command := "redis-server --bind 127.0.0.1 --port {port} --dir {dir} --daemonize no --auto-aof-rewrite-percentage 0 --save"
	if fsync != "memory" {
		command += " {none} --appendonly yes --appendfsync {fsync}"
	} else {
		command += " {none} --appendonly no"
	}
	return l.plan("redis "+fsync, command, fsync)
}

// subject plans the server under test. flags are passed where its command
// has {flags}.
func (l *lab) subject(fsync string, flags ...string) (*server, error) {
	return l.plan("firn "+fsync, l.cfg.subject, fsync, flags...)
}

// plan makes a directory and a command from a template. The words in braces:
// {firn} the built binary, {dir} the server's directory, {path} a file in it,
// {addr} and {port} where to listen, {fsync} always, everysec or no, {flags}
// further arguments, {none} an empty argument.
func (l *lab) plan(label, template, fsync string, flags ...string) (*server, error) {
	dir, err := os.MkdirTemp(l.dir, strings.ReplaceAll(label, " ", "-")+"-")
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", label, err)
	}
	port, err := freePort()
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", label, err)
	}
	s := &server{label: label, dir: dir, port: port}
	s.command = expand(template, map[string]string{
		"{firn}": l.firn, "{dir}": dir, "{path}": s.path(), "{addr}": s.addr(),
		"{port}": strconv.Itoa(port), "{fsync}": fsync, "{none}": "",
	}, flags)
	return s, nil
}

// expand fills a template's words in. A word {flags} becomes all of flags.
func expand(template string, words map[string]string, flags []string) []string {
	var command []string
	for word := range strings.FieldsSeq(template) {
		if word == "{flags}" {
			command = append(command, flags...)
			continue
		}
		for name, value := range words {
			word = strings.ReplaceAll(word, name, value)
		}
		command = append(command, word)
	}
	return command
}

// freePort asks the system for a port that nothing listens on.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// start runs the process and returns when it answers PING; opened is how long
// that took. It returns an error, with the end of what the server printed,
// when the server ends or answers nothing in time, and when it listens on
// anything but loopback. After an error no process is left.
func (s *server) start(ctx context.Context) error {
	output, err := os.Create(filepath.Join(s.dir, "output.log"))
	if err != nil {
		return fmt.Errorf("start %s: %w", s.label, err)
	}
	defer output.Close()
	s.process = exec.CommandContext(ctx, s.command[0], s.command[1:]...)
	s.process.Stdout, s.process.Stderr = output, output
	s.process.Cancel = func() error { return s.process.Process.Signal(syscall.SIGTERM) }
	s.process.WaitDelay = stopLimit
	began := time.Now()
	if err := s.process.Start(); err != nil {
		return fmt.Errorf("start %s: %w", s.label, err)
	}
	exited := make(chan error, 1) // room for the one result, so the goroutine ends without a receiver
	s.exited = exited
	go func(process *exec.Cmd) { exited <- process.Wait() }(s.process)
	if err := s.awaitPing(ctx); err != nil {
		return fmt.Errorf("start %s: %w\n%s", s.label, errors.Join(err, s.kill()), tail(output.Name()))
	}
	s.opened = time.Since(began)
	if err := onlyLoopback(s.port); err != nil {
		return fmt.Errorf("start %s: %w", s.label, errors.Join(err, s.kill()))
	}
	return nil
}

// awaitPing tries every millisecond, which is the resolution of the opening
// times.
func (s *server) awaitPing(ctx context.Context) error {
	limit := time.NewTimer(startLimit)
	defer limit.Stop()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for {
		if s.answersPing() {
			return nil
		}
		select {
		case <-s.exited:
			state := s.process.ProcessState.String()
			s.process = nil
			return fmt.Errorf("it ended before it answered: %s", state)
		case <-limit.C:
			return fmt.Errorf("no answer to PING in %v", startLimit)
		case <-ctx.Done():
			return ctx.Err()
		case <-again.C:
		}
	}
}

func (s *server) answersPing() bool {
	c, err := dial(s.addr())
	if err != nil {
		return false
	}
	defer c.close()
	reply, err := c.do("PING")
	return err == nil && reply == "PONG"
}

// stop ends the server as an operator would and waits for it. A server that
// does not end in time is killed, which is an error. Stopping one that does
// not run is none.
func (s *server) stop() error {
	if s.process == nil {
		return nil
	}
	process := s.process
	if err := process.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop %s: %w", s.label, err)
	}
	select {
	case <-s.exited:
		s.process = nil
		return nil
	case <-time.After(stopLimit):
		return errors.Join(fmt.Errorf("stop %s: still running after %v", s.label, stopLimit), s.kill())
	}
}

// kill ends the server as a crash would and waits for it.
func (s *server) kill() error {
	if s.process == nil {
		return nil
	}
	err := s.process.Process.Kill()
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	<-s.exited
	s.process = nil
	return err
}

// pid is the process's id, for reading about it under /proc.
func (s *server) pid() int { return s.process.Process.Pid }

// tail is the end of a log file, for an error message.
func tail(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	// 2,000 bytes are the last twenty-odd lines.
	if len(text) > 2000 {
		text = text[len(text)-2000:]
	}
	return string(text)
}
