package web

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/firndb/firn"
	"github.com/firndb/firn/journal"
	"github.com/firndb/firn/resp/reply"
)

// feed is a client that follows the feed: CHANGES, again and again, from where
// the page before has ended. While the client does not read, no page is asked
// for.
type feed struct {
	server *Server
	*conversation
	*events
	options []string // of CHANGES
	from    string   // where the next page begins
}

// filters are the parameters that are options of CHANGES of the same name.
var filters = []string{"match", "db", "type", "op", "table"}

// changes answers with the commits after a token, and with those to come.
func (s *Server) changes(w http.ResponseWriter, r *http.Request) error {
	q, err := queryOf(r, append([]string{"from", "who", "values"}, filters...)...)
	if err != nil {
		return err
	}
	f := &feed{server: s}
	if f.from, err = startOf(r, q); err != nil {
		return err
	}
	if f.from == "" {
		f.from = "$"
	}
	if f.options, err = feedOptions(q); err != nil {
		return err
	}
	return s.stream(w, r, func(c *conversation, e *events) error {
		f.conversation, f.events = c, e
		return f.run(r.Context())
	})
}

// feedOptions are the options of CHANGES that a query means.
func feedOptions(q query) (options []string, err error) {
	for _, p := range q {
		for _, name := range filters {
			if p.name == name {
				options = append(options, strings.ToUpper(name), p.value)
			}
		}
	}
	for _, name := range []string{"who", "values"} {
		on, err := q.flag(name)
		if err != nil {
			return nil, err
		}
		if on {
			options = append(options, strings.ToUpper(name))
		}
	}
	return append(options, "COUNT", strconv.Itoa(pageCommits)), nil
}

// run sends pages until ctx ends or something fails. The first one does not
// wait, so that a mistake is known before the answer begins, and a client that
// starts from now gets a token.
func (f *feed) run(ctx context.Context) error {
	wait := []string(nil)
	for {
		page, err := f.page(ctx, wait)
		if err != nil {
			return err
		}
		if page.IsError() {
			if err := f.startAnew(problemOf(page.Text)); err != nil {
				return err
			}
			wait = nil
			continue
		}
		if err := f.tell(&page); err != nil {
			return err
		}
		wait = []string{"BLOCK", strconv.Itoa(bookmarkMS)}
	}
}

func (f *feed) page(ctx context.Context, wait []string) (reply.Value, error) {
	words := append([]string{"CHANGES", f.from}, f.options...)
	f.conversation.send(append(words, wait...)...)
	return f.await(ctx, f.conversation)
}

// startAnew goes on from now if the client's token leads nowhere any more, and
// says so. The way on is to read what is followed as of the event's token.
func (f *feed) startAnew(p *problem) error {
	if !p.endsLine() {
		return p
	}
	store := f.server.redis.Store()
	f.from = store.Token(store.Bounds().Newest)
	return f.reset(p, f.from)
}

// tell sends a page: an event for each commit, with a token of its own, and a
// bookmark if the page goes further than the last of them.
func (f *feed) tell(page *reply.Value) error {
	if len(page.Elements) != 2 {
		return refuse(http.StatusInternalServerError, "ERR internal error")
	}
	next := page.Elements[0].Text
	for i := range page.Elements[1].Elements {
		commit := &page.Elements[1].Elements[i]
		if err := f.events.send(eventChange, tokenAt(next, commit), appendCommit(nil, commit)); err != nil {
			return err
		}
	}
	f.from = next
	if next == f.id {
		return nil
	}
	return f.events.send(eventBookmark, next, bookmark(next))
}

// tokenAt is the token of a commit in a page that ends at another one.
func tokenAt(next string, commit *reply.Value) string {
	token, err := journal.ParseToken(next)
	if err != nil || len(commit.Elements) == 0 {
		return ""
	}
	return journal.Token{Incarnation: token.Incarnation, TS: firn.Timestamp(commit.Elements[0].Int())}.String()
}

// bookmark is the data of an event that only has a token.
func bookmark(token string) []byte {
	t, err := journal.ParseToken(token)
	if err != nil {
		return []byte("{}")
	}
	return append(strconv.AppendInt([]byte(`{"ts":`), int64(t.TS), 10), '}')
}

// appendCommit appends a commit as JSON:
//
//	{"ts":…,"changes":[{"db":0,"key":"cart:7","operation":"hset","type":"hash", …}]}
func appendCommit(dst []byte, commit *reply.Value) []byte {
	dst = append(dst, `{"ts":`...)
	if len(commit.Elements) == 2 {
		dst = commit.Elements[0].AppendJSON(dst)
		dst = append(dst, `,"changes":[`...)
		for i := range commit.Elements[1].Elements {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendChange(dst, &commit.Elements[1].Elements[i])
		}
		return append(dst, "]}"...)
	}
	return append(dst, "null}"...)
}

// The places of a change: of a key, and of a document in an embedder's table.
var (
	keyPlaces      = [4]string{"db", "key", "operation", "type"}
	documentPlaces = [4]string{"table", "id", "operation", "type"}
)

// appendChange appends a change, with what WHO and VALUES say about it beside
// its places.
func appendChange(dst []byte, change *reply.Value) []byte {
	names := &keyPlaces
	if len(change.Elements) > 0 && change.Elements[0].Mark != ':' {
		names = &documentPlaces
	}
	dst = append(dst, '{')
	for i := range change.Elements {
		if i < len(names) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(reply.AppendString(dst, names[i]), ':')
			dst = change.Elements[i].AppendJSON(dst)
			continue
		}
		for more := change.Elements[i].Elements; len(more) >= 2; more = more[2:] {
			dst = append(reply.AppendString(append(dst, ','), more[0].Text), ':')
			dst = more[1].AppendJSON(dst)
		}
	}
	return append(dst, '}')
}
