package redis

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firndb/firn"
)

// INFO commandstats counts calls, and those that were refused or failed, as
// Redis does, inside MULTI too; and INFO persistence what was written since the
// last SAVE.

var statLine = regexp.MustCompile(`(cmdstat_[a-z|]+):calls=(\d+),.*(rejected_calls=\d+,failed_calls=\d+)`)

// commandStats are the lines of INFO commandstats without times, and without
// those of the commands that ask.
func commandStats(t *testing.T, who talker) (lines []string) {
	t.Helper()
	text := string(who.tell(t, []byte("INFO"), []byte("commandstats")))
	for _, m := range statLine.FindAllStringSubmatch(text, -1) {
		if m[1] != "cmdstat_info" && m[1] != "cmdstat_config|resetstat" {
			lines = append(lines, strings.Join(m[1:], " "))
		}
	}
	slices.Sort(lines)
	return lines
}

func TestCommandStatsAgreeWithRealRedis(t *testing.T) {
	redis := startRedis(t)()
	mine := newOurs(t, New(openStore(t, firn.Options{Durability: firn.None}), Options{}))
	for _, who := range []talker{redis, mine} {
		for _, line := range []string{
			"CONFIG RESETSTAT", "MULTI", "SET a 1", "GET a", "FOO", "EXEC", "MULTI", "SET a 1", "LPUSH a 1", "GET a b", "EXEC",
			"MULTI", "SET a 1", "LPUSH a 1", "EXEC", "MULTI", "GET a", "EXEC", "MULTI", "EXEC", "MULTI", "PING", "EXEC", "EXEC", "DISCARD", "WATCH a", "SET a 2", "MULTI", "SET a 3", "EXEC",
			"MULTI", "SET a 3", "DISCARD", "MULTI", "MULTI", "EXEC", "GET", "LPUSH a 1", "BLPOP nosuch 0.01", "HGET a", "XREAD", "PING", "XGROUP CREATE a", "XGROUP CREATE a g $", "OBJECT ENCODING a",
		} {
			who.tell(t, SplitWords(t, line)...)
		}
	}
	got, want := commandStats(t, mine), commandStats(t, redis)
	if !slices.Equal(got, want) || len(want) < 10 {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestInfoCountsWhatSaveHasNot(t *testing.T) {
	mine := newOurs(t, New(openStore(t, firn.Options{Durability: firn.None}), Options{}))
	changes := func() string {
		text := string(mine.tell(t, []byte("INFO"), []byte("persistence")))
		_, rest, _ := strings.Cut(text, "rdb_changes_since_last_save:")
		n, _, _ := strings.Cut(rest, "\r\n")
		return n
	}
	for _, step := range [][2]string{
		{"GET a", "0"}, {"SET a 1", "1"}, {"MSET a 1 b 2", "3"}, {"GET a", "3"}, {"DEL nosuch", "3"}, {"CONFIG RESETSTAT", "3"},
		{"SAVE", "0"}, {"RPUSH l a b c", "1"}, {"LPUSH a x", "1"}, {"DEL a b l", "4"}, {"BGSAVE", "0"},
	} {
		mine.tell(t, SplitWords(t, step[0])...)
		if got := changes(); got != step[1] {
			t.Errorf("after %s: got %s, want %s", step[0], got, step[1])
		}
	}
}
