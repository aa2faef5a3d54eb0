package redis

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/firndb/firn"
)

var backupCommands = []Command{{
	Name: "BACKUP", Args: "TO path [AT when]", Min: 2, Max: 4, Flags: Local | Admin | onWorker | NoMulti | OwnName,
	Group: "history", Since: "0.1.0", Complexity: "O(N) where N is the number of versions and index entries",
	Summary: "Writes a copy of the store, with its history, as of now or of a moment, to a file of the server's machine; a path that is not absolute is beside the store's.",
	Run:     backup,
}}

// backup answers once the copy is whole. Writes go on meanwhile.
func backup(c *Call) error {
	srv := c.Session.srv
	if !is(c.Args[0], "TO") || len(c.Args) == 3 || len(c.Args) == 4 && !is(c.Args[2], "AT") {
		return errSyntax
	}
	path := string(c.Args[1])
	if path == "" || strings.ContainsRune(path, 0) || strings.HasSuffix(path, string(filepath.Separator)) {
		return Error("ERR BACKUP needs the path of a file")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(srv.store.Stats().Path), path)
	}
	var at firn.Timestamp
	if len(c.Args) == 4 {
		var err error
		if at, err = c.Session.moment(c.Args[3]); err != nil {
			return err
		}
		at = max(at, 1) // 0 would be the newest
	}
	if err := srv.store.Backup(srv.backups, path, at, nil); err != nil {
		return backupError(err)
	}
	c.Reply.Simple("OK")
	return nil
}

// backupError tells an administrator all there is to say.
func backupError(err error) error {
	if errors.Is(err, firn.ErrCompacted) || errors.Is(err, firn.ErrFuture) {
		return err
	}
	return Error("ERR " + err.Error())
}

// EndBackups ends a BACKUP that is under way and refuses more: a server that
// shuts down does not wait for it.
func (srv *Server) EndBackups() { srv.endBackups(firn.ErrClosed) }
