package keyspace

// RanksOf turns indexes that may count from the end into a rank and how many
// elements of a collection there are from it on, possibly none.
func RanksOf(start, end, length int64) (rank, n int64) {
	if start < 0 {
		start = max(start+length, 0)
	}
	if end < 0 {
		end += length
	}
	if start > end || start >= length { // first of all: their difference may overflow
		return 0, 0
	}
	return start, min(end, length-1) - start + 1
}
