package web

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// stream is a stream that is open.
type stream struct {
	t    *testing.T
	body io.Closer
	in   *bufio.Reader
	id   string // of the last event, as a browser keeps it
}

// event is one that came. A comment has no kind.
type event struct{ kind, id, data, comment string }

// open opens a stream, which must begin.
func (r *running) open(path string, headers ...string) *stream {
	r.t.Helper()
	got, err := r.client.Do(r.request("GET", path, headers...))
	if err != nil {
		r.t.Fatal(err)
	}
	s := &stream{t: r.t, body: got.Body, in: bufio.NewReader(got.Body)}
	r.t.Cleanup(func() { got.Body.Close() })
	if kind := got.Header.Get("Content-Type"); got.StatusCode != http.StatusOK || kind != "text/event-stream" {
		body, _ := io.ReadAll(got.Body)
		r.t.Fatalf("%s: got %d %s: %s", path, got.StatusCode, kind, body)
	}
	if got.Header.Get(binaryHeader) != "base64" {
		r.t.Errorf("%s: nothing says what becomes of binary", path)
	}
	return s
}

// next is the next event, of any kind; io.EOF if there is none.
func (s *stream) any() (e event, err error) {
	for {
		line, err := s.in.ReadString('\n')
		if err != nil {
			return e, err
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case name == "" && value != "":
			return event{comment: value}, nil
		case name == "" && e.kind != "":
			return e, nil
		case name == "event":
			e.kind = value
		case name == "data":
			e.data = value
		case name == "id":
			e.id, s.id = value, value
		}
	}
}

// next is the next event that is of a kind.
func (s *stream) next(kind string) event {
	s.t.Helper()
	for {
		e, err := s.any()
		if err != nil {
			s.t.Fatalf("waiting for %s: %v", kind, err)
		}
		if e.kind == kind {
			return e
		}
		if e.kind == eventEnd {
			s.t.Fatalf("waiting for %s: the stream ended: %s", kind, e.data)
		}
	}
}

// over waits for the end of the stream.
func (s *stream) over() {
	s.t.Helper()
	for {
		if _, err := s.any(); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return
		} else if err != nil {
			s.t.Fatal(err)
		}
	}
}
