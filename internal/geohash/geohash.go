// Package geohash turns positions on the globe into numbers that sort near
// each other where the positions are near, with Redis's rounding.
package geohash

import (
	"math"
)

// Positions on the globe as numbers. The longitude and the latitude of a
// position are each halved maxSteps times, the latter within the limits of
// the web's Mercator projection; the bits, lower half 0, upper half 1, are
// interleaved, longitude first. That is a geohash of 52 bits, which a float
// holds exactly, and positions that share leading bits are close together.

const (
	maxSteps    = 26
	MaxLon      = 180.0
	MaxLat      = 85.05112878
	earthMeters = 6372797.560856 // the radius that Redis reckons with
	// mercatorMeters is half the length of the projection's equator.
	mercatorMeters = 20037726.37
)

// Position is in degrees.
type Position struct{ Lon, Lat float64 }

// Cell is a part of the globe: the halves that the first steps bits choose.
type Cell struct {
	lon, lat uint32 // below 1<<steps
	steps    int
}

// cellOf is the cell that a position lies in.
func cellOf(p Position, steps int, latLimit float64) Cell {
	scale := float64(uint64(1) << steps)
	return Cell{
		lon:   uint32((p.Lon + MaxLon) / (2 * MaxLon) * scale),
		lat:   uint32((p.Lat + latLimit) / (2 * latLimit) * scale),
		steps: steps,
	}
}

// bits is the cell's geohash.
func (c Cell) bits() uint64 { return spread(c.lat) | spread(c.lon)<<1 }

// cellAt is the cell of a whole geohash.
func cellAt(hash uint64) Cell {
	return Cell{lat: gather(hash), lon: gather(hash >> 1), steps: maxSteps}
}

// spread puts a zero in front of each bit.
func spread(v uint32) uint64 {
	x := uint64(v)
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
	x = (x | x<<2) & 0x3333333333333333
	return (x | x<<1) & 0x5555555555555555
}

// gather takes every other bit, beginning with the lowest.
func gather(x uint64) uint32 {
	x &= 0x5555555555555555
	x = (x | x>>1) & 0x3333333333333333
	x = (x | x>>2) & 0x0f0f0f0f0f0f0f0f
	x = (x | x>>4) & 0x00ff00ff00ff00ff
	x = (x | x>>8) & 0x0000ffff0000ffff
	return uint32(x | x>>16)
}

// Scores is the range of scores of the positions in the cell, the upper bound
// not included.
func (c Cell) Scores() (from, to float64) {
	shift := 2 * (maxSteps - c.steps)
	return float64(c.bits() << shift), float64((c.bits() + 1) << shift)
}

// beside is the cell so many cells further east and north, around the globe.
// At its very edges cellOf goes one cell too far; there, like Redis, it comes
// back only in a direction that it goes.
func (c Cell) beside(east, north int) Cell {
	mask := uint32(1)<<c.steps - 1
	if east != 0 {
		c.lon = (c.lon + uint32(east)) & mask
	}
	if north != 0 {
		c.lat = (c.lat + uint32(north)) & mask
	}
	return c
}

// corners are the south-western and the north-eastern corner.
func (c Cell) corners() (sw, ne Position) {
	scale := float64(uint64(1) << c.steps)
	at := func(n, limit float64) float64 { return -limit + n/scale*(2*limit) }
	sw = Position{at(float64(c.lon), MaxLon), at(float64(c.lat), MaxLat)}
	ne = Position{at(float64(c.lon)+1, MaxLon), at(float64(c.lat)+1, MaxLat)}
	return sw, ne
}

// center is the middle of the cell.
func (c Cell) center() Position {
	sw, ne := c.corners()
	return Position{
		Lon: min(max((sw.Lon+ne.Lon)/2, -MaxLon), MaxLon),
		Lat: min(max((sw.Lat+ne.Lat)/2, -MaxLat), MaxLat),
	}
}

// Score is the score of a position.
func Score(p Position) float64 { return float64(cellOf(p, maxSteps, MaxLat).bits()) }

// PositionOf is the position of a score. Any score is one: Redis leaves what
// becomes of those that are no geohash to C and the processor, and this is
// what they do.
func PositionOf(score float64) Position {
	var hash uint64
	switch {
	case score >= 1<<64:
	case score >= 1<<63:
		hash = uint64(score)
	case score < -(1 << 63):
		hash = 1 << 63
	default:
		hash = uint64(int64(score))
	}
	return cellAt(hash).center()
}

// alphabet is the one of geohash strings.
const alphabet = "0123456789bcdefghjkmnpqrstuvwxyz"

// Append appends the geohash string of a position: 11 characters of 5
// bits, of latitudes up to the poles. The last has no bits left and is 0.
func Append(dst []byte, p Position) []byte {
	hash := cellOf(p, maxSteps, 90).bits()
	for shift := 2*maxSteps - 5; shift > 0; shift -= 5 {
		dst = append(dst, alphabet[hash>>shift&31])
	}
	return append(dst, alphabet[0])
}

// pi is a variable so that what is made of it is rounded as Redis rounds it.
var (
	pi     = math.Pi
	degree = pi / 180
)

func radians(degrees float64) float64 { return degrees * degree }
func degrees(radians float64) float64 { return radians / degree }

// Distance is how far two positions are apart, in meters, on a sphere.
func Distance(a, b Position) float64 {
	v := math.Sin((radians(b.Lon) - radians(a.Lon)) / 2)
	if v == 0 {
		return latDistance(a.Lat, b.Lat)
	}
	lat1, lat2 := radians(a.Lat), radians(b.Lat)
	u := math.Sin((lat2 - lat1) / 2)
	h := float64(u*u) + float64(math.Cos(lat1)*math.Cos(lat2)*v*v)
	return 2 * earthMeters * math.Asin(math.Sqrt(h))
}

// latDistance is how far two latitudes are apart, in meters.
func latDistance(a, b float64) float64 {
	return earthMeters * math.Abs(radians(b)-radians(a))
}

// Area is the part of the globe that a search is about.
type Area struct {
	Center        Position
	Box           bool
	Radius        float64 // in meters, of a circle
	Width, Height float64 // in meters, of a box
}

// Reach says how far a position is from the center, if it is in the area.
func (a *Area) Reach(p Position) (meters float64, ok bool) {
	if !a.Box {
		meters = Distance(a.Center, p)
		return meters, meters <= a.Radius
	}
	if latDistance(p.Lat, a.Center.Lat) > a.Height/2 ||
		Distance(p, Position{a.Center.Lon, p.Lat}) > a.Width/2 {
		return 0, false
	}
	return Distance(a.Center, p), true
}

// bounds are the corners of a rectangle around the area.
func (a *Area) bounds() (sw, ne Position) {
	height, width := a.Radius, a.Radius
	if a.Box {
		height, width = a.Height/2, a.Width/2
	}
	lat := degrees(height / earthMeters)
	widest := a.Center.Lat + lat // the edge nearer to a pole
	if a.Center.Lat < 0 {
		widest = a.Center.Lat - lat
	}
	lon := degrees(width / earthMeters / math.Cos(radians(widest)))
	return Position{a.Center.Lon - lon, a.Center.Lat - lat}, Position{a.Center.Lon + lon, a.Center.Lat + lat}
}

// outerRadius is the radius of a circle around the area.
func (a *Area) outerRadius() float64 {
	if a.Box {
		return math.Sqrt(a.Width/2*(a.Width/2) + a.Height/2*(a.Height/2))
	}
	return a.Radius
}

// steps is how small cells may be so that nine of them cover the area.
func (a *Area) steps() int {
	radius := a.outerRadius()
	if radius == 0 {
		return maxSteps
	}
	steps := 1
	for ; radius < mercatorMeters; radius *= 2 {
		steps++
	}
	steps -= 2
	switch lat := math.Abs(a.Center.Lat); {
	case lat > 80:
		steps -= 2
	case lat > 66:
		steps--
	}
	return min(max(steps, 1), maxSteps)
}

// Cells are the cells to look into, in Redis's order.
func (a *Area) Cells() []Cell {
	sw, ne := a.bounds()
	steps := a.steps()
	middle := cellOf(a.Center, steps, MaxLat)
	if steps > 1 && a.outgrows(middle, sw, ne) {
		steps--
		middle = cellOf(a.Center, steps, MaxLat)
	}
	// What the cell in the middle reaches beyond the area, its neighbours on
	// that side are not needed for.
	var skipEast, skipWest, skipNorth, skipSouth bool
	if steps >= 2 {
		low, high := middle.corners()
		skipSouth, skipWest = low.Lat < sw.Lat, low.Lon < sw.Lon
		skipNorth, skipEast = high.Lat > ne.Lat, high.Lon > ne.Lon
	}
	cells := []Cell{middle}
	for _, d := range [...]struct{ east, north int }{
		{0, 1}, {0, -1}, {1, 0}, {-1, 0}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1},
	} {
		if d.north > 0 && skipNorth || d.north < 0 && skipSouth ||
			d.east > 0 && skipEast || d.east < 0 && skipWest {
			continue
		}
		next := middle.beside(d.east, d.north)
		if n := len(cells); n > 1 && next == cells[n-1] {
			continue // around the globe, two ways lead to the same cell
		}
		cells = append(cells, next)
	}
	return cells
}

// outgrows says that the neighbours of a cell do not reach the bounds of the
// area around it.
func (a *Area) outgrows(middle Cell, sw, ne Position) bool {
	_, north := middle.beside(0, 1).corners()
	south, _ := middle.beside(0, -1).corners()
	_, east := middle.beside(1, 0).corners()
	west, _ := middle.beside(-1, 0).corners()
	return north.Lat < ne.Lat || south.Lat > sw.Lat || east.Lon < ne.Lon || west.Lon > sw.Lon
}
