package web

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// The checks of this file are for servers that anybody may ask because no
// password is set, and for browsers, which send requests that their users
// did not mean.

// checkHost refuses a name that the server is not known by, while no password
// is asked for. A page can have its own name resolve to this machine; then
// the browser thinks that the page asks its own server, and lets it read. The
// name is what gives that away.
func (s *Server) checkHost(r *http.Request) *problem {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	switch {
	case !s.redis.Open(),
		net.ParseIP(host) != nil,
		host == "localhost", strings.HasSuffix(host, ".localhost"),
		slices.ContainsFunc(s.opts.Hosts, func(known string) bool { return strings.EqualFold(known, host) }):
		return nil
	}
	return refuse(http.StatusForbidden, "ERR no password is set, and this server is not known as "+
		strings.ToValidUTF8(host, "?")+": ask for localhost or the address, or serve with --http-host "+strings.ToValidUTF8(host, "?"))
}

// allowOrigin refuses pages of other origins, unless they are allowed to read;
// then it tells the browser so.
func (s *Server) allowOrigin(w http.ResponseWriter, r *http.Request) *problem {
	if len(s.opts.AllowOrigins) > 0 {
		w.Header().Add("Vary", "Origin")
	}
	origin := r.Header.Get("Origin")
	if origin == "" || isOwn(origin, r) {
		return nil
	}
	h := w.Header()
	switch {
	case slices.Contains(s.opts.AllowOrigins, origin):
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Allow-Credentials", "true")
	case slices.Contains(s.opts.AllowOrigins, "*"):
		h.Set("Access-Control-Allow-Origin", "*")
	default:
		return refuse(http.StatusForbidden, "ERR pages of other origins may not read this server: allow them with --http-allow-origin")
	}
	h.Set("Access-Control-Expose-Headers", binaryHeader)
	return nil
}

// isOwn says whether an origin is the one that the request is sent to.
func isOwn(origin string, r *http.Request) bool {
	u, err := url.Parse(origin)
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return err == nil && u.Scheme == scheme && strings.EqualFold(u.Host, r.Host)
}

// preflight answers what browsers ask before a request with headers of its
// own. The origin is allowed.
func preflight(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "GET, HEAD")
	h.Set("Access-Control-Allow-Headers", "Authorization, Last-Event-ID, Cache-Control")
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}

// isLocal says whether a client at this address is on this machine.
func isLocal(address string) bool {
	ip := net.ParseIP(hostOf(address))
	return ip != nil && ip.IsLoopback()
}

// hostOf is an address without its port.
func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}
