package redis

import "github.com/firndb/firn/reader"

// What a command keeps of a scan's items that it was lent is overwritten in all
// tests of this package, so it answers with nonsense.
func init() { reader.OverwriteLent(true) }
