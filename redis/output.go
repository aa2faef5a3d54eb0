package redis

import "time"

// Limits of what waits to be sent.
const (
	flushBytes = 1 << 20 // output after which Run wants it written
	keepBytes  = 1 << 20 // buffers above this are not kept for reuse
)

// What a guest can make the server hold of replies. A guest is a client that
// has to authenticate and never has: anybody, as often as there are clients.
const (
	guestFlushBytes  = 4 << 10 // unsent output at which Run wants it written
	guestUnreadBytes = 8 << 10 // more ends the client; two hundred refusals are less
)

// output is the replies that the driver may send.
type output struct {
	buf      []byte
	sent     int       // bytes at its beginning that are sent
	mark     int       // unsent bytes at which Run wants them written
	overSoft time.Time // since when there is more than the soft limit allows; zero: there is not
}

// unsent is what waits to be sent.
func (o *output) unsent() []byte { return o.buf[o.sent:] }

// full says whether so much waits that it has to be written first.
func (o *output) full() bool { return len(o.buf)-o.sent >= o.mark }

// remark chooses the unsent output at which Run wants it written next.
func (o *output) remark(guest bool) {
	o.mark = len(o.buf) - o.sent + flushBytes
	if guest {
		o.mark += guestFlushBytes - flushBytes
	}
}

// drop forgets what is sent, once that is all.
func (o *output) drop() {
	if o.sent < len(o.buf) {
		return
	}
	o.sent = 0
	o.buf = o.buf[:0]
	if cap(o.buf) > keepBytes {
		o.buf = nil
	}
}

// overflows says whether more is unsent than the client may leave unread.
func (o *output) overflows(l outputLimit) bool {
	unsent := int64(len(o.buf) - o.sent)
	if unsent == 0 {
		o.overSoft = time.Time{}
		return false
	}
	over := l.hard > 0 && unsent > l.hard
	switch {
	case over || l.soft == 0 || unsent <= l.soft:
		o.overSoft = time.Time{}
	case o.overSoft.IsZero():
		o.overSoft = time.Now()
	default:
		over = time.Since(o.overSoft) > time.Duration(l.seconds)*time.Second
	}
	return over
}
