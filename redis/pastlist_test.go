package redis

// The rule: an item in the middle of a long list with gaps is the same one at a
// past moment as it was then, from either end.

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestTheMiddleOfALongListOfThePast(t *testing.T) {
	c := newClocked(t)
	var items []string
	for i := range 3000 {
		items = append(items, fmt.Sprint("i", i))
	}
	c.ask(t, "RPUSH l "+strings.Join(items, " "))
	c.expect(t, "LREM l 1 i700", "(integer) 1", "LREM l 1 i1500", "(integer) 1")
	was := append(append(append([]string{}, items[:700]...), items[701:1500]...), items[1501:]...)
	c.advance(time.Minute)
	c.expect(t, "LREM l 1 i900", "(integer) 1", "LINSERT l BEFORE i1600 new", "(integer) 2998", "LPOP l", `"i0"`)
	for _, rank := range []int{0, 512, 699, 700, 1200, 1498, 1499, 2200, 2997} {
		want := fmt.Sprintf("%q", was[rank])
		c.expect(t,
			fmt.Sprintf("AT -30s LINDEX l %d", rank), want,
			fmt.Sprintf("AT -30s LINDEX l %d", rank-len(was)), want,
			fmt.Sprintf("AT -30s LRANGE l %d %d", rank, rank), "1) "+want)
	}
	c.expect(t, "AT -30s LINDEX l 2998", "(nil)")
}
