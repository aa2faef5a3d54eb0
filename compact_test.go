package firn

import (
	"context"
)

// moveHorizon moves the store's horizon, and everything that may go does.
func (s *Store) moveHorizon(ctx context.Context, ts Timestamp) error {
	_, err := s.Prune(ctx, ts)
	return err
}
