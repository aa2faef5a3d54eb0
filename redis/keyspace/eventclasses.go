package keyspace

import (
	"strings"
)

// EventClass is a class of keyspace notifications, or a set of them.
type EventClass uint32

// The classes, each with a letter of Redis's in notify-keyspace-events.
const (
	EventGeneric EventClass = 1 << iota
	EventString
	EventList
	EventSet
	EventHash
	EventZSet
	EventExpired
	eventEvicted // accepted: nothing is ever evicted
	EventStream
	eventModule   // accepted: there are no modules
	eventNew      // a key comes into being
	EventKeyspace // not a class: tell in __keyspace@<db>__
	EventKeyevent // not a class: tell in __keyevent@<db>__
	EventMiss     // a read that found no key

	eventAll = eventNew - 1 // what the letter A stands for
)

// eventLetters are the letters of the classes, in their order.
const eventLetters = "g$lshzxetdnKEm"

// ParseEvents reads notify-keyspace-events; ok is false if a letter is
// unknown.
func ParseEvents(text string) (classes EventClass, ok bool) {
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
func (e EventClass) String() string {
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
