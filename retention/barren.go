package retention

import (
	"hash/maphash"

	"github.com/firndb/firn/schema"
)

// barren has the newest versions of a walk from which nothing follows: strings
// among Redis's keys, for one. To learn that of a version a walk would look for
// it in the log, which took more time than everything else that a walk does.
//
// That nothing follows from a version stays true, also once it is deleted. So
// what one chunk has learnt is true in the next.
type barren struct {
	seed   maphash.Seed
	newest map[uint64]schema.Timestamp // by hash of the document
}

// barrenDocuments bounds how many documents barren has; it starts anew when
// that is reached. One takes about 20 bytes.
const barrenDocuments = 1 << 20

// barren says that nothing follows from a version.
func (k *known) barren() bool { return len(k.owns)+len(k.keys) == 0 }

func newBarren() *barren { return &barren{seed: maphash.MakeSeed()} }

func (b *barren) add(row *schema.Row) {
	if b.newest == nil || len(b.newest) >= barrenDocuments {
		b.newest = map[uint64]schema.Timestamp{}
	}
	b.newest[b.document(row)] = row.TS
}

// replacedBy says that the version which row replaced is known to be barren.
// Two documents of one hash would have to have versions of one commit to be
// taken for each other.
func (b *barren) replacedBy(row *schema.Row) bool { return b.newest[b.document(row)] == row.Prev }

// document is a hash of table and id.
func (b *barren) document(row *schema.Row) uint64 {
	return maphash.String(b.seed, row.ID) + uint64(row.Table)
}
