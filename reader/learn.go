package reader

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
)

// learning knows which ids there are, and decides when to be taught that: when
// looking for what is not there has taken about as long as a walk of all ids
// takes. So a store that is never asked for what is not there pays nothing, one
// that is pays twice at most, and one whose ids have been forgotten since learns
// anew.
type learning struct {
	known index.Known
	tail  *index.Tail
	most  int64 // bytes that known may take

	vain   atomic.Int64  // look-ups that have found nothing in the file
	enough atomic.Int64  // of them are worth a walk
	due    chan struct{} // capacity 1: one that was not taken yet is as good as two
}

const (
	// firstVain look-ups take 10 ms. A walk of all ids takes as long as a look-up
	// of every 20th of them; the first time an earlier try is worth it, because
	// more may follow.
	firstVain  = 1024
	firstShare = 64
	laterShare = 8

	knownShare = 16  // part of the budget that known may take, beside it
	bytesPerID = 128 // of the file, at least, mostly
	fewAtFirst = 8   // part of the ids that there may be: known grows
	learnPage  = 256 // entries read at once
	learnPause = 3   // times as long as reading them took
)

// sessions lends sessions to read the file with.
type sessions interface {
	take() (schema.Session, error)
	give(schema.Session)
}

// endReading ends a session's read transaction and gives it back, or closes it
// if that fails.
func endReading(to sessions, s schema.Session) error {
	if err := s.End(); err != nil {
		s.Close()
		return err
	}
	to.give(s)
	return nil
}

func (l *learning) init(tail *index.Tail, budget int64) {
	l.tail, l.most = tail, budget/knownShare
	l.enough.Store(firstVain)
	l.due = make(chan struct{}, 1)
}

// missed counts a look-up in vain.
func (l *learning) missed() {
	if l.vain.Add(1) < l.enough.Load() {
		return
	}
	select {
	case l.due <- struct{}{}:
	default:
	}
}

// run learns whenever that is due, until ctx ends.
func (l *learning) run(ctx context.Context, from sessions) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-l.due:
		}
		// A file that cannot be read is the business of those who read it.
		if err := l.learn(ctx, from); err != nil {
			l.next(l.enough.Load())
		}
	}
}

// next sets how many more look-ups in vain are enough.
func (l *learning) next(enough int64) {
	l.enough.Store(max(enough, firstVain))
	l.vain.Store(0)
}

// learn walks all ids of tail and file, if enough look-ups were in vain for so
// many.
func (l *learning) learn(ctx context.Context, from sessions) error {
	if l.most == 0 {
		return nil
	}
	s, err := from.take()
	if err != nil {
		return err
	}
	defer from.give(s)
	space, err := s.Space()
	if err != nil {
		return err
	}
	guess := space.PageBytes * (space.Pages - space.FreePages) / bytesPerID
	if l.vain.Load() < guess/firstShare {
		l.enough.Store(guess / firstShare)
		return nil
	}
	t := l.known.Teacher(int(guess/fewAtFirst), l.most)
	runs := l.tail.Runs() // after known hears of what is written, before the file
	t.AddRun(runs.Active)
	if runs.Frozen != nil {
		t.AddRun(runs.Frozen)
	}
	if err := learnFile(ctx, t, s); err != nil {
		t.Leave()
		return err
	}
	if t.Done() {
		l.next(t.Found() / laterShare)
	} else {
		l.next(t.Found()) // far too many for the memory
	}
	return nil
}

// learnFile teaches the ids in the file, page by page, so that it keeps neither
// the write-ahead log nor a processor.
func learnFile(ctx context.Context, t *index.Teacher, s schema.Session) error {
	var page []schema.Entry
	after := schema.Entry{}
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-pause.C:
		}
		begun := time.Now()
		var err error
		if page, err = s.Entries(page[:0], after, learnPage); err != nil || len(page) == 0 {
			return err
		}
		for i := range page {
			if e := &page[i]; e.Index != after.Index || e.Key != after.Key {
				t.Add(e)
			}
			after = page[i]
		}
		if after.Index.Number() > 0 { // declared, and what it has is by id, too
			var more bool
			if after.Index, more = after.Index.Behind(); !more {
				return nil
			}
			after = schema.Entry{Index: after.Index}
		}
		pause.Reset(learnPause * time.Since(begun))
	}
}
