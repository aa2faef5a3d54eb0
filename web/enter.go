package web

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
)

// enter opens a session for a request, as one of RESP is opened: the caller
// closes it.
func (s *Server) enter(r *http.Request) (*conversation, error) {
	login, p := credentialsOf(r)
	if p != nil {
		return nil, p
	}
	if text := s.redis.Refusal(isLocal(r.RemoteAddr)); text != "" {
		return nil, problemOf(text[1 : len(text)-2])
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	c := converse(s.redis, r.RemoteAddr, local.String())
	hello := []string{"HELLO", "3"}
	if login.given {
		hello = append(hello, "AUTH", login.user, login.password)
	}
	err := c.must(r.Context(), append(hello, "SETNAME", sessionName)...)
	if err == nil {
		return c, nil
	}
	c.close()
	if refused := new(problem); errors.As(err, &refused) && refused.code == errAnonymous.code {
		return nil, errAnonymous
	}
	return nil, err
}

// sessionName is what CLIENT LIST calls a session of this package, and
// versions' authors would.
const sessionName = "http"

// must sends a command whose reply does not matter, if it is no error.
func (c *conversation) must(ctx context.Context, words ...string) error {
	v, err := c.ask(ctx, words...)
	if err == nil && v.IsError() {
		return problemOf(v.Text)
	}
	return err
}

// use selects a database. Who stays in the first needs no right to SELECT.
func (c *conversation) use(ctx context.Context, db int64) error {
	if db == 0 {
		return nil
	}
	return c.must(ctx, "SELECT", strconv.FormatInt(db, 10))
}
