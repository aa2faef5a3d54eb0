package server

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis"
)

const haveLoops = true

const (
	maxEvents  = 512             // taken from epoll at once
	tickMS     = 1000            // how often silent connections are looked at
	lastChance = 2 * time.Second // for output that is unread when the server ends
)

// loop owns the sockets that are registered with its epoll instance, and runs
// their sessions. All fields but the mailbox belong to the goroutine in run.
//
// Sockets are registered once, edge-triggered, for reading and writing. What
// epoll says is remembered in the connection, so a connection that waits for
// a commit can get input without the loop being woken over and over.
type loop struct {
	server   *Server
	epoll    int
	wakeup   int // an eventfd, to interrupt a sleeping epoll_wait
	events   []unix.EpollEvent
	conns    map[int32]*conn
	doors    map[int32]door // listening sockets; those of the first loop only
	peers    []*loop        // all loops, to spread new connections over
	turn     int
	waiting  int     // sessions that are with the store or a worker
	again    []*conn // have more to read than one call gave
	reading  []*conn // again, while it is worked off
	filled   []*conn // got input in this round, and run next
	running  []*conn // filled, while it is worked off
	ahead    *redis.Ahead
	talking  []*conn   // have run in this round, and are flushed next
	flushing []*conn   // talking, while it is worked off
	batch    *batch    // the writes of this round
	pieces   bool      // a large batch is handed over in pieces
	resuming []*conn   // scratch of goOn
	crowd    int       // how many sessions wrote together lately
	since    time.Time // when the batch began to wait for more of them; zero: not yet
	workers  *workers
	scripts  *workers // for what runs a script, so that no other read waits for one
	nextTick time.Time
	ending   bool
	failed   error

	box      mailbox
	taken    mailbox // what was taken from box, to reuse its memory
	sleeping atomic.Bool
}

// scriptWorkers is how many scripts that only read, and take long, run at once. A
// processor that runs more of them has less for everybody else.
const scriptWorkers = 2

// mailbox is what other goroutines tell a loop.
type mailbox struct {
	mu      sync.Mutex
	decided []*batch
	ready   []*conn // back from a worker
	hung    []*conn // killed
	nudged  []*conn // have something to say
	arrived []arrival
	end     bool
}

// runLoops serves with epoll loops.
func (s *Server) runLoops(ctx context.Context) error {
	workers := startWorkers(s.opts.Workers)
	defer workers.end()
	scripts := startWorkers(scriptWorkers)
	defer scripts.end()
	loops := make([]*loop, s.opts.Loops)
	for i := range loops {
		l, err := newLoop(s, workers, scripts)
		if err != nil {
			for _, open := range loops[:i] {
				open.release()
			}
			return err
		}
		loops[i] = l
	}
	for _, l := range loops {
		l.peers = loops
	}
	defer s.listeners.Close()
	if err := loops[0].openDoors(); err != nil {
		for _, l := range loops {
			l.release()
		}
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, l := range loops {
		group.Go(l.run)
	}
	group.Go(func() error { return s.redis.RunLive(ctx) })
	group.Go(func() error {
		<-ctx.Done()
		for _, l := range loops {
			l.tell(func(m *mailbox) { m.end = true })
		}
		return nil
	})
	return group.Wait()
}

func newLoop(s *Server, w, scripts *workers) (*loop, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("server: epoll: %w", err)
	}
	wakeup, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		unix.Close(epoll)
		return nil, fmt.Errorf("server: eventfd: %w", err)
	}
	l := &loop{
		server: s, epoll: epoll, wakeup: wakeup, workers: w, scripts: scripts,
		events: make([]unix.EpollEvent, maxEvents),
		ahead:  s.redis.NewAhead(),
		pieces: s.redis.Store().Stats().Durability != firn.Always,
		conns:  make(map[int32]*conn),
		doors:  make(map[int32]door),
	}
	if err := l.watch(wakeup, unix.EPOLLIN|unix.EPOLLET); err != nil {
		l.release()
		return nil, err
	}
	return l, nil
}

func (l *loop) watch(fd int, events uint32) error {
	event := unix.EpollEvent{Events: events, Fd: int32(fd)}
	if err := unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
		return fmt.Errorf("server: epoll: %w", err)
	}
	return nil
}

func (l *loop) release() {
	unix.Close(l.epoll)
	unix.Close(l.wakeup)
}

// tell puts something into the mailbox, and wakes the loop if it sleeps.
func (l *loop) tell(put func(*mailbox)) {
	l.box.mu.Lock()
	put(&l.box)
	l.box.mu.Unlock()
	if l.sleeping.Load() && l.sleeping.CompareAndSwap(true, false) {
		one := [8]byte{1}
		unix.Write(l.wakeup, one[:]) // fails only if it is readable already
	}
}

// run serves until the loop is told to end and every connection is closed.
func (l *loop) run() error {
	defer l.release()
	var deadline time.Time
	for {
		n, err := l.poll()
		if err != nil {
			l.failed = fmt.Errorf("server: epoll: %w", err)
			l.startEnding()
		}
		for i := range l.events[:n] {
			l.handle(&l.events[i])
		}
		l.readMail()
		l.readAgain()
		l.runFilled()
		l.flushAll()
		if !l.ending && l.gathering() {
			continue
		}
		l.submit()
		l.flushAll()
		l.tick()
		if !l.ending {
			continue
		}
		if deadline.IsZero() {
			deadline = time.Now().Add(lastChance)
		}
		if l.closeAll(time.Now().After(deadline)); len(l.conns)+l.waiting == 0 {
			return l.failed
		}
	}
}

// poll asks epoll for events: first without sleeping, which costs the Go
// scheduler nothing, and only then in a call that may block.
func (l *loop) poll() (int, error) {
	n, err := pollNow(l.epoll, l.events)
	if n > 0 || err != nil || len(l.again)+len(l.filled)+len(l.talking) > 0 || l.hasBatch() {
		return n, err
	}
	l.sleeping.Store(true)
	defer l.sleeping.Store(false)
	if l.hasMail() {
		return 0, nil
	}
	timeout := tickMS
	if l.ending {
		timeout = 10
	}
	n, err = unix.EpollWait(l.epoll, l.events, timeout)
	if errors.Is(err, unix.EINTR) {
		return 0, nil
	}
	return max(n, 0), err
}

// handle notes what epoll says about one socket, and goes on with it.
func (l *loop) handle(event *unix.EpollEvent) {
	c := l.conns[event.Fd]
	switch {
	case c != nil:
		const hup = unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR
		if event.Events&hup != 0 {
			c.hup = true
		}
		if event.Events&(unix.EPOLLIN|hup) != 0 {
			c.readable = true
		}
		if event.Events&unix.EPOLLOUT != 0 && c.blocked {
			c.blocked = false
			l.flushLater(c)
		}
		l.read(c)
	case l.doors[event.Fd] != noDoor:
		l.accept(int(event.Fd))
	case int(event.Fd) == l.wakeup:
		var count [8]byte
		unix.Read(l.wakeup, count[:])
	}
}

func (l *loop) hasMail() bool {
	m := &l.box
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.decided)+len(m.ready)+len(m.hung)+len(m.nudged)+len(m.arrived) > 0 || m.end && !l.ending
}

// readMail does what the mailbox says.
func (l *loop) readMail() {
	m, t := &l.box, &l.taken
	m.mu.Lock()
	t.decided, m.decided = m.decided, t.decided[:0]
	t.ready, m.ready = m.ready, t.ready[:0]
	t.hung, m.hung = m.hung, t.hung[:0]
	t.nudged, m.nudged = m.nudged, t.nudged[:0]
	t.arrived, m.arrived = m.arrived, t.arrived[:0]
	end := m.end
	m.mu.Unlock()
	for _, b := range t.decided {
		l.goOn(b)
	}
	for _, c := range t.ready {
		l.resume(c)
	}
	for _, c := range t.hung {
		if (!c.waiting || c.shaking) && !c.closed {
			l.close(c)
		}
	}
	for _, c := range t.nudged {
		l.advance(c)
	}
	for _, a := range t.arrived {
		l.adopt(a)
	}
	clear(t.decided)
	clear(t.ready)
	clear(t.hung)
	clear(t.nudged)
	if end && !l.ending {
		l.startEnding()
	}
}

// readAgain reads once from each connection that had more than one read gave.
func (l *loop) readAgain() {
	l.reading, l.again = l.again, l.reading[:0]
	for _, c := range l.reading {
		c.queued = false
		l.read(c)
	}
	clear(l.reading)
}

// tick looks at silent connections: their buffers go back, and after the
// timeout they are closed.
func (l *loop) tick() {
	if l.ending || len(l.conns) == 0 {
		return
	}
	now := time.Now()
	if now.Before(l.nextTick) {
		return
	}
	l.nextTick = now.Add(tickMS * time.Millisecond)
	timeout := l.server.redis.TimeoutSeconds() * 1000
	for _, c := range l.conns {
		if c.waiting {
			continue
		}
		silent := now.UnixMilli() - c.session.LastActive()
		if silent > quietMS && len(c.session.Output()) == 0 {
			c.session.Idle()
			if c.wire != nil {
				c.wire.idle()
			}
		}
		if timeout > 0 && silent > timeout && !c.session.Listens() && !c.session.Waits() || c.session.Overflows() {
			l.close(c)
		}
	}
}

// startEnding stops accepting.
func (l *loop) startEnding() {
	l.ending = true
	for fd := range l.doors {
		unix.Close(int(fd))
		delete(l.doors, fd)
	}
}

// closeAll closes every connection that waits for nothing and owes nothing,
// or, at last, those that do not read what they are owed as well.
func (l *loop) closeAll(last bool) {
	for _, c := range l.conns {
		if c.shaking || !c.waiting && (len(c.session.Output()) == 0 && !c.stopped && !c.session.Served() || last) {
			l.close(c)
		}
	}
}

var errNoSocket = errors.New("server: not a socket that can be polled")

// openDoors takes the listening sockets over from the Go runtime, so that one
// epoll instance has them all.
func (l *loop) openDoors() error {
	for _, listener := range l.server.listeners {
		f, err := fileOf(listener)
		if err != nil {
			return fmt.Errorf("server: listen on %s: %w", listener.Addr(), err)
		}
		fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		f.Close()
		if err != nil {
			return fmt.Errorf("server: listen on %s: %w", listener.Addr(), err)
		}
		if err := unix.SetNonblock(fd, true); err != nil {
			return fmt.Errorf("server: listen on %s: %w", listener.Addr(), err)
		}
		if err := l.watch(fd, unix.EPOLLIN); err != nil {
			return err
		}
		l.doors[int32(fd)] = plainDoor
		if _, speaksTLS := listener.(secure); speaksTLS {
			l.doors[int32(fd)] = tlsDoor
		}
	}
	return nil
}
