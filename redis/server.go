// Package redis makes a store speak Redis's language: its commands, as
// functions of a snapshot or of a transaction, and the session that a client
// has with them.
//
// A [Server] is what all sessions share. A [Session] is a state machine
// without I/O: bytes go in (Space, Fill), Run turns them into replies, and
// bytes come out (Output, Sent). What Run returns tells the driver what the
// session lacks: input, a commit, a thread that may block, or nothing more.
// Package server has the drivers.
//
// Commands live in files by type: lists.go has a slice of [Command] entries,
// which table.go gathers, and says where the rest about lists is. A command
// reads through Call.R and does not know which moment that is, so every read
// command works at every timestamp. How a type is stored stands where it is
// read: keydoc.go, listplaces.go, zsets.go, streamdoc.go, streamgroups.go and
// lifetimeends.go; tables.go has the tables.
//
// What one client tells others goes through its outbox, once it is decided,
// into their inboxes (outbox.go, push.go). Who waits for a key is in
// blocked.go, and is served by [Group].
package redis

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"

	"github.com/firndb/firn"
)

// Options says how a Server behaves. The zero value is ready for production.
type Options struct {
	Databases  int    // how many SELECT knows; 0: 16
	Password   string // what AUTH asks for; empty: nothing is asked
	ACLFile    string // where ACL LOAD and ACL SAVE find users; empty: nowhere
	MaxClients int    // more are turned away; 0: 10,000
	Exposed    bool   // other machines need no password either: protected-mode no
	Version    string // Firn's own version, for INFO and HELLO
	Path       string // the store's file, for CONFIG GET and INFO
	Port       int    // the TCP port, for INFO
	Durability string // always, everysec or no, for INFO and CONFIG GET
	Memory     int64  // the head's budget in bytes, for INFO and CONFIG GET
	Anonymous  bool   // versions do not say who wrote them

	// Debug says who may use DEBUG, as Redis's enable-debug-command does: no,
	// yes, or local, clients of this machine; empty: no.
	Debug string

	Logger *slog.Logger     // nil: nothing is logged
	Level  *slog.LevelVar   // what CONFIG SET loglevel changes; nil: nothing
	Now    func() time.Time // nil: time.Now

	// Shutdown is called, once, when a client asks to SHUTDOWN. It must not
	// block. nil: SHUTDOWN is refused.
	Shutdown func()
}

// redisVersion is the version of Redis that clients are told, because they
// choose features by it. Firn's own is in INFO as firn_version.
const redisVersion = "7.4.0"

// Server is what all sessions share: the store, the command table, the
// settings, the clients and the counters. It starts no goroutine and is safe
// for concurrent use.
type Server struct {
	store   *firn.Store
	opts    Options
	table   *command.Table
	catalog *keyspace.Catalog
	config  config
	clients clients
	blocked blocked
	pubsub  pubsub
	users   *acl.Users
	denials aclLog

	tracking  tracking
	monitors  monitors
	overflows atomic.Int64 // clients ended because they did not read
	stats     stats
	slow      slowLog
	latency   latency
	expiries  expiries
	runID     string
	replID    atomic.Pointer[string] // what INFO calls master_replid
	started   time.Time

	passive  atomic.Bool // DEBUG SET-ACTIVE-EXPIRE 0: the sweeper rests
	shutdown sync.Once
	backups  context.Context // of every BACKUP; endBackups ends it

	endBackups context.CancelCauseFunc
	nextID     atomic.Int64
}

// Store is the store that the server works on.
func (srv *Server) Store() *firn.Store { return srv.store }
