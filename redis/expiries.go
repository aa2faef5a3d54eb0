package redis

import (
	"fmt"
	"sync"
	"time"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"

	"github.com/firndb/firn"
	"github.com/firndb/firn/tuple"
)

// expiries is what is known of the keys that expire. To count them is to walk
// the index of expiries, so a count is used again until recountAfter times as
// long has passed as it took: INFO never spends more than that part of its
// time, and while there are few such keys it is always exact.
type expiries struct {
	mu    sync.Mutex
	at    time.Duration // by clock, when the walk ended; 0: never
	took  time.Duration
	spans map[string]expirySpan // by keyspace prefix
}

const recountAfter = 20

// expirySpan is about the keys of one keyspace that expire.
type expirySpan struct {
	live, gone int64 // those that are still there, and those only the sweeper has to end
	ttl        int64 // ms, of the live ones together
}

// count walks the index, or returns what the last walk found.
func (x *expiries) count(v *keyspace.View) (map[string]expirySpan, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	began := command.Clock()
	if x.at != 0 && began-x.at < recountAfter*x.took {
		return x.spans, nil
	}
	spans, err := expirySpans(v)
	if err != nil {
		return nil, err
	}
	x.spans, x.at = spans, command.Clock()
	x.took = x.at - began
	return spans, nil
}

// expirySpans walks the index of expiries at the moment of v.
func expirySpans(v *keyspace.View) (map[string]expirySpan, error) {
	spans, now := map[string]expirySpan{}, v.Now()
	for item, err := range v.R.Scan(firn.Range{Index: v.Expiry}) {
		if err != nil {
			return nil, err
		}
		expires, id, err := tuple.TakeInt(item.Key)
		end, ok := tuple.PrefixLen(id, 2)
		if err != nil || !ok {
			return nil, fmt.Errorf("expiry %x: %w", item.Key, keyspace.ErrDamaged)
		}
		span := spans[id[:end]]
		if keyspace.Expired(expires, now) {
			span.gone++
		} else {
			span.live++
			span.ttl += expires - now
		}
		spans[id[:end]] = span
	}
	return spans, nil
}

// expirySpanOf is the span of one keyspace, by a walk over its keys: the index
// of expiries says nothing about a moment at which a key of any keyspace is
// forgotten.
func expirySpanOf(v *keyspace.View, prefix []byte) (span expirySpan, err error) {
	now := v.Now()
	for item, err := range v.R.Scan(firn.Range{Index: v.Keys.ByID(), Prefix: prefix}) {
		if err != nil {
			return span, err
		}
		k, ok, err := v.Live(item.Doc)
		switch {
		case err != nil:
			return span, err
		case !ok:
			span.gone++
		case k.Expires != 0:
			span.live++
			span.ttl += k.Expires - now
		}
	}
	return span, nil
}
