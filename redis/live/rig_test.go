package live

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/hashes"
	"github.com/firndb/firn/redis/keys"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/redis/values"
	"github.com/firndb/firn/resp"
)

// rig is a hub on a store, whose watches the test calls itself.
type rig struct {
	t        *testing.T
	store    *firn.Store
	commands *command.Registry
	hub      *Hub
	clients  []*listener
	*byHand
}

// byHand is a source that says that every commit has changed everything, once
// it is told of it, and can be held up.
type byHand struct {
	store *firn.Store

	mu       sync.Mutex
	watches  map[int]*handWatch
	next     int
	told     firn.Timestamp
	recorded int
	hold     chan struct{} // Record waits until it is closed; nil: it does not
	held     chan struct{} // gets an element when Record begins to wait
	fails    error         // of Record
	passed   atomic.Int64  // passes of the compactor
}

type handWatch struct {
	from  firn.Timestamp
	stale func(firn.Timestamp)
}

func (b *byHand) Now() (firn.Timestamp, error) {
	now, err := b.store.Moment("now")
	if err != nil {
		return 0, err
	}
	return now, b.store.At(now, func(*firn.Snapshot) error { return nil })
}

func (b *byHand) Reach(ts firn.Timestamp) (firn.Timestamp, error) { return max(ts, b.reached()), nil }

func (b *byHand) reached() firn.Timestamp {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.told
}

func (b *byHand) Passed() int64 { return b.passed.Load() }

func (b *byHand) Newest() firn.Timestamp { return b.store.Bounds().Newest }

func (b *byHand) At(ts firn.Timestamp, fn func(*firn.Snapshot) error) error {
	return b.store.At(ts, fn)
}

func (b *byHand) Token(ts firn.Timestamp) string { return b.store.Token(ts) }

// handReads are reads of everything at a moment.
type handReads struct {
	by *byHand
	ts firn.Timestamp
}

func (b *byHand) Record(ts firn.Timestamp, fn func(*firn.Snapshot) error) (Reads, error) {
	b.mu.Lock()
	b.recorded++
	hold, fails := b.hold, b.fails
	b.mu.Unlock()
	if hold != nil {
		b.held <- struct{}{}
		<-hold
	}
	if fails != nil {
		return nil, fails
	}
	return handReads{b, ts}, b.store.At(ts, fn)
}

func (r handReads) Watch(stale func(firn.Timestamp)) (stop func()) {
	b := r.by
	b.mu.Lock()
	number := b.next
	b.next++
	late := b.told > r.ts
	if !late {
		b.watches[number] = &handWatch{r.ts, stale}
	}
	told := b.told
	b.mu.Unlock()
	if late {
		stale(told)
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.watches, number)
	}
}

// wake tells all watches that something was committed at ts.
func (b *byHand) wake(ts firn.Timestamp) {
	b.mu.Lock()
	b.told = max(b.told, ts)
	var hit []*handWatch
	for number, w := range b.watches {
		if w.from < ts {
			hit = append(hit, w)
			delete(b.watches, number)
		}
	}
	b.mu.Unlock()
	for _, w := range hit {
		w.stale(ts)
	}
}

func newRig(t *testing.T) *rig {
	t.Helper()
	store, err := firn.Open(filepath.Join(t.TempDir(), "firn.db"), firn.Options{Tables: keyspace.Tables(), Durability: firn.None, CompactByHand: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	table := append(values.Commands(), hashes.Commands()...)
	r := &rig{t: t, store: store, commands: command.NewRegistry(append(table, keys.Commands()...))}
	r.byHand = &byHand{store: store, watches: map[int]*handWatch{}, held: make(chan struct{}, 100)}
	r.hub = New(r.byHand, Options{
		Commands: r.commands, Catalog: keyspace.NewCatalog(store, 16), Workers: 2,
		Text: func(err error) (string, bool) {
			text, ok := errors.AsType[resp.Error](err)
			return string(text), ok
		},
		Refusal: func(e *command.Entry, _ acl.Denial) error { return resp.Error("NOPERM " + e.Full) },
	})
	return r
}

// run has the hub evaluate until the test ends.
func (r *rig) run() {
	ctx, end := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.hub.Run(ctx)
	}()
	r.t.Cleanup(func() {
		end()
		<-done
	})
}

// do runs a write, and has the hub hear of it.
func (r *rig) do(words ...string) firn.Timestamp {
	r.t.Helper()
	ts := r.write(words...)
	r.wake(ts)
	return ts
}

// write runs a write of which the hub hears later.
func (r *rig) write(words ...string) firn.Timestamp {
	r.t.Helper()
	e, args, err := r.commands.Resolve(bytesOf(words))
	if err != nil {
		r.t.Fatal(err)
	}
	ts, err := r.store.Update(context.Background(), func(tx *firn.Tx) error {
		c := command.Call{Client: newEvaluator(r.hub), View: keyspace.NewView(r.hub.opts.Catalog, nil)}
		c.Cmd, c.Args, c.R, c.Tx, c.Operation = e, args, tx, tx, e.Operation
		return e.Run(&c)
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return ts
}

func bytesOf(words []string) [][]byte {
	var all [][]byte
	for _, word := range words {
		all = append(all, []byte(word))
	}
	return all
}

// form is the form of commands, which one line says: more than one are a
// transaction.
func (r *rig) form(lines ...string) Form {
	r.t.Helper()
	f := NewForm(0, len(lines) > 1)
	for _, line := range lines {
		e, args, err := r.commands.Resolve(bytesOf(strings.Fields(line)))
		if err != nil {
			r.t.Fatal(err)
		}
		f = f.With(e, args)
	}
	return f
}

// listener is a client that counts how often it is nudged.
type listener struct {
	*Client
	r      *rig
	mu     sync.Mutex
	rights *acl.Rights
	nudges int
}

func (r *rig) client() *listener {
	l := &listener{r: r}
	l.Client = r.hub.NewClient(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.nudges++
	}, func() *acl.Rights {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.rights
	})
	r.clients = append(r.clients, l)
	return l
}

// weigh adds up what the hub keeps, and compares.
func (r *rig) weigh() {
	r.t.Helper()
	h := r.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	var want int64
	for asked := range h.queries {
		want += queryBytes + int64(len(asked.form))
	}
	pending := map[*result]int{}
	for _, l := range r.clients {
		for _, s := range l.subs {
			want += subscriptionBytes + int64(len(s.id))
		}
		for _, s := range l.ready {
			if s.pending != nil {
				pending[s.pending]++
			}
		}
	}
	for reply, waits := range pending {
		want += resultBytes + int64(len(reply.tail))
		if reply.waits != waits {
			r.t.Errorf("a reply is pending for %d subscriptions, want %d", reply.waits, waits)
		}
	}
	if h.kept != want {
		r.t.Errorf("got %d bytes kept, want %d", h.kept, want)
	}
}

// live makes a query live and returns the first reply.
func (l *listener) live(id string, lines ...string) string {
	l.r.t.Helper()
	reply, _, err := l.Subscribe(Request{ID: id, Form: l.r.form(lines...)})
	if err != nil {
		return err.Error()
	}
	return text(reply)
}

// settle waits until the hub rests.
func settle() { synctest.Wait() }

// hear is what is pushed, without tokens: id@ts=reply for each.
func (l *listener) hear() string {
	l.r.weigh()
	defer l.r.weigh()
	out := l.Take(nil, 1<<20)
	var all []string
	for len(out) > 0 {
		fields, rest := takePush(l.r.t, out)
		out = rest
		switch fields[0] {
		case "live":
			all = append(all, fields[1]+"@"+fields[2]+"="+fields[4])
		default:
			all = append(all, fields[0]+"@"+fields[1])
		}
	}
	return strings.Join(all, " ")
}

// told is what is pushed, without timestamps.
func (l *listener) told() string {
	var all []string
	for _, one := range strings.Fields(l.hear()) {
		id, rest, _ := strings.Cut(one, "@")
		if _, reply, ok := strings.Cut(rest, "="); ok {
			all = append(all, id+"="+reply)
		}
	}
	return strings.Join(all, " ")
}

// takePush takes one push apart. Replies are rendered by text.
func takePush(t *testing.T, b []byte) (fields []string, rest []byte) {
	t.Helper()
	if b[0] != '>' {
		t.Fatalf("not a push: %q", b)
	}
	n := int(b[1] - '0')
	b = b[4:]
	for range n {
		end := lengthOf(b)
		fields = append(fields, text(b[:end]))
		b = b[end:]
	}
	return fields, b
}

// lengthOf is the length of the first value in b.
func lengthOf(b []byte) int {
	line := strings.Index(string(b), "\r\n") + 2
	var n int
	fmt.Sscanf(string(b[1:line]), "%d", &n)
	switch b[0] {
	case '$':
		return line + n + 2
	case '*', '>':
		for range n {
			line += lengthOf(b[line:])
		}
	case '%':
		for range 2 * n {
			line += lengthOf(b[line:])
		}
	}
	return line
}

// text renders a value on one line.
func text(b []byte) string {
	line := strings.Index(string(b), "\r\n")
	switch b[0] {
	case '$':
		return string(b[line+2 : len(b)-2])
	case '_':
		return "nil"
	case '-', '+', ':':
		return strings.ReplaceAll(string(b[1:line]), " ", "_")
	}
	var parts []string
	for at := line + 2; at < len(b); {
		end := at + lengthOf(b[at:])
		parts = append(parts, text(b[at:end]))
		at = end
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func check(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

// sorted is the words of a text in order.
func sorted(text string) string {
	words := strings.Fields(text)
	slices.Sort(words)
	return strings.Join(words, " ")
}
