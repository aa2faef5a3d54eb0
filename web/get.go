package web

import (
	"net/http"
	"strconv"

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
	key, err := q.required("key")
	if err != nil {
		return err
	}
	db, err := q.database()
	if err != nil {
		return err
	}
	at, given, err := q.one("at")
	if err != nil {
		return err
	}
	c, err := s.enter(r)
	if err != nil {
		return err
	}
	defer c.close()
	if err := c.use(r.Context(), db); err != nil {
		return err
	}
	// One moment for the reply and for its token. What is none is left to the
	// command to refuse.
	if !given {
		at = s.redis.Store().Token(s.redis.Store().Bounds().Newest)
	}
	ts, bad := s.redis.Store().Moment(at)
	if bad == nil {
		at = s.redis.Store().Token(ts)
	}
	v, err := c.ask(r.Context(), "HISTORY", "GETAT", key, at)
	if err != nil {
		return err
	}
	if v.IsError() {
		return problemOf(v.Text)
	}
	s.extend(w)
	body := strconv.AppendInt([]byte(`{"db":`), db, 10)
	body = reply.AppendString(append(body, `,"key":`...), key)
	body = strconv.AppendInt(append(body, `,"ts":`...), int64(ts), 10)
	body = reply.AppendString(append(body, `,"token":`...), at)
	body = reply.AppendString(append(body, `,"type":`...), typeOf(&v))
	body = v.AppendJSON(append(body, `,"value":`...))
	status := http.StatusOK
	if v.Null {
		status = http.StatusNotFound
	}
	writeJSON(w, status, append(body, '}', '\n'))
	return nil
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
