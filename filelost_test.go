package firn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/schema/schematest"
)

// A store whose file is deleted or replaced, or that somebody else has written
// to, stops: nothing more is acknowledged that would be lost.

// logText is a logger's output.
type logText struct {
	sync.Mutex
	bytes.Buffer
}

func (l *logText) Write(p []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.Buffer.Write(p)
}

func (l *logText) text() string {
	l.Lock()
	defer l.Unlock()
	return l.String()
}

func TestStoreStopsWhenItsFileIsGone(t *testing.T) {
	for name, harm := range map[string]func(path string) error{
		"deleted":     os.Remove,
		"log deleted": func(path string) error { return os.Remove(path + "-wal") },
		"replaced": func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, nil, 0o644))
		},
	} {
		for durability, limit := range map[Durability]int{Always: 1, EverySecond: 1 << 30, None: 1 << 30} {
			t.Run(name+"/"+fmt.Sprint(int(durability)), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "gone.db")
				var log logText
				s, err := Open(path, Options{Durability: durability, Logger: slog.New(slog.NewTextHandler(&log, nil))})
				if err != nil {
					t.Fatal(err)
				}
				write := func() error {
					_, err := s.Update(context.Background(), func(tx *Tx) error {
						return tx.write(s.internal.holds, []byte("x"), Document{Value: []byte("{}"), JSON: true})
					})
					return err
				}
				if err := errors.Join(write(), harm(path)); err != nil {
					t.Fatal(err)
				}
				acknowledged := 0
				for end := time.Now().Add(20 * time.Second); acknowledged < limit && time.Now().Before(end); acknowledged++ {
					if err = write(); err != nil {
						break
					}
				}
				if !errors.Is(err, ErrInDoubt) || !errors.Is(err, schema.ErrReplaced) {
					t.Errorf("write to a file that is gone: got %v, want ErrInDoubt and why", err)
				}
				if err := s.Close(); !errors.Is(err, ErrInDoubt) {
					t.Errorf("close: got %v, want ErrInDoubt", err)
				}
				if !strings.Contains(log.text(), "deleted or replaced") {
					t.Errorf("log: got %q, want it to say that the file was deleted or replaced", log.text())
				}
			})
		}
	}
}

func TestStoreStopsWhenOthersWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shared.db")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Hold(t.Context(), Hold{Name: "a", Until: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	schematest.Write(t, path)
	for range 2 {
		if err := s.Hold(t.Context(), Hold{Name: "b", Until: time.Now().Add(time.Hour)}); !errors.Is(err, ErrInDoubt) || !errors.Is(err, schema.ErrChanged) {
			t.Errorf("write after another process's: got %v, want ErrInDoubt and why", err)
		}
	}
	if err := s.Close(); !errors.Is(err, ErrInDoubt) {
		t.Errorf("close: got %v, want ErrInDoubt", err)
	}
}

// TestLostCommitsAreTold damages the write-ahead log as a crash has left it.
func TestLostCommitsAreTold(t *testing.T) {
	path, crashed := filepath.Join(t.TempDir(), "a.db"), filepath.Join(t.TempDir(), "b.db")
	s, err := Open(path, Options{Durability: None})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 20 {
		if err := s.Hold(t.Context(), Hold{Name: fmt.Sprint(n), Until: time.Now().Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, suffix := range []string{"", "-wal"} {
		text, err := os.ReadFile(path + suffix)
		if suffix != "" {
			text[len(text)/2] ^= 1
		}
		if err := errors.Join(err, os.WriteFile(crashed+suffix, text, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var told []string
	if n, err := Check(crashed, func(problem string) { told = append(told, problem) }); err != nil || n != 1 || !strings.Contains(told[0], "cannot be read") {
		t.Errorf("check: got %q, %v, want the damage told", told, err)
	}
	var log logText
	if s, err = Open(crashed, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}); err != nil {
		t.Fatal(err)
	}
	lost, held := s.Stats().WALLostCommits, len(s.Holds())
	if lost == 0 || lost > 20-int64(held) || lost < 19-int64(held) {
		t.Errorf("commits behind damage: got %d, of 20 holds there are %d", lost, held)
	}
	if !strings.Contains(log.text(), "commits were lost from the write-ahead log") {
		t.Errorf("log: got %q, want it to tell of lost commits", log.text())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := Check(crashed, func(problem string) { t.Error(problem) }); err != nil || n != 0 {
		t.Errorf("check after it was opened: got %d problems, %v, want none", n, err)
	}
}
