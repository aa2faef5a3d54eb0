package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"github.com/spf13/pflag"

	"github.com/firndb/firn/certs"
	"github.com/firndb/firn/redis"
	"github.com/firndb/firn/server"
	"github.com/firndb/firn/web"
)

// webSettings are what firn serve can be told about HTTP.
type webSettings struct {
	listen, secure []string // addresses; clients of the latter speak TLS
	origins, hosts []string
	metrics        choiceValue
	connections    int
	streams        int
}

func (w *webSettings) addTo(f *pflag.FlagSet) {
	w.metrics = choiceValue{"auth", []string{"auth", "open"}}
	f.StringSliceVar(&w.listen, "http", nil, "addresses to serve HTTP on, such as 127.0.0.1:8379; may be given more than once")
	f.StringSliceVar(&w.secure, "https", nil, "addresses to serve HTTP over TLS on, with the certificate of --tls-cert-file; may be given more than once")
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
	for _, address := range w.secure {
		if err := checkAddress(address); err != nil {
			return usageError{fmt.Errorf("--https %s: %w", address, err)}
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

// webSockets are open to clients; none if HTTP is not asked for.
type webSockets struct{ plain, secure server.Sockets }

func (b *webSockets) Close() {
	b.plain.Close()
	b.secure.Close()
}

// bind opens the sockets.
func (w *webSettings) bind() (b webSockets, err error) {
	if len(w.listen) > 0 {
		if b.plain, err = server.Bind(server.Options{Listen: w.listen}); err != nil {
			return b, err
		}
	}
	if len(w.secure) > 0 {
		if b.secure, err = server.Bind(server.Options{Listen: w.secure}); err != nil {
			b.Close()
		}
	}
	return b, err
}

// server is what serves on them; nil if there are none. certificates is nil
// if nobody speaks TLS.
func (w *webSettings) server(shared *redis.Server, b webSockets, certificates *certs.Store, logger *slog.Logger) *web.Server {
	if len(b.plain)+len(b.secure) == 0 {
		return nil
	}
	o := web.Options{
		AllowOrigins: w.origins, Hosts: w.hosts, OpenMetrics: w.metrics.text == "open", Secure: b.secure,
		MaxConnections: w.connections, MaxStreams: w.streams, Logger: logger,
	}
	if certificates != nil {
		o.TLS = certificates.Config("h2", "http/1.1")
	}
	over := web.New(shared, b.plain, o)
	logger.Info("serving http", "listen", addresses(over.Addrs()))
	return over
}
