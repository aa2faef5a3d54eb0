package redis

import (
	"time"

	"github.com/firndb/firn/redis/keyspace"
)

// sample is the counters now.
func (srv *Server) sample() rateSample {
	now := rateSample{at: srv.opts.Now(), read: srv.stats.bytesIn.Load(), wrote: srv.stats.bytesOut.Load()}
	for _, e := range srv.commands.Numbered {
		now.calls += e.Calls.Load()
	}
	return now
}

// swept is called after each look of the sweeper, and says how long it took.
func (srv *Server) swept(took time.Duration) {
	now := srv.sample()
	srv.stats.rates.perSecond(now)
	srv.latency.Add("expire-cycle", now.at, took)
}

// expired tells that the sweeper has ended a key, or, if not whole, fields of
// a hash.
func (srv *Server) expired(db int, key []byte, whole bool) {
	if whole {
		srv.publishEvent(db, keyspace.EventExpired, "expired", key)
	} else {
		srv.publishEvent(db, keyspace.EventHash, "hexpired", key)
	}
	if srv.catalog.Trackers.Load() != 0 {
		srv.tracking.Invalidate(key, nil)
		srv.tracking.Broadcast([][]byte{key}, nil)
	}
	if whole {
		srv.KeyExpired(db, key)
	}
}

// Sweeper makes the sweeper of the server's store. What it does is in INFO, and
// clients that listen hear of the keys that it ends.
func (srv *Server) Sweeper() *keyspace.Sweeper {
	return srv.catalog.NewSweeper(keyspace.SweeperHooks{
		Expired: srv.expired,
		Ended:   func(keys int) { srv.stats.expired.Add(int64(keys)) },
		Looked:  srv.swept,
		Rests:   func() bool { return srv.passive.Load() || srv.pause.isOn() },
		Pace:    srv.pace,
		Cold:    func(err error) { srv.opts.Logger.Warn("read a collection into memory", "error", err) },
	})
}

// pace is how eager the sweeper is to be, as hz and active-expire-effort say.
func (srv *Server) pace() keyspace.SweepPace {
	return keyspace.SweepPace{Looks: int(srv.config.hz.Load()), Effort: int(srv.config.effort.Load())}
}
