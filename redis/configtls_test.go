package redis

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/certs"
	"github.com/firndb/firn/internal/testca"
)

// CONFIG SET of what TLS shows is all or nothing, as far as the files.

// tlsServer is a server that shows a certificate of a new authority, whose
// file is ca.crt in the directory.
func tlsServer(t *testing.T) (a *ours, store *certs.Store, dir string) {
	t.Helper()
	dir = t.TempDir()
	ca, err := testca.New("one")
	if err != nil {
		t.Fatal(err)
	}
	settings := certs.Settings{Clients: "no", CAFile: filepath.Join(dir, "ca.crt")}
	if err := os.WriteFile(settings.CAFile, ca.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"first", "second"} {
		pair, err := ca.Issue(name, time.Now().Add(time.Hour))
		if err == nil {
			settings.CertFile, settings.KeyFile, err = pair.Write(dir, name)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if store, err = certs.Open(settings, nil); err != nil {
		t.Fatal(err)
	}
	srv := New(openStore(t, firn.Options{Durability: firn.None}), Options{TLS: store, TLSPort: 6380})
	return newOurs(t, srv), store, dir
}

func TestConfigSetsWhatTLSShows(t *testing.T) {
	a, store, dir := tlsServer(t)
	first := filepath.Join(dir, "first")
	Check(t, "GET", a.Run(t, "CONFIG GET tls-port", "CONFIG GET tls-auth-clients", "CONFIG GET tls-session-caching"),
		"*2\r\n$8\r\ntls-port\r\n$4\r\n6380\r\n*2\r\n$16\r\ntls-auth-clients\r\n$2\r\nno\r\n*2\r\n$19\r\ntls-session-caching\r\n$3\r\nyes\r\n")
	if got := a.Run(t, "CONFIG GET tls-cert-file"); !strings.Contains(got, filepath.Join(dir, "second.crt")) {
		t.Errorf("tls-cert-file: got %q, want the flag's", got)
	}
	Check(t, "both at once", a.Run(t, "CONFIG SET tls-cert-file "+first+".crt tls-key-file "+first+".key tls-auth-clients optional tls-session-caching no tls-protocols TLSv1.3"), "+OK\r\n")
	want := certs.Settings{CertFile: first + ".crt", KeyFile: first + ".key", CAFile: filepath.Join(dir, "ca.crt"), Clients: "optional", Protocols: "TLSv1.3", NoSessions: true}
	holds := func(what string) {
		t.Helper()
		if got := store.Settings(); got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
		}
	}
	holds("set")
	const unable = ") - Unable to update TLS configuration. Check server logs.\r\n"
	for command, reply := range map[string]string{
		"CONFIG SET tls-cert-file " + dir + "/second.crt":                               "tls-cert-file'" + unable,
		"CONFIG SET tls-ca-cert-file " + dir + "/missing":                               "tls-ca-cert-file'" + unable,
		"CONFIG SET tls-protocols SSLv3":                                                "tls-protocols'" + unable,
		"CONFIG SET timeout 7 tls-key-file /dev/null":                                   "tls-key-file'" + unable,
		"CONFIG SET tls-protocols \"TLSv1 TLSv1.3\"":                                    "tls-protocols') - certs: not possible here: protocols \"TLSv1 TLSv1.3\" leave out one between others\r\n",
		"CONFIG SET tls-ciphers HIGH":                                                   "tls-ciphers') - certs: not possible here: cipher \"HIGH\": name suites of up to TLS 1.2, such as ECDHE-RSA-AES128-GCM-SHA256\r\n",
		"CONFIG SET tls-ciphersuites TLS_AES_128_GCM_SHA256":                            "tls-ciphersuites') - argument must be empty: the cipher suites of TLS 1.3 cannot be chosen\r\n",
		"CONFIG SET tls-prefer-server-ciphers no":                                       "tls-prefer-server-ciphers') - argument must be yes: the order of cipher suites is the server's\r\n",
		"CONFIG SET tls-key-file-pass secret":                                           "tls-key-file-pass') - argument must be empty: the key's file must not be encrypted\r\n",
		"CONFIG SET tls-auth-clients perhaps":                                           "tls-auth-clients') - argument(s) must be one of the following: no, yes, optional\r\n",
		"CONFIG SET tls-port 1":                                                         "tls-port') - sockets stay where they are: start the server with other addresses\r\n",
		"CONFIG SET tls-session-caching yes tls-protocols TLSv1.2 tls-key-file /nosuch": "tls-session-caching'" + unable,
	} {
		Check(t, command, a.Run(t, command), "-ERR CONFIG SET failed (possibly related to argument '"+reply)
		holds(command)
	}
	Check(t, "after failures", a.Run(t, "CONFIG GET timeout", "CONFIG GET tls-protocols", "CONFIG GET tls-session-caching"),
		"*2\r\n$7\r\ntimeout\r\n$1\r\n0\r\n*2\r\n$13\r\ntls-protocols\r\n$7\r\nTLSv1.3\r\n*2\r\n$19\r\ntls-session-caching\r\n$2\r\nno\r\n")
	Check(t, "in MULTI", a.Run(t, "MULTI", "CONFIG SET tls-auth-clients no", "CONFIG SET timeout 3", "EXEC"), "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n"+
		"-ERR CONFIG SET failed (possibly related to argument 'tls-auth-clients') - not inside a transaction: files are read\r\n+OK\r\n")
	holds("MULTI")
	if err := os.WriteFile(first+".key", []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := a.Run(t, "CONFIG SET tls-cert-file "+first+".crt"); !strings.HasPrefix(got, "-ERR") {
		t.Errorf("the same names, other contents: got %q, want the files to be read", got)
	}
}

// TestTLSParametersWithoutTLS are kept, as test suites and tools set them.
func TestTLSParametersWithoutTLS(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	Check(t, "SET", a.Run(t, "CONFIG SET tls-cert-file /nosuch tls-auth-clients no", "CONFIG GET tls-cert-file", "CONFIG GET tls-port"),
		"+OK\r\n*2\r\n$13\r\ntls-cert-file\r\n$7\r\n/nosuch\r\n*2\r\n$8\r\ntls-port\r\n$1\r\n0\r\n")
}
