package web

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
)

// counts is what the server has done for HTTP.
type counts struct {
	refused atomic.Int64 // connections and streams that were one too many
	slow    atomic.Int64 // streams ended because their reader did not read

	mu       sync.Mutex
	requests map[answered]int64
	events   map[string]int64 // by kind
}

// answered is how a request has ended. There are as many as routes and statuses.
type answered struct {
	route  string
	status int // 0: the client has gone before
}

func (c *counts) request(route string, status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.requests == nil {
		c.requests = make(map[answered]int64)
	}
	c.requests[answered{route, status}]++
}

func (c *counts) event(kind string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.events == nil {
		c.events = make(map[string]int64)
	}
	c.events[kind]++
}

func (c *counts) copies() (requests map[answered]int64, events map[string]int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.requests), maps.Clone(c.events)
}

func (s *Server) writeOwn(x *exposition) {
	requests, events := s.counts.copies()
	x.family("firn_http_requests_total", kindCounter, "Requests that have ended, by route and status; 0: the client had gone.")
	byName := func(a, b answered) int { return cmp.Or(cmp.Compare(a.route, b.route), cmp.Compare(a.status, b.status)) }
	for _, a := range slices.SortedFunc(maps.Keys(requests), byName) {
		x.sample("firn_http_requests_total", float64(requests[a]), "route", a.route, "code", strconv.Itoa(a.status))
	}
	x.gauge("firn_http_connections", "Connections that are open.", float64(s.conns.Load()))
	x.gauge("firn_http_streams", "Streams that are open: /v1/changes and /v1/live.", float64(s.streams.open()))
	x.family("firn_http_events_total", kindCounter, "Events that were sent, by kind.")
	for _, kind := range slices.Sorted(maps.Keys(events)) {
		x.sample("firn_http_events_total", float64(events[kind]), "event", kind)
	}
	x.counter("firn_http_refused_total", "Connections and streams that were one too many.", s.counts.refused.Load())
	x.counter("firn_http_slow_readers_total", "Streams that ended because their reader did not read.", s.counts.slow.Load())
}
