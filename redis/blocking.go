package redis

import (
	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
)

// patience is what a command may do that finds nothing.
func (s *Session) patience(u *unit, tx *firn.Tx) command.Patience {
	switch {
	case u.cmd.Flags&command.Blocks == 0 || s.multi.on || s.asof != 0:
		return command.RepliesAtOnce
	case tx == nil:
		return command.ParksLater
	}
	return command.ParksNow
}
