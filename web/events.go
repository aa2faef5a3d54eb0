package web

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/firndb/firn/resp/reply"
)

// The kinds of events. A browser has an event named error of its own, so ours
// is end.
const (
	eventChange   = "change"
	eventLive     = "live"
	eventBookmark = "bookmark"
	eventReset    = "reset"
	eventEnd      = "end"
)

// events writes server-sent events. The answer begins with the first of them:
// until then a mistake can still be a status.
type events struct {
	server *Server
	w      http.ResponseWriter
	flush  func() error
	buf    []byte
	wrote  time.Time // when something was written last; zero: nothing yet
	id     string    // of the last event: what the client comes back with
}

// stream answers a request with what tell sends. What tell returns before it
// has sent anything is the request's error, and an end event after.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, tell func(*conversation, *events) error) error {
	address := hostOf(r.RemoteAddr)
	if !s.streams.enter(address) {
		s.counts.refused.Add(1)
		return refuse(http.StatusTooManyRequests, "ERR too many streams of one address: close some, or serve with a larger --http-max-streams")
	}
	defer s.streams.leave(address)
	c, err := s.enter(r)
	if err != nil {
		return err
	}
	defer c.close()
	e := &events{server: s, w: w, flush: http.NewResponseController(w).Flush}
	err = tell(c, e)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		s.counts.slow.Add(1)
		s.opts.Logger.Warn("stream ended: its reader does not read", "address", r.RemoteAddr, "unread_seconds", s.patience.Seconds())
	}
	if e.wrote.IsZero() || r.Context().Err() != nil {
		return err
	}
	p, known := errors.AsType[*problem](err)
	switch {
	case known:
	case errors.Is(err, errEnded):
		p = refuse(0, "ERR this client was ended by another")
	default:
		return err // it cannot be written to
	}
	return e.send(eventEnd, "", p.appendJSON(nil))
}

// begin sends the header of the answer.
func (e *events) begin() {
	h := e.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // proxies must not wait for more
	h.Set(binaryHeader, reply.BinaryForm)
	e.w.WriteHeader(http.StatusOK)
	e.buf = append(e.buf[:0], "retry: "...)
	e.buf = append(strconv.AppendInt(e.buf, retryMS, 10), "\n\n"...)
}

// send sends one event. data is one line. An event without an id leaves the
// client where it stood.
func (e *events) send(kind, id string, data []byte) error {
	if e.buf = e.buf[:0]; e.wrote.IsZero() {
		e.begin()
	}
	if id != "" {
		e.id = id
		e.buf = append(append(append(e.buf, "id: "...), id...), '\n')
	}
	e.buf = append(append(append(e.buf, "event: "...), kind...), "\ndata: "...)
	e.buf = append(append(e.buf, data...), "\n\n"...)
	e.server.counts.event(kind)
	return e.write()
}

// rest sends a comment if nothing was sent for as long as it takes.
func (e *events) rest() error {
	if e.wrote.IsZero() || time.Since(e.wrote) < e.server.keepAlive {
		return nil
	}
	e.buf = append(e.buf[:0], ": still here\n\n"...)
	return e.write()
}

// write sends the buffer, to a client that may take its time, but not for ever.
func (e *events) write() error {
	e.wrote = time.Now()
	err := e.server.write(e.w, e.buf)
	if err == nil {
		err = e.flush()
	}
	if cap(e.buf) > keepBytes {
		e.buf = nil
	}
	return err
}

// keepBytes is the largest buffer that a stream keeps.
const keepBytes = 64 << 10

// await is the next thing that the session says. Meanwhile the stream shows
// that it lives.
func (e *events) await(ctx context.Context, c *conversation) (reply.Value, error) {
	for {
		patience := e.server.keepAlive
		if !e.wrote.IsZero() {
			patience = max(patience-time.Since(e.wrote), time.Millisecond)
		}
		v, ok, err := c.next(ctx, patience)
		if ok || err != nil {
			return v, err
		}
		if err := e.rest(); err != nil {
			return v, err
		}
	}
}

// reset tells the client that its token leads nowhere, and why. id is the token
// to go on from; empty if what follows has one.
func (e *events) reset(p *problem, id string) error {
	return e.send(eventReset, id, p.appendJSON(nil))
}

// startOf is the token that a client comes back with: browsers send it in a
// header, while the address stays what it was.
func startOf(r *http.Request, q query) (string, error) {
	from, _, err := q.one("from")
	if last := r.Header.Get("Last-Event-ID"); last != "" && err == nil {
		from = last
	}
	if strings.ContainsAny(from, "\r\n\x00") {
		return "", refuse(http.StatusBadRequest, "ERR from is not a token")
	}
	return from, err
}
