package schema

import "fmt"

// sqlCheckpointNoop moves nothing; it only tells how long the log is. SQLite
// has it since 3.51.
const sqlCheckpointNoop = `PRAGMA wal_checkpoint(NOOP)`

// Pages implements [Appender].
func (a *appender) Pages() (total, free int64, err error) {
	if a.conn == nil {
		return 0, 0, fmt.Errorf("count pages: %w", ErrReadOnly)
	}
	if total, err = queryInt(a.conn, "PRAGMA page_count"); err == nil {
		free, err = queryInt(a.conn, "PRAGMA freelist_count")
	}
	if err != nil {
		return 0, 0, fmt.Errorf("count pages: %w", mapError(err))
	}
	return total, free, nil
}

func (a *appender) WALPages() (int64, error) {
	r, err := a.checkpoint(sqlCheckpointNoop)
	return r.LogPages, err
}
