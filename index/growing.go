package index

// growing is filters, each of twice the room of the one before: what one has
// no more room for goes into the next. The zero growing is ready.
type growing []filter

const firstRoom = 64 << 10 // keys; 96 KiB

// add makes mayHave true for a hash.
func (g *growing) add(hash uint64) {
	n := len(*g)
	if n == 0 || (*g)[n-1].keys >= (*g)[n-1].room {
		if g.mayHave(hash) {
			return
		}
		*g = append(*g, newFilter(firstRoom<<n))
		n++
	}
	(*g)[n-1].add(hash)
}

// mayHave is false only if the hash was never added.
func (g *growing) mayHave(hash uint64) bool {
	for i := range *g {
		if (*g)[i].mayHave(hash) {
			return true
		}
	}
	return false
}
