package redis

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/resp"
)

var backupCommands = []command.Command{{
	Name: "BACKUP", Args: "TO path [AT when] [STRICT]", Min: 2, Max: 5,
	Flags: command.Local | command.Admin | command.OnWorker | command.NoMulti | command.OwnName,
	Group: "history", Since: "0.1.0", Complexity: "O(n), n the versions and index entries",
	Summary: "Writes a copy of the store, with its history, as of now or of a moment, to a file of the server's machine; a path that is not absolute is beside the store's. " +
		"What has a policy of its own and cannot be read then is left out and named, or with STRICT refused.",
	Run: backup,
}}

// backup answers once the copy is whole. Writes go on meanwhile.
func backup(c *command.Call) error {
	srv := sessionOf(c).srv
	args := c.Args
	strict := len(args)%2 == 1 && command.Is(args[len(args)-1], "STRICT")
	if strict {
		args = args[:len(args)-1]
	}
	if !command.Is(args[0], "TO") || len(args)%2 == 1 || len(args) == 4 && !command.Is(args[2], "AT") {
		return command.ErrSyntax
	}
	path := string(c.Args[1])
	if path == "" || strings.ContainsRune(path, 0) || strings.HasSuffix(path, string(filepath.Separator)) {
		return resp.Error("ERR BACKUP needs the path of a file")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(srv.store.Stats().Path), path)
	}
	var at firn.Timestamp
	if len(args) == 4 {
		var err error
		if at, err = c.Client.Moment(c.Args[3]); err != nil {
			return err
		}
		at = max(at, 1) // 0 would be the newest
	}
	var gone leftOut
	note := gone.add
	if strict {
		note = refuse
	}
	if err := srv.store.Backup(srv.backups, path, at, nil, note); err != nil {
		return backupError(err)
	}
	c.Reply.Simple(gone.reply())
	return nil
}

// leftOut is what a backup of the past leaves out.
type leftOut struct {
	names []string // the first few
	n     int
}

// maxLeftOut is how many are named.
const maxLeftOut = 10

func (l *leftOut) add(scope firn.Scope, from firn.Timestamp) error {
	if l.n++; l.n <= maxLeftOut {
		l.names = append(l.names, fmt.Sprintf("%s (can be read from %d on)", scopeName(scope), from))
	}
	return nil
}

// refuse ends a backup that would leave something out.
func refuse(scope firn.Scope, from firn.Timestamp) error {
	return resp.Error(fmt.Sprintf("COMPACTED %s can be read from %d on: without STRICT it is left out", scopeName(scope), from))
}

// scopeName is what a policy is for, in words.
func scopeName(scope firn.Scope) string {
	if scope.Member == "" {
		return "database " + scope.Group
	}
	return fmt.Sprintf("key %q of database %s", scope.Member, scope.Group)
}

func (l *leftOut) reply() string {
	if l.n == 0 {
		return "OK"
	}
	text := "OK without " + strings.Join(l.names, ", ")
	if more := l.n - len(l.names); more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// backupError tells an administrator all there is to say.
func backupError(err error) error {
	if refused, ok := errors.AsType[resp.Error](err); ok {
		return refused
	}
	if errors.Is(err, firn.ErrCompacted) || errors.Is(err, firn.ErrFuture) {
		return err
	}
	return resp.Error("ERR " + err.Error())
}

// EndBackups ends a BACKUP that is under way and refuses more: a server that
// shuts down does not wait for it.
func (srv *Server) EndBackups() { srv.endBackups(firn.ErrClosed) }
