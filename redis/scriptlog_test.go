package redis

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/firndb/firn"
)

// TestScriptsLogAsLoudAsTheySay: what a script logs is in the server's log from
// the level on that CONFIG SET loglevel names.
func TestScriptsLogAsLoudAsTheySay(t *testing.T) {
	var lines bytes.Buffer
	level := new(slog.LevelVar)
	o := newOurs(t, New(openStore(t, firn.Options{Durability: firn.None}), Options{
		Logger: slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: level})), Level: level,
	}))
	const script = "for _, name in ipairs({'DEBUG','VERBOSE','NOTICE','WARNING'}) do redis.log(redis['LOG_'..name], name) end"
	for _, tt := range []struct{ level, want string }{
		{"debug", "DEBUG VERBOSE NOTICE WARNING"}, {"notice", "NOTICE WARNING"}, {"warning", "WARNING"},
	} {
		o.ask(t, "CONFIG SET loglevel "+tt.level)
		lines.Reset()
		o.tell(t, []byte("EVAL"), []byte(script), []byte("0"))
		var got []string
		for line := range strings.Lines(lines.String()) {
			_, text, _ := strings.Cut(line, "msg=")
			text, by, _ := strings.Cut(text, " ")
			if strings.HasPrefix(by, "from=script") {
				got = append(got, text)
			}
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("loglevel %s:\n got %s\nwant %s", tt.level, got, tt.want)
		}
	}
}
