package geohash

import (
	"math"
	"testing"

	"github.com/firndb/firn/internal/seed"
)

// The precise functions are within a bit of Go's everywhere, and exact where the
// result is.

func TestPreciseFunctionsAreNearGos(t *testing.T) {
	near := func(got, want float64) bool { return math.Abs(got-want) <= 4e-16*max(math.Abs(want), 1) }
	g := seed.Fresh(t).Rand(0)
	for range 100_000 {
		x := (g.Float64() - 0.5) * 2 * math.Pi
		if s, c := sine(x), cosine(x); !near(s, math.Sin(x)) || !near(c, math.Cos(x)) {
			t.Fatalf("%v: got %v and %v, want %v and %v", x, s, c, math.Sin(x), math.Cos(x))
		}
		if z := g.Float64(); !near(math.Sin(arcSine(z)), z) {
			t.Fatalf("arc sine of %v: got %v, whose sine is %v", z, arcSine(z), math.Sin(arcSine(z)))
		}
	}
	for _, tt := range []struct{ got, want float64 }{
		{sine(0), 0}, {cosine(0), 1}, {sine(math.Pi / 2), 1}, {cosine(math.Pi), -1}, {sine(-0.5235987755982988), -0.49999999999999994},
		{arcSine(0), 0}, {arcSine(1), math.Pi / 2}, {arcSine(0.5), 0.5235987755982989}, {sine(math.Pi), 1.2246467991473532e-16},
	} {
		if tt.got != tt.want {
			t.Errorf("got %v, want %v", tt.got, tt.want)
		}
	}
}

func TestPreciseDistanceIsDistance(t *testing.T) {
	g := seed.Fresh(t).Rand(0)
	for range 10_000 {
		a := Position{g.Float64()*360 - 180, g.Float64()*170 - 85}
		b := Position{g.Float64()*360 - 180, g.Float64()*170 - 85}
		if got, want := PreciseDistance(a, b), Distance(a, b); math.Abs(got-want) > 1e-6*want {
			t.Fatalf("%v to %v: got %v, want %v", a, b, got, want)
		}
	}
	if got := PreciseDistance(Position{1, 2}, Position{1, 2}); got != 0 {
		t.Errorf("to itself: got %v, want 0", got)
	}
}

func BenchmarkDistance(b *testing.B) {
	from, to := Position{13.361389, 38.115556}, Position{15.087269, 37.502669}
	b.Run("as=searched", func(b *testing.B) {
		for b.Loop() {
			Distance(from, to)
		}
	})
	b.Run("as=stored", func(b *testing.B) {
		for b.Loop() {
			PreciseDistance(from, to)
		}
	})
}
