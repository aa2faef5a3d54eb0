package redis

import (
	"fmt"
	"sync"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/tuple"
)

// expiries is what is known of the keys that expire. To count them is to walk
// the index of expiries, so a count is used again until recountAfter times as
// long has passed as it took: INFO never spends more than that part of its
// time, and while there are few such keys it is always exact.
type expiries struct {
	mu     sync.Mutex
	at     time.Duration // by clock, when the walk ended; 0: never
	took   time.Duration
	counts map[string]expiryCount // by keyspace prefix
}

const recountAfter = 20

// expiryCount is about the keys of one keyspace that expire.
type expiryCount struct {
	live, gone int64 // those that are still there, and those only the sweeper has to end
	ttl        int64 // ms, of the live ones together
}

// count walks the index, or returns what the last walk found.
func (x *expiries) count(v *keyspace.View) (map[string]expiryCount, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	began := command.Clock()
	if x.at != 0 && began-x.at < recountAfter*x.took {
		return x.counts, nil
	}
	counts, err := expiryCounts(v)
	if err != nil {
		return nil, err
	}
	x.counts, x.at = counts, command.Clock()
	x.took = x.at - began
	return counts, nil
}

// expiryCounts walks the index of expiries at the moment of v.
func expiryCounts(v *keyspace.View) (map[string]expiryCount, error) {
	counts, now := map[string]expiryCount{}, v.Now()
	for item, err := range v.R.Scan(firn.Range{Index: v.Expiry}) {
		if err != nil {
			return nil, err
		}
		expires, id, err := tuple.TakeInt(item.Key)
		end, ok := tuple.PrefixLen(id, 2)
		if err != nil || !ok {
			return nil, fmt.Errorf("expiry %x: %w", item.Key, keyspace.ErrDamaged)
		}
		sum := counts[id[:end]]
		if keyspace.Expired(expires, now) {
			sum.gone++
		} else {
			sum.live++
			sum.ttl += expires - now
		}
		counts[id[:end]] = sum
	}
	return counts, nil
}

// expiryCountOf counts in one keyspace, by a walk over its keys: the index
// of expiries says nothing about a moment at which a key of any keyspace is
// forgotten.
func expiryCountOf(v *keyspace.View, prefix []byte) (sum expiryCount, err error) {
	now := v.Now()
	for item, err := range v.R.Scan(firn.Range{Index: v.Keys.ByID(), Prefix: prefix}) {
		if err != nil {
			return sum, err
		}
		k, ok, err := v.Live(item.Doc)
		switch {
		case err != nil:
			return sum, err
		case !ok:
			sum.gone++
		case k.Expires != 0:
			sum.live++
			sum.ttl += k.Expires - now
		}
	}
	return sum, nil
}
