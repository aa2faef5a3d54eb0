package redis

import (
	"context"
	"errors"
	"slices"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/redis/tracking"
)

// A client that comes back has copies that were good as of a moment, which a
// token names. What has changed since is told by what its mode knows:
//
//   - By prefix, before CLIENT TRACKING is answered: which keys have changed is
//     looked up once.
//   - Otherwise before a command is answered that names a key for the first
//     time. A command that names many, as EXISTS, so makes sure of as many
//     copies at once.
//
// In either case the client is registered first and then it is looked: a commit
// that is not in what was looked at finds it registered.

// errUnknownSince says that it cannot be told which keys have changed, or that
// there are too many.
var errUnknownSince = errors.New("redis: it is not known what has changed since")

// trackingWaits says whether CLIENT TRACKING has to look what has changed.
func trackingWaits(args [][]byte) bool {
	for i := 1; i < len(args); i++ {
		switch {
		case command.Is(args[i], "SINCE"):
			return true
		case command.Is(args[i], "REDIRECT"), command.Is(args[i], "PREFIX"):
			i++
		}
	}
	return false
}

// parseSince reads the moment as of which a client's copies are good. known is
// false if it is none that this store can tell anything about.
func parseSince(c *command.Call, when []byte) (ts firn.Timestamp, known bool, err error) {
	if sessionOf(c).multi.on {
		return 0, false, errInMulti
	}
	ts, err = c.Client.Moment(when)
	if err == nil {
		// The moment has to be over: no commit must be stamped before it that
		// is made later.
		err = c.Store.At(ts, func(*firn.Snapshot) error { return nil })
	}
	switch {
	case errors.Is(err, firn.ErrForked):
		return 0, false, nil
	case errors.Is(err, firn.ErrCompacted):
		return ts, true, nil // of some keys it may be known nevertheless
	}
	return ts, err == nil, err
}

// resume tells a client that has begun to track, or tracked already, what it has
// to know before anything else.
func resume(c *command.Call, ts firn.Timestamp, known, tracked bool) error {
	s := sessionOf(c)
	t, track := &s.srv.tracking, &s.track
	// Those who write may not have known that somebody tracks: wait for them.
	if _, err := c.Store.Update(context.Background(), func(*firn.Tx) error { return nil }); err != nil {
		return err
	}
	switch {
	case !known:
		c.Reply.Raw(string(t.Tell(track)))
		return nil
	case !track.Bcast:
		t.Resume(track, ts, s.db, tracked)
		return nil
	}
	keys, err := changedSince(c, ts, track.Prefixes)
	switch {
	case errors.Is(err, errUnknownSince), errors.Is(err, firn.ErrCompacted):
		c.Reply.Raw(string(t.Tell(track)))
	case err != nil:
		return err
	default:
		for _, prefix := range slices.Sorted(slices.Values(track.Prefixes)) {
			if found := tracking.Beginning(prefix, keys); len(found) > 0 {
				c.Reply.Raw(string(t.Tell(track, found...)))
			}
		}
	}
	return nil
}

// What is looked up for a client that comes back, at most: more it is quicker
// to read again.
const (
	maxSinceKeys  = 1 << 16
	maxSinceBytes = 8 << 20 // of their names
)

// changedSince are the keys with prefixes, of any database, that have changed
// after ts.
func changedSince(c *command.Call, ts firn.Timestamp, prefixes []string) (keys [][]byte, err error) {
	found, size := map[string]bool{}, 0
	err = keyspace.EachChangedSince(c.View, ts, prefixes, func(key []byte) error {
		if found[string(key)] {
			return nil
		}
		found[string(key)] = true
		keys = append(keys, key)
		if size += len(key); len(keys) > maxSinceKeys || size > maxSinceBytes {
			return errUnknownSince
		}
		return nil
	})
	if errors.Is(err, keyspace.ErrOtherKeyspace) || errors.Is(err, keyspace.ErrTooLong) {
		err = errUnknownSince
	}
	return keys, err
}

// noteStaleKeys looks whether keys that a command reads, and that the client
// names for the first time, have changed while it was away. The error is the
// store's.
func noteStaleKeys(s *Session, e *command.Entry, args [][]byte, c *command.Call) error {
	ts, ok := s.track.Since()
	if !ok || s.asof != 0 || e.Flags&command.RunsScript != 0 || !s.track.Wants(e) {
		return nil
	}
	var room [acl.UsualKeys]command.KeyUse
	uses, _ := e.AppendKeyUses(room[:0], args)
	for i := range uses {
		key := uses[i].Key
		if !s.srv.tracking.Names(&s.track, key) {
			continue
		}
		changed, err := keyspace.ChangedAfter(c.View, key, ts)
		if err != nil {
			return err
		}
		if changed {
			s.outbox.add(note{what: noteStale}, key, nil)
		}
	}
	return nil
}

// tellStale tells the client, before the replies that begin at start, what the
// commands have found changed.
func tellStale(s *Session, out []byte, start int, notes []note) []byte {
	var keys [][]byte
	for i := range notes {
		if notes[i].what != noteStale {
			continue
		}
		key, _ := s.outbox.texts(&notes[i])
		if notes[i].all {
			return slices.Insert(out, start, s.srv.tracking.Tell(&s.track)...)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return out
	}
	return slices.Insert(out, start, s.srv.tracking.Tell(&s.track, keys...)...)
}

// goodToken is the token as of which all copies of the client are good once it
// has read what it was told; "" if it does not track.
func goodToken(c *command.Call) string {
	s := sessionOf(c)
	if !s.track.On || s.multi.on { // inside EXEC's reply, what was told comes behind the token
		return ""
	}
	ts := s.srv.tracking.Good(&s.track)
	takeInbox(c) // after that: it was told of what comes before
	return c.Store.Token(ts)
}

// noteReads notes the keys that a command has read, if the client wants to
// know when they change.
func noteReads(s *Session, e *command.Entry, args [][]byte, r firn.Reader) {
	if s.asof != 0 || e.Flags&command.RunsScript != 0 || !s.track.Wants(e) {
		return
	}
	n := note{what: noteRead}
	if snap, ok := r.(*firn.Snapshot); ok {
		n.seen = snap.Timestamp()
	}
	var room [acl.UsualKeys]command.KeyUse
	uses, _ := e.AppendKeyUses(room[:0], args)
	for i := range uses {
		s.outbox.add(n, uses[i].Key, nil)
	}
}
