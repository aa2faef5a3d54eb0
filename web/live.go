package web

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp/reply"
)

// liveID is the only subscription of a session that a stream has.
const liveID = "1"

// liveQuery is a query of LIVE and what becomes of it. Between the events the session waits,
// and while the client does not read, what it was not told yet is one reply,
// the newest.
type liveQuery struct {
	server *Server
	*conversation
	*events
	db    int64
	steps [][]string // commands with their arguments; several are one transaction
	early []reply.Value
}

// live answers with a query's reply, and with each new one.
//
// Each command of the query is followed by its args. Of several all replies
// are of one moment.
func (s *Server) live(w http.ResponseWriter, r *http.Request) error {
	q, err := queryOf(r, "command", "arg", "db", "from")
	if err != nil {
		return err
	}
	l := &liveQuery{server: s}
	if l.db, err = q.database(); err != nil {
		return err
	}
	if l.steps, err = stepsOf(q); err != nil {
		return err
	}
	from, err := startOf(r, q)
	if err != nil {
		return err
	}
	return s.stream(w, r, func(c *conversation, e *events) error {
		l.conversation, l.events = c, e
		if err := c.use(r.Context(), l.db); err != nil {
			return err
		}
		return l.run(r.Context(), from)
	})
}

// stepsOf are the commands of a query. Words of a command's name may be in
// command, separated by blanks, as in XINFO STREAM.
func stepsOf(q query) (steps [][]string, err error) {
	for _, p := range q {
		switch p.name {
		case "command":
			words := strings.Fields(p.value)
			if len(words) == 0 {
				return nil, refuse(http.StatusBadRequest, "ERR command is empty")
			}
			if isSpokenToSession(words[0]) {
				return nil, refuse(http.StatusBadRequest, "ERR "+words[0]+" is not a read of keys: LIVE runs nothing else")
			}
			steps = append(steps, words)
		case "arg":
			if len(steps) == 0 {
				return nil, refuse(http.StatusBadRequest, "ERR arg comes before command")
			}
			last := &steps[len(steps)-1]
			*last = append(*last, p.value)
		}
	}
	if len(steps) == 0 {
		return nil, refuse(http.StatusBadRequest, "ERR command is missing")
	}
	return steps, nil
}

// isSpokenToSession says whether a word in the place of a query's command would
// mean something else than a query. Of all other words LIVE knows what to do.
func isSpokenToSession(word string) bool {
	return slices.ContainsFunc([]string{"RESUME", "MULTI", "EXEC", "DISCARD", "WATCH", "RESET", "QUIT"}, func(w string) bool {
		return strings.EqualFold(w, word)
	})
}

// run tells the first reply, or that it is the one that the client knows, and
// then what is pushed, until ctx ends or something fails.
func (l *liveQuery) run(ctx context.Context, from string) error {
	first, err := l.subscribe(ctx, from)
	if err == nil && first.IsError() && from != "" && problemOf(first.Text).endsLine() {
		if err := l.reset(problemOf(first.Text), ""); err != nil {
			return err
		}
		from = ""
		first, err = l.subscribe(ctx, from)
	}
	if err != nil {
		return err
	}
	if first.IsError() {
		return problemOf(first.Text)
	}
	if err := l.tellFirst(ctx, &first, from); err != nil {
		return err
	}
	for {
		push, err := l.push(ctx)
		if err == nil {
			err = l.tell(&push)
		}
		if err != nil {
			return err
		}
	}
}

// subscribe makes the query live, and returns LIVE's reply, or EXEC's.
func (l *liveQuery) subscribe(ctx context.Context, from string) (v reply.Value, err error) {
	words := []string{"LIVE", liveID}
	if from != "" {
		words = append(words, "RESUME", from)
	}
	if len(l.steps) == 1 {
		return l.ask(ctx, append(words, l.steps[0]...)...)
	}
	if v, err = l.ask(ctx, append(words, "MULTI")...); err != nil || v.IsError() {
		return v, err
	}
	for _, step := range l.steps {
		if v, err = l.ask(ctx, step...); err != nil || v.IsError() {
			return v, err
		}
	}
	return l.ask(ctx, "EXEC")
}

// unchanged is LIVE's reply to RESUME if nothing is new.
const unchanged = "UNCHANGED"

// tellFirst sends LIVE's own reply. A reply does not say of which moment it is,
// as a push does: the list of subscriptions does.
func (l *liveQuery) tellFirst(ctx context.Context, first *reply.Value, from string) error {
	ts, err := l.seen(ctx)
	if err != nil {
		return err
	}
	id := ""
	if ts > 0 {
		id = l.server.redis.Store().Token(firn.Timestamp(ts))
	}
	if from != "" && first.Mark == '+' && first.Text == unchanged {
		return l.events.send(eventBookmark, id, bookmark(id))
	}
	return l.events.send(eventLive, id, appendReply(nil, ts, first))
}

// seen is the moment of the reply that the client was told last. A push that
// comes before the answer is newer than that: then it is 0.
func (l *liveQuery) seen(ctx context.Context) (ts int64, err error) {
	l.conversation.send("LIVE", "LIST")
	for {
		v, err := l.await(ctx, l.conversation)
		switch {
		case err != nil:
			return 0, err
		case v.IsPush():
			l.early = append(l.early, v)
		case len(l.early) > 0:
			return 0, nil
		case len(v.Elements) != 1:
			return 0, nil // it has ended already, and the push that says so comes
		default:
			if field := v.Elements[0].Field("ts"); field != nil {
				ts = field.Int()
			}
			return ts, nil
		}
	}
}

// push is the next push.
func (l *liveQuery) push(ctx context.Context) (reply.Value, error) {
	if len(l.early) > 0 {
		push := l.early[0]
		l.early = l.early[1:]
		return push, nil
	}
	return l.await(ctx, l.conversation)
}

// tell sends what a push says:
//
//	live          id  ts  token  reply
//	live-bookmark     ts  token
//
// An error in the place of the reply ends the subscription.
func (l *liveQuery) tell(push *reply.Value) error {
	p := push.Elements
	switch {
	case !push.IsPush() || len(p) == 0:
		return nil
	case p[0].Text == "live" && len(p) == 5 && p[4].IsError():
		return problemOf(p[4].Text)
	case p[0].Text == "live" && len(p) == 5:
		return l.events.send(eventLive, p[3].Text, appendReply(nil, p[2].Int(), &p[4]))
	case p[0].Text == "live-bookmark" && len(p) == 3:
		return l.events.send(eventBookmark, p[2].Text, bookmark(p[2].Text))
	}
	return nil
}

// appendReply appends a reply and its moment as JSON: {"ts":…,"reply":…}.
func appendReply(dst []byte, ts int64, v *reply.Value) []byte {
	dst = strconv.AppendInt(append(dst, `{"ts":`...), ts, 10)
	return append(v.AppendJSON(append(dst, `,"reply":`...)), '}')
}
