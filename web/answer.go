package web

import (
	"net/http"
	"strconv"
	"time"

	"github.com/firndb/firn/resp/reply"
)

// writeJSON answers with an object. What a key holds is no business of caches.
func (s *Server) writeJSON(w http.ResponseWriter, status int, body []byte) error {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set(binaryHeader, reply.BinaryForm)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	return s.write(w, body)
}

// binaryHeader says how strings that are not UTF-8 are written.
const binaryHeader = "Firn-Binary"

func writeText(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write([]byte(text))
}

// write sends a part of an answer to a client that may read slowly, but has to
// read.
func (s *Server) write(w http.ResponseWriter, b []byte) error {
	for len(b) > 0 {
		s.extend(w)
		n, err := w.Write(b[:min(len(b), stepBytes)])
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// extend gives the client more time to read what is written next.
func (s *Server) extend(w http.ResponseWriter) {
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.patience))
}

// watched remembers what was answered.
type watched struct {
	http.ResponseWriter
	status int // 0: nothing yet
}

// WriteHeader implements http.ResponseWriter.
func (w *watched) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *watched) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }
