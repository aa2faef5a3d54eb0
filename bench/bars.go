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
	"throughput/GET/P=1/everysec":   {limit: 1.1, aim: 1.2},
	"throughput/GET/P=16/everysec":  {limit: 1, aim: 1.2},
	"throughput/SET/P=16/everysec":  {limit: 0.6, aim: 1},
	"throughput/INCR/P=16/everysec": {limit: 0.6, aim: 1},

	"cpu/throughput/SET/P=1/everysec":    {limit: 1.4, aim: 1.1, atMost: true},
	"cpu/throughput/SET/P=16/everysec":   {limit: 2, aim: 1.5, atMost: true},
	"cpu/throughput/LPUSH/P=16/everysec": {limit: 2.5, aim: 1.5, atMost: true},
	"cpu/throughput/ZADD/P=16/everysec":  {limit: 2.5, aim: 1.5, atMost: true},

	"tls/GET/P=1": {limit: 0.6, aim: 0.7},
	"tls/SET/P=1": {limit: 0.6, aim: 0.7},

	"collections/queue":   {limit: 2, aim: 1.2, atMost: true},
	"collections/zadd":    {limit: 2, aim: 1.5, atMost: true},
	"collections/del":     {limit: 1, aim: 0.2, atMost: true},
	"collections/hget":    {limit: 1, aim: 0.2, atMost: true},
	"embedded":            {limit: 0.7, aim: 1},
	"wal/P=1":             {limit: 700, aim: 350, atMost: true},
	"at/versions=1000000": {limit: 2, aim: 1.2, atMost: true},
	"history/point":       {limit: 2, aim: 1.2, atMost: true},
	"history/range":       {limit: 2, aim: 1.2, atMost: true},
	"history/last":        {limit: 1.5, aim: 1.1, atMost: true},
	"history/bytes":       {limit: 250, aim: 200, atMost: true},

	"compaction/rate":       {limit: 50_000, aim: 200_000},
	"compaction/shrink":     {limit: 2, aim: 1.2, atMost: true},
	"compaction/bytes":      {limit: 300, aim: 250, atMost: true},
	"compaction/throughput": {limit: 0.8, aim: 0.95},
	"compaction/p99":        {limit: 3, aim: 1.5, atMost: true},

	"open/clean":         {limit: 1, aim: 0.2, atMost: true},
	"open/killed":        {limit: 3, aim: 1, atMost: true},
	"expiry/keys/Firn":   {limit: 20, aim: 5, atMost: true},
	"expiry/fields/Firn": {limit: 20, aim: 5, atMost: true},
	"tracking/Firn":      {limit: 0.9, aim: 0.97},
	"stalls/Firn":        {limit: 5, aim: 2, atMost: true},
	"readers/Firn":       {limit: 50, aim: 10, atMost: true},

	"follow/SET": {limit: 0.95, aim: 0.99},

	"live/commit": {limit: 1.1, aim: 1.02, atMost: true},
	"live/bytes":  {limit: 1024, aim: 512, atMost: true},
	"live/fans":   {limit: 20, aim: 8, atMost: true},
	"live/keys":   {limit: 50, aim: 10, atMost: true},
	"live/memory": {limit: 1024, aim: 512, atMost: true},

	"scripts/counter/P=1":  {limit: 0.6, aim: 1},
	"scripts/counter/P=16": {limit: 0.3, aim: 0.6},
	"scripts/get/P=1":      {limit: 0.7, aim: 1},
	"scripts/limiter/P=1":  {limit: 0.5, aim: 1},
	"scripts/beside":       {limit: 5, aim: 1, atMost: true},
	"scripts/memory":       {limit: 64, aim: 16, atMost: true},

	"memory/1":       {limit: 160, aim: 110, atMost: true},
	"memory/10":      {limit: 450, aim: 350, atMost: true},
	"members/set":    {limit: 60, aim: 45, atMost: true},
	"members/zset":   {limit: 110, aim: 95, atMost: true},
	"members/hash":   {limit: 80, aim: 60, atMost: true},
	"collector":      {limit: 5, aim: 2, atMost: true},
	"ranks/now":      {limit: 1, aim: 0.2, atMost: true},
	"ranks/then":     {limit: 50, aim: 2, atMost: true},
	"ranks/growth":   {limit: 1.5, aim: 1.1, atMost: true},
	"feed/log":       {limit: 300_000, aim: 600_000},
	"feed/ring":      {limit: 1_000_000, aim: 2_000_000},
	"feed/resume":    {limit: 3, aim: 0.3, atMost: true}, // seconds
	"large/SET/P=16": {limit: 2 * 45_700, aim: 4 * 45_700},
	"large/GET/P=1":  {limit: 2 * 30_400, aim: 4 * 30_400},
	"large/GET/P=16": {limit: 2 * 56_000, aim: 4 * 56_000},
	"large/MiB":      {limit: 420, aim: 340, atMost: true},
})

// withTypes adds the bars of the commands that share one.
func withTypes(bars map[string]bar) map[string]bar {
	for _, name := range []string{"SET", "INCR", "HSET", "SADD", "LPUSH", "RPOP"} {
		bars["throughput/"+name+"/P=1/everysec"] = bar{limit: 0.85, aim: 1}
		bars["throughput/"+name+"/P=1/always"] = bar{limit: 0.9, aim: 1.3}
	}
	for _, name := range []string{"ZADD", "ZPOPMIN", "SPOP", "XADD"} {
		bars["throughput/"+name+"/P=1/everysec"] = bar{limit: 0.7, aim: 1}
		bars["beyond/"+name] = bar{limit: 0.7, aim: 1}
	}
	for _, name := range []string{"HSET", "SADD", "ZADD", "LPUSH", "RPOP", "XADD"} {
		bars["throughput/"+name+"/P=16/everysec"] = bar{limit: 0.4, aim: 0.7}
	}
	bars["throughput/SPOP/P=16/everysec"] = bar{limit: 0.4}
	bars["throughput/ZPOPMIN/P=16/everysec"] = bar{limit: 0.4}
	bars["throughput/MSET/P=1/everysec"] = bar{limit: 0.6, aim: 1}
	bars["throughput/MSET/P=16/everysec"] = bar{limit: 0.5, aim: 1}
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
