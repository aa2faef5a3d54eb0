package main

import (
	"bufio"
	"crypto/tls"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/firndb/firn/internal/testca"
)

// The rule: a certificate is replaced while the server runs, and one that is
// broken replaces nothing.

// tlsServed is a server of its own process that speaks TLS alone.
type tlsServed struct {
	*testing.T
	ca      *testca.CA
	dir     string
	address string
	process *exec.Cmd
	log     *bufio.Reader
}

func startTLSServer(t *testing.T, flags ...string) *tlsServed {
	t.Helper()
	ca, err := testca.New("one")
	if err != nil {
		t.Fatal(err)
	}
	s := &tlsServed{T: t, ca: ca, dir: t.TempDir()}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = l.Addr().String()
	l.Close()
	cert, key := s.issue("first")
	s.process = exec.Command("firn", append([]string{"serve", filepath.Join(s.dir, "firn.db"), "--listen", "", "--tls-listen", s.address,
		"--tls-cert-file", cert, "--tls-key-file", key, "--tls-auth-clients", "no", "--log-format", "text"}, flags...)...)
	stderr, err := s.process.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.log = bufio.NewReader(stderr)
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.process.Process.Kill() })
	return s
}

// issue replaces the server's certificate.
func (s *tlsServed) issue(name string) (cert, key string) {
	s.Helper()
	pair, err := s.ca.Issue(name, time.Now().Add(time.Hour))
	if err == nil {
		cert, key, err = pair.Write(s.dir, "server")
	}
	if err != nil {
		s.Fatal(err)
	}
	return cert, key
}

// awaitLog reads the log up to a line that contains text.
func (s *tlsServed) awaitLog(text string) {
	s.Helper()
	for {
		line, err := s.log.ReadString('\n')
		if err != nil {
			s.Fatalf("the log has no %q: %v", text, err)
		}
		if strings.Contains(line, text) {
			return
		}
	}
}

// shows says whom a client sees, after a PING.
func (s *tlsServed) shows(want string) {
	s.Helper()
	config, err := s.ca.Client()
	if err != nil {
		s.Fatal(err)
	}
	conn, err := tls.Dial("tcp", s.address, config)
	if err != nil {
		s.Fatal(err)
	}
	defer conn.Close()
	if reply, err := newPeer(conn).ask("PING"); reply != "+PONG" {
		s.Errorf("PING: got %q (%v)", reply, err)
	}
	if got := conn.ConnectionState().PeerCertificates[0].Subject.CommonName; got != want {
		s.Errorf("shown: got %q, want %q", got, want)
	}
}

func TestCertificatesAreReadAgain(t *testing.T) {
	for _, driver := range []string{"--portable=false", "--portable"} {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			s := startTLSServer(t, driver)
			s.awaitLog("msg=ready")
			s.shows("first")
			s.issue("second")
			s.process.Process.Signal(syscall.SIGHUP)
			s.awaitLog("CN=second")
			s.shows("second")
			if _, _, err := (testca.Pair{Cert: []byte("half")}).Write(s.dir, "server"); err != nil {
				t.Fatal(err)
			}
			s.process.Process.Signal(syscall.SIGHUP)
			s.awaitLog("the old ones stay")
			s.shows("second")
			s.issue("third")
			s.awaitLog("CN=third") // it looks by itself
			s.shows("third")
			s.process.Process.Signal(syscall.SIGTERM)
			s.awaitLog("msg=ended")
			if err := s.process.Wait(); err != nil {
				t.Errorf("the end: got %v, want nil", err)
			}
		})
	}
}

// scriptCertify writes ca.crt, and certificates of it with their keys, server
// and client. TLS becomes an address that nobody listens at.
func scriptCertify(ts *testscript.TestScript, _ bool, args []string) {
	ca, err := testca.New("scripts")
	ts.Check(err)
	dir := ts.MkAbs(".")
	ts.Check(os.WriteFile(filepath.Join(dir, "ca.crt"), ca.PEM(), 0o600))
	for _, name := range []string{"server", "client"} {
		pair, err := ca.Issue(name, time.Now().Add(time.Hour))
		ts.Check(err)
		_, _, err = pair.Write(dir, name)
		ts.Check(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Check(l.Close())
	ts.Setenv("TLS", l.Addr().String())
}
