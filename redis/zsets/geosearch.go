package zsets

import (
	"cmp"
	"slices"

	"github.com/firndb/firn/internal/geohash"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
	"github.com/firndb/firn/tuple"
)

// Searching a geo index: GEOSEARCH, and GEORADIUS and its kin.

// geoForm is what a command's name says.
type geoForm struct {
	search   bool // GEOSEARCH: options say what is searched
	store    bool // it may store, or does
	byMember bool
}

// geoOrder is the order of what was found.
type geoOrder uint8

const (
	unsorted geoOrder = iota
	nearestFirst
	farthestFirst
)

// geoFrom is how a center is given.
type geoFrom uint8

const (
	fromNothing geoFrom = iota
	fromMember
	fromPosition
)

// geoQuery is what a command asks for.
type geoQuery struct {
	geohash.Area
	unit        float64 // in meters
	from        geoFrom // GEOSEARCH: how the center was given
	shaped      bool    // GEOSEARCH: the shape was given
	order       geoOrder
	count       int64 // 0: all
	any         bool  // the first that are found will do
	distances   bool
	hashes      bool
	coordinates bool
	storeAt     []byte // nil: reply
	storeMeters bool   // as scores, in units, instead of the positions
}

// found is a member in the area.
type found struct {
	keyspace.Rated
	at     geohash.Position
	meters float64
}

// geoSource is the set that is searched.
type geoSource struct {
	key  keyspace.KeyDoc
	live bool
}

func geoSearch(c *command.Call, form geoForm) error {
	key, args := c.Args[0], c.Args[1:]
	var q geoQuery
	if form.search && form.store {
		q.storeAt = key
		key, args = args[0], args[1:]
	}
	var src geoSource
	var err error
	if src.key, src.live, err = keyspace.FindZSet(c.View, key); err != nil {
		return err
	}
	if !form.search {
		if args, err = parseCircle(c, &q, &src, args, form); err != nil {
			return err
		}
	}
	if err := parseGeoOptions(c, &q, &src, args, form); err != nil {
		return err
	}
	if err := q.check(c, form); err != nil {
		return err
	}
	if q.count > 0 && q.order == unsorted && !q.any {
		q.order = nearestFirst
	}
	members, err := findInArea(c, &q, &src)
	if err != nil {
		return err
	}
	members = q.sorted(members)
	if q.storeAt != nil {
		return storeFound(c, &q, members, form)
	}
	replyFound(&c.Reply, &q, members)
	return nil
}

// parseCircle reads the arguments of GEORADIUS up to its options.
func parseCircle(c *command.Call, q *geoQuery, src *geoSource, args [][]byte, form geoForm) (rest [][]byte, err error) {
	if !form.byMember {
		if q.Center, err = parsePosition(args[0], args[1]); err != nil {
			return nil, err
		}
		return args[4:], q.parseRadius(args[2], args[3])
	}
	if !src.live {
		return args[3:], nil
	}
	if q.Center, err = memberPosition(c, src, args[0]); err != nil {
		return nil, err
	}
	return args[3:], q.parseRadius(args[1], args[2])
}

// memberPosition is where a member of the source is.
func memberPosition(c *command.Call, src *geoSource, member []byte) (geohash.Position, error) {
	score, ok, err := keyspace.ScoreOf(c.View, src.key.UID, member)
	if err == nil && !ok {
		err = resp.Error("ERR could not decode requested zset member")
	}
	return geohash.PositionOf(score), err
}

func (q *geoQuery) parseRadius(radius, unit []byte) (err error) {
	n, ok := resp.ParseDouble(radius)
	if !ok {
		return resp.Error("ERR need numeric radius")
	}
	if n < 0 {
		return resp.Error("ERR radius cannot be negative")
	}
	q.unit, err = parseUnit(unit)
	q.Radius = n * q.unit
	return err
}

func (q *geoQuery) parseBox(width, height, unit []byte) (err error) {
	w, ok := resp.ParseDouble(width)
	if !ok {
		return resp.Error("ERR need numeric width")
	}
	h, ok := resp.ParseDouble(height)
	if !ok {
		return resp.Error("ERR need numeric height")
	}
	if w < 0 || h < 0 {
		return resp.Error("ERR height or width cannot be negative")
	}
	q.unit, err = parseUnit(unit)
	q.Box, q.Width, q.Height = true, w*q.unit, h*q.unit
	return err
}

// parseGeoOptions reads the options of all commands that search.
func parseGeoOptions(c *command.Call, q *geoQuery, src *geoSource, args [][]byte, form geoForm) error {
	for len(args) > 0 {
		used, err := q.parseGeoFlag(args[0]), error(nil)
		if used == 0 {
			used, err = q.parseGeoOption(args, form)
		}
		if used == 0 && err == nil && form.search {
			used, err = parseGeoSubject(c, q, src, args)
		}
		if used == 0 && err == nil {
			err = command.ErrSyntax
		}
		if err != nil {
			return err
		}
		args = args[used:]
	}
	return nil
}

// parseGeoFlag takes an option that has no argument: 1, or 0 if it is none.
func (q *geoQuery) parseGeoFlag(arg []byte) int {
	switch {
	case command.Is(arg, "WITHDIST"):
		q.distances = true
	case command.Is(arg, "WITHHASH"):
		q.hashes = true
	case command.Is(arg, "WITHCOORD"):
		q.coordinates = true
	case command.Is(arg, "ANY"):
		q.any = true
	case command.Is(arg, "ASC"):
		q.order = nearestFirst
	case command.Is(arg, "DESC"):
		q.order = farthestFirst
	default:
		return 0
	}
	return 1
}

// parseGeoOption takes COUNT, or an option that stores, and returns how many
// arguments it took.
func (q *geoQuery) parseGeoOption(args [][]byte, form geoForm) (used int, err error) {
	if form.search && form.store && command.Is(args[0], "STOREDIST") {
		q.storeMeters = true
		return 1, nil
	}
	if len(args) < 2 {
		return 0, nil
	}
	stores := form.store && !form.search
	switch {
	case command.Is(args[0], "COUNT"):
		var ok bool
		if q.count, ok = resp.ParseInt(args[1]); !ok {
			return 0, command.ErrNotInteger
		}
		if q.count <= 0 {
			return 0, resp.Error("ERR COUNT must be > 0")
		}
	case stores && command.Is(args[0], "STORE"):
		q.storeAt, q.storeMeters = args[1], false
	case stores && command.Is(args[0], "STOREDIST"):
		q.storeAt, q.storeMeters = args[1], true
	default:
		return 0, nil
	}
	return 2, nil
}

// parseGeoSubject takes an option that says where or what to search, and
// returns how many arguments it took. Each may be said once, in one way.
func parseGeoSubject(c *command.Call, q *geoQuery, src *geoSource, args [][]byte) (used int, err error) {
	switch {
	case len(args) > 1 && command.Is(args[0], "FROMMEMBER") && q.from != fromPosition:
		q.from, used = fromMember, 2
		if src.live {
			q.Center, err = memberPosition(c, src, args[1])
		}
	case len(args) > 2 && command.Is(args[0], "FROMLONLAT") && q.from != fromMember:
		q.from, used = fromPosition, 3
		q.Center, err = parsePosition(args[1], args[2])
	case len(args) > 2 && command.Is(args[0], "BYRADIUS") && !q.Box:
		q.shaped, used = true, 3
		err = q.parseRadius(args[1], args[2])
	case len(args) > 3 && command.Is(args[0], "BYBOX") && (q.Box || !q.shaped):
		q.shaped, used = true, 4
		err = q.parseBox(args[1], args[2], args[3])
	}
	return used, err
}

// check refuses options that do not go together.
func (q *geoQuery) check(c *command.Call, form geoForm) error {
	name := c.Cmd.Name
	switch {
	case q.storeAt != nil && (q.distances || q.hashes || q.coordinates):
		if !form.search {
			name = "STORE option in GEORADIUS"
		}
		return resp.Error("ERR " + name + " is not compatible with WITHDIST, WITHHASH and WITHCOORD options")
	case form.search && q.from == fromNothing:
		return resp.Error("ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for " + name)
	case form.search && !q.shaped:
		return resp.Error("ERR exactly one of BYRADIUS and BYBOX can be specified for " + name)
	case q.any && q.count == 0:
		return resp.Error("ERR the ANY argument requires COUNT argument")
	}
	return nil
}

// findInArea looks into the cells around the area: at most count members if
// any will do.
func findInArea(c *command.Call, q *geoQuery, src *geoSource) (members []found, err error) {
	if !src.live {
		return nil, nil
	}
	whole, err := keyspace.SpanOfZSet(c.View, &src.key)
	if err != nil {
		return nil, err
	}
	if _, err := keyspace.WarmSpan(c.View, &src.key, &whole, 1); err != nil {
		return nil, err
	}
	enough := func() bool { return q.any && int64(len(members)) >= q.count }
	for _, cell := range q.Cells() {
		if enough() {
			break
		}
		from, to := cell.Scores()
		s := whole
		s.Clip(tuple.AppendFloat(nil, from), tuple.AppendFloat(nil, to))
		err := keyspace.WalkSpan(c.View, s, 0, 0, func(m keyspace.Rated) error {
			at := geohash.PositionOf(m.Score)
			if meters, ok := q.Reach(at); ok {
				members = append(members, found{m, at, meters})
				if enough() {
					return keyspace.ErrStop
				}
			}
			return nil
		})
		if err != nil && err != keyspace.ErrStop {
			return nil, err
		}
	}
	return members, nil
}

// sorted is members in the order and number that was asked for.
func (q *geoQuery) sorted(members []found) []found {
	switch q.order {
	case nearestFirst:
		slices.SortStableFunc(members, func(a, b found) int { return cmp.Compare(a.meters, b.meters) })
	case farthestFirst:
		slices.SortStableFunc(members, func(a, b found) int { return cmp.Compare(b.meters, a.meters) })
	}
	if q.count > 0 && q.count < int64(len(members)) {
		members = members[:q.count]
	}
	return members
}

// storeFound stores what was found, by position or by distance.
func storeFound(c *command.Call, q *geoQuery, members []found, form geoForm) error {
	event := "georadiusstore"
	if form.search {
		event = "geosearchstore"
	}
	kept := make([]keyspace.Rated, len(members))
	for i := range members {
		kept[i] = members[i].Rated
		if q.storeMeters {
			kept[i].Score = geohash.PreciseDistance(q.Center, members[i].at) / q.unit
		}
	}
	return storeZSet(c, q.storeAt, kept, longestOf(kept), event)
}

// replyFound replies what was found: members, or if more was asked for an
// array for each.
func replyFound(w *resp.Writer, q *geoQuery, members []found) {
	parts := 1
	for _, wanted := range [...]bool{q.distances, q.hashes, q.coordinates} {
		if wanted {
			parts++
		}
	}
	w.Array(len(members))
	for i := range members {
		m := &members[i]
		if parts > 1 {
			w.Array(parts)
		}
		w.BulkString(m.Member)
		if q.distances {
			replyDistance(w, m.meters/q.unit)
		}
		if q.hashes {
			w.Int(int64(m.Score))
		}
		if q.coordinates {
			replyPosition(w, m.at)
		}
	}
}
