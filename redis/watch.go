package redis

import (
	"github.com/firndb/firn"
	"github.com/firndb/firn/resp"
)

// maxWatched bounds what one session watches.
const maxWatched = 1 << 20

var watchCommands = []Command{
	{
		Name: "WATCH", Args: "key [key ...]", Min: 1, Max: -1, Flags: ReadOnly | Fast | NoQueue,
		Keys: Keys{1, -1, 1}, Group: "transactions", Since: "2.2.0",
		Complexity: "O(1) for every key.",
		Summary:    "Makes the next EXEC depend on the keys: it does nothing if one has changed.",
		Differs:    "Everything that is written to a key is a change of it, also to the groups of a stream.",
		Run:        watchKeys,
	},
	{
		Name: "UNWATCH", Flags: Local | Fast, Group: "transactions", Since: "2.2.0",
		Complexity: "O(1)",
		Summary:    "Forgets about watched keys.",
		Run:        watchNone,
	},
}

// watched is a key of a database.
type watched struct {
	db  int
	key string
}

// keyState tells two states of a key apart: which keyspace the database
// showed and since when, the newest version of the key in it, and whether it
// was live.
type keyState struct {
	space uid
	shown firn.Timestamp // since when the database shows it; 0: always
	ts    firn.Timestamp // 0: the key was never there
	live  bool
	swept firn.Timestamp // of the version that had expired and was ended for that; 0: it is another
}

// changedSince says whether a key was touched between b and a. A key that
// another keyspace hides has changed if either has it; that a key is gone
// which had expired before is no change.
func (a keyState) changedSince(b keyState) bool {
	if a.space != b.space || a.shown != b.shown {
		return a.live || b.live
	}
	if a.swept != 0 && a.swept == b.ts && !b.live {
		return false
	}
	return a.ts != b.ts || a.live != b.live
}

func watchKeys(c *Call) error {
	s := sessionOf(c)
	if s.multi.on {
		return resp.Error("ERR WATCH inside MULTI is not allowed")
	}
	if len(s.watch)+len(c.Args) > maxWatched {
		return resp.Error("ERR too many watched keys")
	}
	for _, key := range c.Args {
		state, err := c.keyState(c.DB, key)
		if err != nil {
			return err
		}
		if s.watch == nil {
			s.watch = make(map[watched]keyState)
		}
		w := watched{c.DB, string(key)}
		if _, ok := s.watch[w]; !ok { // what was seen first counts
			s.watch[w] = state
		}
	}
	c.Reply.Simple("OK")
	return nil
}

func watchNone(c *Call) error {
	sessionOf(c).unwatch()
	c.Reply.Simple("OK")
	return nil
}

func (s *Session) unwatch() { s.watch = nil }

// watchedChanged says whether a watched key is not as WATCH found it.
func (s *Session) watchedChanged(r firn.Reader) (bool, error) {
	v := s.call.at(r)
	for w, before := range s.watch {
		now, err := v.keyState(w.db, []byte(w.key))
		if err != nil {
			return false, err
		}
		if now.changedSince(before) {
			return true, nil
		}
	}
	return false, nil
}

// keyState reads how a key is at the moment of the call.
func (v *View) keyState(db int, key []byte) (keyState, error) {
	space, shown, err := v.shownKeyspace(db)
	if err != nil {
		return keyState{}, err
	}
	doc, err := v.R.Last(v.keys, v.keyID(space, key))
	state := keyState{space: space, shown: shown}
	if err == firn.ErrNotFound { //nolint:errorlint // documented to be returned bare
		return state, nil
	}
	if err != nil {
		return keyState{}, err
	}
	k, live, err := v.live(doc)
	state.ts, state.live = doc.TS, live
	if doc.Deleted && err == nil {
		if k, err = parseKeyDoc(doc); string(k.Operation) == operationExpired {
			state.swept = doc.Prev
		}
	}
	return state, err
}
