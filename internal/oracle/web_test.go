package oracle

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/firndb/firn/journal/journaltest"
	"github.com/firndb/firn/resp/reply"
	"github.com/firndb/firn/schema"
)

// Clients that follow over HTTP, by server-sent events.

// event is one of them.
type event struct {
	id, kind string
	data     []byte
}

// stream is an answer that does not end by itself.
type stream struct {
	body  io.ReadCloser
	lines *bufio.Reader
	stop  context.CancelFunc
}

func (s *stream) close() {
	s.stop()
	s.body.Close()
}

// errRefused is an answer other than a stream of events.
type errRefused struct {
	status int
	text   string
}

func (e *errRefused) Error() string { return fmt.Sprintf("status %d: %s", e.status, e.text) }

// open asks for a stream, from the token of an earlier one.
func (r *run) open(path, query, last string) (*stream, error) {
	ctx, cancel := context.WithCancel(r.ctx)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.server.web()+path+"?"+query, nil)
	if err != nil {
		cancel()
		return nil, err
	}
	if last != "" {
		request.Header.Set("Last-Event-ID", last)
	}
	answer, err := webClient.Do(request)
	if err != nil {
		cancel()
		return nil, err
	}
	s := &stream{body: answer.Body, lines: bufio.NewReader(answer.Body), stop: cancel}
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(answer.Body)
		s.close()
		return nil, &errRefused{answer.StatusCode, string(text)}
	}
	return s, nil
}

// webClient makes a connection for each request, as a client that was cut off
// has to.
var webClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// next is the next event.
func (s *stream) next() (e event, err error) {
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return e, err
		}
		line = strings.TrimSuffix(line, "\n")
		if line == "" && e.kind != "" {
			return e, nil
		}
		field, text, _ := strings.Cut(line, ": ")
		switch field {
		case "id":
			e.id = text
		case "event":
			e.kind = text
		case "data":
			e.data = []byte(text)
		}
	}
}

// webFeed is a feedClient over HTTP.
type webFeed struct{ *feedClient }

func (f *webFeed) session(rng *rand.Rand) error {
	r := f.run
	asker, err := r.asker()
	if err != nil {
		return err
	}
	defer asker.Close()
	resumed := f.token != ""
	if !resumed {
		if err := f.begin(asker, asker); err != nil {
			return err
		}
	}
	s, err := r.open("/v1/changes", "values=1", f.token)
	if err != nil {
		return f.refused(err)
	}
	defer s.close()
	if resumed {
		r.did("%s resumes from %d", f.name, f.at)
		r.count.resumes.Add(1)
		f.start(journaltest.Resumed, f.token)
	}
	cut := time.AfterFunc(time.Duration(rng.IntN(2000))*time.Millisecond, s.stop)
	defer cut.Stop()
	for !f.seenAll {
		e, err := s.next()
		if err != nil {
			return err
		}
		if err := f.event(rng, e, asker); err != nil {
			return err
		}
	}
	return errCut
}

// refused says what to make of an answer that is no stream: nothing but that it
// failed, if the server was killed meanwhile.
func (f *webFeed) refused(err error) error {
	if refused, ok := errors.AsType[*errRefused](err); ok {
		f.run.fail(f.name, "%v", refused)
	}
	return err
}

// event takes an event in.
func (f *webFeed) event(rng *rand.Rand, e event, asker *wire) error {
	r := f.run
	r.count.events.Add(1)
	switch e.kind {
	case "reset":
		r.count.resets.Add(1)
		f.token = ""
		return errCut
	case "change":
		commit, err := commitOf(e.data)
		if err == nil {
			err = f.delivered(commit)
		}
		if err != nil {
			r.fail(f.name, "%s: %v", e.data, err)
			return errCut
		}
		f.token, f.at = e.id, must(moment(e.id))
	case "bookmark":
		f.token, f.at = e.id, f.bookmark(e.id)
	default:
		r.fail(f.name, "got %s %s", e.kind, e.data)
		return errCut
	}
	if rng.IntN(5) > 0 && !r.over() {
		return nil
	}
	if err := f.compare(rng, asker); err != nil {
		return err
	}
	f.seenAll = r.over() && f.at >= schema.Timestamp(r.last.Load())
	return nil
}

// commitOf reads a commit from JSON as CHANGES replies it.
func commitOf(data []byte) (*reply.Value, error) {
	v, err := valueOf(data)
	if err != nil {
		return nil, err
	}
	of := fieldsOf(v)
	changes := reply.Value{Mark: '*'}
	for _, change := range parts(of["changes"]) {
		m := fieldsOf(&change)
		changes.Elements = append(changes.Elements, reply.Value{Mark: '*', Elements: []reply.Value{
			*m["db"], *m["key"], *m["operation"], *m["type"], change,
		}})
	}
	return &reply.Value{Mark: '*', Elements: []reply.Value{*of["ts"], changes}}, nil
}

// valueOf reads JSON as the reply that it was made of.
func valueOf(data []byte) (*reply.Value, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	v, err := nextValue(decoder)
	return &v, err
}

func nextValue(decoder *json.Decoder) (v reply.Value, err error) {
	token, err := decoder.Token()
	if err != nil {
		return v, err
	}
	switch t := token.(type) {
	case nil:
		return reply.Value{Mark: '_', Null: true}, nil
	case bool:
		return reply.Value{Mark: '#', Text: fmt.Sprint(t)[:1]}, nil
	case json.Number:
		return reply.Value{Mark: ':', Text: t.String()}, nil
	case string:
		return reply.Value{Mark: '$', Text: t}, nil
	}
	v.Mark = '*'
	if token == json.Delim('{') {
		v.Mark = '%'
	}
	for decoder.More() {
		element, err := nextValue(decoder)
		if err != nil {
			return v, err
		}
		v.Elements = append(v.Elements, element)
	}
	if _, err := decoder.Token(); err != nil {
		return v, err
	}
	if v.Mark == '%' && len(v.Elements) == 2 && v.Elements[0].Text == reply.BinaryForm {
		raw, err := base64.StdEncoding.DecodeString(v.Elements[1].Text)
		return reply.Value{Mark: '$', Text: string(raw)}, err
	}
	return v, nil
}

// webLive has one query live over HTTP.
type webLive struct{ *liveClient }

func (l *webLive) session(rng *rand.Rand) error {
	r := l.run
	asker, err := r.asker()
	if err != nil {
		return err
	}
	defer asker.Close()
	l.draw(rng)
	q := l.queries[0]
	query := fmt.Sprint("db=", q.db)
	for _, step := range q.steps {
		query += "&command=" + url.QueryEscape(step[0])
		for _, arg := range step[1:] {
			query += "&arg=" + url.QueryEscape(arg)
		}
	}
	q.live = true
	token := q.token
	if token == "" {
		q.known = false
	}
	s, err := r.open("/v1/live", query, token)
	if refused, ok := errors.AsType[*errRefused](err); ok && refused.status < 500 && token == "" {
		l.end(q) // such as WRONGTYPE
		return errCut
	}
	if err != nil {
		return err
	}
	defer s.close()
	if token != "" {
		r.count.resumes.Add(1)
	}
	cut := time.AfterFunc(time.Duration(300+rng.IntN(2500))*time.Millisecond, s.stop)
	defer cut.Stop()
	for !l.seenAll {
		e, err := s.next()
		if err != nil {
			return err
		}
		if err := l.event(q, e, asker); err != nil {
			return err
		}
	}
	return errCut
}

// event takes an event in.
func (l *webLive) event(q *query, e event, asker *wire) error {
	r := l.run
	r.count.events.Add(1)
	switch e.kind {
	case "reset":
		r.count.resets.Add(1)
		q.token, q.known = "", false
		return nil
	case "end":
		l.end(q)
		return errCut
	case "bookmark":
		if e.id == "" {
			return nil
		}
		return l.bookmark(must(moment(e.id)), e.id, asker)
	case "live":
		var told struct {
			TS    schema.Timestamp
			Reply json.RawMessage
		}
		if err := json.Unmarshal(e.data, &told); err != nil {
			r.fail(l.name, "%s: %v", e.data, err)
			return errCut
		}
		if e.id == "" {
			q.state, q.known, q.token = string(told.Reply), true, ""
			return nil
		}
		return l.told(q, told.TS, e.id, string(told.Reply), asker)
	}
	r.fail(l.name, "got %s %s", e.kind, e.data)
	return errCut
}
