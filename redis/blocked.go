package redis

import (
	"sync"
	"sync/atomic"

	"github.com/firndb/firn/redis/keyspace"
)

// blocked is who waits for which key, in the order of their coming.
//
// A transaction that writes a key touches its queue. When the transaction has
// succeeded, the queue is ready: before any other command runs, its waiters
// are tried one by one, each in a transaction of its own (Group does that).
// That may touch further queues, which are ready then after the others.
//
// touched, ready and what a queue says of itself as touched or ready belong
// to the transaction that runs, of which there is one at a time.
type blocked struct {
	waiting atomic.Int64 // who waits for a key

	mu     sync.Mutex
	queues map[awaitedKey]*queue // those that somebody is in

	touched []*queue
	ready   []*queue // the first of them is being served
	current int      // the first in ready that is not worked off
}

// awaitedKey is a key that can be waited for.
type awaitedKey struct {
	db  int
	key string
}

// queue is who waits for one key. blocked.mu guards the list.
type queue struct {
	key         awaitedKey
	first, last *link
	next        *link // who is tried next

	touched, ready bool
	serving        bool
	stopped        uint // kinds of which a waiter found nothing, as bits
}

// link is a waiter's place in one queue.
type link struct {
	waiter     *waiter
	queue      *queue
	prev, next *link
}

// enter puts a waiter at the end of the queues of keys.
func (b *blocked) enter(w *waiter, db int, keys [][]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting.Add(1)
	w.links = make([]link, 0, len(keys)) // never moved: queues point into it
	for _, key := range keys {
		q := b.queues[awaitedKey{db, string(key)}]
		if q == nil {
			q = &queue{key: awaitedKey{db, string(key)}}
			b.queues[q.key] = q
		}
		if q.last != nil && q.last.waiter == w {
			continue // the key was named twice
		}
		w.links = append(w.links, link{waiter: w, queue: q})
		q.add(&w.links[len(w.links)-1])
	}
}

// leave takes a waiter out of its queues.
func (b *blocked) leave(w *waiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting.Add(-1)
	for i := range w.links {
		q := w.links[i].queue
		q.remove(&w.links[i])
		if q.first == nil {
			delete(b.queues, q.key)
		}
	}
	w.links = nil
}

func (q *queue) add(l *link) {
	l.prev = q.last
	if q.last == nil {
		q.first = l
	} else {
		q.last.next = l
	}
	q.last = l
}

func (q *queue) remove(l *link) {
	if q.next == l {
		q.next = l.next
	}
	if l.prev == nil {
		q.first = l.next
	} else {
		l.prev.next = l.next
	}
	if l.next == nil {
		q.last = l.prev
	} else {
		l.next.prev = l.prev
	}
}

// touch notes that the running transaction writes a key.
func (b *blocked) touch(db int, key []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if q := b.queues[awaitedKey{db, string(key)}]; q != nil {
		b.mark(q)
	}
}

func (b *blocked) touchDatabase(db int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for at, q := range b.queues {
		if at.db == db {
			b.mark(q)
		}
	}
}

// mark has a queue served if the running transaction succeeds. What a waiter
// does to the very key that it is served from brings nothing to those behind
// it that they would not find anyway.
func (b *blocked) mark(q *queue) {
	if !q.touched && !q.ready {
		q.touched = true
		b.touched = append(b.touched, q)
	}
}

// settle ends a transaction: only one that was kept counts.
func (b *blocked) settle(kept bool) {
	if len(b.touched) == 0 {
		return
	}
	for _, q := range b.touched {
		q.touched, q.ready = false, kept
		if kept {
			b.ready = append(b.ready, q)
		}
	}
	clear(b.touched)
	b.touched = b.touched[:0]
}

// due says whether somebody may have to be served.
func (b *blocked) due() bool { return len(b.ready) > 0 }

// next is the waiter whose turn it is, and its queue; nil if it is nobody's.
func (b *blocked) next() (*waiter, *queue) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for ; b.current < len(b.ready); b.current++ {
		q := b.ready[b.current]
		if !q.serving {
			q.serving, q.stopped, q.next = true, 0, q.first
		}
		for q.next != nil {
			w := q.next.waiter
			q.next = q.next.next
			if q.stopped&(1<<w.kind) == 0 {
				return w, q
			}
		}
		q.serving, q.ready = false, false
	}
	clear(b.ready)
	b.ready, b.current = b.ready[:0], 0
	return nil, nil
}

// foundNothing notes that a waiter of the queue found nothing: who waits for
// an element behind it will not either. Streams differ, because every reader
// has read them up to a place of its own.
func (q *queue) foundNothing(k keyspace.Kind) {
	if k != keyspace.KindStream {
		q.stopped |= 1 << k
	}
}
