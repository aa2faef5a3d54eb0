package proof

// Bugs that others had with compaction, one test each: none is here.

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
)

// pruneTo prunes, and says nothing.
func (l *lab) pruneTo(ts firn.Timestamp) {
	l.Helper()
	if _, err := l.Prune(l.Context(), ts); err != nil {
		l.Fatal(err)
	}
}

// end deletes a document, a millisecond later.
func (l *lab) end(table, id string) firn.Timestamp {
	l.Helper()
	l.now = l.now.Add(time.Millisecond)
	ts, err := l.Update(l.Context(), func(tx *firn.Tx) error { return tx.Delete(l.Table(table), []byte(id), []byte("why")) })
	if err != nil {
		l.Fatal(err)
	}
	return ts
}

// TestTimeDoesNotGoBackAfterCompaction: when nothing at all is left in the log,
// the horizon alone says how far time had got.
func TestTimeDoesNotGoBackAfterCompaction(t *testing.T) {
	l := newLab(t)
	l.write("notes", "ada", "1", "2")
	last := l.end("notes", "ada")
	horizon := last + 1_000_000
	l.now = horizon.Time()
	l.pruneTo(horizon)
	l.now = time.UnixMicro(1_000_000) // and the clock has stepped back
	l.reopen()
	if b := l.Bounds(); b.Oldest != horizon || b.Newest < horizon {
		t.Errorf("bounds: got %+v, want both %d", b, horizon)
	}
	if ts := l.write("notes", "ada", "3")[0]; ts <= horizon {
		t.Errorf("a commit after the horizon %d: got %d", horizon, ts)
	}
	l.want("at the horizon", l.at(horizon, "notes", "ada"), firn.ErrNotFound.Error())
}

// TestDeletionsAtTheHorizonAreNotDropped: a tombstone is listed as long as the
// moment before it can be read, and Diff and Changed tell of it.
func TestDeletionsAtTheHorizonAreNotDropped(t *testing.T) {
	l := newLab(t)
	notes := l.Table("notes")
	written := l.write("notes", "ada", "1", "2")
	deleted := l.end("notes", "ada")
	l.write("notes", "bob", "x")
	history := func() string {
		var all []string
		for doc, err := range l.History(notes, []byte("ada"), firn.VersionRange{}) {
			if err != nil {
				return err.Error()
			}
			all = append(all, fmt.Sprintf("%s deleted=%t", doc.Value, doc.Deleted))
		}
		return strings.Join(all, ", ")
	}
	changed := func(from firn.Timestamp) string {
		var all []string
		err := l.Changed(notes, nil, from, deleted, func(doc *firn.Document) error {
			all = append(all, fmt.Sprintf("%s deleted=%t", doc.ID, doc.Deleted))
			return nil
		})
		return told(all, err)
	}
	l.pruneTo(deleted - 1)
	l.want("history just before", history(), "2 deleted=false, why deleted=true")
	l.want("changes just before", changed(deleted-1), "ada deleted=true")
	l.want("what was deleted", l.at(deleted-1, "notes", "ada"), "2")
	l.want("the deletion", l.at(deleted, "notes", "ada"), firn.ErrNotFound.Error())
	l.pruneTo(deleted)
	l.want("history at the horizon", history(), "")
	l.want("changes from before", changed(written[1]), compactedAt(written[1], deleted))
	l.want("at the horizon", l.at(deleted, "notes", "ada"), firn.ErrNotFound.Error())
	l.want("before it", l.at(deleted-1, "notes", "ada"), compactedAt(deleted-1, deleted))
}

// TestTransactionsCannotReadWhatIsForgotten: not "not found", and the
// transaction goes on.
func TestTransactionsCannotReadWhatIsForgotten(t *testing.T) {
	l := newLab(t)
	written := l.write("notes", "ada", "1", "2", "3")
	l.pruneTo(written[1])
	if _, err := l.Update(t.Context(), func(tx *firn.Tx) error {
		for i, want := range []string{compactedAt(written[0], written[1]), "2", "3"} {
			got := ""
			err := tx.At(written[i], func(s *firn.Snapshot) error {
				got = valueOf(s, l.Table("notes"), "ada")
				return nil
			})
			l.want(fmt.Sprint("version ", i+1), told([]string{got}, err), want)
		}
		return tx.Put(l.Table("notes"), []byte("ada"), []byte("4"))
	}); err != nil {
		t.Fatal(err)
	}
	l.want("afterwards", l.at(l.Bounds().Newest, "notes", "ada"), "4")
}

// TestDeletedDocumentsStayDeleted: pruning a tombstone leaves no older version
// to be found, whatever came before: another policy, a restart, a hold.
func TestDeletedDocumentsStayDeleted(t *testing.T) {
	for name, before := range map[string]func(l *lab, written []firn.Timestamp){
		"nothing": func(*lab, []firn.Timestamp) {},
		"pruned":  func(l *lab, written []firn.Timestamp) { l.pruneTo(written[1]) },
		"counted": func(l *lab, _ []firn.Timestamp) { l.set(firn.Scope{Group: "notes"}, &firn.Retention{Versions: 2}) },
		"then off": func(l *lab, w []firn.Timestamp) {
			l.pruneTo(w[0])
			l.set(firn.Scope{Group: "notes"}, &firn.Retention{Off: true})
		},
		"then off, opened": func(l *lab, _ []firn.Timestamp) {
			l.set(firn.Scope{Group: "notes"}, &firn.Retention{Off: true})
			l.reopen()
		},
		"held": func(l *lab, w []firn.Timestamp) {
			if err := l.Hold(l.Context(), firn.Hold{Name: "h", At: w[1], Until: l.now.Add(time.Hour)}); err != nil {
				l.Fatal(err)
			}
			l.pruneTo(w[2])
			if _, err := l.Release(l.Context(), "h"); err != nil {
				l.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			written := l.write("notes", "ada", "1", "2", "3", "4")
			deleted := l.end("notes", "ada")
			before(l, written)
			if _, err := l.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			l.pruneTo(deleted)
			for range 2 {
				l.want("afterwards", l.at(l.Bounds().Newest, "notes", "ada"), firn.ErrNotFound.Error())
				l.reopen()
			}
			if name == "counted" {
				return // it keeps two, the tombstone among them
			}
			rows := 0
			if err := l.Log(0, 0, func(table string, _ *firn.Document) error {
				if table == "notes" {
					rows++
				}
				return nil
			}); err != nil || rows > 0 {
				t.Errorf("rows left: got %d, %v, want none", rows, err)
			}
		})
	}
}

// TestAPausedReaderIsNotServedStale: a snapshot that was made before a pause
// keeps what it sees; the next one does not see what was forgotten meanwhile.
func TestAPausedReaderIsNotServedStale(t *testing.T) {
	l := newLab(t)
	l.set(firn.Scope{}, &firn.Retention{Age: time.Second})
	written := l.write("notes", "ada", "1", "2", "3")
	if err := l.At(written[0], func(s *firn.Snapshot) error {
		l.now = l.now.Add(time.Hour) // the process was stopped
		if _, err := l.Compact(t.Context()); err != nil {
			return err
		}
		l.want("the reader", valueOf(s, l.Table("notes"), "ada"), "1")
		l.want("another", l.at(written[0], "notes", "ada"), compactedAt(written[0], l.Bounds().Oldest))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.want("the present", l.at(l.Bounds().Oldest, "notes", "ada"), "3")
}

// TestTheFileShrinksAfterPruning: what is pruned is free, and Vacuum returns
// it.
func TestTheFileShrinksAfterPruning(t *testing.T) {
	l := newLab(t)
	big := strings.Repeat("x", 64<<10)
	for range 60 {
		l.write("notes", "ada", big)
	}
	if err := l.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	size := func() int64 {
		info, err := os.Stat(l.path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	l.pruneTo(l.Bounds().Newest)
	if _, err := l.Vacuum(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := size(); before < 3<<20 || after > before/10 {
		t.Errorf("the file: got %d bytes after pruning, want less than a tenth of %d", after, before)
	}
	l.want("the present", l.at(l.Bounds().Newest, "notes", "ada"), big)
}
