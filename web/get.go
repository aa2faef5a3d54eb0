package web

import (
	"net/http"
	"strconv"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp/reply"
)

// get answers what a key held at a moment:
//
//	{"db":0,"key":"cart:7","ts":…,"token":"@…","type":"hash","value":{…}}
//
// ts is the moment that was meant, and token names it: whoever follows from
// there misses nothing. A key that was not there then is a 404 with the same
// fields and type none.
func (s *Server) get(w http.ResponseWriter, r *http.Request) error {
	q, err := queryOf(r, "key", "at", "db")
	if err != nil {
		return err
	}
	l := look{}
	if l.key, err = q.required("key"); err != nil {
		return err
	}
	if l.db, err = q.database(); err != nil {
		return err
	}
	if l.at, _, err = q.one("at"); err != nil {
		return err
	}
	v, err := s.look(r, &l)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if v.Null {
		status = http.StatusNotFound
	}
	return s.writeJSON(w, status, append(l.appendJSON(nil, &v), '\n'))
}

// look is what a key held at a moment.
type look struct {
	db      int64
	key, at string // at empty: the newest commit. In the end it is a token
	ts      firn.Timestamp
}

// look runs HISTORY GETAT. The moment is found here, so that the reply and its
// token are of one; what is none is left to the command to refuse.
func (s *Server) look(r *http.Request, l *look) (v reply.Value, err error) {
	c, err := s.enter(r)
	if err != nil {
		return v, err
	}
	defer c.close()
	if err := c.use(r.Context(), l.db); err != nil {
		return v, err
	}
	store := s.redis.Store()
	if l.at == "" {
		l.at = store.Token(store.Bounds().Newest)
	}
	if ts, bad := store.Moment(l.at); bad == nil {
		l.ts, l.at = ts, store.Token(ts)
	}
	v, err = c.ask(r.Context(), "HISTORY", "GETAT", l.key, l.at)
	if err == nil && v.IsError() {
		err = problemOf(v.Text)
	}
	return v, err
}

func (l *look) appendJSON(dst []byte, v *reply.Value) []byte {
	dst = strconv.AppendInt(append(dst, `{"db":`...), l.db, 10)
	dst = reply.AppendString(append(dst, `,"key":`...), l.key)
	dst = strconv.AppendInt(append(dst, `,"ts":`...), int64(l.ts), 10)
	dst = reply.AppendString(append(dst, `,"token":`...), l.at)
	dst = reply.AppendString(append(dst, `,"type":`...), typeOf(v))
	return append(v.AppendJSON(append(dst, `,"value":`...)), '}')
}

// typeOf is the type of a key whose state has this shape: a sorted set is an
// array of members and their scores, a stream of ids and their fields, and
// only a stream can be empty.
func typeOf(v *reply.Value) string {
	switch {
	case v.Null:
		return "none"
	case v.Mark == '%':
		return "hash"
	case v.Mark == '~':
		return "set"
	case v.Mark != '*':
		return "string"
	case len(v.Elements) == 0:
		return "stream"
	}
	switch first := &v.Elements[0]; {
	case !first.IsAggregate():
		return "list"
	case len(first.Elements) == 2 && first.Elements[1].IsAggregate():
		return "stream"
	}
	return "zset"
}
