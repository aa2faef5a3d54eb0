package keyspace

// AddEntry stores an entry behind all others. The caller writes the key.
func AddEntry(v *View, s *Slot, st *Stream, id StreamID, fields [][]byte) error {
	return PutEntry(v, s, st, id, fields, st.beginsNode(&v.Encodings, s.Key.Length, id, fields))
}

// PutEntry stores an entry whose node is accounted for.
func PutEntry(v *View, s *Slot, st *Stream, id StreamID, fields [][]byte, begins bool) error {
	if s.Key.Length == 0 {
		st.First = id
	}
	st.Last = id
	st.Added++
	s.Key.Length++
	return v.Tx.Put(v.Elements, EntryID(v, s.Key.UID, id), NewStreamEntry(fields, begins))
}

// DeleteEntry deletes an entry from anywhere, and says whether it was there.
// The caller writes the key.
func DeleteEntry(v *View, s *Slot, st *Stream, id StreamID) (had bool, err error) {
	e, ok, err := EntryAt(v, &s.Key, st, id)
	if err != nil || !ok {
		return false, err
	}
	first := id == st.First
	if first || e.Begins {
		if err := passNode(v, s, st, id, first); err != nil {
			return false, err
		}
	}
	if st.Head.Entries > 0 && !st.Head.Last.Less(id) {
		if st.Head.Entries--; st.Head.Entries == 0 {
			st.Head = StreamNodeEnd{}
		}
	}
	s.Key.Length--
	if st.Deleted.Less(id) {
		st.Deleted = id
	}
	return true, v.Tx.Delete(v.Elements, EntryID(v, s.Key.UID, id), nil)
}

// passNode makes the entry after a node's first entry, which is about to go,
// the first of that node; or the node goes with it, if it has no other.
func passNode(v *View, s *Slot, st *Stream, id StreamID, first bool) error {
	e, ok, err := entryAfter(v, &s.Key, st, id)
	switch {
	case err != nil:
		return err
	case first:
		st.First = e.ID // 0-0 if there is none
	}
	switch {
	case !ok:
		st.Nodes--
		st.closeNode()
	case e.Begins:
		st.Nodes--
	case !first:
		return v.Tx.Put(v.Elements, EntryID(v, s.Key.UID, e.ID), e.Begun())
	}
	return nil
}
