package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"github.com/spf13/pflag"

	"github.com/firndb/firn/redis"
	"github.com/firndb/firn/server"
	"github.com/firndb/firn/web"
)

// webSettings are what firn serve can be told about HTTP.
type webSettings struct {
	listen         []string
	origins, hosts []string
	metrics        choiceValue
	connections    int
	streams        int
}

func (w *webSettings) addTo(f *pflag.FlagSet) {
	w.metrics = choiceValue{"auth", []string{"auth", "open"}}
	f.StringSliceVar(&w.listen, "http", nil, "addresses to serve HTTP on, such as 127.0.0.1:8379; may be given more than once")
	f.StringSliceVar(&w.origins, "http-allow-origin", nil, "origins whose pages may read over HTTP, such as https://app.example, or *; may be given more than once")
	f.StringSliceVar(&w.hosts, "http-host", nil, "names that HTTP clients may call this server by while there is no password; may be given more than once")
	f.Var(&w.metrics, "http-metrics", "who may read /metrics: auth, those who may run INFO, or open, everybody")
	f.IntVar(&w.connections, "http-max-connections", 1024, "how many HTTP connections there may be")
	f.IntVar(&w.streams, "http-max-streams", 128, "how many streams over HTTP an address may have")
}

// validate refuses nonsense.
func (w *webSettings) validate() error {
	for _, address := range w.listen {
		if err := checkAddress(address); err != nil {
			return usageError{fmt.Errorf("--http %s: %w", address, err)}
		}
	}
	for _, origin := range w.origins {
		if err := checkOrigin(origin); err != nil {
			return usageError{fmt.Errorf("--http-allow-origin %s: %w", origin, err)}
		}
	}
	for _, host := range w.hosts {
		if host == "" || strings.ContainsAny(host, ":/ ") {
			return usageError{fmt.Errorf("--http-host %s: choose a name such as firn.example, without a port", host)}
		}
	}
	if w.connections < 1 || w.connections > 1<<20 {
		return usageError{fmt.Errorf("--http-max-connections %d: choose 1 to %d", w.connections, 1<<20)}
	}
	if w.streams < 1 || w.streams > 1<<20 {
		return usageError{fmt.Errorf("--http-max-streams %d: choose 1 to %d", w.streams, 1<<20)}
	}
	return nil
}

// checkOrigin refuses what browsers never send: an origin is a scheme, a host
// and perhaps a port.
func checkOrigin(origin string) error {
	if origin == "*" || origin == "null" {
		return nil
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme == "" || u.Host == "" || origin != u.Scheme+"://"+u.Host || strings.ToLower(origin) != origin {
		return errors.New("not an origin such as https://app.example or http://localhost:3000")
	}
	return nil
}

// bind opens the sockets; none if HTTP is not asked for.
func (w *webSettings) bind() (server.Sockets, error) {
	if len(w.listen) == 0 {
		return nil, nil
	}
	return server.Bind(server.Options{Listen: w.listen})
}

// server is what serves on them.
func (w *webSettings) server(shared *redis.Server, sockets server.Sockets, logger *slog.Logger) *web.Server {
	return web.New(shared, sockets, web.Options{
		AllowOrigins: w.origins, Hosts: w.hosts, OpenMetrics: w.metrics.text == "open",
		MaxConnections: w.connections, MaxStreams: w.streams, Logger: logger,
	})
}
