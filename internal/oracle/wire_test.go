package oracle

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/firndb/firn/resp"
	"github.com/firndb/firn/resp/reply"
)

// wire is a client's connection: replies come in the order of what was asked,
// and what was pushed meanwhile goes to pushed, in its order among them.
type wire struct {
	net.Conn
	buf    []byte
	pushed func(reply.Value)
}

// wirePatience is how long an answer may take. The machine may be busy, and
// compaction runs all the time.
const wirePatience = 30 * time.Second

func newWire(conn net.Conn) *wire { return &wire{Conn: conn, pushed: func(reply.Value) {}} }

// send sends a command without waiting for its answer.
func (w *wire) send(words ...string) error {
	args := make([][]byte, len(words))
	for i, word := range words {
		args[i] = []byte(word)
	}
	w.SetWriteDeadline(time.Now().Add(wirePatience))
	_, err := w.Write(resp.AppendCommand(nil, args...))
	return err
}

// next is the next thing that the server says.
func (w *wire) next(patience time.Duration) (reply.Value, error) {
	w.SetReadDeadline(time.Now().Add(patience))
	for {
		v, rest, err := reply.Parse(w.buf)
		if err == nil {
			w.buf = rest
			return v, nil
		}
		if !errors.Is(err, reply.ErrShort) {
			return v, fmt.Errorf("%w: %.200q", err, w.buf)
		}
		room := make([]byte, 16<<10)
		n, err := w.Read(room)
		w.buf = append(w.buf, room[:n]...)
		if err != nil && n == 0 {
			return v, err
		}
	}
}

// answer is the next reply. Pushes that come before it are handed on.
func (w *wire) answer() (reply.Value, error) {
	for {
		v, err := w.next(wirePatience)
		if err != nil || !v.IsPush() {
			return v, err
		}
		w.pushed(v)
	}
}

// ask asks one thing. An error reply is a value, not an error.
func (w *wire) ask(words ...string) (reply.Value, error) {
	if err := w.send(words...); err != nil {
		return reply.Value{}, err
	}
	return w.answer()
}

// all asks many things at once.
func (w *wire) all(commands [][]string) ([]reply.Value, error) {
	var out []byte
	for _, words := range commands {
		args := make([][]byte, len(words))
		for i, word := range words {
			args[i] = []byte(word)
		}
		out = resp.AppendCommand(out, args...)
	}
	w.SetWriteDeadline(time.Now().Add(wirePatience))
	if _, err := w.Write(out); err != nil {
		return nil, err
	}
	values := make([]reply.Value, len(commands))
	for i := range values {
		var err error
		if values[i], err = w.answer(); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// isTimeout says whether nothing has come in time, which is no failure of the
// connection.
func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

// isCompacted says whether an answer is that what was asked for is forgotten.
func isCompacted(v *reply.Value) bool { return v.IsError() && strings.HasPrefix(v.Text, "COMPACTED") }

// texts are those of a reply's elements.
func texts(v *reply.Value) (all []string) {
	for i := range v.Elements {
		all = append(all, v.Elements[i].Text)
	}
	return all
}

// fieldsOf takes a map apart: of RESP3, of RESP2, or an array of pairs, which it
// may be in JSON.
func fieldsOf(v *reply.Value) map[string]*reply.Value {
	fields := map[string]*reply.Value{}
	if v == nil {
		return fields
	}
	if v.Mark == '*' && len(v.Elements) > 0 && v.Elements[0].IsAggregate() {
		for i := range v.Elements {
			pair := v.Elements[i].Elements
			fields[pair[0].Text] = &pair[1]
		}
		return fields
	}
	for i := 0; i+1 < len(v.Elements); i += 2 {
		fields[v.Elements[i].Text] = &v.Elements[i+1]
	}
	return fields
}

// shown is a reply on one line, the same for both protocols' null.
func shown(v *reply.Value) string { return string(v.AppendJSON(nil)) }
