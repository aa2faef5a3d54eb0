package keyspace

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/firndb/firn"
)

// A version that RENAME, COPY or MOVE has made says which key it was taken
// from, by the number of the database: what that key was is in its own history,
// before the moment of the version. One that RESTORE has made has the checksum
// of the payload, which whoever keeps payloads can compare. The elements that a
// key has in common with its source, or are copied, say nothing.

// dumpOrigin begins the origin of what was restored.
const dumpOrigin = "dump:"

// DumpOrigin is the origin of a version that was made from a payload of DUMP.
func DumpOrigin(payload []byte) []byte {
	const checksumBytes = 8 // at the end, least significant byte first
	sum := slices.Clone(payload[max(len(payload)-checksumBytes, 0):])
	slices.Reverse(sum)
	return hex.AppendEncode([]byte(dumpOrigin), sum)
}

// Origin is where a version comes from that is taken from the slot's key: the
// key itself, or where it came from if that was in the same transaction.
func (s *Slot) Origin() []byte {
	if s.Key.Origin != nil {
		return s.Key.Origin
	}
	return OriginKey(s.DB, s.Name)
}

// OriginKey is the origin of what is taken from a key.
func OriginKey(db int, key []byte) []byte {
	return append(append(strconv.AppendInt(nil, int64(db), 10), ':'), key...)
}

// ParseOrigin undoes OriginKey; ok is false if b is no key.
func ParseOrigin(b []byte) (db int, key []byte, ok bool) {
	number, key, ok := bytes.Cut(b, []byte(":"))
	if !ok {
		return 0, nil, false
	}
	db, err := strconv.Atoi(string(number))
	return db, key, err == nil
}

// From is where the key came from by the event, as versions keep it; nil if
// from nowhere.
func (e *Event) From() []byte {
	if e.Began {
		return nil // the version is older
	}
	return e.Key.Origin
}

// Follow visits what happened to a key, newest first, and from where it came
// from another key on what happened to that one before: the history of what is
// there, whatever it was called. Limit is of all. What else had the name before
// is not visited. q must ask for the newest first.
func (h *Chronicle) Follow(key []byte, q HistoryQuery, visit func(db int, key []byte, e *Event) bool) error {
	for all := q.Limit; ; {
		var came *Event
		seen := 0
		err := h.Each(key, &q, func(e *Event) bool {
			seen++
			if !visit(h.V.DB, key, e) {
				return false
			}
			if _, _, ok := ParseOrigin(e.From()); ok {
				came = e
			}
			return came == nil
		})
		q.Limit -= seen
		if err != nil || came == nil || all > 0 && q.Limit <= 0 {
			return err
		}
		if q.Until = came.TS - 1; q.Until < max(q.Since, firn.Timestamp(1)) {
			return nil
		}
		if all == 0 {
			q.Limit = 0
		}
		db, source, _ := ParseOrigin(came.From())
		if h, err = NewChronicle(h.V.in(db)); err != nil {
			return err
		}
		key = source
	}
}
