package main

import "fmt"

// bar is a figure that a row must reach, and one that it aims at.
type bar struct {
	limit, aim float64
	atMost     bool // the figure must not be above, rather than not below
}

// bars holds what the project promises, by the row's key; ARCHITECTURE.md
// says what the prototypes reached. Rows without a bar are there to be
// watched.
var bars = withTypes(map[string]bar{
	"throughput/SET/P=1/everysec":  {limit: 0.7, aim: 1},
	"throughput/INCR/P=1/everysec": {limit: 0.7, aim: 1},
	"throughput/GET/P=1/everysec":  {limit: 0.95, aim: 1.1},
	"throughput/SET/P=16/everysec": {limit: 0.7, aim: 1},
	"throughput/GET/P=16/everysec": {limit: 1, aim: 1.2},
	"throughput/SET/P=1/always":    {limit: 0.8, aim: 1.5},
	"collections/queue":            {limit: 2, aim: 1.2, atMost: true},
	"collections/zrank":            {limit: 50, aim: 10, atMost: true},
	"collections/zrange":           {limit: 50, aim: 10, atMost: true},
	"collections/zadd":             {limit: 2, aim: 1.5, atMost: true},
	"collections/del":              {limit: 1, aim: 0.2, atMost: true},
	"collections/hget":             {limit: 1, aim: 0.2, atMost: true},
	"embedded":                     {limit: 0.6, aim: 0.85},
	"wal/P=1":                      {limit: 1200, aim: 700, atMost: true},
	"at/versions=1000000":          {limit: 2, aim: 1.2, atMost: true},
	"history/point":                {limit: 2, aim: 1.2, atMost: true},
	"history/range":                {limit: 2, aim: 1.2, atMost: true},
	"history/last":                 {limit: 1.5, aim: 1.1, atMost: true},
	"history/bytes":                {limit: 250, aim: 200, atMost: true},
	"compaction/rate":              {limit: 50_000, aim: 200_000},
	"compaction/shrink":            {limit: 2, aim: 1.2, atMost: true},
	"compaction/bytes":             {limit: 300, aim: 250, atMost: true},
	"compaction/throughput":        {limit: 0.8, aim: 0.95},
	"compaction/p99":               {limit: 3, aim: 1.5, atMost: true},
	"open/clean":                   {limit: 1, aim: 0.2, atMost: true},
	"open/killed":                  {limit: 3, aim: 1, atMost: true},
	"memory/MiB":                   {limit: 250, aim: 150, atMost: true},
	"expiry/keys/Firn":             {limit: 20, aim: 5, atMost: true},
	"expiry/fields/Firn":           {limit: 20, aim: 5, atMost: true},
	"stalls/Firn":                  {limit: 5, aim: 2, atMost: true},
})

// withTypes adds the bars of the types' commands.
func withTypes(bars map[string]bar) map[string]bar {
	for _, name := range []string{"SADD", "HSET", "ZADD", "LPUSH", "RPOP", "SPOP", "ZPOPMIN", "XADD"} {
		bars["throughput/"+name+"/P=1/everysec"] = bar{limit: 0.6, aim: 1}
		bars["throughput/"+name+"/P=16/everysec"] = bar{limit: 0.4}
	}
	bars["throughput/MSET/P=1/everysec"] = bar{limit: 0.5}
	bars["throughput/MSET/P=16/everysec"] = bar{limit: 0.4}
	bars["throughput/LRANGE_100/P=1/everysec"] = bar{limit: 0.6, aim: 1}
	bars["throughput/LRANGE_600/P=1/everysec"] = bar{limit: 0.6}
	return bars
}

// verdict is the report's cell for a row's figure: empty without a bar.
func verdict(key string, figure float64) string {
	b, ok := bars[key]
	if !ok {
		return ""
	}
	sign := "≥"
	if b.atMost {
		sign = "≤"
	}
	switch {
	case !b.met(figure, b.limit):
		return fmt.Sprintf("%s %v: **missed**", sign, b.limit)
	case b.aim == 0:
		return fmt.Sprintf("%s %v: met", sign, b.limit)
	case !b.met(figure, b.aim):
		return fmt.Sprintf("%s %v: met; aim %v missed", sign, b.limit, b.aim)
	}
	return fmt.Sprintf("%s %v: met; aim %v met", sign, b.limit, b.aim)
}

func (b bar) met(figure, limit float64) bool {
	if b.atMost {
		return figure <= limit
	}
	return figure >= limit
}
