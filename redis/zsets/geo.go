package zsets

import (
	"fmt"
	"math"
	"strconv"

	"github.com/firndb/firn/internal/geohash"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

const geoSearchComplexity = "O(n + log m), n the members in the cells around the area, m those of the set"

// A geo index is a sorted set whose scores are positions; see GeoScore.
var geoCommands = []command.Command{
	{
		Name: "GEOADD", Args: "key [NX | XX] [CH] longitude latitude member [longitude latitude member ...]", Min: 4, Max: -1,
		Flags: command.Writes | command.DenyOOM, Keys: command.FirstKey(command.Updates),
		Group: "geo", Since: "3.2.0", Complexity: "O(m · log n), m the members given, n those of the set",
		Summary: "Gives members of the sorted set at key their positions and returns how many are new.",
		Run:     geoAdd,
	},
	{
		Name: "GEOPOS", Args: "key [member [member ...]]", Min: 1, Max: -1, Flags: command.ReadOnly, Keys: command.FirstKey(command.Reads),
		Group: "geo", Since: "3.2.0", Complexity: "O(m), m the members",
		Live:    command.Live{On: keyspace.AspectIdentity, What: "the members that it names: added, removed, given another score"},
		Summary: "Returns the longitudes and latitudes of members, nil where there is none.",
		Run:     geoPos,
	},
	{
		Name: "GEODIST", Args: "key member1 member2 [M | KM | FT | MI]", Min: 3, Max: -1, Flags: command.ReadOnly, Keys: command.FirstKey(command.Reads),
		Group: "geo", Since: "3.2.0", Complexity: "O(1)",
		Live:    command.Live{On: keyspace.AspectIdentity, What: "the members that it names: added, removed, given another score"},
		Summary: "Returns how far two members are apart, or nil.",
		Run:     geoDist,
	},
	{
		Name: "GEOHASH", Args: "key [member [member ...]]", Min: 1, Max: -1, Flags: command.ReadOnly, Keys: command.FirstKey(command.Reads),
		Group: "geo", Since: "3.2.0", Complexity: "O(m), m the members",
		Live:    command.Live{On: keyspace.AspectIdentity, What: "the members that it names: added, removed, given another score"},
		Summary: "Returns the geohash strings of members, nil where there is none.",
		Run:     geoHash,
	},
	{
		Name: "GEOSEARCH",
		Args: "key <FROMMEMBER member | FROMLONLAT longitude latitude> " +
			"<BYRADIUS radius unit | BYBOX width height unit> [ASC | DESC] [COUNT count [ANY]] [WITHCOORD] [WITHDIST] [WITHHASH]",
		Min: 6, Max: -1, Flags: command.ReadOnly, Keys: command.FirstKey(command.Reads),
		Group: "geo", Since: "6.2.0", Complexity: geoSearchComplexity,
		Summary: "Returns the members in a circle or a box.",
		Run:     func(c *command.Call) error { return geoSearch(c, geoForm{search: true}) },
	},
	{
		Name: "GEOSEARCHSTORE",
		Args: "destination source <FROMMEMBER member | FROMLONLAT longitude latitude> " +
			"<BYRADIUS radius unit | BYBOX width height unit> [ASC | DESC] [COUNT count [ANY]] [STOREDIST]",
		Min: 7, Max: -1, Flags: command.Writes | command.DenyOOM, Keys: command.FirstKey(command.Overwrites).And(command.KeyAt(2, command.Reads)),
		Group: "geo", Since: "6.2.0", Complexity: geoSearchComplexity,
		Summary: "Stores the members in a circle or a box, and returns how many there are.",
		Differs: geoDiffers,
		Run:     func(c *command.Call) error { return geoSearch(c, geoForm{search: true, store: true}) },
	},
	{
		Name: "GEORADIUS",
		Args: "key longitude latitude radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] " +
			"[COUNT count [ANY]] [ASC | DESC] [STORE key | STOREDIST key]",
		Min: 5, Max: -1, Flags: command.Writes | command.DenyOOM,
		Keys:  command.FirstKey(command.Reads).And(command.KeyAfter("STORE", 6, command.Overwrites)).And(command.KeyAfter("STOREDIST", 6, command.Overwrites)),
		Group: "geo", Since: "3.2.0", Complexity: geoSearchComplexity,
		Deprecated: command.Deprecation{Since: "6.2.0", Instead: "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` argument"},
		Summary:    "Returns the members in a circle, or stores them.",
		Differs:    geoDiffers,
		Run:        func(c *command.Call) error { return geoSearch(c, geoForm{store: true}) },
	},
	{
		Name: "GEORADIUS_RO",
		Args: "key longitude latitude radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] " +
			"[COUNT count [ANY]] [ASC | DESC]", Min: 5,
		Max: -1, Flags: command.ReadOnly, Keys: command.FirstKey(command.Reads),
		Group: "geo", Since: "3.2.10", Complexity: geoSearchComplexity,
		Deprecated: command.Deprecation{Since: "6.2.0", Instead: "`GEOSEARCH` with the `BYRADIUS` argument"},
		Summary:    "GEORADIUS that does not store.",
		Run:        func(c *command.Call) error { return geoSearch(c, geoForm{}) },
	},
	{
		Name: "GEORADIUSBYMEMBER",
		Args: "key member radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] " +
			"[COUNT count [ANY]] [ASC | DESC] [STORE key | STOREDIST key]",
		Min: 4, Max: -1, Flags: command.Writes | command.DenyOOM,
		Keys:  command.FirstKey(command.Reads).And(command.KeyAfter("STORE", 5, command.Overwrites)).And(command.KeyAfter("STOREDIST", 5, command.Overwrites)),
		Group: "geo", Since: "3.2.0", Complexity: geoSearchComplexity,
		Deprecated: command.Deprecation{Since: "6.2.0", Instead: "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` and `FROMMEMBER` arguments"},
		Summary:    "Returns the members in a circle around one of them, or stores them.",
		Differs:    geoDiffers,
		Run:        func(c *command.Call) error { return geoSearch(c, geoForm{byMember: true, store: true}) },
	},
	{
		Name: "GEORADIUSBYMEMBER_RO",
		Args: "key member radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] " +
			"[COUNT count [ANY]] [ASC | DESC]", Min: 4, Max: -1,
		Flags: command.ReadOnly, Keys: command.FirstKey(command.Reads),
		Group: "geo", Since: "3.2.10", Complexity: geoSearchComplexity,
		Deprecated: command.Deprecation{Since: "6.2.0", Instead: "`GEOSEARCH` with the `BYRADIUS` and `FROMMEMBER` arguments"},
		Summary:    "GEORADIUSBYMEMBER that does not store.",
		Run:        func(c *command.Call) error { return geoSearch(c, geoForm{byMember: true}) },
	},
}

const geoDiffers = "One stored distance in some thousands differs in the last of 17 digits."

// parsePosition reads a longitude and a latitude.
func parsePosition(lon, lat []byte) (p geohash.Position, err error) {
	var ok, ok2 bool
	if p.Lon, ok = resp.ParseDouble(lon); !ok {
		return p, command.ErrNotFloat
	}
	if p.Lat, ok2 = resp.ParseDouble(lat); !ok2 {
		return p, command.ErrNotFloat
	}
	if p.Lon < -geohash.MaxLon || p.Lon > geohash.MaxLon || p.Lat < -geohash.MaxLat || p.Lat > geohash.MaxLat {
		return p, resp.Error(fmt.Sprintf("ERR invalid longitude,latitude pair %s,%s", cFloat(p.Lon), cFloat(p.Lat)))
	}
	return p, nil
}

// cFloat is what C's %f prints.
func cFloat(f float64) string {
	if math.IsInf(f, 0) {
		return string(resp.AppendDouble(nil, f))
	}
	return strconv.FormatFloat(f, 'f', 6, 64)
}

// parseUnit reads a unit of length, and returns it in meters.
func parseUnit(arg []byte) (float64, error) {
	switch {
	case command.Is(arg, "M"):
		return 1, nil
	case command.Is(arg, "KM"):
		return 1000, nil
	case command.Is(arg, "FT"):
		return 0.3048, nil
	case command.Is(arg, "MI"):
		return 1609.34, nil
	}
	return 0, resp.Error("ERR unsupported unit provided. please use M, KM, FT, MI")
}

func geoAdd(c *command.Call) error {
	var o addOptions
	rest := c.Args[1:]
options:
	for ; len(rest) > 0; rest = rest[1:] {
		switch {
		case command.Is(rest[0], "NX"):
			o.ifAbsent = true
		case command.Is(rest[0], "XX"):
			o.ifPresent = true
		case command.Is(rest[0], "CH"):
			o.changed = true
		default:
			break options
		}
	}
	if len(rest) == 0 || len(rest)%3 != 0 || o.ifAbsent && o.ifPresent {
		return command.ErrSyntax
	}
	pairs := make([]scored, 0, len(rest)/3)
	for ; len(rest) > 0; rest = rest[3:] {
		p, err := parsePosition(rest[0], rest[1])
		if err != nil {
			return err
		}
		pairs = append(pairs, scored{geohash.Score(p), rest[2]})
	}
	return addScores(c, o, pairs)
}

// eachScore calls visit with the score of each member that the command names.
func eachScore(c *command.Call, visit func(score float64, ok bool)) error {
	k, live, err := keyspace.FindZSet(c.View, c.Args[0])
	if err != nil {
		return err
	}
	c.Reply.Array(len(c.Args) - 1)
	for _, member := range c.Args[1:] {
		var score float64
		ok := live
		if live {
			if score, ok, err = keyspace.ScoreOf(c.View, k.UID, member); err != nil {
				return err
			}
		}
		visit(score, ok)
	}
	return nil
}

func geoPos(c *command.Call) error {
	return eachScore(c, func(score float64, ok bool) {
		if ok {
			replyPosition(&c.Reply, geohash.PositionOf(score))
		} else {
			c.Reply.NullArray()
		}
	})
}

// replyPosition replies a longitude and a latitude.
func replyPosition(w *resp.Writer, p geohash.Position) {
	w.Array(2)
	for _, degrees := range [...]float64{p.Lon, p.Lat} {
		var room [32]byte
		text := resp.AppendHumanDouble(room[:0], degrees)
		if w.Proto != 3 {
			w.Bulk(text)
			continue
		}
		w.Buf = append(append(append(w.Buf, ','), text...), '\r', '\n')
	}
}

func geoHash(c *command.Call) error {
	return eachScore(c, func(score float64, ok bool) {
		if !ok {
			c.Reply.Null()
			return
		}
		var room [16]byte
		c.Reply.Bulk(geohash.Append(room[:0], geohash.PositionOf(score)))
	})
}

func geoDist(c *command.Call) error {
	unit := 1.0
	var err error
	switch len(c.Args) {
	case 3:
	case 4:
		unit, err = parseUnit(c.Args[3])
	default:
		err = command.ErrSyntax
	}
	if err != nil {
		return err
	}
	k, ok, err := keyspace.FindZSet(c.View, c.Args[0])
	if err != nil {
		return err
	}
	var at [2]geohash.Position
	for i := 0; i < len(at) && ok; i++ {
		var score float64
		if score, ok, err = keyspace.ScoreOf(c.View, k.UID, c.Args[1+i]); err != nil {
			return err
		}
		at[i] = geohash.PositionOf(score)
	}
	if !ok {
		c.Reply.Null()
		return nil
	}
	replyDistance(&c.Reply, geohash.Distance(at[0], at[1])/unit)
	return nil
}

// replyDistance replies a distance with four decimals.
func replyDistance(w *resp.Writer, d float64) {
	var room [32]byte
	w.Bulk(strconv.AppendFloat(room[:0], d, 'f', 4, 64))
}
