package redis

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/firndb/firn/redis/command"

	"github.com/firndb/firn/resp"
)

// errMonitor refuses data to a client that looks on, in Redis's words.
const errMonitor = resp.Error("ERR Replica can't interact with the keyspace")

// MONITOR.
var monitorCommands = []command.Command{{
	Name: "MONITOR", Flags: command.Local | command.Admin | command.NoScript | command.Loading | command.Stale,
	Group: "server", Since: "1.0.0", Complexity: "O(1)",
	Summary: "Shows the client every command that the server runs, until RESET or the connection ends.",
	Differs: "A client that does not read what it is shown is ended by the limit of class pubsub in client-output-buffer-limit.",
	Run:     monitor,
}}

// monitors are the sessions that are shown all commands.
type monitors struct {
	count atomic.Int64 // 0: nobody looks, and nothing is made up for it

	mu       sync.Mutex
	sessions []*Session
}

func (m *monitors) add(s *Session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions = append(m.sessions, s)
	m.count.Add(1)
	s.monitoring.Store(true)
}

// remove makes a session that may look on stop doing so.
func (m *monitors) remove(s *Session) {
	if !s.monitoring.Load() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions = slices.DeleteFunc(m.sessions, func(other *Session) bool { return other == s })
	m.count.Add(-1)
	s.monitoring.Store(false)
}

// show sends a line to all that look on.
func (m *monitors) show(line []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.sessions {
		s.Push(line)
	}
}

func monitor(c *command.Call) error {
	s := sessionOf(c)
	if s.multi.on {
		return resp.Error("ERR MONITOR isn't allowed for DENY BLOCKING client")
	}
	if s.monitoring.Load() {
		return nil // as in Redis, there is no reply either
	}
	s.srv.monitors.add(s)
	c.Reply.Simple("OK")
	return nil
}

// shown notes a command that was run, if anybody looks on. Commands for
// operators are not shown, as in Redis, nor those that run again after they
// waited.
func (s *Session) shown(e *command.Entry, words [][]byte) {
	if s.srv.monitors.count.Load() == 0 || e.Flags&command.Admin != 0 || s.call.Waited || len(words) == 0 || s.srv.hidesSecret(e, words[1:]) {
		return
	}
	s.outbox.add(note{what: noteMonitor}, s.monitorLine(e, words), nil)
}

// hidesSecret says whether a command is AT with one in its arguments that is
// not shown, or not as it is: AT refuses those, but a password was typed.
func (srv *Server) hidesSecret(e *command.Entry, args [][]byte) bool {
	for e != nil && e.Flags&command.Wraps != 0 && len(args) > 1 {
		words := args[1:]
		if e, _, _ = srv.table.Resolve(words); e == nil { // it may be a container, with a subcommand misspelt
			e, _, _ = srv.table.Resolve(words[:1])
		}
		if e != nil && (isSecret(e) || slices.ContainsFunc(e.Sub, isSecret)) {
			return true
		}
		args = words[1:]
	}
	return false
}

// isSecret says whether a command's arguments are nobody else's business.
func isSecret(e *command.Entry) bool { return e.Flags&(command.Admin|command.Skip) != 0 }

// monitorLine is a command as MONITOR shows it.
func (s *Session) monitorLine(e *command.Entry, words [][]byte) []byte {
	now := s.srv.opts.Now().UnixMicro()
	line := fmt.Appendf(nil, "+%d.%06d [%d ", now/1e6, now%1e6, s.db)
	if path, ok := strings.CutSuffix(s.peer, ":0"); ok && strings.HasPrefix(path, "/") {
		line = append(append(line, "unix:"...), path...)
	} else {
		line = append(line, s.peer...)
	}
	line = append(line, ']')
	var secret []int
	if e.Secrets != nil {
		secret = e.Secrets(words[1:])
	}
	for i, word := range words {
		line = append(line, ' ')
		if slices.Contains(secret, i-1) {
			line = append(line, `"(redacted)"`...)
			continue
		}
		line = appendQuoted(line, word)
	}
	return append(line, '\r', '\n')
}

// appendQuoted appends b in double quotes, with what cannot be printed
// escaped as Redis does it.
func appendQuoted(dst, b []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, c := range b {
		switch c {
		case '\\', '"':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		case '\a':
			dst = append(dst, `\a`...)
		case '\b':
			dst = append(dst, `\b`...)
		default:
			if ' ' <= c && c <= '~' {
				dst = append(dst, c)
			} else {
				dst = append(dst, '\\', 'x', hex[c>>4], hex[c&15])
			}
		}
	}
	return append(dst, '"')
}
