package redis

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/race"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/redis/streams"
	"github.com/firndb/firn/resp"
)

// What the conversations cannot see of streams: where they are kept, what
// reading them costs, and what those get who have waited.

func TestStreamEntriesOfAnySizeComeBack(t *testing.T) {
	for _, n := range []int{2, 14, 16, 18, 70_000} {
		for _, begins := range []bool{false, true} {
			fields := make([][]byte, n)
			for i := range fields {
				fields[i] = bytes.Repeat([]byte{byte(i)}, i%3*(70_000/n))
			}
			value := keyspace.NewStreamEntry(fields, begins)
			if cap(value) != len(value) {
				t.Errorf("%d fields: capacity %d, length %d", n, cap(value), len(value))
			}
			doc := &firn.Document{ID: string(keyspace.StreamID{Ms: 1, Seq: 2}.AppendKey(nil)), Value: value}
			e, err := keyspace.ParseStreamEntry(doc, 0)
			if err != nil || e.Begins != begins || e.Fields != n {
				t.Fatalf("got %v with %d fields, %v\nwant %d", e.Begins, e.Fields, err, n)
			}
			if again := e.Begun(); begins && !bytes.Equal(again, value) {
				t.Errorf("%d fields: marked again differs", n)
			}
			c, want := &command.Call{}, resp.Writer{}
			want.Array(2)
			want.BulkString("1-2")
			want.Array(n)
			for _, b := range fields {
				want.Bulk(b)
			}
			if err := streams.ReplyEntry(&c.Reply, &e); err != nil || !bytes.Equal(c.Reply.Buf, want.Buf) {
				t.Errorf("%d fields: %v, reply differs", n, err)
			}
			doc.Value = value[:len(value)-1]
			if e, err := keyspace.ParseStreamEntry(doc, 0); err == nil && !errors.Is(streams.ReplyEntry(&c.Reply, &e), keyspace.ErrDamaged) {
				t.Errorf("%d fields: cut short, got no error", n)
			}
		}
	}
}

// fillStream adds n entries with the ids 1-1, 2-1, ….
func fillStream(t *testing.T, o *ours, n int) {
	t.Helper()
	var input []byte
	for i := range n {
		input = resp.AppendCommand(input, SplitWords(t, fmt.Sprintf("XADD s %d-1 f v", i+1))...)
		if len(input) > 8<<10 || i == n-1 {
			o.send(t, input)
			input = input[:0]
		}
	}
}

// fewAllocations is less than it takes to walk over a few hundred entries.
const fewAllocations = 1500

// TestStreamsCostWhatIsAskedFor asks little of a large stream, and of one that
// leaves many tombstones, without memory to keep anything in.
func TestStreamsCostWhatIsAskedFor(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	const n = 20_000
	for _, tail := range []int{0, 1000} {
		o := newOurs(t, New(openStore(t, firn.Options{Durability: firn.None, Memory: -1, TailEntries: tail}), Options{}))
		fillStream(t, o, n)
		o.ask(t, "XGROUP CREATE s g 0")
		for range n / 1000 {
			o.ask(t, "XREADGROUP GROUP g c COUNT 1000 STREAMS s >")
		}
		few := func(commands ...string) {
			t.Helper()
			for _, command := range commands {
				input := resp.AppendCommand(nil, SplitWords(t, command)...)
				if got := testing.AllocsPerRun(5, func() { o.exchange(t, input) }); got > fewAllocations {
					t.Errorf("tail=%d: %s\n got %v allocations\nwant at most %d", tail, command, got, fewAllocations)
				}
			}
		}
		few("XRANGE s 15000 15005", "XRANGE s - + COUNT 5", "XREVRANGE s + - COUNT 5", "XREAD COUNT 5 STREAMS s 19000",
			"XLEN s", "XINFO STREAM s", "XPENDING s g", "XPENDING s g 15000 + 5 c", "XADD s * f v", "XREAD STREAMS s $")
		for i := range n / 1000 {
			var ids strings.Builder
			for j := range 1000 {
				if id := i*1000 + j + 1; id <= n-10 {
					fmt.Fprintf(&ids, " %d-1", id)
				}
			}
			o.ask(t, "XACK s g"+ids.String())
		}
		if got, want := o.ask(t, "XTRIM s MAXLEN 10"), fmt.Sprintf("(integer) %d", n+6-10); got != want {
			t.Errorf("XTRIM\n got %s\nwant %s", got, want)
		}
		few("XRANGE s - +", "XREVRANGE s + -", "XREAD COUNT 5 STREAMS s 0", "XPENDING s g", "XPENDING s g - + 5",
			"XPENDING s g - + 5 c", "XINFO STREAM s FULL", "XADD s MAXLEN 10 * f v", "XAUTOCLAIM s g c 1000000 0",
			"XREADGROUP GROUP g c COUNT 3 STREAMS s >")
	}
}

// runIn runs a command on a transaction, as one that has waited or not.
func runIn(t *testing.T, o *ours, waited bool, text string) (reply string) {
	t.Helper()
	words := SplitWords(t, text)
	table := command.NewRegistry(Commands())
	e, args, err := table.Resolve(words)
	if err != nil {
		t.Fatal(err)
	}
	_, err = o.Store.Update(t.Context(), func(tx *firn.Tx) error {
		c := command.Call{Client: o.session, Cmd: e, Args: args, Waited: waited, View: keyspace.NewView(keyspace.NewCatalog(o.Store, 1), nil)}
		c.R, c.Operation = tx, e.Operation
		if e.Flags&command.Writes != 0 {
			c.Tx = tx
		}
		err := e.Run(&c)
		reply = render(c.Reply.Buf)
		return err
	})
	if err != nil {
		return err.Error()
	}
	return reply
}

func TestReadersThatHaveWaited(t *testing.T) {
	o := newPlain(t)
	for _, setup := range []string{"XADD s 1-1 f v", "XADD t 1-1 f v", "SET str v", "XGROUP CREATE s g 0", "XGROUP CREATE t g 0", "XGROUP CREATE s h 0"} {
		o.ask(t, setup)
	}
	for _, tt := range []struct{ command, want string }{
		{"XREAD BLOCK 0 STREAMS str s 0 0", "1) 1) \"s\"\n   2) 1) 1) \"1-1\"\n         2) 1) \"f\"\n            2) \"v\""},
		{"XREAD BLOCK 0 STREAMS t s 0 0", "1) 1) \"t\"\n   2) 1) 1) \"1-1\"\n         2) 1) \"f\"\n            2) \"v\""},
		{"XREAD BLOCK 0 STREAMS nosuch str 0 0", "(nil array)"},
		{"XREADGROUP GROUP g c BLOCK 0 STREAMS str >", "UNBLOCKED the stream key no longer exists"},
		{"XREADGROUP GROUP g c BLOCK 0 STREAMS nosuch >", "UNBLOCKED the stream key no longer exists"},
		{"XREADGROUP GROUP nosuch c BLOCK 0 STREAMS s >", "NOGROUP the consumer group this client was blocked on no longer exists"},
		{"XREADGROUP GROUP g c BLOCK 0 STREAMS t s > >", "1) 1) \"t\"\n   2) 1) 1) \"1-1\"\n         2) 1) \"f\"\n            2) \"v\""},
		{"XREADGROUP GROUP g c BLOCK 0 STREAMS t s > >", "1) 1) \"s\"\n   2) 1) 1) \"1-1\"\n         2) 1) \"f\"\n            2) \"v\""},
		{"XREADGROUP GROUP g c BLOCK 0 STREAMS t s > >", "(nil array)"},
	} {
		if got := runIn(t, o, true, tt.command); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.command, got, tt.want)
		}
	}
}

// TestWaitedReadersGetAThousand: who has waited and said no COUNT gets no more.
func TestWaitedReadersGetAThousand(t *testing.T) {
	o := newPlain(t)
	fillStream(t, o, 1100)
	for _, tt := range []struct {
		waited bool
		want   int
	}{{false, 1100}, {true, streams.BlockedCount}} {
		if got := strings.Count(runIn(t, o, tt.waited, "XREAD BLOCK 0 STREAMS s 0"), `"f"`); got != tt.want {
			t.Errorf("waited %v\n got %d entries\nwant %d", tt.waited, got, tt.want)
		}
	}
}

func TestIdleTimesAreThoseOfTheMoment(t *testing.T) {
	clock := newFakeClock()
	o := newOurs(t, New(openStore(t, firn.Options{Durability: firn.None, Now: clock.now}), Options{Now: clock.now}))
	o.ask(t, "XADD s 1-1 f v")
	o.ask(t, "XGROUP CREATE s g 0")
	o.ask(t, "XREADGROUP GROUP g c STREAMS s >")
	clock.advance(1500 * 1e6)
	then := clock.now().UnixMilli()
	if got := o.ask(t, "XPENDING s g - + 10"); !strings.Contains(got, "(integer) 1500") {
		t.Errorf("got %s\nwant idle for 1500 ms", got)
	}
	if got := o.ask(t, "XINFO CONSUMERS s g"); !strings.Contains(got, "(integer) 1500") {
		t.Errorf("got %s\nwant idle for 1500 ms", got)
	}
	if got := o.ask(t, "XPENDING s g IDLE 1501 - + 10"); got != "(empty array)" {
		t.Errorf("got %s\nwant nothing", got)
	}
	if got := o.ask(t, "XCLAIM s g d 1501 1-1"); got != "(empty array)" {
		t.Errorf("got %s\nwant nothing", got)
	}
	clock.advance(1e9)
	o.ask(t, "XCLAIM s g d 2500 1-1")
	if got := o.ask(t, "XPENDING s g - + 10"); !strings.Contains(got, "(integer) 0") || !strings.Contains(got, `"d"`) {
		t.Errorf("got %s\nwant idle for 0 ms, with d", got)
	}
	at := fmt.Sprintf("AT %dms XPENDING s g - + 10", then)
	if got := o.ask(t, at); !strings.Contains(got, "(integer) 1500") || !strings.Contains(got, `"c"`) {
		t.Errorf("%s\n got %s\nwant idle for 1500 ms, with c", at, got)
	}
}

func TestHistoryOfAStream(t *testing.T) {
	o := newPlain(t)
	o.ask(t, "XADD s 1-1 f v")
	o.ask(t, "XGROUP CREATE s g 0")
	o.ask(t, "XREADGROUP GROUP g c STREAMS s >")
	o.ask(t, "XREADGROUP GROUP g c STREAMS s >") // delivers nothing: is no version
	o.ask(t, "XACK s g 1-1")
	o.ask(t, "XDEL s 1-1")
	history := o.ask(t, "HISTORY GET s")
	at := 0
	for _, operation := range []string{"XADD", "XGROUP", "XREADGROUP", "XACK", "XDEL"} {
		i := strings.Index(history[at:], `"`+operation+`"`)
		if i < 0 {
			t.Fatalf("got %s\nwant the operation %s next", history, operation)
		}
		at += i
	}
	if got := strings.Count(history, `"operation"`); got != 5 {
		t.Errorf("got %d versions\nwant 5", got)
	}
	if got := o.ask(t, "HISTORY GETAT s now"); got != "(empty array)" {
		t.Errorf("got %s\nwant no entries", got)
	}
	o.ask(t, "XADD s 2-1 f v")
	if got, want := o.ask(t, "HISTORY GETAT s now"), o.ask(t, "XRANGE s - +"); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
