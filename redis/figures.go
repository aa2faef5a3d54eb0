package redis

import (
	"errors"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/redis/live"
)

// Figures are what a server has counted, for those who watch it. Asking for them
// walks over nothing but the list of commands. CONFIG RESETSTAT sets back what
// only grows.
type Figures struct {
	Version string
	Started time.Time

	Clients, MaxClients, BlockedClients        int64
	Connections, RefusedConnections            int64
	SlowClients                                int64 // ended because they did not read
	InputBytes, OutputBytes                    int64
	ProtocolErrors                             int64
	KeyHits, KeyMisses                         int64 // keys that reads found, and did not
	ExpiredKeys                                int64 // that the sweeper has ended
	SlowCommands                               int64 // in the slow log
	Errors                                     map[string]int64
	Channels, Patterns, ShardChannels          int
	TrackingClients, TrackedKeys, TrackedItems int
	TrackedPrefixes                            int
	TrackingBytes                              int64 // of memory

	Commands  []CommandFigures
	Databases map[int]int64 // keys of each that has any, those included that the sweeper has still to end

	Live   live.Stats
	Store  firn.Stats
	Bounds firn.Bounds
}

// CommandFigures are about one command that was called.
type CommandFigures struct {
	Name                    string // in lower case, after its container's: client|id
	Calls, Failed, Rejected int64

	// How long calls took, without waiting for the commit. Of fast commands and
	// of writes one in 16 is timed. UpTo[i] is how many took less than
	// 1,024 ns × 2^i; the last is all that were timed.
	UpTo []int64
	Took time.Duration // those that were timed, together
}

// maxCountedDatabases bounds how many databases Figures counts the keys of.
// Each takes a look at two counters.
const maxCountedDatabases = 1024

// Figures are those of now.
func (srv *Server) Figures() (Figures, error) {
	st := &srv.stats
	f := Figures{
		Version: srv.opts.Version, Started: srv.started,
		Clients: int64(srv.clients.count()), MaxClients: srv.config.maxClients.Load(), BlockedClients: srv.blockedClients(),
		Connections: st.connections.Load(), RefusedConnections: st.rejected.Load(), SlowClients: srv.overflows.Load(),
		InputBytes: st.bytesIn.Load(), OutputBytes: st.bytesOut.Load(), ProtocolErrors: st.protocolErrors.Load(),
		KeyHits: st.hits.Load(), KeyMisses: st.misses.Load(), ExpiredKeys: st.expired.Load(),
		SlowCommands: int64(srv.slow.Count()),
		Live:         srv.LiveStats(),
		Store:        srv.store.Stats(), Bounds: srv.store.Bounds(),
	}
	f.Errors, _ = st.errorCounts()
	f.Channels, f.Patterns, f.ShardChannels = srv.pubsub.Counts()
	f.TrackingClients, f.TrackedKeys, f.TrackedItems, f.TrackedPrefixes = srv.tracking.Counts()
	f.TrackingBytes = srv.tracking.Bytes()
	srv.commands.Each(func(e *command.Entry) {
		if c := figuresOf(e); c.Calls > 0 || c.Rejected > 0 {
			f.Commands = append(f.Commands, c)
		}
	})
	err := countKeys(srv, &f)
	return f, err
}

func figuresOf(e *command.Entry) CommandFigures {
	c := CommandFigures{Name: e.Full, Calls: e.Calls.Load(), Failed: e.Failed.Load(), Rejected: e.Rejected.Load(), Took: e.TimedFor()}
	if h := e.Spread.Load(); h != nil {
		c.UpTo = h.Octaves()
	}
	return c
}

// countKeys asks each database for its count.
func countKeys(srv *Server, f *Figures) error {
	f.Databases = make(map[int]int64)
	err := srv.store.View(func(snap *firn.Snapshot) error {
		return keyspace.NewView(srv.catalog, nil).At(snap).EachDatabase(func(v *keyspace.View, prefix []byte) error {
			if v.DB == maxCountedDatabases {
				return errCounted
			}
			n, err := v.R.Count(v.Keys, prefix)
			if n > 0 {
				f.Databases[v.DB] = int64(n)
			}
			return err
		})
	})
	if errors.Is(err, errCounted) {
		return nil
	}
	return err
}

// errCounted ends counting.
var errCounted = errors.New("redis: enough databases are counted")

// ErrUnready is why Ready says no, beside the store's own reasons.
var ErrUnready = errors.New("redis: as many clients as there may be are connected")

// Ready is nil if a client could connect now and write.
func (srv *Server) Ready() error {
	if err := srv.store.Stats().Err; err != nil {
		return err
	}
	if srv.clients.count() >= int(srv.config.maxClients.Load()) {
		return ErrUnready
	}
	return nil
}
