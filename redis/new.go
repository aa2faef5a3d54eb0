package redis

import (
	"context"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/redis/pubsub"
	"github.com/firndb/firn/redis/scripting"
)

// New makes a server over store, which it borrows: the caller closes it after
// the last session has ended. The store must have been opened with [keyspace.Tables].
func New(store *firn.Store, o Options) *Server {
	o = o.withDefaults()
	id := randomID()
	srv := &Server{
		store:    store,
		opts:     o,
		commands: command.NewRegistry(Commands()),
		catalog:  keyspace.NewCatalog(store, o.Databases),
		runID:    id,
		started:  o.Now(),
	}
	srv.backups, srv.endBackups = context.WithCancelCause(context.Background())
	srv.replID.Store(&id)
	srv.slow.Init()
	srv.latency.Slow = &srv.slow
	srv.users = acl.NewACL(srv.commands, o.Password)
	srv.denials.Limit.Store(acl.DefaultLogLimit)
	srv.config.init(o)
	keepCertificates(srv)
	srv.pubsub.Init()
	srv.tracking.Init(&srv.catalog.Trackers, func(id int64) (pubsub.Listener, bool) {
		if s := srv.clientByID(id); s != nil {
			return &s.inbox, s.subs.Total() > 0
		}
		return nil, false
	})
	srv.scripts = scripting.New(scripting.Options{Version: redisVersion})
	srv.live = newLive(srv)
	srv.blocked.queues = make(map[awaitedKey]*queue)
	return srv
}

// clientByID is the client with an id; nil if there is none, or it is killed
// and its driver does not know yet.
func (srv *Server) clientByID(id int64) *Session {
	if s := srv.clients.find(id); s != nil && !s.killed.Load() {
		return s
	}
	return nil
}
