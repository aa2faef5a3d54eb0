package schema

import (
	"fmt"
	"os"

	"zombiezen.com/go/sqlite"
)

// role is what a connection is for.
type role int

const (
	writer role = iota
	checkpointer
	reader
)

// connect opens a connection with the settings of its role.
func (s *SQLite) connect(r role) (*sqlite.Conn, error) {
	flags := sqlite.OpenReadWrite
	switch {
	case r == reader:
		flags = sqlite.OpenReadOnly
	case r == writer:
		flags |= sqlite.OpenCreate
	}
	name, vfs := s.path, s.opts.VFS
	if r == writer {
		vfs = s.gather.Name()
	}
	if vfs != "" {
		name = vfsURI(s.path, vfs)
		flags |= sqlite.OpenURI
	}
	conn, err := sqlite.OpenConn(name, flags)
	if err != nil {
		return nil, s.openError(err)
	}
	conn.SetBusyTimeout(s.opts.BusyTimeout)
	for _, query := range s.settings(r) {
		if err := execute(conn, query); err != nil {
			conn.Close()
			return nil, fmt.Errorf("%s: %w", query, mapError(err))
		}
	}
	return conn, nil
}

// settings are the PRAGMAs of a connection. SQLite forgets them when it is
// closed, so every connection gets them.
func (s *SQLite) settings(r role) []string {
	cacheBytes := s.opts.ReaderCacheBytes
	if r == writer {
		cacheBytes = s.opts.WriterCacheBytes
	}
	sync := "FULL"
	if s.opts.Sync == SyncNormal {
		sync = "NORMAL"
	}
	queries := []string{
		"PRAGMA synchronous = " + sync,
		"PRAGMA wal_autocheckpoint = 0",
		"PRAGMA foreign_keys = ON",
		"PRAGMA trusted_schema = OFF",
		"PRAGMA temp_store = MEMORY",
		"PRAGMA mmap_size = 0",
		fmt.Sprintf("PRAGMA cache_size = %d", -max(cacheBytes>>10, 1)),
	}
	if r == writer && s.opts.MaxPages > 0 {
		queries = append(queries, fmt.Sprintf("PRAGMA max_page_count = %d", s.opts.MaxPages))
	}
	return queries
}

// openError adds to SQLite's "unable to open" what the system has to say.
func (s *SQLite) openError(err error) error {
	if sqlite.ErrCode(err).ToPrimary() == sqlite.ResultCantOpen {
		f, cause := os.OpenFile(s.path, os.O_RDONLY, 0)
		if cause != nil {
			return cause
		}
		f.Close()
	}
	return mapError(err)
}

// enterWAL turns on the write-ahead log. It is a property of the file.
func enterWAL(conn *sqlite.Conn) error {
	mode := ""
	err := query(conn, "PRAGMA journal_mode = WAL", func(stmt *sqlite.Stmt) {
		mode = stmt.ColumnText(0)
	})
	if err != nil {
		return fmt.Errorf("turn on the write-ahead log: %w", mapError(err))
	}
	if mode != "wal" {
		return fmt.Errorf("schema: the file system has no write-ahead log: journal mode is %q", mode)
	}
	return nil
}

// Session implements [Engine].
func (s *SQLite) Session() (Session, error) {
	conn, err := s.connect(reader)
	if err != nil {
		return nil, fmt.Errorf("open session: %w", err)
	}
	return &session{conn: conn}, nil
}
