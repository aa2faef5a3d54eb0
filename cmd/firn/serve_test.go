package main

import (
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What serve makes of its flags before it opens anything.

// settingsOf are the settings that flags give.
func settingsOf(t *testing.T, flags ...string) *settings {
	t.Helper()
	s := &settings{}
	c := serveFlags(s)
	if err := c.ParseFlags(flags); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestProtectedModeIsNotJudgedAtTheStart, since a password may come later: it
// is told, unless it was asked for.
func TestProtectedModeIsNotJudgedAtTheStart(t *testing.T) {
	const told = "only clients of this machine are let in"
	for _, tt := range []struct {
		flags []string
		tells bool
		open  bool
	}{
		{[]string{"--listen", "127.0.0.1:0"}, false, false},
		{[]string{"--listen", "0.0.0.0:0"}, true, false},
		{[]string{"--listen", "0.0.0.0:0", "--protected-mode", "no"}, false, true},
	} {
		s := settingsOf(t, tt.flags...)
		if err := s.validate(); err != nil {
			t.Errorf("%q: got %v, want no error", tt.flags, err)
		}
		var log strings.Builder
		s.warnOpen(slog.New(slog.NewTextHandler(&log, nil)))
		if got := strings.Contains(log.String(), told); got != tt.tells {
			t.Errorf("%q: got log %q, want to be warned: %t", tt.flags, log.String(), tt.tells)
		}
		if got := s.redisOptions().Exposed; got != tt.open {
			t.Errorf("%q: got exposed %t, want %t", tt.flags, got, tt.open)
		}
	}
}

// TestATakenPortLeavesNoFile behind, and says what to do.
func TestATakenPortLeavesNoFile(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address, dir := taken.Addr().String(), t.TempDir()
	s := settingsOf(t, "--listen", address)
	s.path = filepath.Join(dir, "firn.db")
	want := "cannot listen on " + address + ": the port is taken: choose another with --listen"
	if err := s.serve(t.Context(), io.Discard); err == nil || err.Error() != want {
		t.Errorf("serve:\n got %v\nwant %s", err, want)
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("left behind: got %v (%v), want nothing", left, err)
	}
}
