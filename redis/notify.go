package redis

import (
	"strconv"
	"strings"
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
		return Error("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")
	}
	srv.catalog.events.Store(uint32(classes))
	return nil
}

// notify tells those who listen that a command did something to a key of the
// selected database, once the transaction is committed. It costs nothing when
// nobody listens. A command that may begin the key writes it first: that the
// key is new is told before what happened to it.
func (c *Call) notify(class eventClass, event string, key []byte) {
	c.notifyIn(c.DB, class, event, key)
}

// notifyIn is notify for a key of another database.
func (c *Call) notifyIn(db int, class eventClass, event string, key []byte) {
	if eventClass(c.work.events.Load())&class == 0 {
		return
	}
	c.Session.outbox.add(note{what: noteEvent, class: class, event: event, db: db}, key, nil)
}

// notifyMiss tells that a read found no key. The past is left alone.
func (c *Call) notifyMiss(key []byte) {
	if eventClass(c.work.events.Load())&eventMiss == 0 || c.past || c.Cmd.Flags&onWorker != 0 || c.Session.asof != 0 {
		return
	}
	c.notify(eventMiss, "keymiss", key)
}

// touched tells those who track keys that one was, or will be, written, and
// notes what becomes of the key: one that had expired ends now at the latest,
// and one that was not there begins, if it is written.
func (c *Call) touched(s *slot, written bool) {
	if c.work.trackers.Load() != 0 {
		c.Session.outbox.add(note{what: noteTouch}, s.name, nil)
	}
	if s.lapsed {
		s.lapsed = false
		c.notifyIn(s.db, eventExpired, "expired", s.name)
	}
	if written && !s.live {
		c.notifyIn(s.db, eventNew, "new", s.name)
	}
}

// touchedAll tells those who track keys that a database is not what it was.
func (c *Call) touchedAll() {
	if c.work.trackers.Load() != 0 {
		c.Session.outbox.add(note{what: noteFlush}, nil, nil)
	}
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
