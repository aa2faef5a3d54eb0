package index

import (
	"fmt"
	"testing"

	"github.com/firndb/firn/schema"
)

// A filter never says no to a key that is there, and seldom yes to another.

func TestFilterKnowsItsKeys(t *testing.T) {
	for _, n := range []int{0, 1, 3, 4, 1000, 40_000} {
		var p part
		for i := range n {
			p = append(p, schema.Entry{Index: schema.IndexID(256 + i%2), Key: fmt.Sprint("key:", i), TS: 1})
		}
		f := newFilter(p)
		wrong := 0
		for i, e := range p {
			if !f.mayHave(hashKey(e.Index, e.Key)) {
				t.Fatalf("%d keys: %q is not there", n, e.Key)
			}
			if f.mayHave(hashKey(e.Index, fmt.Sprint("other:", i))) {
				wrong++
			}
		}
		if wrong > n/25+2 {
			t.Errorf("%d keys\n got %d others that may be there\nwant few", n, wrong)
		}
	}
}
