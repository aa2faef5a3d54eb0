package command

import (
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// ExpireConditions are the options of EXPIRE and its relatives.
type ExpireConditions struct {
	IfNone, IfSome, IfLater, IfSooner bool // NX, XX, GT, LT
}

func ParseExpireConditions(args [][]byte) (o ExpireConditions, err error) {
	for _, arg := range args {
		switch {
		case Is(arg, "NX"):
			o.IfNone = true
		case Is(arg, "XX"):
			o.IfSome = true
		case Is(arg, "GT"):
			o.IfLater = true
		case Is(arg, "LT"):
			o.IfSooner = true
		default:
			return o, resp.Error("ERR Unsupported option " + string(keyspace.CutAtZero(arg)))
		}
	}
	if o.IfNone && (o.IfSome || o.IfLater || o.IfSooner) {
		return o, resp.Error("ERR NX and XX, GT or LT options at the same time are not compatible")
	}
	if o.IfLater && o.IfSooner {
		return o, resp.Error("ERR GT and LT options at the same time are not compatible")
	}
	return o, nil
}

// Allow says whether an expiry may become next when it is current (0: none,
// which is later than all others).
func (o ExpireConditions) Allow(current, next int64) bool {
	switch {
	case o.IfNone && current != 0, o.IfSome && current == 0:
		return false
	case o.IfLater && (current == 0 || next <= current):
		return false
	case o.IfSooner && current != 0 && next >= current:
		return false
	}
	return true
}
