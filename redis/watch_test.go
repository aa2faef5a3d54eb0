package redis

import (
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
)

// TestWatchAndTheSweeper: that a key expires is a change, and that it is taken
// away afterwards is none.
func TestWatchAndTheSweeper(t *testing.T) {
	for name, tt := range map[string]struct {
		script   string // what b does; a watches at WATCH
		executed bool
	}{
		"expired, then swept":           {"expire|WATCH|sweep", true},
		"expired, swept, then written":  {"expire|WATCH|sweep|SET k 2", false},
		"expired, written, then ended":  {"expire|WATCH|SET k 2|DEL k", false},
		"swept":                         {"expire|sweep|WATCH|sweep", true},
		"expires":                       {"WATCH|expire", false},
		"expires, then swept":           {"WATCH|expire|sweep", false},
		"expired, then hidden":          {"expire|WATCH|SWAPDB 0 1", true},
		"expired, then another instead": {"SELECT 1|SET k 1|SELECT 0|expire|WATCH|SWAPDB 0 1", false},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := NewPair(t, firn.Options{})
			life := "20"
			if strings.HasPrefix(tt.script, "WATCH") {
				life = "500" // it must live until then
			}
			b.Run(t, "SET k 1 PX "+life)
			for _, step := range strings.Split(tt.script, "|") {
				switch step {
				case "WATCH":
					Check(t, "WATCH", a.Run(t, "WATCH k", "MULTI", "PING"), "+OK\r\n+OK\r\n+QUEUED\r\n")
				case "expire":
					for b.Run(t, "EXISTS k") != ":0\r\n" {
						continue
					}
				case "sweep":
					if _, err := keyspace.NewSweeper(a.Store).Step(); err != nil {
						t.Fatal(err)
					}
				default:
					b.Run(t, step)
				}
			}
			Check(t, "EXEC", a.Run(t, "EXEC"), map[bool]string{true: "*1\r\n+PONG\r\n", false: "*-1\r\n"}[tt.executed])
		})
	}
}
