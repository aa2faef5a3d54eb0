package redis

// The rule: after a crash a library is there with all its functions, or not at
// all, and what was acknowledged is there.

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/tuple"
)

// libraryID is the id of a library's document.
func libraryID(name string) []byte { return tuple.AppendString(tuple.AppendInt(nil, 0), name) }

// numberedLibrary has n functions, which return n.
func numberedLibrary(n int) []byte {
	code := []byte("#!lua name=l\n")
	for i := range n {
		code = fmt.Appendf(code, "redis.register_function('f%d', function() return %d end)\n", i, n)
	}
	return code
}

func TestLibrariesAreWholeAfterACrash(t *testing.T) {
	path, random := filepath.Join(t.TempDir(), "firn.db"), seed.Fresh(t).Rand(3)
	store, err := firn.Open(path, firn.Options{Tables: keyspace.Tables(), Durability: firn.None})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	a := newOurs(t, New(store, Options{}))
	const loads = 12
	var points []int64
	for n := 1; n <= loads; n++ {
		if got := string(a.tell(t, []byte("FUNCTION"), []byte("LOAD"), []byte("REPLACE"), numberedLibrary(n))); got != "$1\r\nl\r\n" {
			t.Fatal(got)
		}
		wal, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		points = append(points, wal.Size())
	}
	db, err := os.ReadFile(path)
	wal, walErr := os.ReadFile(path + "-wal")
	if err := errors.Join(err, walErr); err != nil {
		t.Fatal(err)
	}
	cuts := []int64{0, int64(len(wal))}
	for _, p := range points {
		cuts = append(cuts, p-1, p, p-random.Int64N(4096))
	}
	seen := map[int]bool{}
	for _, cut := range cuts {
		acknowledged := 0
		for acknowledged < loads && points[acknowledged] <= cut {
			acknowledged++
		}
		n := librariesAfter(t, db, wal[:cut])
		if n < acknowledged {
			t.Errorf("log cut at %d: got load %d, want %d or more", cut, n, acknowledged)
		}
		seen[n] = true
	}
	if len(seen) < loads {
		t.Errorf("the cuts left %d different loads, want most of %d", len(seen), loads)
	}
}

// librariesAfter opens what a crash has left and says which load is there, 0 for
// none. All of it has to be.
func librariesAfter(t *testing.T, db, wal []byte) (n int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cut.db")
	if err := errors.Join(os.WriteFile(path, db, 0o644), os.WriteFile(path+"-wal", wal, 0o644)); err != nil {
		t.Fatal(err)
	}
	store, err := firn.Open(path, firn.Options{Tables: keyspace.Tables()})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	err = store.View(func(snap *firn.Snapshot) error {
		v := keyspace.NewView(keyspace.NewCatalog(store, 1), nil).At(snap)
		libraries, functions, err := keyspace.CountLibraries(v)
		if n = functions; err != nil || libraries != min(n, 1) {
			t.Errorf("got %d libraries and %d functions, %v", libraries, functions, err)
		}
		l, ok, err := keyspace.FindLibrary(v, []byte("l"))
		if err != nil || ok != (n > 0) || ok && !bytes.Equal(l.Code, numberedLibrary(n)) {
			t.Errorf("library of %d functions: got %q %t %v", n, l.Code, ok, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	b := newOurs(t, New(store, Options{}))
	for i := range n {
		Check(t, "call", b.Run(t, fmt.Sprintf("FCALL f%d 0", i)), fmt.Sprintf(":%d\r\n", n))
	}
	Check(t, "no other", b.Run(t, fmt.Sprintf("FCALL f%d 0", n)), "-ERR Function not found\r\n")
	return n
}
