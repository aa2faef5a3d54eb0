package redis

import (
	"errors"
	"fmt"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
)

// infoKeyspace counts the keys of every database on one snapshot: of the
// present, or of CLIENT ASOF's moment. A database whose keys of then nobody
// can count any more is shown as compacted.
func infoKeyspace(t *infoText) error {
	countsOf := t.srv.expiries.count
	if t.call.Client.AsOf() != 0 {
		countsOf = expiryCounts
	}
	return t.call.Current(func(v *keyspace.View) error {
		counts, err := countsOf(v)
		forgotten := errors.Is(err, firn.ErrCompacted)
		if err != nil && !forgotten {
			return err
		}
		return v.EachDatabase(func(v *keyspace.View, prefix []byte) error {
			n, err := v.R.Count(v.Keys, prefix)
			sum := counts[string(prefix)]
			if err == nil && forgotten {
				sum, err = expiryCountOf(v, prefix)
			}
			if errors.Is(err, firn.ErrCompacted) {
				t.add(fmt.Sprintf("db%d", v.DB), "compacted")
				return nil
			}
			if err != nil {
				return err
			}
			if keys := int64(n) - sum.gone; keys > 0 {
				t.add(fmt.Sprintf("db%d", v.DB), fmt.Sprintf("keys=%d,expires=%d,avg_ttl=%d", keys, min(sum.live, keys), sum.ttl/max(sum.live, 1)))
			}
			return nil
		})
	})
}
