package redis

import (
	"math"
)

// Positions on the globe as numbers. The longitude and the latitude of a
// position are each halved geoSteps times, the latter within the limits of
// the web's Mercator projection; the bits, lower half 0, upper half 1, are
// interleaved, longitude first. That is a geohash of 52 bits, which a float
// holds exactly, and positions that share leading bits are close together.

const (
	geoSteps    = 26
	maxLon      = 180.0
	maxLat      = 85.05112878
	earthMeters = 6372797.560856 // the radius that Redis reckons with
	// mercatorMeters is half the length of the projection's equator.
	mercatorMeters = 20037726.37
)

// position is in degrees.
type position struct{ lon, lat float64 }

// cell is a part of the globe: the halves that the first steps bits choose.
type cell struct {
	lon, lat uint32 // below 1<<steps
	steps    int
}

// cellOf is the cell that a position lies in.
func cellOf(p position, steps int, latLimit float64) cell {
	scale := float64(uint64(1) << steps)
	return cell{
		lon:   uint32((p.lon + maxLon) / (2 * maxLon) * scale),
		lat:   uint32((p.lat + latLimit) / (2 * latLimit) * scale),
		steps: steps,
	}
}

// bits is the cell's geohash.
func (c cell) bits() uint64 { return spread(c.lat) | spread(c.lon)<<1 }

// cellAt is the cell of a whole geohash.
func cellAt(hash uint64) cell {
	return cell{lat: gather(hash), lon: gather(hash >> 1), steps: geoSteps}
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

// scores is the range of scores of the positions in the cell, the upper bound
// not included.
func (c cell) scores() (from, to float64) {
	shift := 2 * (geoSteps - c.steps)
	return float64(c.bits() << shift), float64((c.bits() + 1) << shift)
}

// beside is the cell so many cells further east and north, around the globe.
// At its very edges cellOf goes one cell too far; there, like Redis, it comes
// back only in a direction that it goes.
func (c cell) beside(east, north int) cell {
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
func (c cell) corners() (sw, ne position) {
	scale := float64(uint64(1) << c.steps)
	at := func(n, limit float64) float64 { return -limit + n/scale*(2*limit) }
	sw = position{at(float64(c.lon), maxLon), at(float64(c.lat), maxLat)}
	ne = position{at(float64(c.lon)+1, maxLon), at(float64(c.lat)+1, maxLat)}
	return sw, ne
}

// center is the middle of the cell.
func (c cell) center() position {
	sw, ne := c.corners()
	return position{
		lon: min(max((sw.lon+ne.lon)/2, -maxLon), maxLon),
		lat: min(max((sw.lat+ne.lat)/2, -maxLat), maxLat),
	}
}

// geoScore is the score of a position.
func geoScore(p position) float64 { return float64(cellOf(p, geoSteps, maxLat).bits()) }

// positionOf is the position of a score. Any score is one: Redis leaves what
// becomes of those that are no geohash to C and the processor, and this is
// what they do.
func positionOf(score float64) position {
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

// geoAlphabet is the one of geohash strings.
const geoAlphabet = "0123456789bcdefghjkmnpqrstuvwxyz"

// appendGeohash appends the geohash string of a position: 11 characters of 5
// bits, of latitudes up to the poles. The last has no bits left and is 0.
func appendGeohash(dst []byte, p position) []byte {
	hash := cellOf(p, geoSteps, 90).bits()
	for shift := 2*geoSteps - 5; shift > 0; shift -= 5 {
		dst = append(dst, geoAlphabet[hash>>shift&31])
	}
	return append(dst, geoAlphabet[0])
}

// pi is a variable so that what is made of it is rounded as Redis rounds it.
var (
	pi     = math.Pi
	degree = pi / 180
)

func radians(degrees float64) float64 { return degrees * degree }
func degrees(radians float64) float64 { return radians / degree }

// distance is how far two positions are apart, in meters, on a sphere.
func distance(a, b position) float64 {
	v := math.Sin((radians(b.lon) - radians(a.lon)) / 2)
	if v == 0 {
		return latDistance(a.lat, b.lat)
	}
	lat1, lat2 := radians(a.lat), radians(b.lat)
	u := math.Sin((lat2 - lat1) / 2)
	h := float64(u*u) + float64(math.Cos(lat1)*math.Cos(lat2)*v*v)
	return 2 * earthMeters * math.Asin(math.Sqrt(h))
}

// latDistance is how far two latitudes are apart, in meters.
func latDistance(a, b float64) float64 {
	return earthMeters * math.Abs(radians(b)-radians(a))
}

// area is the part of the globe that a search is about.
type area struct {
	center        position
	box           bool
	radius        float64 // in meters, of a circle
	width, height float64 // in meters, of a box
}

// reach says how far a position is from the center, if it is in the area.
func (a *area) reach(p position) (meters float64, ok bool) {
	if !a.box {
		meters = distance(a.center, p)
		return meters, meters <= a.radius
	}
	if latDistance(p.lat, a.center.lat) > a.height/2 ||
		distance(p, position{a.center.lon, p.lat}) > a.width/2 {
		return 0, false
	}
	return distance(a.center, p), true
}

// bounds are the corners of a rectangle around the area.
func (a *area) bounds() (sw, ne position) {
	height, width := a.radius, a.radius
	if a.box {
		height, width = a.height/2, a.width/2
	}
	lat := degrees(height / earthMeters)
	widest := a.center.lat + lat // the edge nearer to a pole
	if a.center.lat < 0 {
		widest = a.center.lat - lat
	}
	lon := degrees(width / earthMeters / math.Cos(radians(widest)))
	return position{a.center.lon - lon, a.center.lat - lat}, position{a.center.lon + lon, a.center.lat + lat}
}

// outerRadius is the radius of a circle around the area.
func (a *area) outerRadius() float64 {
	if a.box {
		return math.Sqrt(a.width/2*(a.width/2) + a.height/2*(a.height/2))
	}
	return a.radius
}

// steps is how small cells may be so that nine of them cover the area.
func (a *area) steps() int {
	radius := a.outerRadius()
	if radius == 0 {
		return geoSteps
	}
	steps := 1
	for ; radius < mercatorMeters; radius *= 2 {
		steps++
	}
	steps -= 2
	switch lat := math.Abs(a.center.lat); {
	case lat > 80:
		steps -= 2
	case lat > 66:
		steps--
	}
	return min(max(steps, 1), geoSteps)
}

// cells are the cells to look into, in Redis's order.
func (a *area) cells() []cell {
	sw, ne := a.bounds()
	steps := a.steps()
	middle := cellOf(a.center, steps, maxLat)
	if steps > 1 && a.outgrows(middle, sw, ne) {
		steps--
		middle = cellOf(a.center, steps, maxLat)
	}
	// What the cell in the middle reaches beyond the area, its neighbours on
	// that side are not needed for.
	var skipEast, skipWest, skipNorth, skipSouth bool
	if steps >= 2 {
		low, high := middle.corners()
		skipSouth, skipWest = low.lat < sw.lat, low.lon < sw.lon
		skipNorth, skipEast = high.lat > ne.lat, high.lon > ne.lon
	}
	cells := []cell{middle}
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
func (a *area) outgrows(middle cell, sw, ne position) bool {
	_, north := middle.beside(0, 1).corners()
	south, _ := middle.beside(0, -1).corners()
	_, east := middle.beside(1, 0).corners()
	west, _ := middle.beside(-1, 0).corners()
	return north.lat < ne.lat || south.lat > sw.lat || east.lon < ne.lon || west.lon > sw.lon
}
