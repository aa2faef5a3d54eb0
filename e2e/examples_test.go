package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// The programs in examples/ do what their first lines say. They are run as a
// reader would run them, against a server of their own.

// exampleLimit is how long an example may take to say the next thing.
const exampleLimit = 60 * time.Second

// program is a running example, line by line.
type program struct {
	t     *testing.T
	name  string
	lines chan string
}

// run starts a program, which ends with the test at the latest.
func run(t *testing.T, command *exec.Cmd) *program {
	t.Helper()
	output, input := io.Pipe()
	command.Stdout, command.Stderr = input, input
	if err := command.Start(); err != nil {
		t.Fatalf("start %v: %v", command.Args, err)
	}
	ended := make(chan struct{})
	go func() {
		_ = command.Wait()
		_ = input.Close()
		close(ended)
	}()
	p := &program{t: t, name: filepath.Base(command.Args[len(command.Args)-1]), lines: make(chan string, 1000)} // more than any of them says
	go func() {
		defer close(p.lines)
		for said := bufio.NewScanner(output); said.Scan(); {
			p.lines <- said.Text()
		}
	}()
	t.Cleanup(func() {
		_ = command.Process.Kill()
		<-ended
	})
	return p
}

// says fails the test if the program does not say these lines next. Lines that
// begin with "connecting" come when they come.
func (p *program) says(want ...string) {
	p.t.Helper()
	var got []string
	for limit := time.After(exampleLimit); len(got) < len(want); {
		select {
		case line, more := <-p.lines:
			if !more {
				p.t.Fatalf("%s: got %q and its end, want %q", p.name, got, want)
			}
			if !strings.HasPrefix(line, "connecting") {
				got = append(got, line)
			}
		case <-limit:
			p.t.Fatalf("%s: got %q in %v, want %q", p.name, got, exampleLimit, want)
		}
	}
	if !slices.Equal(got, want) {
		p.t.Fatalf("%s: got %q, want %q", p.name, got, want)
	}
}

// ends waits until the program has ended, and fails the test if it says
// anything before.
func (p *program) ends() {
	p.t.Helper()
	select {
	case line, more := <-p.lines:
		if more {
			p.t.Fatalf("%s: got %q, want its end", p.name, line)
		}
	case <-time.After(exampleLimit):
		p.t.Fatalf("%s has not ended in %v", p.name, exampleLimit)
	}
}

// example builds one of the Go programs, and is the command that runs it in a
// directory of its own.
func example(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	build := exec.Command("go", "build", "-o", path, "./"+name)
	build.Dir = "../examples"
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build examples/%s: %v\n%s", name, err, output)
	}
	command := exec.Command(path, args...)
	command.Dir = filepath.Dir(path)
	return command
}

// again is a stopped program's command, to be run once more.
func again(c *exec.Cmd) *exec.Cmd {
	next := exec.Command(c.Path, c.Args[1:]...)
	next.Dir = c.Dir
	return next
}

func TestExampleView(t *testing.T) {
	run(t, example(t, "view")).says("fruit: 0", "fruit: 3", "fruit: 5", "fruit: 3")
}

func TestExampleOrders(t *testing.T) {
	addr := startFirn(t)
	db := redis.NewClient(&redis.Options{Addr: addr})
	defer db.Close()
	job := example(t, "orders", "-address", addr, "-most", "1")
	first := run(t, job)
	eventually(t, "the job stands somewhere", func() bool {
		_, err := os.Stat(filepath.Join(job.Dir, "orders.token"))
		return err == nil
	})
	set(t, db, "order:17", "status", "new", "total", "3")
	set(t, db, "order:17", "status", "paid")
	first.says("ship 17")
	first.ends()
	// It is away, and misses nothing.
	set(t, db, "order:17", "note", "it was paid before")
	set(t, db, "order:18", "status", "paid")
	set(t, db, "order:19", "status", "paid")
	run(t, again(job)).says("ship 18")
}

func TestExampleMirror(t *testing.T) {
	addr := startFirn(t)
	db := redis.NewClient(&redis.Options{Addr: addr})
	defer db.Close()
	set(t, db, "order:1", "status", "paid", "total", "12")
	mirror := example(t, "mirror", "-address", addr, "-once", "-to", "orders.db")
	copied := filepath.Join(mirror.Dir, "orders.db")
	look := func(want string) {
		t.Helper()
		if output, err := again(mirror).CombinedOutput(); err != nil {
			t.Fatalf("mirror: %v\n%s", err, output)
		}
		if got := rows(t, copied, "SELECT id || ' ' || field || ' ' || value FROM orders ORDER BY 1"); got != want {
			t.Errorf("copy: got %q, want %q", got, want)
		}
	}
	look("order:1 status paid; order:1 total 12")
	token := rows(t, copied, "SELECT token FROM place")
	set(t, db, "order:2", "status", "new")
	if err := db.HDel(t.Context(), "order:1", "total").Err(); err != nil {
		t.Fatal(err)
	}
	look("order:1 status paid; order:2 status new")
	if err := db.Del(t.Context(), "order:1").Err(); err != nil {
		t.Fatal(err)
	}
	look("order:2 status new")
	if now := rows(t, copied, "SELECT token FROM place"); now == token {
		t.Errorf("the place has not moved from %s", token)
	}
	if err := db.FlushDB(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	look("")
}

func TestExamplesOfNode(t *testing.T) {
	if version := nodeVersion(); version < leastNode {
		t.Skipf("Node.js %d or newer is needed, found %d (0: none)", leastNode, version)
	}
	dir := "../examples/node"
	install(t, t.Context(), dir)
	web := freeAddr(t)
	addr := startFirn(t, "--http", web)
	db := redis.NewClient(&redis.Options{Addr: addr})
	defer db.Close()

	node := func(args ...string) *exec.Cmd {
		command := exec.CommandContext(t.Context(), "node", args...)
		command.Dir = dir
		command.Env = append(os.Environ(), "FIRN_HTTP=http://"+web)
		return command
	}
	cache := run(t, node("cache.mjs", "redis://"+addr))
	live := run(t, node("live.mjs", "ZREVRANGE", "scores", "0", "2"))
	cache.says("price is null")
	live.says("[]")
	if err := db.Set(t.Context(), "price", "101", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if err := db.ZAdd(t.Context(), "scores", redis.Z{Score: 7, Member: "ada"}).Err(); err != nil {
		t.Fatal(err)
	}
	cache.says("price is 101")
	live.says(`["ada"]`)
	// Both are cut off, and go on where they were.
	if err := db.ClientKillByFilter(t.Context(), "TYPE", "normal", "SKIPME", "yes").Err(); err != nil {
		t.Fatal(err)
	}
	if err := db.ZAdd(t.Context(), "scores", redis.Z{Score: 9, Member: "alan"}).Err(); err != nil {
		t.Fatal(err)
	}
	live.says(`["alan","ada"]`)
	if err := db.Set(t.Context(), "price", "sold", 0).Err(); err != nil {
		t.Fatal(err)
	}
	cache.says("price is sold")
}

func set(t *testing.T, db *redis.Client, key string, fields ...string) {
	t.Helper()
	if err := db.HSet(t.Context(), key, fields).Err(); err != nil {
		t.Fatal(err)
	}
}

// rows are the results of a statement with one column, "; " between them.
func rows(t *testing.T, path, statement string) string {
	t.Helper()
	copied, err := sqlite.OpenConn(path, sqlite.OpenReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	var found []string
	err = sqlitex.Execute(copied, statement, &sqlitex.ExecOptions{ResultFunc: func(row *sqlite.Stmt) error {
		found = append(found, row.ColumnText(0))
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(found, "; ")
}

// telling is what the test adds to the page: it says what the page shows.
const telling = `<script>
let told;
setInterval(() => {
	const shown = [...document.querySelectorAll('#cart li')].map(item => item.textContent).sort().join(', ');
	if (shown !== told) fetch('/shown', {method: 'POST', body: told = shown});
}, 20);
</script>`

func TestExamplePage(t *testing.T) {
	if browser() == "" {
		t.Skip("chromium is not on PATH: apt-get install chromium")
	}
	page, err := os.ReadFile("../examples/page/index.html")
	if err != nil {
		t.Fatal(err)
	}
	shown := make(chan string, 1000) // more than it shows
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, "%s%s", page, telling) })
	mux.HandleFunc("/shown", func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		shown <- string(text)
	})
	pages := httptest.NewServer(mux)
	t.Cleanup(pages.Close)
	web := newCutter(t, freeAddr(t))
	addr := startFirn(t, "--http", web.to, "--http-allow-origin", pages.URL)
	db := redis.NewClient(&redis.Options{Addr: addr})
	defer db.Close()
	wants := func(want string) {
		t.Helper()
		for limit := time.After(exampleLimit); ; {
			select {
			case got := <-shown:
				if got == want {
					return
				}
			case <-limit:
				t.Fatalf("the page has not shown %q in %v", want, exampleLimit)
			}
		}
	}
	set(t, db, "cart:7", "tea", "2")
	browse(t, pages.URL+"/?firn=http://"+web.listener.Addr().String())
	wants("2 × tea")
	set(t, db, "cart:7", "cake", "1")
	wants("1 × cake, 2 × tea")
	web.cut()
	set(t, db, "cart:7", "tea", "3")
	wants("1 × cake, 3 × tea")
}
