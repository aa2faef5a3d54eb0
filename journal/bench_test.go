package journal

import (
	"fmt"
	"testing"

	"github.com/firndb/firn/schema"
)

// BenchmarkPublish is what a commit of one document costs the writer: while
// nobody follows, while somebody does, and while a thousand wait who are not
// called.
func BenchmarkPublish(b *testing.B) {
	for _, tt := range []struct{ followers, waiting int }{{0, 0}, {1, 0}, {1, 1000}} {
		b.Run(fmt.Sprintf("followers=%d/waiting=%d", tt.followers, tt.waiting), func(b *testing.B) {
			newest := schema.Timestamp(0)
			r := newRing(16<<20, func() schema.Timestamp { return newest })
			if tt.followers > 0 {
				r.follow(tt.followers)
			}
			for range tt.waiting {
				r.Notify(schema.MaxTimestamp, func() {})
			}
			row := &schema.Row{Table: 1, ID: "user:1", Value: make([]byte, 64)}
			rows, entries := []*schema.Row{row}, []schema.Entry{{Index: schema.ByID(1), Key: "user:1"}}
			b.ReportAllocs()
			for b.Loop() {
				row.TS++
				r.Publish(newest, rows, entries)
				newest = row.TS
			}
		})
	}
}
