package redis

import (
	"strconv"

	"github.com/firndb/firn/redis/keyspace"

	"github.com/firndb/firn/resp"
)

func eventsText(srv *Server) string { return keyspace.EventClass(srv.catalog.Events.Load()).String() }

func setEvents(srv *Server, value string) error {
	classes, ok := keyspace.ParseEvents(value)
	if !ok {
		return resp.Error("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")
	}
	srv.catalog.Events.Store(uint32(classes))
	return nil
}

// publishEvent tells of an event in the channels that are switched on.
func (srv *Server) publishEvent(db int, class keyspace.EventClass, event string, key []byte) {
	on := keyspace.EventClass(srv.catalog.Events.Load())
	if on&class == 0 || srv.pubsub.idle() {
		return
	}
	number := strconv.Itoa(db)
	if on&keyspace.EventKeyspace != 0 {
		channel := append([]byte("__keyspace@"+number+"__:"), key...)
		srv.pubsub.publish(&srv.pubsub.channels, channel, []byte(event))
	}
	if on&keyspace.EventKeyevent != 0 {
		srv.pubsub.publish(&srv.pubsub.channels, []byte("__keyevent@"+number+"__:"+event), key)
	}
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
		srv.tracking.invalidate(key, nil)
		srv.tracking.broadcast([][]byte{key}, nil)
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
		Rests:   srv.passive.Load,
		Pace:    srv.pace,
		Cold:    func(err error) { srv.opts.Logger.Warn("read a collection into memory", "error", err) },
	})
}

// pace is how eager the sweeper is to be, as hz and active-expire-effort say.
func (srv *Server) pace() keyspace.SweepPace {
	return keyspace.SweepPace{Looks: int(srv.config.hz.Load()), Effort: int(srv.config.effort.Load())}
}
