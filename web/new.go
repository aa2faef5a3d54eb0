package web

import (
	"log/slog"
	"net"
	"net/http"

	"github.com/firndb/firn/redis"
)

// New makes a server of r that has the listeners from now on.
func New(r *redis.Server, listeners []net.Listener, o Options) *Server {
	s := &Server{redis: r, opts: o.withDefaults(), listeners: listeners, keepAlive: keepAliveInterval, patience: writeTimeout, lastWords: endTimeout}
	s.streams.most = s.opts.MaxStreams
	s.http = http.Server{
		Handler:           s.routes(),
		MaxHeaderBytes:    maxHeaderBytes,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          slog.NewLogLogger(s.opts.Logger.Handler(), slog.LevelDebug), // what clients do wrong
	}
	return s
}
