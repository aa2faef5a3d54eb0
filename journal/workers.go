package journal

import (
	"runtime"
	"sync"
	"time"
)

// Workers run what is stale, the oldest first: as many at once as there are
// processors, and one more after another while those that run make no progress,
// so that a slow one keeps nobody waiting for long. There is none while there is
// nothing to run.
type Workers struct {
	contexts contexts

	mu    sync.Mutex
	queue []*Subscription
	first int // those before it were taken
	busy  int // workers
	taken uint64
	seen  uint64        // taken, when it was looked last
	looks bool          // a timer is set
	ended chan struct{} // closed when there is no worker left; nil: nobody waits for that
}

const (
	// workersLook is how long those who wait get no worker before there is one
	// more.
	workersLook = 2 * time.Millisecond

	// leastWorkers is how many there are even where there is one processor:
	// queries that read the file wait for it.
	leastWorkers = 4
)

func workersMost() int { return max(leastWorkers, runtime.GOMAXPROCS(0)) }

func (p *Workers) add(s *Subscription) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue = append(p.queue, s)
	switch {
	case p.busy < workersMost():
		p.start()
	case !p.looks:
		p.lookLater()
	}
}

// start begins a worker. The caller holds mu.
func (p *Workers) start() {
	p.busy++
	go p.work()
}

// work runs what waits until nothing does.
func (p *Workers) work() {
	for s := p.take(); s != nil; s = p.take() {
		s.work()
	}
}

// take is the next one; nil ends the worker.
func (p *Workers) take() *Subscription {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.first == len(p.queue) || p.busy > workersMost() && p.taken > p.seen+uint64(p.busy) {
		if p.busy--; p.busy == 0 && p.ended != nil {
			close(p.ended)
			p.ended = nil
		}
		return nil
	}
	s := p.queue[p.first]
	p.queue[p.first] = nil
	p.taken++
	if p.first++; p.first == len(p.queue) {
		p.queue, p.first = p.queue[:0], 0
		if cap(p.queue) > maxKeptQueue {
			p.queue = nil
		}
	}
	return s
}

// maxKeptQueue is how long a queue may be that keeps its memory when it is
// empty.
const maxKeptQueue = 1024

// lookLater looks whether there is progress. The caller holds mu.
func (p *Workers) lookLater() {
	p.looks, p.seen = true, p.taken
	time.AfterFunc(workersLook, p.look)
}

func (p *Workers) look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.looks = false
	if p.first == len(p.queue) {
		return
	}
	if p.taken == p.seen {
		p.start()
	}
	p.lookLater()
}

// Wait waits until nothing runs, nor waits for it. One caller does at a time.
func (p *Workers) Wait() {
	p.mu.Lock()
	var ended chan struct{}
	if p.busy > 0 {
		ended = make(chan struct{})
		p.ended = ended
	}
	p.mu.Unlock()
	if ended != nil {
		<-ended
	}
}
