package keyspace

// Arena is memory for the ids that a command makes, so that the hot commands
// allocate nothing but what is kept. An id is valid until the command ends:
// a chunk that is full is left to the collector, and never used again while a
// command runs.
type Arena struct{ chunk []byte }

// Sizes of an arena's chunks in bytes. The first suffices for the ids of a
// usual command on one key, and ten thousand idle sessions may have one.
const (
	firstChunkBytes = 256
	chunkBytes      = 4 << 10
	roomBytes       = 64 // what room has at least
)

// room is an empty slice to append an id to. One that is not kept is good until
// the next is made: it is for what is read at once.
func (a *Arena) room() []byte {
	if cap(a.chunk)-len(a.chunk) < roomBytes {
		if a.chunk == nil {
			a.chunk = make([]byte, 0, firstChunkBytes)
		} else {
			a.chunk = make([]byte, 0, chunkBytes)
		}
	}
	return a.chunk[len(a.chunk):]
}

// keep makes sure that what was appended to room is not written over, and
// returns it. An id that was too long for room has memory of its own.
func (a *Arena) keep(id []byte) []byte {
	n := len(a.chunk)
	if len(id) > 0 && n+len(id) <= cap(a.chunk) && &id[0] == &a.chunk[:n+1][n] {
		a.chunk = a.chunk[:n+len(id)]
	}
	return id[:len(id):len(id)]
}

func (a *Arena) reset() { a.chunk = a.chunk[:0] }

// Release gives the memory back.
func (a *Arena) Release() { a.chunk = nil }
