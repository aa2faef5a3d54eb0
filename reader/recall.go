package reader

import (
	"context"
	"strings"
	"time"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

const (
	// recallFences is how many intervals a range has at least that is recalled:
	// to read those of a smaller one takes a tenth of a millisecond.
	recallFences = 64

	// recallShare is the part of the budget that ranges may take for others to
	// be recalled beside them.
	recallShare = 4
)

// Recall brings the counts of a table's large ranges into the head, so that the first
// question about one after a restart does not wait until all its fences are
// read. It ends when all are there, or as many as fit, or with ctx. A file that
// cannot be read is the business of those who ask.
func (h *Head) Recall(ctx context.Context, t *index.Table) {
	for n := len(t.Indexes); n >= 0; n-- { // those that are there to be in order first
		x := schema.Index(t.ID, n)
		for from, more := "", t.PrefixOf(x) > 0; more; {
			began := time.Now()
			if from, more = recallNext(h, t, x, from); !more {
				break
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(learnPause * time.Since(began)):
			}
		}
	}
}

// recallNext recalls the first large range of an index whose keys are not
// before from, and returns where the next may be.
func recallNext(h *Head, t *index.Table, x schema.IndexID, from string) (next string, more bool) {
	h.mu.RLock()
	full := h.closed || h.ranges.bytes > h.budget/recallShare
	h.mu.RUnlock()
	if full || h.budget == 0 {
		return "", false
	}
	v := new(View)
	v.Reset(h, false)
	defer v.Close()
	s, err := v.session()
	if err != nil {
		return "", false
	}
	fences, err := s.Fences(nil, schema.KeyRange{Index: x, From: from}, "", recallFences)
	if err != nil || len(fences) == 0 {
		return "", false
	}
	first, last := fences[0].Key, fences[len(fences)-1].Key
	if len(fences) < recallFences {
		return "", false
	}
	n, ok := tuple.PrefixLen(first, t.PrefixOf(x))
	if !ok {
		return "", false
	}
	prefix := first[:n]
	if strings.HasPrefix(last, prefix) {
		_, err := v.Warm(t, x, prefix, 0)
		to := index.PrefixRange(x, prefix).To
		return to, err == nil && to != ""
	}
	n, ok = tuple.PrefixLen(last, t.PrefixOf(x))
	return last[:n], ok
}
