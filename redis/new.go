package redis

import (
	"context"
	"log/slog"
	"time"

	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"

	"github.com/firndb/firn"
)

func (o Options) withDefaults() Options {
	if o.Databases <= 0 {
		o.Databases = 16
	}
	if o.MaxClients <= 0 {
		o.MaxClients = 10_000
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	if o.Durability == "" {
		o.Durability = "always"
	}
	if o.Debug == "" {
		o.Debug = "no"
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// New makes a server over store, which it borrows: the caller closes it after
// the last session has ended. The store must have been opened with [Tables].
func New(store *firn.Store, o Options) *Server {
	o = o.withDefaults()
	id := randomID()
	srv := &Server{
		store:   store,
		opts:    o,
		table:   command.NewTable(Commands()),
		catalog: keyspace.NewCatalog(store, o.Databases),
		runID:   id,
		started: o.Now(),
	}
	srv.backups, srv.endBackups = context.WithCancelCause(context.Background())
	srv.replID.Store(&id)
	srv.slow.init()
	srv.latency.slow = &srv.slow
	srv.users = acl.NewACL(srv.table, o.Password)
	srv.users.File = o.ACLFile
	srv.denials.limit.Store(defaultACLLog)
	srv.config.init(o)
	srv.pubsub.init()
	srv.tracking.init(&srv.catalog.Trackers)
	srv.clients.byID = make(map[int64]*Session)
	srv.blocked.queues = make(map[awaitedKey]*queue)
	return srv
}
