package web

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn/certs"
	"github.com/firndb/firn/internal/testca"
	"github.com/firndb/firn/redis"
)

// Over TLS there is the same, for those who believe the server's certificate,
// and many streams on one connection.
func TestOverTLS(t *testing.T) {
	r, pool := startTLS(t)
	if n := len(r.web.Addrs()); n != 2 {
		t.Errorf("got %d addresses, want 2", n)
	}
	r.do("SET", "k", "v")
	for protocol, h2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		r.client.CloseIdleConnections()
		r.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: h2}}
		if a := r.get("/v1/get?key=k", "Origin", r.url); a.status != 200 || !strings.Contains(a.body, `"value":"v"`) {
			t.Errorf("%s: got %d %s", protocol, a.status, a.body)
		}
		got, err := r.client.Do(r.request("GET", "/v1/live?command=GET&arg=k"))
		if err != nil {
			t.Fatal(err)
		}
		if got.Proto != protocol {
			t.Errorf("got %s, want %s", got.Proto, protocol)
		}
		got.Body.Close()
		first, second := r.open("/v1/live?command=GET&arg=k"), r.open("/v1/live?command=STRLEN&arg=k")
		first.next(eventLive)
		second.next(eventLive)
		r.do("APPEND", "k", "w")
		first.next(eventLive)
		second.next(eventLive)
		if n := r.web.conns.Load(); h2 != (n == 1) {
			t.Errorf("%s: got %d connections", protocol, n)
		}
		first.body.Close()
		second.body.Close()
		r.until("the streams have ended", func() bool { return r.web.streams.open() == 0 })
		r.client.CloseIdleConnections()
		r.until("the connections are closed", func() bool { return r.web.conns.Load() == 0 })
		r.do("SET", "k", "v")
	}
	// Who does not believe it, and who speaks no TLS, is not let in.
	r.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: x509.NewCertPool()}}}
	if _, err := r.client.Do(r.request("GET", "/v1/get?key=k")); err == nil {
		t.Error("a foreign certificate: got an answer")
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))
	io.WriteString(conn, "GET /v1/get?key=k HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if got, _ := io.ReadAll(conn); strings.Contains(string(got), "200 OK") {
		t.Errorf("plain text: got %q", got)
	}
}

// startTLS is start with a listener for TLS, where the requests go. pool has the
// authority of its certificate.
func startTLS(t *testing.T) (r *running, pool *x509.CertPool) {
	t.Helper()
	ca, err := testca.New("authority")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := ca.Issue("server", time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := certs.Settings{CertFile: filepath.Join(dir, "s.crt"), KeyFile: filepath.Join(dir, "s.key"), Clients: "no"}
	write(t, files.CertFile, pair.Cert)
	write(t, files.KeyFile, pair.Key)
	store, err := certs.Open(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r = start(t, Options{Secure: []net.Listener{l}, TLS: store.Config("h2", "http/1.1")}, redis.Options{})
	r.url = "https://" + l.Addr().String()
	pool = x509.NewCertPool()
	pool.AddCert(ca.Cert)
	return r, pool
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
