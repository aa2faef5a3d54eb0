package oracle

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/resp"
	"github.com/firndb/firn/resp/reply"
)

// An oracle that lets a broken promise pass proves nothing. Here somebody stands
// between the server and a client, and breaks one promise: the oracle has to say
// which.

// breaker changes what a client is told, and what it asks.
type breaker struct {
	told  func(b *broken, v *reply.Value) (instead []reply.Value)
	asked func(b *broken, words []string) []string
}

// broken is a connection with a breaker on it.
type broken struct {
	net.Conn
	run *run
	*breaker
	resumes bool           // it is not the client's first
	last    []reply.Value  // what the breaker wants to remember
	in, out []byte         // from the server: not taken apart yet; for the client: not read yet
	done    map[string]int // how often what was done on this connection
}

// Write changes commands, each of which comes in one piece with those behind it.
func (b *broken) Write(p []byte) (int, error) {
	if b.asked == nil {
		return b.Conn.Write(p)
	}
	var out []byte
	for rest := p; len(rest) > 0; {
		v, after, err := reply.Parse(rest)
		if err != nil {
			return 0, err
		}
		rest = after
		var args [][]byte
		for _, word := range b.asked(b, texts(&v)) {
			args = append(args, []byte(word))
		}
		out = resp.AppendCommand(out, args...)
	}
	_, err := b.Conn.Write(out)
	return len(p), err
}

func (b *broken) Read(p []byte) (int, error) {
	for len(b.out) == 0 {
		v, rest, err := reply.Parse(b.in)
		if err != nil {
			room := make([]byte, 16<<10)
			n, err := b.Conn.Read(room)
			if err != nil {
				return 0, err
			}
			b.in = append(b.in, room[:n]...)
			continue
		}
		b.in = rest
		instead := []reply.Value{v}
		if b.told != nil {
			instead = b.told(b, &v)
		}
		for i := range instead {
			b.out = appendReply(b.out, &instead[i])
		}
	}
	n := copy(p, b.out)
	b.out = b.out[n:]
	return n, nil
}

// appendReply is the other way of reply.Parse.
func appendReply(out []byte, v *reply.Value) []byte {
	switch {
	case v.Null && v.Mark == '_':
		return append(out, "_\r\n"...)
	case v.Null:
		return fmt.Appendf(out, "%c-1\r\n", v.Mark)
	case strings.IndexByte("$=!", v.Mark) >= 0:
		return fmt.Appendf(out, "%c%d\r\n%s\r\n", v.Mark, len(v.Text), v.Text)
	case !v.IsAggregate():
		return fmt.Appendf(out, "%c%s\r\n", v.Mark, v.Text)
	}
	n := len(v.Elements)
	if v.Mark == '%' {
		n /= 2
	}
	out = fmt.Appendf(out, "%c%d\r\n", v.Mark, n)
	for i := range v.Elements {
		out = appendReply(out, &v.Elements[i])
	}
	return out
}

// onPages breaks pages of CHANGES with enough commits, one in three.
func onPages(least int, change func(b *broken, page *reply.Value)) *breaker {
	return &breaker{told: func(b *broken, v *reply.Value) []reply.Value {
		if v.Mark == '*' && len(v.Elements) == 2 && strings.HasPrefix(v.Elements[0].Text, "@") && len(v.Elements[1].Elements) >= least {
			if b.done["pages"]++; b.done["pages"]%3 == 0 {
				change(b, v)
			}
		}
		return []reply.Value{*v}
	}}
}

// onPushes breaks pushes of a kind, one in three.
func onPushes(kind string, change func(b *broken, push reply.Value) []reply.Value) *breaker {
	return &breaker{told: func(b *broken, v *reply.Value) []reply.Value {
		if v.IsPush() && v.Elements[0].Text == kind {
			if b.done[kind]++; b.done[kind]%3 == 0 {
				return change(b, *v)
			}
		}
		return []reply.Value{*v}
	}}
}

func feedOf(r *run) client { return newFeedClient(r, "feed", &filter{}) }

func copyOf(r *run) client {
	f := newFeedClient(r, "copy", &filter{})
	f.values = true
	return f
}

func liveOf(r *run) client { return &liveClient{run: r, name: "live", most: 12} }

// breaks are the promises, who breaks them how, and what the oracle says then,
// one of several; empty: something, because a lost state shows in what comes
// next.
var breaks = map[string]struct {
	client  func(*run) client
	breaker *breaker
	want    string
}{
	"ordered": {feedOf, onPages(2, func(_ *broken, page *reply.Value) {
		slices.Reverse(page.Elements[1].Elements)
	}), "not ordered"},
	"unique": {feedOf, onPages(1, func(_ *broken, page *reply.Value) {
		page.Elements[1].Elements = append(page.Elements[1].Elements, page.Elements[1].Elements[0])
	}), "not unique"},
	"unique after a resume": {feedOf, &breaker{asked: func(b *broken, words []string) []string {
		if b.resumes && words[0] == "CHANGES" && b.done["asked"] == 0 {
			b.done["asked"]++
			words[1] = fmt.Sprint(must(moment(words[1])) - 300_000)
		}
		return words
	}}, "not unique"},
	"reliable": {feedOf, onPages(2, func(_ *broken, page *reply.Value) {
		page.Elements[1].Elements = page.Elements[1].Elements[1:]
	}), "not reliable"},
	"atomic": {feedOf, onPages(1, func(_ *broken, page *reply.Value) {
		commits := page.Elements[1].Elements
		for i := range commits {
			if changes := commits[i].Elements[1].Elements; len(changes) > 1 {
				second := reply.Value{Mark: '*', Elements: []reply.Value{commits[i].Elements[0], {Mark: '*', Elements: changes[1:]}}}
				first := reply.Value{Mark: '*', Elements: []reply.Value{commits[i].Elements[0], {Mark: '*', Elements: changes[:1]}}}
				page.Elements[1].Elements = slices.Replace(commits, i, i+1, first, second)
				return
			}
		}
	}), "not atomic"},
	"resumable": {feedOf, &breaker{asked: func(b *broken, words []string) []string {
		if b.resumes && words[0] == "CHANGES" && b.done["asked"] == 0 {
			b.done["asked"]++
			words[1] = "$"
		}
		return words
	}}, "not resumable|not bookmarkable"}, // what comes first from the wrong place may be a bookmark
	"bookmarkable": {feedOf, onPages(1, func(b *broken, page *reply.Value) {
		page.Elements[1].Elements = page.Elements[1].Elements[:1]
		if newest, err := b.run.asker(); err == nil {
			defer newest.Close()
			v, _ := newest.ask("HORIZON")
			page.Elements[0] = *fieldsOf(&v)["token"]
		}
	}), "not bookmarkable"},
	"values": {copyOf, onPages(1, func(_ *broken, page *reply.Value) {
		for _, commit := range page.Elements[1].Elements {
			for _, change := range commit.Elements[1].Elements {
				m := &change.Elements[4]
				for i := 0; i+1 < len(m.Elements); i += 2 {
					if added := &m.Elements[i+1]; m.Elements[i].Text == "added" {
						added.Elements = nil
					}
				}
			}
		}
	}), "want"},
	"live, a push is lost": {liveOf, onPushes("live", func(*broken, reply.Value) []reply.Value { return nil }), ""},
	"live, a push comes twice": {liveOf, onPushes("live", func(_ *broken, push reply.Value) []reply.Value {
		if endsQuery(push) {
			return []reply.Value{push}
		}
		return []reply.Value{push, push}
	}), "not ordered"},
	"live, a push comes later than it was": {liveOf, onPushes("live", func(b *broken, push reply.Value) []reply.Value {
		if endsQuery(push) {
			return []reply.Value{push}
		}
		b.last = append(b.last, push)
		for _, old := range b.last[:len(b.last)-1] {
			if old.Elements[1].Text == push.Elements[1].Text {
				return []reply.Value{push, old}
			}
		}
		return []reply.Value{push}
	}), "not ordered"},
	"live, two moments in one reply": {liveOf, onPushes("live", func(b *broken, push reply.Value) []reply.Value {
		b.last = append(b.last, push)
		for _, old := range b.last[:len(b.last)-1] {
			if old.Elements[1].Text == push.Elements[1].Text && shown(&old.Elements[4]) != shown(&push.Elements[4]) {
				push.Elements = append(slices.Clone(push.Elements[:4]), old.Elements[4])
			}
		}
		return []reply.Value{push}
	}), ""},
	"tracking": {func(r *run) client { return newCache(r, "of-the-broken") }, &breaker{told: func(_ *broken, v *reply.Value) []reply.Value {
		if v.IsPush() && v.Elements[0].Text == "invalidate" {
			return nil
		}
		return []reply.Value{*v}
	}}, "the copy is"},
}

// endsQuery says that a push of LIVE is the last of its query: what comes behind
// it would be found for another reason.
func endsQuery(push reply.Value) bool { return push.Elements[4].IsError() }

func TestEveryBrokenPromiseIsFound(t *testing.T) {
	for name, b := range breaks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, seed.Fresh(t), newVictim(t, "--retention", "1m"))
			defer r.stop()
			r.server.start("--fsync", "no")
			connections := 0
			r.dialClient = func(ctx context.Context) (net.Conn, error) {
				conn, err := r.server.dial(ctx)
				connections++
				return &broken{Conn: conn, run: r, breaker: b.breaker, resumes: connections > 1, done: map[string]int{}}, err
			}
			failures := r.short(b.client(r))
			for _, f := range failures {
				if slices.ContainsFunc(strings.Split(b.want, "|"), func(word string) bool { return strings.Contains(f.text, word) }) {
					return
				}
			}
			t.Errorf("got %d failures, none of which says %q: %.500v", len(failures), b.want, failures)
		})
	}
}

// shortRun is how long a short run writes.
const shortRun = 1200 * time.Millisecond

// short has one client follow for a while, without killing anybody.
func (r *run) short(c client) []failure {
	var writing, following, behind sync.WaitGroup
	for i := range writers {
		writing.Go(func() { r.write(uint64(100 + i)) })
	}
	behind.Go(r.truth.keep)
	following.Go(func() { r.follow("client", 200, c) })
	r.rest(shortRun)
	close(r.enough)
	writing.Wait()
	r.finish([]named{{"client", c}}, &following)
	failures := r.failed()
	r.stop()
	behind.Wait()
	return failures
}
