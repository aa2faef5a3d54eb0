package keyspace

// How far a group has read a stream, as Redis counts it.

// deletedFrom says whether XDEL may have left a gap at an id or after it.
func (st *Stream) deletedFrom(id StreamID) bool {
	return st.First != (StreamID{}) && st.Deleted != (StreamID{}) &&
		!st.Deleted.Less(st.First) && !st.Deleted.Less(id)
}

// countUntil is how many entries were ever added up to an id; -1 if that is
// not known. length is how many there are.
func (st *Stream) countUntil(length int64, id StreamID) int64 {
	switch {
	case st.Added == 0:
		return 0
	case length == 0 && !st.Last.Less(id), id == st.Last:
		return st.Added
	case st.Last.Less(id):
		return -1
	case st.Deleted != (StreamID{}) && !st.Deleted.Less(st.First):
		return -1 // there may be a gap before it
	case id.Less(st.First):
		return st.Added - length
	case id == st.First:
		return st.Added - length + 1
	}
	return -1
}

// Lag is how many entries the group has yet to read; ok is false if that is
// not known.
func (g *StreamGroup) Lag(st *Stream, length int64) (n int64, ok bool) {
	if st.Added == 0 {
		return 0, true
	}
	read := g.Read
	if read == -1 || st.deletedFrom(g.Last) {
		read = st.countUntil(length, g.Last)
	}
	return st.Added - read, read != -1
}

// Advance makes an entry the last that the group has delivered, if it is, and
// counts how many it has read.
func (g *StreamGroup) Advance(st *Stream, length int64, id StreamID) {
	if !g.Last.Less(id) {
		return
	}
	if g.Read != -1 && !st.deletedFrom(id) {
		g.Read++
	} else if st.Added > 0 {
		g.Read = st.countUntil(length, id)
	}
	g.Last = id
}
