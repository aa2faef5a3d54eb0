package redis

import (
	"os"
	"testing"

	"github.com/firndb/firn/internal/byhand"
)

// TestMain leaves compaction to the tests: their horizons are where they put
// them.
func TestMain(m *testing.M) {
	byhand.Compaction.Store(true)
	os.Exit(m.Run())
}
