package redis

// STOREDIST is not among the options: see TestStoredDistancesAgreeWithRealRedis.
var geoGrammar = grammar{
	templates: `
GEOADD $geokey $lon $lat $place
GEOADD $geokey $lon $lat $place $lon $lat $place
GEOADD $geokey $lon $lat $place $lon $lat $place $lon $lat $place
GEOADD $geokey $geoaddopt $lon $lat $place
GEOADD $geokey $geoaddopt $geoaddopt $lon $lat $place
GEOADD $key $lon $lat $place
ZADD $geokey $score $place
ZREM $geokey $place
GEOPOS $geokey $place $place
GEODIST $geokey $place $place
GEODIST $geokey $place $place $unit
GEOHASH $geokey $place $place
GEOSEARCH $geokey $fromopt $areaopt
GEOSEARCH $geokey $fromopt $areaopt
GEOSEARCH $geokey $fromopt $areaopt $geoopt
GEOSEARCH $geokey $areaopt $geoopt $fromopt $geoopt $geoopt
GEOSEARCH $key $fromopt $areaopt $geoopt
GEOSEARCHSTORE $geokey $geokey $fromopt $areaopt
GEOSEARCHSTORE $key $geokey $fromopt $areaopt $geoopt
GEORADIUS $geokey $lon $lat $distance $unit
GEORADIUS $geokey $lon $lat $distance $unit $geoopt $geoopt
GEORADIUS $geokey $lon $lat $distance $unit $geoopt STORE $key
GEORADIUS_RO $geokey $lon $lat $distance $unit $geoopt
GEORADIUSBYMEMBER $geokey $place $distance $unit $geoopt
GEORADIUSBYMEMBER $geokey $place $distance $unit STORE $key
GEORADIUSBYMEMBER_RO $geokey $place $distance $unit $geoopt
`,
	choices: map[string][]string{
		"$geokey":    {"geo", "geo", "geo", "oeg"},
		"$lon":       {"13.361389", "15.087269", "0", "180", "-180", "-179.9", "179.9", "2.35", "2.36", "-0.0001", "121.5", "-74", "200", "x", "1e-9"},
		"$lat":       {"38.115556", "37.502669", "0", "48.85", "48.86", "-85.05112878", "85.05", "-33.9", "0.0001", "70", "-81", "86", "x"},
		"$place":     {"p", "q", "r", "s", "t", "u", "v", "w"},
		"$distance":  {"0", "1", "10", "200", "1500", "6000", "25000", "-1", "x", "inf", "0.5"},
		"$unit":      {"m", "KM", "km", "km", "ft", "mi", "x"},
		"$geoaddopt": {"NX", "XX", "CH", "ch", "GT"},
		"$fromopt":   {"FROMMEMBER p", "FROMMEMBER q", "FROMLONLAT 15 37", "FROMLONLAT 2.35 48.85", "FROMLONLAT 179.95 -33", "FROMLONLAT -179.95 70", "FROMLONLAT 0 0", "FROMLONLAT 500 0", "FROMLONLAT 1", "frommember r"},
		"$areaopt": {"BYRADIUS 200 km", "BYRADIUS 1 m", "BYRADIUS 3000 mi", "BYRADIUS 0 m", "BYRADIUS 9000 km", "BYRADIUS 1200 KM", "BYRADIUS x km", "BYRADIUS 1",
			"BYBOX 400 400 km", "BYBOX 10 3000 km", "BYBOX 20000 1000 km", "BYBOX 0 0 m", "BYBOX 3 -1 km", "BYBOX 90000 90000 mi", "BYBOX x 1 m", "bybox 3000 10 km", "BYBOX 1 1"},
		"$geoopt": {"ASC", "DESC", "WITHDIST", "WITHCOORD", "WITHHASH", "COUNT 1", "COUNT 2", "COUNT 3 ANY", "COUNT 1 ANY", "COUNT 0", "COUNT x", "ANY", "FOO", "STORE a", "withdist"},
	},
	reads: `
GEOPOS $geokey $place $place
GEOSEARCH $geokey FROMLONLAT 15 37 BYRADIUS 3000 km WITHDIST
GEODIST $geokey $place $place
`,
}
