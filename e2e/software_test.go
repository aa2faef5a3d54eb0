package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The queues, locks and rate limiters whose work is done by scripts, as their
// own programs use them: software/ has one for each. All run twice, against
// redis-server and against Firn, so that a failure of the software itself is
// told apart. docs/software.md is the table of what came.

// programLimit is far above what a program takes on a busy machine, 20 s.
const programLimit = 2 * time.Minute

// python is the one that sees Debian's packages, whichever comes first on PATH.
const python = "/usr/bin/python3"

// software is a file of software/ that prints passed and ends with status 0.
type software struct {
	name  string
	run   []string
	probe []string // succeeds where the software is installed
}

// programs are those that stand on Debian's packages.
var programs = []software{
	{"celery", []string{python, "celery_program.py"}, []string{python, "-c", "import celery, redis"}},
	{"rq", []string{python, "rq_program.py"}, []string{python, "-c", "import rq"}},
	{"redis-py", []string{python, "lock_program.py"}, []string{python, "-c", "import redis"}},
	{"django-redis", []string{python, "django_program.py"}, []string{python, "-c", "import django_redis"}},
	{"channels_redis", []string{python, "channels_program.py"}, []string{python, "-c", "import channels_redis"}},
	{"limits", []string{python, "limits_program.py"}, []string{python, "-c", "import limits, redis"}},
	{"sidekiq", []string{"ruby", "sidekiq_program.rb"}, []string{"sidekiq", "--version"}},
	{"symfony", []string{"php", "tags_program.php"}, []string{"php", "-r",
		"new Redis; require 'Symfony/Component/Cache/autoload.php'; require 'Symfony/Component/Lock/autoload.php';"}},
	{"laravel", []string{"php", "laravel_program.php"}, []string{"php", "-r",
		"new Redis; foreach (['Illuminate/Queue', 'Illuminate/Redis', 'Illuminate/Cache', 'Predis'] as $of) require \"$of/autoload.php\";"}},
	{"phpredis", []string{"php", "sessions_program.php"}, []string{"php", "-r", "new Redis;"}},
}

func TestSoftware(t *testing.T) {
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			if output, err := exec.Command(p.probe[0], p.probe[1:]...).CombinedOutput(); err != nil {
				t.Skipf("%s is not to be had: %v\n%s", p.name, err, output)
			}
			eachServer(t, func(t *testing.T, addr string) { runProgram(t, p, addr) })
		})
	}
}

// TestSoftwareOfNode runs what npm brings, in the versions of
// software/package-lock.json.
func TestSoftwareOfNode(t *testing.T) {
	if version := nodeVersion(); version < leastNode {
		t.Skipf("Node.js %d or newer is needed, found %d (0: none)", leastNode, version)
	}
	scripts, err := filepath.Glob("software/*.test.mjs")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("software/*.test.mjs: got %d files, %v, want some", len(scripts), err)
	}
	install(t, t.Context(), "software")
	for _, script := range scripts {
		script := filepath.Base(script)
		t.Run(strings.TrimSuffix(script, ".test.mjs"), func(t *testing.T) {
			t.Parallel()
			eachServer(t, func(t *testing.T, addr string) {
				ctx, cancel := context.WithTimeout(t.Context(), programLimit)
				defer cancel()
				runNode(t, ctx, "software", script, "SERVER="+addr)
			})
		})
	}
}

// eachServer checks redis-server first, where it is to be had, and then Firn.
func eachServer(t *testing.T, check func(t *testing.T, addr string)) {
	t.Helper()
	if !t.Run("redis-server", func(t *testing.T) { check(t, startRedis(t)) }) {
		t.Fatal("it fails against redis-server, too, so Firn is not asked")
	}
	t.Run("firn", func(t *testing.T) { check(t, startFirn(t)) })
}

// startRedis starts a redis-server that ends with the test. args come last, so
// they win.
func startRedis(t *testing.T, args ...string) string {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("redis-server is not on PATH")
	}
	addr, dir := freeAddr(t), t.TempDir()
	host, port, _ := strings.Cut(addr, ":")
	command := exec.Command(path, append([]string{"--bind", host, "--port", port, "--dir", dir, "--save", ""}, args...)...)
	if err := command.Start(); err != nil {
		t.Fatalf("start redis-server: %v", err)
	}
	exited := make(chan error, 1) // room for the one result, so the goroutine ends without a receiver
	go func() { exited <- command.Wait() }()
	t.Cleanup(func() {
		if err := stop(command, exited); err != nil {
			t.Errorf("stop redis-server: %v", err)
		}
	})
	if err := awaitListener(t.Context(), addr, exited); err != nil {
		t.Fatalf("start redis-server: %v", err)
	}
	return addr
}

// runProgram runs a program of software/ to its end.
func runProgram(t *testing.T, p software, addr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), programLimit)
	defer cancel()
	command := exec.CommandContext(ctx, p.run[0], p.run[1:]...)
	command.Dir = "software"
	command.Env = append(os.Environ(), "SERVER="+addr, "PYTHONDONTWRITEBYTECODE=1")
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) } // what it started ends with it
	command.WaitDelay = stopLimit
	output, err := command.CombinedOutput()
	if err != nil || !strings.HasSuffix(string(output), "passed\n") {
		t.Errorf("%s: got %v, want it to end with passed\n%s", strings.Join(p.run, " "), err, output)
	}
}
