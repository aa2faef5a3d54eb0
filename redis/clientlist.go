package redis

import "fmt"

// shownClient is what CLIENT LIST shows of a session and changes rarely. It is
// replaced as a whole, so that other sessions can read it.
type shownClient struct {
	identity
	db, proto        int
	asof             string
	noEvict, noTouch bool
}

// publish makes the session's rarely changing state visible to others, and to
// those who read what it writes.
func (s *Session) publish() {
	identify(s)
	s.inbox.proto.Store(int32(s.proto))
	v := &shownClient{identity: s.who, db: s.db, proto: s.proto, asof: "-1", noEvict: s.noEvict, noTouch: s.noTouch}
	if s.asof != 0 {
		v.asof = fmt.Sprint(int64(s.asof))
	}
	s.view.Store(v)
}

// identify settles what the session's next transaction says about who wrote.
// It is called whenever any of that has changed.
func identify(s *Session) {
	if !s.srv.opts.Anonymous {
		s.author = s.who.author(s.user.Load().Name, s.peer)
	}
}

// clientLine is the session's line in CLIENT LIST.
func clientLine(s *Session) string {
	v := s.view.Load()
	now := s.srv.opts.Now()
	command := "NULL"
	if e := s.cmd.Load(); e != nil {
		command = e.Full
	}
	flags, redirect := clientFlags(s, v)
	return fmt.Sprintf("id=%d addr=%s laddr=%s fd=-1 name=%s age=%d idle=%d flags=%s db=%d sub=%d psub=%d ssub=%d multi=%d %s "+
		"cmd=%s user=%s redir=%d resp=%d lib-name=%s lib-ver=%s asof=%s live=%d",
		s.id, s.peer, s.addr, v.name, int64(now.Sub(s.born).Seconds()), (now.UnixMilli()-s.active.Load())/1000,
		flags, v.db, s.subs.Channels.Count.Load(), s.subs.Patterns.Count.Load(), s.subs.Shards.Count.Load(),
		s.multi.queued.Load(), s.sizes.text(waitingBytes(s), s.inbox.size()), command, s.user.Load().Name, redirect, v.proto, v.library, v.libraryVersion, v.asof, s.live.Load().Count())
}

// waitingBytes is what the session's command takes that waits for a key.
func waitingBytes(s *Session) int {
	if w := s.waiter.Load(); w != nil {
		return bytesIn(w.unit.args)
	}
	return 0
}

// clientFlags are Redis's letters for what a session is and does, in its order,
// and the client that its invalidations are redirected to. It is safe on any
// goroutine.
func clientFlags(s *Session, v *shownClient) (flags string, redirect int64) {
	tracks, redirect := s.srv.tracking.Shown(&s.track)
	for _, flag := range []struct {
		on      bool
		letters string
	}{
		{s.monitoring.Load(), "O"},
		{s.subs.Total() > 0, "P"},
		{s.multi.queued.Load() >= 0, "x"},
		{s.paused.held.Load() || s.waiter.Load() != nil, "b"},
		{true, tracks},
		{s.peer == s.addr, "U"}, // a Unix socket's ends have one name
		{v.noEvict, "e"},
		{v.noTouch, "T"},
	} {
		if flag.on {
			flags += flag.letters
		}
	}
	if flags == "" {
		flags = "N"
	}
	return flags, redirect
}
