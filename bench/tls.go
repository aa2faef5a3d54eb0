package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/firndb/firn/internal/testca"
)

// measureTLS asks what encryption costs each server: both serve TLS beside
// plain text, and the same clients use the one and the other.
func measureTLS(ctx context.Context, l *lab) (s section, err error) {
	s = section{
		title: "TLS",
		method: "redis-benchmark --tls as under *Throughput*, with an fsync each second, in turns with the same clients in plain text. " +
			"*kept* is the rate by TLS to that in plain text, which the bar is on: redis-benchmark, too, has to encrypt and decrypt. " +
			"*µs* is the processor time of the server that a request takes more by TLS.",
		header: []string{"command", "P", "Redis plain /s", "Redis TLS /s", "kept", "Firn plain /s", "Firn TLS /s", "kept", "bar", "Redis µs more", "Firn µs more"},
	}
	flags, ca, err := tlsFiles(l)
	if err != nil {
		return s, err
	}
	redis, err := withTLS(ctx, ca, func(port int) (*server, error) {
		server, err := l.redisServer("everysec")
		if err == nil {
			server.command = append(append(server.command, "--tls-port", strconv.Itoa(port)), flags...)
		}
		return server, err
	})
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, redis.plain.stop()) }()
	firn, err := withTLS(ctx, ca, func(port int) (*server, error) {
		return l.subject("everysec", append([]string{"--tls-listen", "127.0.0.1:" + strconv.Itoa(port)}, flags...)...)
	})
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, firn.plain.stop()) }()
	for _, r := range []row{{test: 0, pipeline: 1}, {test: 1, pipeline: 1}, {test: 0, pipeline: 16}, {test: 1, pipeline: 16}} {
		var plain, secret [2]load
		for i, server := range []twoPorts{redis, firn} {
			if plain[i], secret[i], err = server.compare(ctx, l, r); err != nil {
				return s, err
			}
		}
		kept := func(i int) float64 { return ratio(secret[i].rps, plain[i].rps) }
		name := tests[r.test].printed
		s.rows = append(s.rows, []string{
			name, strconv.Itoa(r.pipeline),
			showRate(plain[0].rps), showRate(secret[0].rps), showRatio(kept(0)),
			showRate(plain[1].rps), showRate(secret[1].rps), showRatio(kept(1)), verdict(fmt.Sprintf("tls/%s/P=%d", name, r.pipeline), kept(1)),
			showCPU(secret[0].cpu - plain[0].cpu), showCPU(secret[1].cpu - plain[1].cpu),
		})
	}
	return s, nil
}

// tlsFiles makes a certificate that both servers show, and the flags that
// name it, which are the same for both.
func tlsFiles(l *lab) (flags []string, ca string, err error) {
	authority, err := testca.New("bench")
	if err != nil {
		return nil, "", err
	}
	pair, err := authority.Issue("localhost", time.Now().Add(24*time.Hour))
	if err != nil {
		return nil, "", err
	}
	cert, key, err := pair.Write(l.dir, "server")
	ca = filepath.Join(l.dir, "ca.crt")
	return []string{"--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", ca, "--tls-auth-clients", "no"}, ca,
		errors.Join(err, os.WriteFile(ca, authority.PEM(), 0o600))
}

// twoPorts is one process that can be asked in plain text and by TLS.
type twoPorts struct{ plain, secret *server }

// withTLS starts what plan makes for a port.
func withTLS(ctx context.Context, ca string, plan func(port int) (*server, error)) (twoPorts, error) {
	port, err := freePort()
	if err != nil {
		return twoPorts{}, err
	}
	plain, err := plan(port)
	if err == nil {
		err = plain.start(ctx)
	}
	if err != nil {
		return twoPorts{}, err
	}
	secret := *plain
	secret.port, secret.benchmarkFlags = port, []string{"--tls", "--cacert", ca}
	return twoPorts{plain, &secret}, onlyLoopback(port)
}

// compare measures one row in plain text and by TLS, in turns.
func (p twoPorts) compare(ctx context.Context, l *lab, r row) (plain, secret load, err error) {
	var loads [2][]load
	for range l.cfg.rounds {
		for i, server := range []*server{p.plain, p.secret} {
			got, err := redisBenchmark(ctx, server, r, requests(l.cfg.requests, r))
			if err != nil {
				return load{}, load{}, err
			}
			loads[i] = append(loads[i], got)
			settle(ctx, server.pid())
		}
	}
	return medianLoad(loads[0]), medianLoad(loads[1]), nil
}
