package schema

// sqlCheckpointNoop moves nothing; it only tells how long the log is. SQLite
// has it since 3.51.
const sqlCheckpointNoop = `PRAGMA wal_checkpoint(NOOP)`

func (a *appender) WALPages() (int64, error) {
	r, err := a.checkpoint(sqlCheckpointNoop)
	return r.LogPages, err
}
