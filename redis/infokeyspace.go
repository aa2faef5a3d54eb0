package redis

import (
	"errors"
	"fmt"

	"github.com/firndb/firn/redis/keyspace"

	"github.com/firndb/firn"
)

// infoKeyspace counts the keys of every database on one snapshot: of the
// present, or of CLIENT ASOF's moment. A database whose keys of then nobody
// can count any more is shown as compacted.
func infoKeyspace(t *infoText) error {
	spansOf := t.srv.expiries.count
	if t.call.Client.AsOf() != 0 {
		spansOf = expirySpans
	}
	return t.call.Current(func(v *keyspace.View) error {
		spans, err := spansOf(v)
		forgotten := errors.Is(err, firn.ErrCompacted)
		if err != nil && !forgotten {
			return err
		}
		return v.EachDatabase(func(v *keyspace.View, prefix []byte) error {
			n, err := v.R.Count(v.Keys, prefix)
			span := spans[string(prefix)]
			if err == nil && forgotten {
				span, err = expirySpanOf(v, prefix)
			}
			if errors.Is(err, firn.ErrCompacted) {
				t.add(fmt.Sprintf("db%d", v.DB), "compacted")
				return nil
			}
			if err != nil {
				return err
			}
			if keys := int64(n) - span.gone; keys > 0 {
				t.add(fmt.Sprintf("db%d", v.DB), fmt.Sprintf("keys=%d,expires=%d,avg_ttl=%d", keys, min(span.live, keys), span.ttl/max(span.live, 1)))
			}
			return nil
		})
	})
}
