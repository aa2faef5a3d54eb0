package redis

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

// clients are the sessions of a server.
type clients struct {
	mu   sync.Mutex
	byID map[int64]*Session
}

func (cs *clients) add(s *Session) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.byID[s.id] = s
}

func (cs *clients) remove(s *Session) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	delete(cs.byID, s.id)
}

// find is the session of an id; nil if it has gone.
func (cs *clients) find(id int64) *Session {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return cs.byID[id]
}

func (cs *clients) count() int {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return len(cs.byID)
}

// all is every session, by age.
func (cs *clients) all() []*Session {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	ids := slices.Sorted(maps.Keys(cs.byID))
	sessions := make([]*Session, len(ids))
	for i, id := range ids {
		sessions[i] = cs.byID[id]
	}
	return sessions
}

// identity is what a client says about itself.
type identity struct {
	name, library, libraryVersion string

	reason string // why it writes
}

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
	s.identify()
	v := &shownClient{identity: s.who, db: s.db, proto: s.proto, asof: "-1", noEvict: s.noEvict, noTouch: s.noTouch}
	if s.asof != 0 {
		v.asof = fmt.Sprint(int64(s.asof))
	}
	s.view.Store(v)
}

// describe is the session's line in CLIENT LIST.
func (s *Session) describe() string {
	v := s.view.Load()
	now := s.srv.opts.Now()
	command := "NULL"
	if e := s.cmd.Load(); e != nil {
		command = e.Full
	}
	flags, redirect := s.listenerFlags(s.flags(v))
	return fmt.Sprintf("id=%d addr=%s laddr=%s fd=-1 name=%s age=%d idle=%d flags=%s db=%d sub=%d psub=%d ssub=%d multi=%d "+
		"events=r cmd=%s user=%s redir=%d resp=%d lib-name=%s lib-ver=%s asof=%s",
		s.id, s.peer, s.addr, v.name, int64(now.Sub(s.born).Seconds()), (now.UnixMilli()-s.active.Load())/1000,
		flags, v.db, s.subs.channels.count.Load(), s.subs.patterns.count.Load(), s.subs.shards.count.Load(),
		s.queued.Load(), command, s.user.Load().Name, redirect, v.proto, v.library, v.libraryVersion, v.asof)
}

// flags are Redis's letters for what a session is and does.
func (s *Session) flags(v *shownClient) string {
	var letters []byte
	for _, flag := range []struct {
		on     bool
		letter byte
	}{
		{s.queued.Load() >= 0, 'x'},
		{s.paused.Load() || s.waiter.Load() != nil, 'b'},
		{s.peer == s.addr, 'U'}, // a Unix socket's ends have one name
		{v.noEvict, 'e'},
		{v.noTouch, 'T'},
	} {
		if flag.on {
			letters = append(letters, flag.letter)
		}
	}
	if letters == nil {
		return "N"
	}
	return string(letters)
}
