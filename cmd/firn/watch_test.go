package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Who watches gets every commit once, whatever becomes of the server.

// watched starts firn serve on a store and a socket in dir. stop ends it.
func watched(t *testing.T, dir string) (p *peer, stop func()) {
	t.Helper()
	server := exec.Command("firn", "serve", "a.db", "--listen", "127.0.0.1:0", "--unix", "s", "--fsync", "no")
	server.Dir = dir
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			server.Process.Signal(syscall.SIGTERM)
			server.Wait()
		}
	}
	t.Cleanup(stop)
	conn, err := dial(t.Context(), "unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return newPeer(conn), stop
}

func TestWatchGoesOnAfterTheServerWasRestarted(t *testing.T) {
	for _, what := range []string{"server", "file"} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			p, stop := watched(t, dir)
			if _, err := p.ask("SET", "k", "0"); err != nil {
				t.Fatal(err)
			}
			where := "unix://" + filepath.Join(dir, "s")
			if what == "file" {
				where = filepath.Join(dir, "a.db")
			}
			out, in := io.Pipe()
			log := new(bytes.Buffer)
			w := &watch{query: &watchQuery{json: true, values: true}, token: "-1h", out: bufio.NewWriter(in), log: log}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- w.run(ctx, where) }()
			lines := bufio.NewScanner(out)
			for i := range 30 {
				if i%10 == 9 {
					stop()
					p, stop = watched(t, dir)
				}
				if i > 0 {
					if _, err := p.ask("SET", "k", fmt.Sprint(i)); err != nil {
						t.Fatal(err)
					}
				}
				checkWatched(t, lines, i)
			}
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("got %v, want nil", err)
			}
			if !strings.Contains(log.String(), "firn: go on with --from "+w.token+"\n") || !strings.HasPrefix(w.token, "@") {
				t.Errorf("got %q, want the token %s to go on from", log, w.token)
			}
			if lost := strings.Count(log.String(), "trying again"); what == "server" && lost == 0 {
				t.Errorf("got %q, want that the server was lost", log)
			}
		})
	}
}

// checkWatched reads the next commit, which sets k to n.
func checkWatched(t *testing.T, lines *bufio.Scanner, n int) {
	t.Helper()
	timer := time.AfterFunc(30*time.Second, func() { panic("nothing was printed for 30 s") })
	defer timer.Stop()
	if !lines.Scan() {
		t.Fatal(lines.Err())
	}
	var commit struct {
		Changes []struct{ Key, Operation, Value string }
	}
	if err := json.Unmarshal(lines.Bytes(), &commit); err != nil {
		t.Fatalf("%s: %v", lines.Bytes(), err)
	}
	if len(commit.Changes) != 1 || commit.Changes[0].Value != fmt.Sprint(n) {
		t.Fatalf("got %s, want k to be %d", lines.Bytes(), n)
	}
}
