package spread

import "testing"

// A number is counted by the first bucket that it fits in.
func TestBucketsEndAtPowersOfTwo(t *testing.T) {
	var s Spread
	for _, n := range []int64{-5, 0, 1, 2, 3, 4, 5, 1024, 1025, 1 << 39, 1<<62 + 1} {
		s.Add(n)
	}
	c := s.Counts()
	for i, want := range map[int]int64{0: 3, 1: 4, 2: 6, 3: 7, 9: 7, 10: 8, 11: 9, 38: 9, 39: 11} {
		if c.UpTo[i] != want {
			t.Errorf("up to 2^%d: got %d, want %d", i, c.UpTo[i], want)
		}
	}
	if want := int64(0 + 0 + 1 + 2 + 3 + 4 + 5 + 1024 + 1025 + 1<<39 + 1<<62 + 1); c.Sum != want || c.Total() != 11 {
		t.Errorf("got the sum %d of %d, want %d of 11", c.Sum, c.Total(), want)
	}
}

func BenchmarkAdd(b *testing.B) {
	var s Spread
	for n := int64(0); b.Loop(); n++ {
		s.Add(n)
	}
}
