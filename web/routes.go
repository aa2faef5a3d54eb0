package web

import (
	"errors"
	"net/http"
	"time"
)

// route is what can be asked for.
type route struct {
	path   string
	stream bool // the answer goes on until somebody ends it
	open   bool // anybody may ask, whoever they are
	answer func(*Server, http.ResponseWriter, *http.Request) error
}

var routes = []route{
	{path: "/v1/get", answer: (*Server).get},
	{path: "/v1/changes", stream: true, answer: (*Server).changes},
	{path: "/v1/live", stream: true, answer: (*Server).live},
	{path: "/metrics", answer: (*Server).metrics},
	{path: "/healthz", open: true, answer: (*Server).healthy},
	{path: "/readyz", open: true, answer: (*Server).ready},
}

// otherRoute counts the requests for what there is not.
const otherRoute = "other"

var errRoute = refuse(http.StatusNotFound, "ERR there is /v1/get, /v1/changes, /v1/live, /metrics, /healthz and /readyz")

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for i := range routes {
		mux.HandleFunc(routes[i].path, func(w http.ResponseWriter, r *http.Request) { s.serve(&routes[i], w, r) })
	}
	nowhere := &route{path: otherRoute, open: true, answer: func(*Server, http.ResponseWriter, *http.Request) error { return errRoute }}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { s.serve(nowhere, w, r) })
	return mux
}

// serve answers one request.
func (s *Server) serve(to *route, w http.ResponseWriter, r *http.Request) {
	if !s.begin() {
		return
	}
	defer s.handlers.Done()
	seen := &watched{ResponseWriter: w}
	defer func() { s.counts.request(to.path, seen.status) }()
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'")
	err := s.admit(to, seen, r)
	if err == nil && seen.status == 0 {
		err = to.answer(s, seen, r)
	}
	if err == nil || seen.status != 0 {
		return // what has begun cannot become something else
	}
	p, known := errors.AsType[*problem](err)
	if !known {
		p = refuse(http.StatusServiceUnavailable, "ERR "+err.Error())
	}
	p.write(s, seen)
}

// admit decides whether a request is answered. A preflight is, by admit.
func (s *Server) admit(to *route, w http.ResponseWriter, r *http.Request) error {
	if r.ContentLength != 0 {
		// Nobody reads it, and nobody must wait for the rest of it.
		w.Header().Set("Connection", "close")
		http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0))
	}
	if !to.open {
		if p := s.checkHost(r); p != nil {
			return p
		}
		if p := s.allowOrigin(w, r); p != nil {
			return p
		}
	}
	if r.Method == http.MethodOptions && w.Header().Get("Access-Control-Allow-Origin") != "" {
		preflight(w)
		return nil
	}
	if r.Method != http.MethodGet && (r.Method != http.MethodHead || to.stream) {
		allowed := "GET, HEAD"
		if to.stream {
			allowed = "GET"
		}
		w.Header().Set("Allow", allowed)
		return refuse(http.StatusMethodNotAllowed, "ERR this is for reading only: use GET")
	}
	if r.ContentLength != 0 {
		return refuse(http.StatusBadRequest, "ERR a request to read has no body")
	}
	return nil
}
