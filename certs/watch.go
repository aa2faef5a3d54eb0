package certs

import (
	"context"
	"os"
	"time"
)

// WatchEvery is how often Run looks whether files have changed. They are read
// and compared, which sees every way of replacing them, links as well.
const WatchEvery = 10 * time.Second

// Run reads the files again when they change, and when a signal comes, until
// ctx ends; then it returns nil. What cannot be read is logged, once, and
// what was read before holds. A nil channel sends no signal.
func (s *Store) Run(ctx context.Context, reload <-chan os.Signal) error {
	ticker := time.NewTicker(WatchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-reload:
			s.follow(true)
		case <-ticker.C:
			s.follow(false)
		}
	}
}

// follow reads the files. What is as it was is adopted, and a failure told
// again, only if asked is true.
func (s *Store) follow(asked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, err := load(s.settings)
	switch {
	case err != nil && (asked || err.Error() != s.failed):
		s.failed = err.Error()
		s.logger.Error("certificates not read: the old ones stay", "error", err)
	case err == nil && (asked || now.sum != s.current.Load().sum || s.failed != ""):
		s.adoptLocked(s.settings, now)
	}
}
