package redis

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/seed"
)

// What XADD and XTRIM with ~ and LIMIT leave of a stream depends on how full its
// nodes are: it is what Redis leaves, whatever stream-node-max-entries and
// stream-node-max-bytes say.

// treeSize is what XINFO STREAM tells of the tree of nodes.
var treeSize = regexp.MustCompile(`(\d+\) "radix-tree-nodes"\n\d+\) \(integer\)) \d+`)

func TestTrimmingAgreesWithRealRedisUnderAnyNodeSize(t *testing.T) {
	redis := startRedis(t)()
	mine := newOurs(t, New(openStore(t, firn.Options{Durability: firn.None}), Options{}))
	g := seed.Fresh(t).Rand(0)
	one := func(texts ...string) string { return texts[g.IntN(len(texts))] }
	var script []string
	both := func(line string) {
		t.Helper()
		script = append(script, line)
		words := SplitWords(t, line)
		got, want := treeSize.ReplaceAllString(render(mine.tell(t, words...)), "$1"), treeSize.ReplaceAllString(render(redis.tell(t, words...)), "$1")
		if got != want {
			t.Fatalf("got %s\nwant %s\nafter\n%s", got, want, strings.Join(script[max(0, len(script)-100):], "\n"))
		}
	}
	for range seed.Steps(t, 12) {
		both("FLUSHALL")
		both("CONFIG SET stream-node-max-entries " + one("100", "0", "1", "7", "40") + " stream-node-max-bytes " + one("4096", "0", "200", "1kb"))
		for id := range 120 {
			trim := one("MAXLEN", "MAXLEN = ", "MAXLEN ~", "MAXLEN ~") + " " + one("0", "3", "20", "50")
			if g.IntN(2) == 0 {
				trim = one("MINID", "MINID ~", "MINID ~") + fmt.Sprintf(" %d-%d", max(0, id-g.IntN(60)), g.IntN(2))
			}
			if strings.Contains(trim, "~") {
				trim += one("", " LIMIT 0", " LIMIT 1", " LIMIT 7", " LIMIT 30", " LIMIT 200")
			}
			switch g.IntN(10) {
			case 0:
				both(fmt.Sprintf("XADD s %s %d-1 f v", trim, id+1))
			case 1:
				both("XTRIM s " + trim)
			case 2:
				both(fmt.Sprintf("XDEL s %d-0", max(1, id-g.IntN(40))))
			case 3:
				both("CONFIG SET stream-node-max-entries " + one("100", "5", "20"))
			default:
				both(fmt.Sprintf("XADD s %d-0 %s %s", id+1, one("f", "f", "other"), strings.Repeat("v", g.IntN(100))+"v"))
			}
			both("XRANGE s - +")
			both("EXISTS s")
			if g.IntN(5) == 0 {
				both("XINFO STREAM s")
			}
		}
	}
}
