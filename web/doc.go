// Package web is the way in for what speaks HTTP: browsers, scripts and
// monitoring. It only reads.
//
//	GET /v1/get?key=cart:7&at=-5m                     what a key held, as JSON
//	GET /v1/changes?from=@…&match=cart:*              the feed, as server-sent events
//	GET /v1/live?command=HGETALL&arg=cart:7           a live query, as server-sent events
//	GET /metrics  /healthz  /readyz                   for those who watch the server
//
// A request is a gateway, not a second server: each opens a redis session, as
// a connection does, authenticates and sends commands through it, and what
// they answer becomes JSON ([reply.Value.AppendJSON]). So users, rights, limits
// and the meaning of commands are those of RESP, clients are in CLIENT LIST,
// and CLIENT KILL ends them. There is no socket in between: the goroutine of
// the request runs the session itself.
//
// # Events
//
// The id of an event is a token. A client that comes back with it, as
// Last-Event-ID or in from, goes on where it stood:
//
//   - change: one commit, with all of its changes that the filter lets through
//   - live: the query's new reply
//   - bookmark: nothing, but a newer token
//   - reset: the token cannot be resumed from, and why. /v1/changes goes on
//     from now: read what you follow as of the event's token. /v1/live goes on
//     with the query's reply.
//   - end: an error; the stream is over
//
// Lines that begin with a colon keep the connection from being taken for dead.
//
// # What one client can cost
//
// One bad client costs one connection. Every phase of a connection has a
// limit, see limits.go: a client that sends no request, sends it slowly, does
// not read what it is sent or goes away is hung up on. While it does not
// read, its session waits.
package web
