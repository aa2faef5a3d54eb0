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
// What by itself is to hear of its writes comes behind the reply to each: in held,
// which has replies that are not sent yet, or in its inbox, if held is nil.
func (srv *Server) deliver(o *outbox, by *tracking.Client, held *[]byte) {
	if o.blind {
		if o.blind = false; srv.catalog.Trackers.Load() != 0 {
			srv.tracking.Missed()
		}
	}
	if len(o.notes) > 0 {
		srv.deliverNotes(o, by, held)
	}
}

func (srv *Server) deliverNotes(o *outbox, by *tracking.Client, held *[]byte) {
	var written [][]byte // for those who track prefixes
	var own splices
	for i := range o.notes {
		n := &o.notes[i]
		if i > 0 && n.end != o.notes[i-1].end {
			own.add(o.notes[i-1].end, srv.tracking.TellOwn(by))
		}
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
			srv.tracking.Flush(by)
		case noteRead:
			srv.tracking.Remember(by, first)
		case noteMonitor:
			srv.monitors.Show(first)
		}
	}
	own.add(o.notes[len(o.notes)-1].end, srv.tracking.TellOwn(by))
	own.put(held, by)
	if len(written) > 0 {
		srv.tracking.Broadcast(written, by)
	}
	srv.recheckReads(o)
	o.clear()
}

// splices are pushes that come between replies.
type splices []splice

type splice struct {
	at   int
	text []byte
}

func (all *splices) add(at int, text []byte) {
	if len(text) > 0 {
		*all = append(*all, splice{at, text})
	}
}

// put puts the pushes where they belong; held nil: into the client's inbox.
func (all splices) put(held *[]byte, to *tracking.Client) {
	if held == nil {
		for _, s := range all {
			to.Push(s.text)
		}
		return
	}
	if len(all) == 0 {
		return
	}
	var out []byte
	from := 0
	for _, s := range all {
		out = append(append(out, (*held)[from:s.at]...), s.text...)
		from = s.at
	}
	*held = append(out, (*held)[from:]...)
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
