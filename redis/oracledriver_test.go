package redis

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/redistest"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// talker is somebody who answers commands: a session of ours, or a connection
// to a real Redis.
type talker interface {
	// tell sends one command and returns the bytes of its reply.
	tell(t testing.TB, words ...[]byte) []byte
}

// ours is a session without sockets.
type ours struct {
	Store   *firn.Store
	session *Session
	ahead   *Ahead
	alone   Group         // what commits when the session is run by itself
	decided chan struct{} // capacity 1: alone was
	nudged  chan struct{} // capacity 1: something has come since the last look
}

// openStore opens a store of a test's own, closed at its end. Horizons are where
// the test puts them.
func openStore(t testing.TB, o firn.Options) *firn.Store {
	t.Helper()
	o.Tables, o.CompactByHand = append(keyspace.Tables(), firn.TableSpec{Name: "ticks"}), true
	store, err := firn.Open(filepath.Join(t.TempDir(), "firn.db"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// newOurs connects a session to a server.
func newOurs(t testing.TB, srv *Server) *ours {
	o := &ours{Store: srv.Store(), session: srv.NewSession("127.0.0.1:1", "127.0.0.1:2"), decided: make(chan struct{}, 1), nudged: make(chan struct{}, 1)}
	o.ahead = srv.NewAhead()
	o.alone.Decided = func() { o.decided <- struct{}{} }
	o.session.Nudge = func() {
		select {
		case o.nudged <- struct{}{}:
		default:
		}
	}
	t.Cleanup(o.session.Close)
	return o
}

func (o *ours) tell(t testing.TB, words ...[]byte) []byte {
	t.Helper()
	reply := o.send(t, resp.AppendCommand(nil, words...))
	for len(reply) == 0 && o.session.Waits() {
		reply = o.later(t)
	}
	return reply
}

// later waits until the session is nudged, and returns what it says then.
func (o *ours) later(t testing.TB) []byte {
	t.Helper()
	select {
	case <-o.nudged:
	case <-time.After(30 * time.Second):
		t.Fatal("waited 30 s for the session to be nudged")
	}
	return o.take(t)
}

// take runs the session and returns what it has to say.
func (o *ours) take(t testing.TB) []byte {
	t.Helper()
	o.pump(t)
	reply := bytes.Clone(o.session.Output())
	o.session.Sent(len(reply))
	return reply
}

// send gives the session bytes and returns what it answers to them.
func (o *ours) send(t testing.TB, input []byte) []byte {
	t.Helper()
	var reply []byte
	for len(input) > 0 {
		n := copy(o.session.Space(1), input)
		o.session.Fill(n)
		o.ahead.Look(o.session)
		o.ahead.Touch()
		input = input[n:]
		reply = append(reply, o.take(t)...)
	}
	return reply
}

// pump runs the session until it needs input.
func (o *ours) pump(t testing.TB) {
	t.Helper()
	for {
		switch need := o.session.Run(); need {
		case NeedInput, NeedClose:
			return
		case NeedCommit:
			o.commit(t)
		case NeedCold:
			o.session.RunCold()
		case NeedFlush:
			t.Fatal("too much output for this driver")
		}
	}
}

// commit commits the session's batch by itself.
func (o *ours) commit(t testing.TB) {
	t.Helper()
	o.alone.Reset()
	o.alone.Add(o.session)
	o.submit(t, &o.alone, o.decided)
}

// submit commits a batch and waits until it is decided.
func (o *ours) submit(t testing.TB, b firn.Batch, decided chan struct{}) {
	t.Helper()
	if err := o.Store.Submit(b); err != nil {
		t.Fatal(err)
	}
	<-decided
}

// theirs is a connection to a real Redis.
type theirs struct {
	conn net.Conn
	in   *bufio.Reader
}

// startRedis starts a redis-server, or skips the test where there is none. It
// is ended with the test.
func startRedis(t testing.TB) (connect func() *theirs) {
	t.Helper()
	socket := redistest.Start(t)
	connect = func() *theirs {
		conn, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return &theirs{conn, bufio.NewReader(conn)}
	}
	return connect
}

func (r *theirs) tell(t testing.TB, words ...[]byte) []byte {
	t.Helper()
	_ = r.conn.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := r.conn.Write(resp.AppendCommand(nil, words...)); err != nil {
		t.Fatal(err)
	}
	reply, err := redistest.ReadReply(r.in)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// value is a reply, taken apart. Its mark is the type's first byte on the
// wire; a null has a negative length.
type value struct {
	mark     byte
	text     string
	elements []value
	null     bool
}

var errShortReply = errors.New("reply ends early")

// parseValue takes one reply off b.
func parseValue(b []byte) (v value, rest []byte, err error) {
	line, rest, ok := bytes.Cut(b, []byte("\r\n"))
	if !ok || len(line) == 0 {
		return v, nil, errShortReply
	}
	v.mark, v.text = line[0], string(line[1:])
	n, _ := strconv.Atoi(v.text)
	v.null = v.mark == '_' || n < 0 && strings.IndexByte("$*", v.mark) >= 0
	switch {
	case v.null:
		return v, rest, nil
	case v.mark == '$' || v.mark == '=':
		if len(rest) < n+2 {
			return v, nil, errShortReply
		}
		v.text = string(rest[:n])
		return v, rest[n+2:], nil
	case v.mark == '%':
		n *= 2
	case strings.IndexByte("*~>", v.mark) < 0:
		return v, rest, nil
	}
	v.text = ""
	for range n {
		var element value
		if element, rest, err = parseValue(rest); err != nil {
			return v, nil, err
		}
		v.elements = append(v.elements, element)
	}
	return v, rest, nil
}

// render shows a reply as redis-cli does, with its type where that is in
// doubt.
func render(b []byte) string {
	var out strings.Builder
	for len(b) > 0 {
		v, rest, err := parseValue(b)
		if err != nil {
			return fmt.Sprintf("%q: %v", b, err)
		}
		v.render(&out, "")
		b = rest
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func (v value) render(out *strings.Builder, indent string) {
	switch {
	case v.mark == '_':
		out.WriteString("(null)\n")
	case v.null && v.mark == '*':
		out.WriteString("(nil array)\n")
	case v.null:
		out.WriteString("(nil)\n")
	case v.mark == '+':
		out.WriteString(v.text + "\n")
	case v.mark == '-':
		out.WriteString("(error) " + v.text + "\n")
	case v.mark == ':':
		out.WriteString("(integer) " + v.text + "\n")
	case v.mark == ',':
		out.WriteString("(double) " + v.text + "\n")
	case v.mark == '$':
		out.WriteString(strconv.Quote(v.text) + "\n")
	case strings.IndexByte("*%~>", v.mark) >= 0:
		v.renderElements(out, indent)
	default:
		fmt.Fprintf(out, "(%c) %q\n", v.mark, v.text)
	}
}

func (v value) renderElements(out *strings.Builder, indent string) {
	names := map[byte]string{'*': "array", '%': "map", '~': "set", '>': "push"}
	if len(v.elements) == 0 {
		out.WriteString("(empty " + names[v.mark] + ")\n")
		return
	}
	for i, element := range v.elements {
		label := fmt.Sprintf("%d) ", i+1)
		switch {
		case v.mark == '%' && i%2 == 0:
			label = fmt.Sprintf("%d# ", i/2+1)
		case v.mark == '%':
			label = "   => "
		case v.mark != '*':
			label = fmt.Sprintf("%d%c ", i+1, v.mark)
		}
		if i > 0 {
			out.WriteString(indent)
		}
		out.WriteString(label)
		element.render(out, indent+strings.Repeat(" ", len(label)))
	}
}

// sortElements puts the elements of arrays of plain values, and the pairs of
// maps, in one order. step is 2 where arrays are really pairs.
func (v *value) sortElements(step int) {
	plain, pairs := true, step == 2
	for i := range v.elements {
		v.elements[i].sortElements(step)
		plain = plain && v.elements[i].elements == nil
		pairs = pairs && len(v.elements[i].elements) == 2
	}
	if pairs && len(v.elements) > 0 {
		plain, step = true, 1 // as RESP3 has them
	}
	if v.mark == '%' {
		step = 2
	}
	if !plain || len(v.elements) == 0 || len(v.elements)%step != 0 {
		return
	}
	groups := make([]string, 0, len(v.elements)/step)
	byText := map[string][]value{}
	for i := 0; i < len(v.elements); i += step {
		var text strings.Builder
		for _, e := range v.elements[i : i+step] {
			e.render(&text, "")
		}
		groups = append(groups, text.String())
		byText[text.String()] = v.elements[i : i+step]
	}
	slices.Sort(groups)
	sorted := make([]value, 0, len(v.elements))
	for _, g := range groups {
		sorted = append(sorted, byText[g]...)
	}
	v.elements = sorted
}

// inOneOrder renders a reply whose elements have no order of their own.
func inOneOrder(b []byte, step int) string {
	v, _, err := parseValue(b)
	if err != nil {
		return render(b)
	}
	v.sortElements(step)
	var out strings.Builder
	v.render(&out, "")
	return strings.TrimSuffix(out.String(), "\n")
}

// updating says whether checked-in outputs are to be rewritten.
func updating() bool { return os.Getenv("UPDATE") == "1" }
