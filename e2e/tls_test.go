package e2e

import (
	"context"
	"crypto/tls"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/firndb/firn/internal/testca"
)

// The clients that people use speak TLS with a server that asks for their
// certificates, on both of its socket drivers.

// tlsServer is a server that speaks TLS at addr, and the files of a client.
type tlsServer struct {
	addr          string
	ca, cert, key string
	config        *tls.Config
}

func startTLS(t *testing.T, args ...string) tlsServer {
	t.Helper()
	dir := t.TempDir()
	authority, err := testca.New("e2e")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string) (pair testca.Pair, cert, key string) {
		pair, err := authority.Issue(name, time.Now().Add(time.Hour))
		if err == nil {
			cert, key, err = pair.Write(dir, name)
		}
		if err != nil {
			t.Fatal(err)
		}
		return pair, cert, key
	}
	s := tlsServer{addr: freeAddr(t), ca: filepath.Join(dir, "ca.crt")}
	_, serverCert, serverKey := write("server")
	pair, cert, key := write("client")
	s.cert, s.key = cert, key
	if err := os.WriteFile(s.ca, authority.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	if s.config, err = authority.Client(pair); err != nil {
		t.Fatal(err)
	}
	startFirn(t, append([]string{"--tls-listen", s.addr, "--tls-cert-file", serverCert, "--tls-key-file", serverKey, "--tls-ca-cert-file", s.ca}, args...)...)
	return s
}

// eachDriver runs a test on both socket drivers.
func eachDriver(t *testing.T, test func(t *testing.T, s tlsServer)) {
	for _, driver := range []string{"--portable=false", "--portable=true"} {
		t.Run(driver, func(t *testing.T) { test(t, startTLS(t, driver)) })
	}
}

func TestRedisCLIOverTLS(t *testing.T) {
	cli, err := exec.LookPath("redis-cli")
	if err != nil {
		t.Skip("redis-cli is not on PATH")
	}
	eachDriver(t, func(t *testing.T, s tlsServer) {
		host, port, _ := net.SplitHostPort(s.addr)
		run := func(args ...string) string {
			output, _ := exec.Command(cli, append([]string{"-h", host, "-p", port}, args...)...).CombinedOutput()
			return string(output)
		}
		authority := []string{"--tls", "--cacert", s.ca}
		known := append(authority, "--cert", s.cert, "--key", s.key)
		if got := run(append(known, "SET", "k", "v")...); got != "OK\n" {
			t.Errorf("SET: got %q, want OK", got)
		}
		if got := run(append(known, "-3", "GET", "k")...); got != "v\n" {
			t.Errorf("GET: got %q, want v", got)
		}
		for what, args := range map[string][]string{"no certificate": authority, "plain text": nil} {
			if got := run(append(args, "GET", "k")...); !strings.HasPrefix(got, "Error: ") && !strings.Contains(got, "Could not connect") {
				t.Errorf("%s: got %q, want an error", what, got)
			}
		}
	})
}

func TestGoRedisOverTLS(t *testing.T) {
	eachDriver(t, func(t *testing.T, s tlsServer) {
		client := redis.NewClient(&redis.Options{Addr: s.addr, TLSConfig: s.config})
		defer client.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		sub := client.Subscribe(ctx, "news")
		defer sub.Close()
		if _, err := sub.Receive(ctx); err != nil {
			t.Fatal(err)
		}
		large := strings.Repeat("x", 1<<20)
		pipe := client.Pipeline()
		pipe.Set(ctx, "large", large, 0)
		for range 1000 {
			pipe.Incr(ctx, "n")
		}
		pipe.Publish(ctx, "news", "done")
		if _, err := pipe.Exec(ctx); err != nil {
			t.Fatal(err)
		}
		if got, err := client.Get(ctx, "large").Result(); got != large || err != nil {
			t.Errorf("large: got %d bytes (%v), want %d", len(got), err, len(large))
		}
		if got, err := client.Get(ctx, "n").Int(); got != 1000 || err != nil {
			t.Errorf("n: got %d (%v), want 1,000", got, err)
		}
		if message, err := sub.ReceiveMessage(ctx); err != nil || message.Payload != "done" {
			t.Errorf("message: got %v (%v), want done", message, err)
		}
	})
}
