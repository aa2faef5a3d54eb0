package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// A page in a real browser follows the feed and a live query with nothing but
// EventSource. Its connections are cut off again and again, and the browser
// comes back by itself, with the last id that it has seen.

// browserLimit is how long the page may take: it waits a second for each cut.
const browserLimit = 2 * time.Minute

// browserCuts and browserWrites: what is written between two cuts is a few
// pages of the feed.
const (
	browserCuts   = 4
	browserWrites = 400
)

const page = `<!doctype html><title>n</title><script>
let order = 0, untold = [];
const tell = what => untold.push({order: order++, ...what});
setInterval(() => {
	if (untold.length > 0) fetch('/saw', {method: 'POST', body: JSON.stringify(untold)});
	untold = [];
}, 20);
const follow = (path, kinds) => {
	const source = new EventSource('http://%[1]s' + path);
	source.onopen = () => tell({kind: 'open', path});
	for (const kind of kinds)
		source.addEventListener(kind, e => tell({kind, path, id: e.lastEventId, data: JSON.parse(e.data)}));
};
follow('/v1/changes?match=n&values', ['change', 'bookmark', 'reset', 'end']);
follow('/v1/live?command=GET&arg=n', ['live', 'bookmark', 'reset', 'end']);
</script>`

// sighting is what the page tells of an event.
type sighting struct {
	Order          int
	Kind, Path, ID string
	Data           struct {
		Changes []struct{ Value string }
		Reply   string
	}
}

// sightings are those of one page, by the order in which it saw them.
type sightings struct {
	mu  sync.Mutex
	all map[int]sighting
}

func (s *sightings) of(kind string) (found []sighting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range len(s.all) {
		if s.all[i].Kind == kind {
			found = append(found, s.all[i])
		}
	}
	return found
}

func (s *sightings) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var some []sighting
	if err := json.NewDecoder(r.Body).Decode(&some); err != nil {
		some = []sighting{{Order: -1, Kind: err.Error()}}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range some {
		s.all[one.Order] = one
	}
}

// cutter passes connections on to a server, and cuts them off when it is told.
type cutter struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	conns map[net.Conn]bool
}

func newCutter(t *testing.T, to string) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{listener: l, to: to, conns: map[net.Conn]bool{}}
	go c.accept()
	t.Cleanup(func() { l.Close(); c.cut() })
	return c
}

func (c *cutter) accept() {
	for {
		near, err := c.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", c.to)
		if err != nil {
			near.Close()
			continue
		}
		c.mu.Lock()
		c.conns[near], c.conns[far] = true, true
		c.mu.Unlock()
		pass := func(to, from net.Conn) {
			_, _ = io.Copy(to, from)
			to.Close()
			from.Close()
		}
		go pass(near, far)
		go pass(far, near)
	}
}

func (c *cutter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.conns {
		conn.Close()
	}
	clear(c.conns)
}

// browser is the program on PATH; empty if there is none.
func browser() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// browse opens a page until the test ends.
func browse(t *testing.T, url string) {
	t.Helper()
	// No sandbox: it needs a user that is not root. No GPU, for there is none.
	command := exec.Command(browser(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--disable-background-networking", "--no-first-run", "--user-data-dir="+filepath.Join(t.TempDir(), "profile"), url)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it has children
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
		_ = command.Wait()
	})
}

func TestBrowserResumesWithoutGap(t *testing.T) {
	if browser() == "" {
		t.Skip("chromium is not on PATH: apt-get install chromium")
	}
	ctx, cancel := context.WithTimeout(t.Context(), browserLimit)
	defer cancel()
	over := newCutter(t, freeAddr(t))
	seen := &sightings{all: map[int]sighting{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, page, over.listener.Addr()) })
	mux.Handle("/saw", seen)
	pages := httptest.NewServer(mux)
	t.Cleanup(pages.Close)
	addr := startFirn(t, "--http", over.to, "--http-allow-origin", pages.URL)
	client := redis.NewClient(&redis.Options{Addr: addr})
	defer client.Close()
	browse(t, pages.URL)
	opened := func() int { return len(seen.of("open")) }
	until(ctx, t, "both streams are open", func() bool { return opened() >= 2 && len(seen.of("bookmark")) > 0 && len(seen.of("live")) > 0 })
	for i := range browserCuts * browserWrites {
		if err := client.Set(ctx, "n", strconv.Itoa(i+1), 0).Err(); err != nil {
			t.Fatal(err)
		}
		if i%browserWrites == browserWrites/2 {
			before := opened()
			over.cut()
			until(ctx, t, "both streams are open again", func() bool { return opened() >= before+2 })
		}
	}
	newest := strconv.Itoa(browserCuts * browserWrites)
	until(ctx, t, "the page has seen all", func() bool {
		changes, live := seen.of("change"), seen.of("live")
		return len(changes) >= browserCuts*browserWrites && live[len(live)-1].Data.Reply == newest
	})
	check(t, seen)
}

// check compares what the page has seen with what was written: each change
// once and in order, and live replies that never go back.
func check(t *testing.T, seen *sightings) {
	t.Helper()
	for i, one := range seen.of("change") {
		if len(one.Data.Changes) != 1 || one.Data.Changes[0].Value != strconv.Itoa(i+1) || one.ID == "" {
			t.Fatalf("change %d: got %+v", i, one)
		}
	}
	last := -1
	for _, one := range seen.of("live") {
		n, err := strconv.Atoi(one.Data.Reply)
		if err != nil && one.Data.Reply != "" || n <= last || one.ID == "" {
			t.Errorf("live: got %+v after %d", one, last)
		}
		last = n
	}
	if opens := len(seen.of("open")); opens < 2+2*browserCuts {
		t.Errorf("got %d connections, want %d at least: nothing was resumed", opens, 2+2*browserCuts)
	}
	for _, kind := range []string{"reset", "end"} {
		if all := seen.of(kind); len(all) > 0 {
			t.Errorf("got %+v", all)
		}
	}
}

// until waits for something to become so.
func until(ctx context.Context, t *testing.T, what string, so func() bool) {
	t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !so() {
		select {
		case <-ctx.Done():
			t.Fatalf("still not: %s", what)
		case <-again.C:
		}
	}
}
