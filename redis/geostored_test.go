package redis

import (
	"fmt"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/seed"
)

// The distances that STOREDIST stores are Redis's to the last of 17 digits, but
// for one in some thousands: there the C library does not round to the nearest.

func TestStoredDistancesAgreeWithRealRedis(t *testing.T) {
	redis := startRedis(t)()
	mine := newOurs(t, New(openStore(t, firn.Options{Durability: firn.None}), Options{}))
	g := seed.Fresh(t).Rand(0)
	both := func(line string) (got, want value) {
		words := SplitWords(t, line)
		got, _, _ = parseValue(mine.tell(t, words...))
		want, _, _ = parseValue(redis.tell(t, words...))
		return got, want
	}
	compared, off := 0, 0
	for range seed.Steps(t, 400) {
		lon, lat, wide := g.Float64()*300-150, g.Float64()*140-70, []float64{0.001, 0.1, 10}[g.IntN(3)]
		near := func() string {
			return fmt.Sprintf("%v %v", lon+(g.Float64()-0.5)*wide, lat+(g.Float64()-0.5)*wide)
		}
		both("DEL g out")
		for m := range 6 {
			both(fmt.Sprintf("GEOADD g %s m%d", near(), m))
		}
		unit := []string{"m", "km", "ft", "mi"}[g.IntN(4)]
		both([]string{
			"GEORADIUS g " + near() + " 20000000 " + unit + " STOREDIST out",
			"GEORADIUSBYMEMBER g m0 20000000 " + unit + " STOREDIST out",
			"GEOSEARCHSTORE out g FROMLONLAT " + near() + " BYBOX 20000000 20000000 " + unit + " STOREDIST",
		}[g.IntN(3)])
		got, want := both("ZRANGE out 0 -1 WITHSCORES")
		if len(got.elements) != len(want.elements) || len(want.elements) == 0 {
			t.Fatalf("got %d elements, want %d", len(got.elements), len(want.elements))
		}
		for i := range want.elements {
			compared++
			if got.elements[i].text != want.elements[i].text {
				off++
				t.Logf("got %s, want %s", got.elements[i].text, want.elements[i].text)
			}
		}
	}
	if compared < 1000 || off > compared/200 {
		t.Errorf("%d of %d names and distances differ, want none or nearly none", off, compared)
	}
}
