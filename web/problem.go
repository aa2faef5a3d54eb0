package web

import (
	"net/http"
	"strings"

	"github.com/firndb/firn/resp/reply"
)

// problem is why a request is refused. It is answered as JSON:
//
//	{"error":"NOPERM","message":"NOPERM this user has …"}
type problem struct {
	status  int
	code    string // the first word of an error of Redis's
	message string
}

// Error implements error.
func (p *problem) Error() string { return p.message }

func refuse(status int, message string) *problem {
	return &problem{status: status, code: "ERR", message: message}
}

// statuses are those of the codes that errors of commands begin with. Any
// other is a mistake of who asks.
var statuses = map[string]int{
	"NOAUTH":     http.StatusUnauthorized,
	"WRONGPASS":  http.StatusUnauthorized,
	"NOPERM":     http.StatusForbidden,
	"DENIED":     http.StatusForbidden,
	"COMPACTED":  http.StatusGone,
	"FORKED":     http.StatusConflict,
	"FUTURE":     http.StatusConflict,
	"BUSY":       http.StatusServiceUnavailable,
	"MISCONF":    http.StatusServiceUnavailable,
	"LOADING":    http.StatusServiceUnavailable,
	"INVALIDOBJ": http.StatusInternalServerError,
}

// phrases are beginnings of errors that have no code of their own.
var phrases = []struct {
	prefix string
	status int
}{
	{"ERR internal error", http.StatusInternalServerError},
	{"ERR max number of clients", http.StatusServiceUnavailable},
	{"ERR the server is shutting down", http.StatusServiceUnavailable},
	{"ERR outcome unknown", http.StatusServiceUnavailable},
}

// problemOf is a command's error for HTTP.
func problemOf(text string) *problem {
	code, _, _ := strings.Cut(text, " ")
	p := &problem{status: http.StatusBadRequest, code: code, message: text}
	if status, ok := statuses[code]; ok {
		p.status = status
	}
	for _, known := range phrases {
		if strings.HasPrefix(text, known.prefix) {
			p.status = known.status
		}
	}
	return p
}

// endsLine says whether a stream cannot go on from a client's token.
func (p *problem) endsLine() bool {
	return p.code == "COMPACTED" || p.code == "FORKED" || p.code == "FUTURE"
}

// appendJSON appends the problem as an object.
func (p *problem) appendJSON(dst []byte) []byte {
	dst = reply.AppendString(append(dst, `{"error":`...), p.code)
	dst = reply.AppendString(append(dst, `,"message":`...), p.message)
	return append(dst, '}')
}

// challenges name the ways to authenticate.
var challenges = []string{`Basic realm="firn", charset="UTF-8"`, `Bearer realm="firn"`}

// write answers the request with the problem.
func (p *problem) write(s *Server, w http.ResponseWriter) {
	h := w.Header()
	if p.status == http.StatusUnauthorized {
		h["Www-Authenticate"] = challenges
	}
	if p.status == http.StatusServiceUnavailable {
		h.Set("Retry-After", "1")
	}
	_ = s.writeJSON(w, p.status, append(p.appendJSON(nil), '\n'))
}
