package proof

// The rule: a copy as of a moment knows what was forgotten after that moment of
// what was before.

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/firndb/firn"
)

// forgetful is a store whose clock goes on by itself.
type forgetful struct {
	*testing.T
	*firn.Store
	opts  firn.Options
	notes *firn.Table
	first firn.Timestamp // of s and gone, which have changed since
	at    firn.Timestamp // of the copy
}

func openForgetful(t *testing.T) *forgetful {
	now := time.UnixMicro(1_000_000_000)
	tick := func() time.Time {
		now = now.Add(10 * time.Millisecond)
		return now
	}
	f := &forgetful{T: t, opts: firn.Options{Durability: firn.None, CompactByHand: true, Now: tick, Tables: []firn.TableSpec{{Name: "notes"}}}}
	f.Store = openAt(t, filepath.Join(t.TempDir(), "source.db"), f.opts)
	f.notes = f.Table("notes")
	put(t, f.Store, f.notes, "s", "1")
	f.first = put(t, f.Store, f.notes, "gone", "1")
	put(t, f.Store, f.notes, "s", "2")
	_, err := f.Update(t.Context(), func(tx *firn.Tx) error { return tx.Delete(f.notes, []byte("gone"), nil) })
	f.must(err)
	f.at = put(t, f.Store, f.notes, "k", "v")
	return f
}

func (f *forgetful) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *forgetful) forget(id string, to firn.Timestamp) {
	f.Helper()
	_, err := f.Forget(f.Context(), f.notes, []byte(id), to)
	f.must(err)
}

func (f *forgetful) keep(id string, r *firn.Retention) {
	f.Helper()
	f.must(f.SetRetention(f.Context(), firn.Scope{Group: "notes", Member: id}, r))
	_, err := f.Compact(f.Context())
	f.must(err)
}

// TestCopiesKnowWhatWasForgotten copies a store as of a moment, after which
// something of an earlier one was forgotten.
func TestCopiesKnowWhatWasForgotten(t *testing.T) {
	for name, then := range map[string]func(f *forgetful){
		"forget":               func(f *forgetful) { f.forget("s", f.at) },
		"forget what is gone":  func(f *forgetful) { f.forget("gone", f.at) },
		"forget twice":         func(f *forgetful) { f.forget("s", f.at-1); f.forget("s", f.at) },
		"off":                  func(f *forgetful) { f.keep("s", &firn.Retention{Off: true}) },
		"off, and on again":    func(f *forgetful) { f.keep("s", &firn.Retention{Off: true}); f.keep("s", &firn.Retention{}) },
		"count":                func(f *forgetful) { f.keep("s", &firn.Retention{Versions: 1}) },
		"count, and no more":   func(f *forgetful) { f.keep("s", &firn.Retention{Versions: 1}); f.keep("s", nil) },
		"age":                  func(f *forgetful) { f.keep("s", &firn.Retention{Age: time.Millisecond}) },
		"off for the table":    func(f *forgetful) { f.keep("", &firn.Retention{Off: true}) },
		"forget, and a policy": func(f *forgetful) { f.forget("s", f.at); f.keep("s", &firn.Retention{Versions: 9}) },
	} {
		for _, restore := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/restore=%t", name, restore), func(t *testing.T) {
				f := openForgetful(t)
				then(f)
				put(t, f.Store, f.notes, "k", "w")
				copied := f.copied(restore)
				for _, id := range []string{"s", "gone"} {
					want := valueAt(f.Store, f.notes, id, f.first)
					if got := valueAt(copied, copied.Table("notes"), id, f.first); got != want {
						t.Errorf("%s in the copy: got %s, want %s", id, got, want)
					}
				}
			})
		}
	}
}

// copied is a copy as of f.at.
func (f *forgetful) copied(restore bool) *firn.Store {
	f.Helper()
	out := filepath.Join(f.TempDir(), "copy.db")
	left := func(firn.Scope, firn.Timestamp) error { return nil }
	if restore {
		f.must(f.Restore(f.Context(), out, f.at, nil, left))
	} else {
		f.must(f.Backup(f.Context(), out, f.at, nil, left))
	}
	o := f.opts
	o.ReadOnly = true
	return openAt(f.T, out, o)
}

// valueAt is what a document was, "forgotten", or the error.
func valueAt(s *firn.Store, table *firn.Table, id string, ts firn.Timestamp) (value string) {
	err := s.At(ts, func(snap *firn.Snapshot) error {
		value = valueOf(snap, table, id)
		_, err := snap.Get(table, []byte(id))
		return err
	})
	if errors.Is(err, firn.ErrCompacted) {
		return "forgotten"
	}
	return value
}
