package keyspace

import (
	"github.com/firndb/firn"
)

// KeyState tells two states of a key apart: which keyspace the database
// showed and since when, the newest version of the key in it, and whether it
// was live.
type KeyState struct {
	space UID
	shown firn.Timestamp // since when the database shows it; 0: always
	ts    firn.Timestamp // 0: the key was never there
	live  bool
	swept firn.Timestamp // of the version that had expired and was ended for that; 0: it is another

	stream streamState // of a live stream; otherwise zero
}

// streamState tells two states of a stream apart without what its consumer
// groups know: for WATCH that is no change of it. An entry that is added raises
// Added, one that goes lowers the length.
type streamState struct {
	uid                    UID
	expires, length, added int64
}

// ChangedSince says whether a key was touched between b and a. A key that
// another keyspace hides has changed if either has it; that a key is gone
// which had expired before is no change.
func (a KeyState) ChangedSince(b KeyState) bool {
	if a.space != b.space || a.shown != b.shown {
		return a.live || b.live
	}
	if a.swept != 0 && a.swept == b.ts && !b.live {
		return false
	}
	if a.live && b.live && a.stream.uid != (UID{}) && a.stream == b.stream {
		return false
	}
	return a.ts != b.ts || a.live != b.live
}

// KeyState reads how a key is at the moment of the call.
func (v *View) KeyState(db int, key []byte) (KeyState, error) {
	space, shown, err := v.shownKeyspace(db)
	if err != nil {
		return KeyState{}, err
	}
	doc, err := v.R.Last(v.Keys, v.keyID(space, key))
	state := KeyState{space: space, shown: shown}
	if err == firn.ErrNotFound { //nolint:errorlint // documented to be returned bare
		return state, nil
	}
	if err != nil {
		return KeyState{}, err
	}
	k, live, err := v.Live(doc)
	state.ts, state.live = doc.TS, live
	if err == nil && live && k.Kind == KindStream {
		state.stream, err = streamStateOf(&k)
	}
	if doc.Deleted && err == nil {
		if k, err = ParseKeyDoc(doc); string(k.Operation) == OperationExpired {
			state.swept = doc.Prev
		}
	}
	return state, err
}

func streamStateOf(k *KeyDoc) (streamState, error) {
	st, err := ParseStream(k)
	return streamState{k.UID, k.Expires, k.Length, st.Added}, err
}
