package redis

import (
	"strconv"
	"strings"

	"github.com/firndb/firn/resp"
)

// eventClass is a class of keyspace notifications, or a set of them.
type eventClass uint32

// The classes, each with a letter of Redis's in notify-keyspace-events.
const (
	eventGeneric eventClass = 1 << iota
	eventString
	eventList
	eventSet
	eventHash
	eventZSet
	eventExpired
	eventEvicted // accepted: nothing is ever evicted
	eventStream
	eventModule   // accepted: there are no modules
	eventNew      // a key comes into being
	eventKeyspace // not a class: tell in __keyspace@<db>__
	eventKeyevent // not a class: tell in __keyevent@<db>__
	eventMiss     // a read that found no key

	eventAll = eventNew - 1 // what the letter A stands for
)

// eventLetters are the letters of the classes, in their order.
const eventLetters = "g$lshzxetdnKEm"

// parseEvents reads notify-keyspace-events; ok is false if a letter is
// unknown.
func parseEvents(text string) (classes eventClass, ok bool) {
	for i := range len(text) {
		if text[i] == 'A' {
			classes |= eventAll
			continue
		}
		at := strings.IndexByte(eventLetters, text[i])
		if at < 0 {
			return 0, false
		}
		classes |= 1 << at
	}
	return classes, true
}

// String is the classes' letters as CONFIG GET shows them.
func (e eventClass) String() string {
	text, rest := "", e
	if e&eventAll == eventAll {
		text, rest = "A", e&^eventAll
	}
	for i := range len(eventLetters) {
		if rest&(1<<i) != 0 {
			text += eventLetters[i : i+1]
		}
	}
	return text
}

func eventsText(srv *Server) string { return eventClass(srv.catalog.events.Load()).String() }

func setEvents(srv *Server, value string) error {
	classes, ok := parseEvents(value)
	if !ok {
		return resp.Error("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")
	}
	srv.catalog.events.Store(uint32(classes))
	return nil
}

// publishEvent tells of an event in the channels that are switched on.
func (srv *Server) publishEvent(db int, class eventClass, event string, key []byte) {
	on := eventClass(srv.catalog.events.Load())
	if on&class == 0 || srv.pubsub.idle() {
		return
	}
	number := strconv.Itoa(db)
	if on&eventKeyspace != 0 {
		channel := append([]byte("__keyspace@"+number+"__:"), key...)
		srv.pubsub.publish(&srv.pubsub.channels, channel, []byte(event))
	}
	if on&eventKeyevent != 0 {
		srv.pubsub.publish(&srv.pubsub.channels, []byte("__keyevent@"+number+"__:"+event), key)
	}
}

// expired tells that the sweeper has ended a key, or, if not whole, fields of
// a hash.
func (srv *Server) expired(db int, key []byte, whole bool) {
	if whole {
		srv.publishEvent(db, eventExpired, "expired", key)
	} else {
		srv.publishEvent(db, eventHash, "hexpired", key)
	}
	if srv.catalog.trackers.Load() != 0 {
		srv.tracking.invalidate(key, nil)
		srv.tracking.broadcast([][]byte{key}, nil)
	}
	if whole {
		srv.KeyExpired(db, key)
	}
}

// Sweeper makes the sweeper of the server's store. What it does is in INFO, and
// clients that listen hear of the keys that it ends.
func (srv *Server) Sweeper() *Sweeper {
	return srv.catalog.newSweeper(SweeperHooks{
		Expired: srv.expired,
		Ended:   func(keys int) { srv.stats.expired.Add(int64(keys)) },
		Looked:  srv.swept,
		Rests:   srv.passive.Load,
		Cold:    func(err error) { srv.opts.Logger.Warn("read a collection into memory", "error", err) },
	})
}
