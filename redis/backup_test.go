package redis

// BACKUP writes a store that a server can be started on, and tells an
// administrator what is wrong.

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
)

func TestBackupsAreStoresOfTheirMoment(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	dir := filepath.Dir(a.Store.Stats().Path)
	a.Run(t, "SET k old")
	ts, token := a.lastTS(t), a.Store.Token(a.Store.Bounds().Newest)
	a.Run(t, "SET k new", "HSET h f v", "ZADD z 1 a 2 b")
	Check(t, "relative path", a.Run(t, "BACKUP TO now.db"), "+OK\r\n")
	old := filepath.Join(t.TempDir(), "old.db")
	Check(t, "as of a moment", a.Run(t, "backup to "+old+" at "+ts), "+OK\r\n")
	Check(t, "as of a token", a.Run(t, "BACKUP TO token.db AT "+token), "+OK\r\n")
	for path, want := range map[string]string{
		filepath.Join(dir, "now.db"): "$3\r\nnew\r\n$1\r\nv\r\n:2\r\n:2\r\n:3\r\n", old: "$3\r\nold\r\n$-1\r\n:0\r\n:1\r\n:1\r\n",
		filepath.Join(dir, "token.db"): "$3\r\nold\r\n$-1\r\n:0\r\n:1\r\n:1\r\n",
	} {
		store, err := firn.Open(path, firn.Options{Tables: keyspace.Tables()})
		if err != nil {
			t.Fatal(err)
		}
		b := newOurs(t, New(store, Options{}))
		versions := b.Run(t, "HISTORY GET k")
		got := b.Run(t, "GET k", "HGET h f", "ZCARD z") + ":" + versions[1:2] + "\r\n" + b.Run(t, "DBSIZE")
		Check(t, path, got, want)
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestBackupsThatCannotBeMadeSayWhy(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	a.Run(t, "SET k v")
	dir := t.TempDir()
	existing := filepath.Join(dir, "existing")
	if err := os.WriteFile(existing, []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"BACKUP":                        "-ERR wrong number of arguments for 'backup' command",
		"BACKUP x y":                    "-ERR syntax error",
		"BACKUP TO x AT":                "-ERR syntax error",
		"BACKUP TO x ON 5":              "-ERR syntax error",
		"BACKUP TO x AT never":          "-ERR invalid moment",
		"BACKUP TO x AT 0":              "-COMPACTED oldest readable timestamp is ",
		"BACKUP TO x AT 4102444800s":    "-FUTURE newest timestamp is ",
		"BACKUP TO ''":                  "-ERR BACKUP needs the path of a file",
		"BACKUP TO " + dir + "/":        "-ERR BACKUP needs the path of a file",
		"BACKUP TO " + existing:         "-ERR back up to " + existing + ": create " + existing + ": file already exists",
		"BACKUP TO " + dir + "/no/such": "-ERR back up to " + dir + "/no/such: stat " + dir + "/no: no such file or directory",
		"BACKUP TO " + filepath.Base(a.Store.Stats().Path): "-ERR back up to ",
	} {
		if got := a.Run(t, command); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q", command, got, want)
		}
	}
	if got, err := os.ReadFile(existing); string(got) != "precious" {
		t.Errorf("the file in the way: got %q, %v", got, err)
	}
	a.Run(t, "ACL SETUSER app on nopass ~* +@all -@admin", "AUTH app x")
	if got := a.Run(t, "BACKUP TO x"); !strings.HasPrefix(got, "-NOPERM ") {
		t.Errorf("as no administrator: got %q, want NOPERM", got)
	}
	a.session.srv.EndBackups()
	a.Run(t, "AUTH default x")
	if got := a.Run(t, "BACKUP TO x"); !strings.HasPrefix(got, "-ERR back up to ") || !strings.Contains(got, "store is closed") {
		t.Errorf("while the server ends: got %q", got)
	}
}
