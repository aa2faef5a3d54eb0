package certs

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firndb/firn/internal/testca"
)

// What is read together and fits holds from the next handshake on; what does
// not changes nothing.

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

var tomorrow = time.Now().Add(24 * time.Hour)

// place is a directory with an authority and a pair of its own.
type place struct {
	dir string
	ca  *testca.CA
	Settings
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{dir: t.TempDir(), ca: must(testca.New("one"))}
	p.issue(t, p.ca, "first")
	p.CAFile = p.write(t, "ca.crt", p.ca.PEM())
	return p
}

// issue replaces the server's certificate.
func (p *place) issue(t *testing.T, ca *testca.CA, name string) {
	t.Helper()
	var err error
	if p.CertFile, p.KeyFile, err = must(ca.Issue(name, tomorrow)).Write(p.dir, "server"); err != nil {
		t.Fatal(err)
	}
}

func (p *place) write(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// connection is both ends of a connection; a pipe would not do, as each side
// may say what is wrong before it listens.
func connection() (server, client net.Conn) {
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	defer l.Close()
	client = must(net.Dial("tcp", l.Addr().String()))
	server = must(l.Accept())
	for _, end := range []net.Conn{server, client} {
		end.SetDeadline(time.Now().Add(30 * time.Second))
	}
	return server, client
}

// shake is a handshake: whom the client sees, and what each side says.
func shake(server, client *tls.Config) (name string, serverErr, clientErr error) {
	a, b := connection()
	defer b.Close()
	done := make(chan error, 1) // so that the goroutine ends without a receiver
	go func() {
		conn := tls.Server(a, server)
		defer conn.Close()
		err := conn.Handshake()
		if err == nil {
			_, err = conn.Write([]byte("x"))
		}
		done <- err
	}()
	conn := tls.Client(b, client)
	clientErr = conn.Handshake()
	if clientErr == nil {
		name = conn.ConnectionState().PeerCertificates[0].Subject.CommonName
		var n int
		if n, clientErr = conn.Read(make([]byte, 1)); n == 1 { // the server's alert comes after a TLS 1.3 handshake
			clientErr = nil // the end, which may come together with the byte
		}
	}
	return name, <-done, clientErr
}

func TestClientsMustShowWhatIsAskedFor(t *testing.T) {
	p := newPlace(t)
	foreign := must(testca.New("other"))
	good, expired := must(p.ca.Issue("good", tomorrow)), must(p.ca.Issue("expired", time.Now().Add(-time.Hour)))
	strange := must(foreign.Issue("strange", tomorrow))
	for _, tt := range []struct {
		clients string
		shown   []testca.Pair
		want    string // of the server's error; empty: let in
	}{
		{"", nil, "didn't provide a certificate"},
		{"yes", []testca.Pair{good}, ""},
		{"yes", []testca.Pair{expired}, "expired"},
		{"yes", []testca.Pair{strange}, "unknown authority"},
		{"optional", nil, ""},
		{"optional", []testca.Pair{good}, ""},
		{"optional", []testca.Pair{strange}, "unknown authority"},
		{"no", nil, ""},
		{"no", []testca.Pair{strange}, ""},
	} {
		p.Clients = tt.clients
		s := must(Open(p.Settings, nil))
		_, got, clientErr := shake(s.Config(), must(p.ca.Client(tt.shown...)))
		if tt.want == "" && (got != nil || clientErr != nil) || tt.want != "" && (got == nil || clientErr == nil || !strings.Contains(got.Error(), tt.want)) {
			t.Errorf("clients=%q, %d shown: got %v (client: %v), want %q", tt.clients, len(tt.shown), got, clientErr, tt.want)
		}
	}
}

func TestAuthoritiesComeFromADirectory(t *testing.T) {
	p := newPlace(t)
	client := must(p.ca.Client(must(p.ca.Issue("client", tomorrow))))
	p.CAFile, p.CADir = "", filepath.Join(p.dir, "cas")
	if err := os.Mkdir(p.CADir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(p.Settings, nil); err == nil || !strings.Contains(err.Error(), "no certificate of an authority") {
		t.Errorf("an empty directory: got %v, want an error", err)
	}
	p.write(t, "cas/other.pem", must(testca.New("other")).PEM())
	p.write(t, "cas/one.pem", p.ca.PEM())
	p.write(t, "cas/README", []byte("not one"))
	if _, got, _ := shake(must(Open(p.Settings, nil)).Config(), client); got != nil {
		t.Errorf("a client of the second: got %v, want nil", got)
	}
}

func TestWhatDoesNotFitReplacesNothing(t *testing.T) {
	p := newPlace(t)
	p.Clients = "no"
	s := must(Open(p.Settings, nil))
	config, client := s.Config(), must(p.ca.Client())
	sees := func(want string) {
		t.Helper()
		if name, err, _ := shake(config, client); name != want || err != nil {
			t.Errorf("shown: got %q (%v), want %q", name, err, want)
		}
	}
	sees("first")
	other := must(p.ca.Issue("other", tomorrow))
	missing, text := filepath.Join(p.dir, "missing"), p.write(t, "text", []byte("hello"))
	p.write(t, "other.key", other.Key)
	for want, change := range map[string]func(*Settings){
		"no such file":         func(c *Settings) { c.CertFile = missing },
		"does not match":       func(c *Settings) { c.KeyFile = filepath.Join(p.dir, "other.key") },
		"failed to find any":   func(c *Settings) { c.CertFile = text },
		"choose yes, no or":    func(c *Settings) { c.Clients = "perhaps" },
		"need a file or":       func(c *Settings) { c.Clients, c.CAFile = "yes", "" },
		"no certificate of an": func(c *Settings) { c.Clients, c.CAFile = "yes", text },
		"use a combination":    func(c *Settings) { c.Protocols = "SSLv3" },
		"leave out one":        func(c *Settings) { c.Protocols = "TLSv1.1 TLSv1.3" },
		"name suites of":       func(c *Settings) { c.Ciphers = "HIGH:!aNULL" },
		"is a directory":       func(c *Settings) { c.CertFile = p.dir },
		"no certificate file":  func(c *Settings) { c.CertFile = "" },
		"is encrypted": func(c *Settings) {
			c.KeyFile = p.write(t, "enc.key", []byte("-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n"))
		},
		"larger than": func(c *Settings) { c.KeyFile = p.write(t, "large", make([]byte, maxFileBytes+1)) },
	} {
		bad := p.Settings
		change(&bad)
		if err := s.Set(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Set: got %v, want %q", err, want)
		}
		if s.Settings() != p.Settings {
			t.Errorf("%s: got settings %+v, want the old ones", want, s.Settings())
		}
	}
	sees("first")
	p.issue(t, p.ca, "second")
	sees("first") // nobody has looked
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	sees("second")
	p.write(t, "server.key", other.Key)
	if err := s.Reload(); err == nil {
		t.Error("Reload of a key that does not match: got nil, want an error")
	}
	sees("second")
}

func TestUnableIsToldApart(t *testing.T) {
	p := newPlace(t)
	for _, change := range []func(*Settings){
		func(c *Settings) { c.Protocols = "TLSv1 TLSv1.3" },
		func(c *Settings) { c.Ciphers = "DEFAULT:!MEDIUM" },
	} {
		bad := p.Settings
		change(&bad)
		if err := bad.Check(); !errors.Is(err, ErrUnable) {
			t.Errorf("Check: got %v, want ErrUnable", err)
		}
	}
	if err := p.Settings.Check(); err != nil {
		t.Errorf("Check: got %v, want nil", err)
	}
}

func TestVersionsAndCiphersAreThoseOfTheSettings(t *testing.T) {
	p := newPlace(t)
	p.Clients = "no"
	for _, tt := range []struct {
		protocols, ciphers string
		least, most        uint16 // of the client
		want               string // of the client's error; empty: let in
	}{
		{"", "", tls.VersionTLS12, tls.VersionTLS12, ""},
		{"", "", tls.VersionTLS10, tls.VersionTLS11, "protocol version"},
		{"TLSv1.3", "", tls.VersionTLS12, tls.VersionTLS12, "protocol version"},
		{"tlsv1.2", "", tls.VersionTLS13, tls.VersionTLS13, "protocol version"},
		{"TLSv1.1 TLSv1.2", "", tls.VersionTLS11, tls.VersionTLS11, ""},
		{"TLSv1.2", "ECDHE-ECDSA-AES128-GCM-SHA256:TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", tls.VersionTLS12, tls.VersionTLS12, ""},
		{"TLSv1.2", "ECDHE-RSA-AES128-GCM-SHA256", tls.VersionTLS12, tls.VersionTLS12, "handshake failure"}, // the key is ECDSA
	} {
		p.Protocols, p.Ciphers = tt.protocols, tt.ciphers
		client := must(p.ca.Client())
		client.MinVersion, client.MaxVersion = tt.least, tt.most
		_, _, err := shake(must(Open(p.Settings, nil)).Config(), client)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("protocols=%q ciphers=%q: got %v, want %q", tt.protocols, tt.ciphers, err, tt.want)
		}
	}
}

func TestListenersChooseTheirProtocols(t *testing.T) {
	p := newPlace(t)
	p.Clients = "no"
	s := must(Open(p.Settings, nil))
	for _, offers := range [][]string{nil, {"h2", "http/1.1"}} {
		a, b := connection()
		go tls.Server(a, s.Config(offers...)).Handshake()
		client := must(p.ca.Client())
		client.NextProtos = []string{"http/1.1"}
		conn := tls.Client(b, client)
		if err := conn.Handshake(); err != nil {
			t.Fatal(err)
		}
		if got := conn.ConnectionState().NegotiatedProtocol; got != strings.TrimPrefix(strings.Join(offers, ""), "h2") {
			t.Errorf("offers %q: got %q", offers, got)
		}
		a.Close()
		b.Close()
	}
}

// TestSessionsAreResumedUnlessForbidden, and never past another authority.
func TestSessionsAreResumedUnlessForbidden(t *testing.T) {
	p := newPlace(t)
	client := must(p.ca.Client(must(p.ca.Issue("client", tomorrow))))
	client.ClientSessionCache = tls.NewLRUClientSessionCache(8)
	s := must(Open(p.Settings, nil))
	config := s.Config()
	resumed := func(want bool) {
		t.Helper()
		var did bool
		client.VerifyConnection = func(state tls.ConnectionState) error { did = state.DidResume; return nil }
		if _, err, clientErr := shake(config, client); err != nil || clientErr != nil || did != want {
			t.Errorf("resumed: got %t (%v, %v), want %t", did, err, clientErr, want)
		}
	}
	resumed(false)
	resumed(true)
	p.NoSessions = true
	if err := s.Set(p.Settings); err != nil {
		t.Fatal(err)
	}
	resumed(false)
	p.NoSessions = false
	p.CAFile = p.write(t, "other.crt", must(testca.New("other")).PEM())
	if err := s.Set(p.Settings); err != nil {
		t.Fatal(err)
	}
	if _, err, _ := shake(config, client); err == nil {
		t.Error("a client of an authority that is believed no more: got nil, want an error")
	}
}

// logged is a log that is read while it is written.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestChangedFilesAreRead, and broken ones are told once.
func TestChangedFilesAreRead(t *testing.T) {
	p := newPlace(t)
	p.Clients = "no"
	synctest.Test(t, func(t *testing.T) {
		var log logged
		s := must(Open(p.Settings, slog.New(slog.NewTextHandler(&log, nil))))
		hup := make(chan os.Signal)
		ctx, stop := context.WithCancel(t.Context())
		go s.Run(ctx, hup)
		defer synctest.Wait()
		defer stop()
		shown := func() string { return s.current.Load().leaf.Subject.CommonName }
		after := func(d time.Duration, want string, told int) {
			t.Helper()
			time.Sleep(d) // of the bubble's own clock
			synctest.Wait()
			if got, n := shown(), strings.Count(log.String(), "level=ERROR"); got != want || n != told {
				t.Errorf("shown: got %q and %d errors, want %q and %d\n%s", got, n, want, told, log.String())
			}
		}
		p.issue(t, p.ca, "second")
		after(WatchEvery-time.Second, "first", 0)
		after(2*time.Second, "second", 0)
		p.write(t, "server.key", []byte("half"))
		after(5*WatchEvery, "second", 1)
		hup <- syscall.SIGHUP
		after(0, "second", 2)
		p.issue(t, p.ca, "third")
		hup <- syscall.SIGHUP
		after(0, "third", 2)
		lines := strings.Count(log.String(), "\n")
		after(5*WatchEvery, "third", 2)
		if n := strings.Count(log.String(), "\n"); n != lines {
			t.Errorf("lines while nothing changes: got %d, want %d", n, lines)
		}
	})
}
