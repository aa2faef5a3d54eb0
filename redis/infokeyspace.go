package redis

import (
	"fmt"
	"strings"
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
	x.spans, x.at = spans, command.Clock()
	x.took = x.at - began
	return spans, nil
}

// infoKeyspace counts the keys of every database on one snapshot.
func infoKeyspace(t *infoText) error {
	return t.call.Present(func(v *keyspace.View) error {
		spans, err := t.srv.expiries.count(v)
		if err != nil {
			return err
		}
		return v.EachDatabase(func(v *keyspace.View, prefix []byte) error {
			n, err := v.R.Count(v.Keys, prefix)
			if err != nil {
				return err
			}
			span := spans[string(prefix)]
			if keys := int64(n) - span.gone; keys > 0 {
				t.add(fmt.Sprintf("db%d", v.DB), fmt.Sprintf("keys=%d,expires=%d,avg_ttl=%d", keys, min(span.live, keys), span.ttl/max(span.live, 1)))
			}
			return nil
		})
	})
}

// systemMemory is how much memory the machine has, 0 if unknown.
func systemMemory() uint64 {
	kilobytes := uint64(0)
	text := readSmall("/proc/meminfo")
	if line, _, ok := strings.Cut(text, "\n"); ok {
		_, _ = fmt.Sscanf(line, "MemTotal: %d kB", &kilobytes)
	}
	return kilobytes << 10
}
