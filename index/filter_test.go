package index

import (
	"fmt"
	"testing"

	"github.com/firndb/firn/schema"
)

// A filter never says no to a key that is there, and seldom yes to another.

func TestFilterKnowsItsKeys(t *testing.T) {
	hash := func(kind string, i int) uint64 { return hashKey(schema.IndexID(256+i%2), fmt.Sprint(kind, i)) }
	for _, n := range []int{0, 1, 3, 4, 1000, 40_000, 400_000} {
		f, shared, several := newFilter(n), newFilter(n), growing{}
		for i := range n {
			f.add(hash("key:", i))
			shared.addShared(hash("key:", i))
			several.add(hash("key:", i))
		}
		for name, mayHave := range map[string]func(uint64) bool{"alone": f.mayHave, "shared": shared.mayHave, "several": several.mayHave} {
			wrong := 0
			for i := range n {
				if !mayHave(hash("key:", i)) {
					t.Fatalf("%s, %d keys: key %d is not there", name, n, i)
				}
				if mayHave(hash("other:", i)) {
					wrong++
				}
			}
			if wrong > n/50+2 {
				t.Errorf("%s, %d keys\n got %d others that may be there\nwant few", name, n, wrong)
			}
		}
		if f.keys != shared.keys || f.keys > n || f.keys < n-n/50 {
			t.Errorf("%d keys: got %d and %d that were new, want nearly all", n, f.keys, shared.keys)
		}
	}
}
