package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp"
	"github.com/firndb/firn/tuple"
)

// The program as its users type it. testdata has the scripts; there
// are four commands more in them: redis SOCKET WORD..., which prints a reply's
// first line, or the string in it; keep NAME REGEXP, which makes the first
// group of what the last output matches a variable; and embedder FILE, which
// makes a store as a program has it, see scriptEmbedder. certify writes
// certificates, see scriptCertify.

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"firn": func() {
		code := run()
		tellPeak()
		os.Exit(code)
	}})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"redis": scriptRedis,
			"keep":  scriptKeep,

			"embedder": scriptEmbedder,
			"certify":  scriptCertify,
		},
	})
}

func scriptRedis(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: redis SOCKET WORD...")
	}
	conn, err := dial(context.Background(), "unix", ts.MkAbs(args[0]))
	ts.Check(err)
	defer conn.Close()
	reply, err := newPeer(conn).ask(args[1:]...)
	if args[1] != "SHUTDOWN" || !errors.Is(err, io.EOF) { // it just hangs up
		ts.Check(err)
	}
	fmt.Fprintln(ts.Stdout(), reply)
	if failed := strings.HasPrefix(reply, "-"); failed != neg {
		ts.Fatalf("reply %q", reply)
	}
}

func scriptKeep(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: keep NAME REGEXP")
	}
	found := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if found == nil {
		ts.Fatalf("no %s in the output", args[1])
	}
	ts.Setenv(args[0], found[1])
}

// scriptEmbedder makes a store whose table people has a declared index and is
// counted, with two versions of ada by eve, and one whose table keys is not
// Redis's.
func scriptEmbedder(ts *testscript.TestScript, _ bool, args []string) {
	byValue := func(id string, value []byte, add func([]byte)) { add(append(slices.Clone(value), id...)) }
	store, err := firn.Open(ts.MkAbs(args[0]), firn.Options{Tables: []firn.TableSpec{
		{Name: "people", Prefix: 1, Counted: true, Indexes: []firn.IndexSpec{{Name: "name", Keys: byValue}}},
		{Name: "keys", Indexes: []firn.IndexSpec{{Name: "lock", Keys: byValue}}},
	}})
	ts.Check(err)
	for _, name := range []string{`{"name":"Ada"}`, `{"name":"Ada L."}`} {
		_, err := store.Update(context.Background(), func(tx *firn.Tx) error {
			return errors.Join(tx.SetAuthor(firn.Author{User: "eve", Reason: "ticket 7"}),
				tx.PutJSON(store.Table("people"), tuple.AppendString(nil, "ada"), []byte(name)),
				tx.Put(store.Table("keys"), []byte("front door"), []byte(name)))
		})
		ts.Check(err)
	}
	ts.Check(store.Close())
}

// dial connects to a server that may still be starting.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err == nil {
			return conn, nil
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-again.C:
		}
	}
}

// peer speaks to a server.
type peer struct {
	net.Conn
	in *bufio.Reader
}

func newPeer(conn net.Conn) *peer { return &peer{conn, bufio.NewReader(conn)} }

// ask sends a command and returns the first line of the reply, or the string
// in it.
func (p *peer) ask(words ...string) (string, error) {
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	p.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := p.Write(resp.AppendCommand(nil, args...)); err != nil {
		return "", err
	}
	return p.reply()
}

func (p *peer) reply() (string, error) {
	line, err := p.in.ReadString('\n')
	line = strings.TrimSuffix(line, "\r\n")
	var n int
	if _, scanErr := fmt.Sscanf(line, "$%d", &n); err != nil || scanErr != nil || n < 0 {
		return line, err
	}
	text := make([]byte, n+2)
	_, err = io.ReadFull(p.in, text)
	return string(text[:n]), err
}

// The names of FIRN_ variables follow from the flags.
func TestEnvironmentSetsFlagsThatWereNotGiven(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "512mb"},
		{[]string{"--memory", "1gb"}, "1gb"},
	} {
		t.Setenv("FIRN_MEMORY", "512mb")
		c := serveCommand()
		if err := c.ParseFlags(tt.args); err != nil {
			t.Fatal(err)
		}
		if err := fromEnvironment(c.Flags()); err != nil {
			t.Fatal(err)
		}
		if got := c.Flags().Lookup("memory").Value.String(); got != tt.want {
			t.Errorf("flags %q: got %s, want %s", tt.args, got, tt.want)
		}
	}
}

func TestValuesPrintWhatTheyRead(t *testing.T) {
	for _, text := range []string{"24h", "7d", "unlimited", "1h30m0s", "1h", "100d"} {
		var v retentionValue
		if err := v.Set(text); err != nil || v.String() != text {
			t.Errorf("retention %q: got %s and %v", text, v.String(), err)
		}
	}
	for _, text := range []string{"64mb", "1gb", "100", "3kb", "0"} {
		var v bytesValue
		if err := v.Set(text); err != nil || v.String() != text {
			t.Errorf("bytes %q: got %s and %v", text, v.String(), err)
		}
	}
	for _, text := range []string{"", "-1h", "1x", "d", "999999999999d", "-0"} {
		if err := new(retentionValue).Set(text); err == nil {
			t.Errorf("retention %q: got nil, want an error", text)
		}
	}
	for _, text := range []string{"", "-1", "1xb", "mb", "9999999999gb", "1 mb"} {
		if err := new(bytesValue).Set(text); err == nil {
			t.Errorf("bytes %q: got nil, want an error", text)
		}
	}
	if _, err := os.Stat(filepath.Join("testdata", "serve.txtar")); err != nil {
		t.Error(err)
	}
}
