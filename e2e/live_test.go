package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/push"
)

// LIVE takes a connection of one's own, and a client library that hands out
// pushes which it does not know.

// livePushes are the pushes of LIVE that a client has handed out.
type livePushes chan []any

// HandlePushNotification implements push.NotificationHandler.
func (p livePushes) HandlePushNotification(_ context.Context, _ push.NotificationHandlerContext, notification []any) error {
	p <- notification
	return nil
}

func TestGoRedisKeepsQueriesLive(t *testing.T) {
	ctx := t.Context()
	client := redis.NewClient(&redis.Options{Addr: startFirn(t), Protocol: 3})
	t.Cleanup(func() { client.Close() })
	conn := client.Conn()
	t.Cleanup(func() { conn.Close() })
	pushes := make(livePushes, 10) // more than there are
	must(t, conn.RegisterPushNotificationHandler("live", pushes, false))
	next := func() []any {
		for deadline := time.Now().Add(startLimit); time.Now().Before(deadline); {
			must(t, conn.Ping(ctx).Err()) // go-redis looks for pushes before it sends a command
			select {
			case p := <-pushes:
				return p
			default:
			}
		}
		t.Fatal("no push came")
		return nil
	}
	must(t, client.MSet(ctx, "k", "1", "j", "2").Err())
	for _, step := range []struct {
		words []any
		want  string
	}{
		{[]any{"LIVE", "one", "GET", "k"}, "1"}, {[]any{"LIVE", "both", "MULTI"}, "OK"}, {[]any{"GET", "k"}, "QUEUED"}, {[]any{"GET", "j"}, "QUEUED"}, {[]any{"EXEC"}, "[1 2]"},
	} {
		got, err := conn.Do(ctx, step.words...).Result()
		must(t, err)
		if fmt.Sprint(got) != step.want {
			t.Errorf("%v: got %v, want %s", step.words, got, step.want)
		}
	}
	must(t, client.Set(ctx, "k", "3", 0).Err())
	first, second := next(), next()
	got := []string{fmt.Sprint(first[1], " ", first[4]), fmt.Sprint(second[1], " ", second[4])}
	slices.Sort(got)
	if strings.Join(got, ", ") != "both [3 2], one 3" || first[2] != second[2] || first[3] != second[3] {
		t.Errorf("pushed: got %v and %v, want both [3 2] and one 3 with one timestamp and token", first, second)
	}
	same, err := conn.Do(ctx, "LIVE", "again", "RESUME", first[3], "GET", "j").Result()
	must(t, err)
	if same != "UNCHANGED" {
		t.Errorf("RESUME: got %v, want UNCHANGED", same)
	}
}

func TestRedisCLIShowsWhatIsLive(t *testing.T) {
	cli, err := exec.LookPath("redis-cli")
	if err != nil {
		t.Skip("redis-cli is not on PATH")
	}
	host, port, err := net.SplitHostPort(startFirn(t))
	must(t, err)
	command := exec.CommandContext(t.Context(), cli, "-h", host, "-p", port, "-3", "--no-raw", "--show-pushes", "yes")
	in, err := command.StdinPipe()
	must(t, err)
	out, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	lines := bufio.NewScanner(out)
	say := func(text string) {
		_, err := io.WriteString(in, text)
		must(t, err)
	}
	until := func(want string) {
		t.Helper()
		for lines.Scan() {
			if strings.TrimSpace(lines.Text()) == want {
				return
			}
		}
		t.Fatalf("redis-cli ended before it said %s", want)
	}
	say("LIVE cart MULTI\nHLEN cart:7\nEXEC\n")
	until("QUEUED")
	until("1) (integer) 0")
	say("HSET cart:7 tea 2\n")
	until("(integer) 1")
	for seen := false; !seen; { // it looks for pushes when it reads a reply
		say("ECHO more\n")
		for lines.Scan() && lines.Text() != `"more"` {
			seen = seen || strings.TrimSpace(lines.Text()) == `5) 1) (integer) 1`
		}
	}
	must(t, in.Close())
	must(t, command.Wait())
}
