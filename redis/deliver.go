package redis

import (
	"strconv"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/redis/tracking"
)

// publishEvent tells of an event in the channels that are switched on.
func (srv *Server) publishEvent(db int, class keyspace.EventClass, event string, key []byte) {
	on := keyspace.EventClass(srv.catalog.Events.Load())
	if on&class == 0 || srv.pubsub.Idle() {
		return
	}
	number := strconv.Itoa(db)
	if on&keyspace.EventKeyspace != 0 {
		channel := append([]byte("__keyspace@"+number+"__:"), key...)
		srv.pubsub.Publish(&srv.pubsub.Channels, channel, []byte(event))
	}
	if on&keyspace.EventKeyevent != 0 {
		srv.pubsub.Publish(&srv.pubsub.Channels, []byte("__keyevent@"+number+"__:"+event), key)
	}
}

// deliver tells what was noted, because it is decided now. by is who wrote.
func (srv *Server) deliver(o *outbox, by *tracking.Client) {
	if len(o.notes) > 0 {
		srv.deliverNotes(o, by)
	}
}

func (srv *Server) deliverNotes(o *outbox, by *tracking.Client) {
	var written [][]byte // for those who track prefixes
	for i := range o.notes {
		n := &o.notes[i]
		first, more := o.texts(n)
		switch n.what {
		case noteEvent:
			srv.publishEvent(n.db, n.class, n.event, first)
		case noteMessage:
			srv.pubsub.Publish(&srv.pubsub.Channels, first, more)
		case noteShard:
			srv.pubsub.Publish(&srv.pubsub.Shards, first, more)
		case noteTouch:
			srv.tracking.Invalidate(first, by)
			written = append(written, first)
		case noteFlush:
			srv.tracking.Flush()
		case noteRead:
			srv.tracking.Remember(by, first)
		case noteMonitor:
			srv.monitors.Show(first)
		}
	}
	if len(written) > 0 {
		srv.tracking.Broadcast(written, by)
	}
	srv.recheckReads(o)
	o.clear()
}

// recheckReads invalidates what was read from a snapshot if anything was
// committed since: a write that was told before the read was remembered would
// go unnoticed otherwise.
func (srv *Server) recheckReads(o *outbox) {
	var newest firn.Timestamp
	for i := range o.notes {
		n := &o.notes[i]
		if n.what != noteRead || n.seen == 0 {
			continue
		}
		if newest == 0 {
			_ = srv.store.Peek(func(snap *firn.Snapshot) error {
				newest = snap.Timestamp()
				return nil
			}) // a closed store has no more commits
		}
		if newest > n.seen {
			key, _ := o.texts(n)
			srv.tracking.Invalidate(key, nil)
		}
	}
}
