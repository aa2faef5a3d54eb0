package redis

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/firndb/firn/resp"
)

// clientSizes is what a session's buffers take, for CLIENT LIST, in bytes. The
// driver measures them when the session comes to rest and when it has sent
// what it could, and a command that shows them measures its own input; anybody
// reads them. What others push to the session, and what a command holds that
// waits for a key, is counted when somebody asks.
type clientSizes struct {
	input      atomic.Int64 // that has arrived and was not run; while a command runs, all in the buffer
	room       atomic.Int64 // that the input's buffer has left
	args       atomic.Int64 // arguments of the command that runs, or is held back
	queued     atomic.Int64 // arguments of the commands that MULTI has queued
	reply      atomic.Int64 // buffers of replies
	replyPeak  atomic.Int64 // the most that one of them had in it lately
	unsent     atomic.Int64 // replies that the client has not taken
	everything atomic.Int64 // all that the session takes, but for what is counted when asked

	peakSince int64 // ms; the driver's
}

// peakLasts is how long a peak is remembered, as in Redis.
const peakLasts = 5 * time.Second

// setSize costs nothing while a size stays what it was.
func setSize(to *atomic.Int64, n int) {
	if to.Load() != int64(n) {
		to.Store(int64(n))
	}
}

// bytesIn is how many bytes words have together.
func bytesIn(words [][]byte) (n int) {
	for _, word := range words {
		n += len(word)
	}
	return n
}

// measureInput belongs to whoever runs the session. args is the bytes of the
// command that runs or is held back, 0 if there is none; queued those in
// MULTI's queue.
func (z *clientSizes) measureInput(in *resp.Reader, args, queued int) {
	input := in.Buffered()
	if args > 0 {
		input = in.Used()
	}
	setSize(&z.input, input)
	setSize(&z.room, in.Size()-input)
	setSize(&z.args, args)
	setSize(&z.queued, queued)
}

// measureReplies is told the bytes that the buffers of replies hold, those
// that are in them, and what else the session takes. active is when the client
// last sent something, in ms.
func (z *clientSizes) measureReplies(held, used, others int, active int64) {
	setSize(&z.reply, held)
	setSize(&z.everything, held+others+int(z.queued.Load()))
	if int64(used) > z.replyPeak.Load() || active-z.peakSince > peakLasts.Milliseconds() {
		setSize(&z.replyPeak, used)
		z.peakSince = active
	}
}

// measureUnsent is told what the client has left unread of its replies.
func (z *clientSizes) measureUnsent(n int) { setSize(&z.unsent, n) }

// text is the part of the line in CLIENT LIST that tells of buffers, with
// Redis's names. waiting is the bytes of a command that waits for a key.
// Messages that were pushed, and wait behind the replies, are oll and omem.
func (z *clientSizes) text(waiting int, pushed inboxSize) string {
	unsent, args := z.unsent.Load(), z.args.Load()+int64(waiting)
	buffers, events := 0, "r"
	if pushed.used > 0 {
		buffers = 1
	}
	if unsent > 0 || pushed.used > 0 {
		events = "rw"
	}
	return fmt.Sprintf("qbuf=%d qbuf-free=%d argv-mem=%d multi-mem=%d rbs=%d rbp=%d obl=%d oll=%d omem=%d tot-mem=%d events=%s",
		z.input.Load(), z.room.Load(), args, z.queued.Load(), z.reply.Load(), z.replyPeak.Load(), unsent, buffers, pushed.used,
		z.everything.Load()+args+int64(pushed.held), events)
}
