// Package redis makes a store speak Redis's language. It is the top floor of a
// house that stands on the public page of package firn, and each floor knows
// only those below:
//
//   - keyspace: keys and collections as documents, at any moment
//   - command: what a command is, its table, arguments and replies
//   - values, hashes, lists, sets, zsets, streams, keys: the commands on data
//   - history: the commands about the past
//   - live: queries whose clients are told when the answer changes
//   - acl: users, and what they may do
//   - pubsub, tracking, measure: who listens, who keeps copies, what was slow
//   - redis itself: the server, the sessions, and the commands about these
//
// A [Server] is what all sessions share. A [Session] is a state machine
// without I/O: bytes go in (Space, Fill), Run turns them into replies, and
// bytes come out (Output, Sent). What Run returns tells the driver what the
// session lacks: input, a commit, a thread that may block, or nothing more.
// Package server has the drivers. Writes of one session, or of many, are
// committed as a [Group], which also serves those who wait for a key.
//
// Everything that is known about a command follows from its entry, a
// [command.Command]; [Commands] is the list of all. A command reads through its
// call's view and does not know which moment that is, so every read command
// works at every timestamp. What it tells other clients goes to its session's
// outbox, and from there, once it is decided, into their inboxes.
//
// The package opens no socket, starts no goroutine and does not close the
// store.
package redis

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/redis/live"
	"github.com/firndb/firn/redis/measure"
	"github.com/firndb/firn/redis/pubsub"
	"github.com/firndb/firn/redis/scripting"
	"github.com/firndb/firn/redis/tracking"
	"github.com/firndb/firn/resp"
)

// Server is what all sessions share: the store, the command table, the
// settings, the clients and the counters. It starts no goroutine and is safe
// for concurrent use.
type Server struct {
	store    *firn.Store
	opts     Options
	commands *command.Registry
	catalog  *keyspace.Catalog
	config   config
	clients  roster[*Session]
	blocked  blocked
	pause    pause
	pubsub   pubsub.Hub
	users    *acl.Users
	denials  acl.Log
	live     *live.Hub

	tracking  tracking.Table
	monitors  pubsub.Monitors
	overflows atomic.Int64 // clients ended because they did not read
	stats     stats
	slow      measure.SlowLog
	latency   measure.Latencies
	expiries  expiries
	scripts   *scripting.Engine
	runID     string
	replID    atomic.Pointer[string] // what INFO calls master_replid
	started   time.Time

	passive  atomic.Bool // DEBUG SET-ACTIVE-EXPIRE 0: the sweeper rests
	shutdown sync.Once
	backups  context.Context // of every BACKUP; endBackups ends it

	following atomic.Int64 // clients that wait for a commit

	endBackups context.CancelCauseFunc
	nextID     atomic.Int64
}

// Store is the store that the server works on.
func (srv *Server) Store() *firn.Store { return srv.store }

// blockedClients is how many clients wait: for a key, a commit, or the end of a
// pause.
func (srv *Server) blockedClients() int64 {
	return srv.blocked.waiting.Load() + srv.following.Load() + srv.pause.count.Load()
}

// inputLimits are those of a session's input.
func (srv *Server) inputLimits() resp.Limits {
	return resp.Limits{MaxBulk: int(srv.catalog.MaxBulkBytes.Load()), MaxCommandBytes: int(srv.config.queryLimit.Load())}
}

// TimeoutSeconds is how long a client may be idle; 0: for ever.
func (srv *Server) TimeoutSeconds() int64 { return srv.config.timeout.Load() }

// KeepAliveSeconds is how often an idle TCP connection is probed; 0: never.
func (srv *Server) KeepAliveSeconds() int64 { return srv.config.keepAlive.Load() }
