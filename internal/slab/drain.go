package slab

// Owner knows what the places hold.
type Owner interface {
	// Holds says whether the place at r is in use. What a free place holds is
	// what was in it last, but for its first four bytes.
	Holds(place []byte, r Ref) bool

	// Moved says that what was at one place is now at another.
	Moved(place []byte, to Ref)
}

// Drain looks at up to limit places of a chunk that is mostly empty, and moves
// what is in them to other chunks of the class. The chunk's memory is given
// back after its last place. It says whether there was anything to do: a class
// with more free places than a chunk has.
func (s *Slab) Drain(limit int, o Owner) bool {
	if s.drained == 0 && !s.choose() {
		return false
	}
	c := s.drained
	ch := &s.chunks[c]
	size := ch.size
	for ; limit > 0 && ch.live > 0 && s.at < int(ch.touched); limit-- {
		from := Ref(c)<<s.shift | Ref(s.at/granule)
		s.at += int(size)
		if place := s.Bytes(from); o.Holds(place, from) {
			to := s.Alloc(int(size))
			if to == 0 {
				break
			}
			ch = &s.chunks[c] // there may be more chunks now
			copy(s.Bytes(to), place)
			o.Moved(place, to)
			s.Free(from)
		}
	}
	if ch.live == 0 {
		s.release(c)
		s.drained = 0
	} else if s.at >= int(ch.touched) || limit > 0 { // it cannot be emptied: Holds was wrong, or there is no room
		s.list(c)
		s.drained = 0
	}
	return true
}

// choose picks the chunk to drain: the emptiest of a class whose others have
// room for all that is in it.
func (s *Slab) choose() bool {
	roomy := func(class int) bool { return s.free[class]*classBytes(class) > s.chunkBytes }
	any := false
	for class := range s.free {
		any = any || roomy(class)
	}
	if !any {
		return false
	}
	best, fewest := int32(0), int32(0)
	for c := range s.chunks {
		ch := &s.chunks[c]
		if ch.mem == nil || !roomy(int(ch.class)) {
			continue
		}
		if live := ch.live * ch.size; best == 0 || live < fewest {
			best, fewest = int32(c), live
		}
	}
	if s.chunks[best].listed {
		s.unlist(best)
	}
	s.drained, s.at = best, 0
	return true
}
