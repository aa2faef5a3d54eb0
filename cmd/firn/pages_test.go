package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// Every sample of every page is run, from the first to the last of a page, on
// a store that is served to it.

// page is what the samples of a page begin with.
type page struct {
	store  string            // the file that is served
	flags  []string          // of firn serve
	before string            // samples that the page does not show
	beside map[string]string // what another client sends while a command waits
}

// pages are those that need something. Another page begins with an empty store.
var pages = map[string]page{
	"README.md": {beside: map[string]string{"BLPOP jobs 0": "RPUSH jobs rake"}},
	"docs/backup.md": {
		store: "orders.db",
		before: `
127.0.0.1:6379> SET sessions one
OK
127.0.0.1:6379> SET sessions two
OK
127.0.0.1:6379> HSET order:7 state paid total 12.50
(integer) 2
127.0.0.1:6379> HSET order:7 state shipped
(integer) 0
127.0.0.1:6379> LASTTS
(integer) 1795259462158962
127.0.0.1:6379> HISTORY DISABLE KEY sessions
OK
$ redis-cli -3
127.0.0.1:6379> COMPACT
1# "versions" => (integer) 1
2# "elapsed_ms" => (integer) 3
3# "horizon" => (integer) 1795259451939367
127.0.0.1:6379> HSET order:7 state refunded
(integer) 0
127.0.0.1:6379> LASTTS
(integer) 1795259498650885
`,
	},
	"docs/functions.md": {before: `
127.0.0.1:6379> FUNCTION LOAD REPLACE "#!lua name=tickets\nlocal function reserve(keys, args)\n  local left = tonumber(redis.call('GET', keys[1]) or 0)\n  if left < tonumber(args[1]) then return redis.error_reply('SOLDOUT only ' .. left .. ' left') end\n  return redis.call('DECRBY', keys[1], args[1])\nend\nredis.register_function('reserve', reserve)\nredis.register_function{\n  function_name = 'worth', flags = {'no-writes'}, description = 'what is left, in euros',\n  callback = function(keys) return redis.call('GET', keys[1]) * 30 end,\n}"
"tickets"
`},
	"docs/history.md":  {flags: []string{"--user", "ada on >secret ~* +@all"}},
	"schema/FORMAT.md": {store: "store.db", before: "127.0.0.1:6379> SET k v\nOK"},
}

// notSamples are beginnings of blocks with nothing to run in them, and why.
var notSamples = map[string]string{
	"README.md:make run ":                        "it would run this test",
	"README.md:firn serve [PATH] ":               "a list of flags",
	"README.md:package main":                     "TestTheProgramOfTheReadme runs it",
	"docs/operations.md:groups:":                 "rules for Prometheus",
	"docs/operations.md:const cart = new Even":   "a line of a page; make e2e opens a whole one",
	"docs/live.md:> LIVE ":                       "pushes come while nothing is typed",
	"docs/live.md:> HELLO 3":                     "the same",
	"docs/live.md:> CLIENT TRACKING":             "the same",
	"docs/live.md:class KeptCache":               "TestNodeClients of e2e has it",
	"docs/live.md:% node cache.mjs":              "TestExamplesOfNode of e2e runs it",
	"docs/live.md:% redis-cli HSET order":        "TestExampleOrders of e2e runs it",
	"docs/live.md:% mirror -once ":               "TestExampleMirror of e2e runs it",
	"docs/live.md:% node live.mjs":               "TestExamplesOfNode of e2e runs it",
	"docs/live.md:% view":                        "TestExampleView of e2e runs it",
	"docs/functions.md:#!lua name=tickets":       "the samples after it begin with it",
	"docs/functions.md:% redis-cli -x FUNCTION":  "the same",
	"docs/functions.md:srv := redis.New(store":   "an example of package server has the whole",
	"docs/history.md:ctx, users, ada := ":        "Example_past is the whole of it",
	"schema/FORMAT.md:{\"time 24h0m0s\": {\"hor": "a document",
	"docs/tls.md:firn serve orders.db":           "it needs certificates: TestRedisCLIOverTLS of e2e has some",
	"docs/design/write.md:session ":              "a drawing",
	"docs/design/forgetting.md:row r of a commi": "a drawing",
}

// sampleLimit is generous: the machine may run other tests.
const sampleLimit = time.Minute

func TestPagesSayWhatHappens(t *testing.T) {
	if _, err := exec.LookPath("redis-cli"); err != nil {
		t.Skip("redis-cli is not on PATH")
	}
	var names []string
	for _, pattern := range []string{"../../docs/*.md", "../../docs/design/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("pages: got %q of %s, %v", found, pattern, err)
		}
		names = append(names, found...)
	}
	unused := maps.Clone(notSamples)
	for _, path := range append(names, "../../README.md", "../../schema/FORMAT.md") {
		name := filepath.ToSlash(strings.TrimPrefix(path, "../../"))
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if all := samplesOf(t, name, string(text), unused); len(all) > 0 {
			t.Run(name, func(t *testing.T) { pages[name].follow(t, name, all) })
		}
	}
	for beginning := range unused {
		t.Errorf("no block begins with %s", beginning)
	}
}

// samplesOf are those of a page. A block without one must be excused by
// notSamples; what excuses it is taken from unused.
func samplesOf(t *testing.T, name, text string, unused map[string]string) (all []sample) {
	for _, b := range fenced(text) {
		excused := false
		for beginning := range notSamples {
			if strings.HasPrefix(name+":"+b.text[0], beginning) {
				excused = true
				delete(unused, beginning)
			}
		}
		found := b.samples()
		if len(found) == 0 && !excused {
			t.Errorf("%s:%d: a block without a sample that can be run: %s", name, b.line, b.text[0])
		}
		all = append(all, found...)
	}
	return all
}

// said is the output that a comment promises.
var said = regexp.MustCompile(`(?m)\) +// (.+)$`)

// TestTheProgramOfTheReadme builds it in this module, as somebody would who
// has copied it.
func TestTheProgramOfTheReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	all := fenced(string(text))
	i := slices.IndexFunc(all, func(b block) bool { return b.language == "go" })
	if i < 0 {
		t.Fatal("no program in the README")
	}
	program := strings.Join(all[i].text, "\n")
	var want strings.Builder
	for _, line := range said.FindAllStringSubmatch(program, -1) {
		fmt.Fprintln(&want, line[1])
	}
	dir := t.TempDir()
	source, binary := filepath.Join(dir, "main.go"), filepath.Join(dir, "main")
	if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	build := []string{"build", "-o", binary, source}
	if built, ok := debug.ReadBuildInfo(); ok && slices.Contains(built.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		build = slices.Insert(build, 1, "-race") // what this test is built of is there already
	}
	if out, err := exec.Command("go", build...).CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	run := exec.Command(binary)
	run.Dir = dir
	out, err := run.CombinedOutput()
	if err != nil || string(out) != want.String() || want.Len() == 0 {
		t.Errorf("program: %v\n got %s\nwant %s", err, out, &want)
	}
}

// TestFlagsOfTheReadmeAreThose of the commands that they stand behind.
func TestFlagsOfTheReadmeAreThose(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	all := fenced(string(text))
	i := slices.IndexFunc(all, func(b block) bool { return strings.HasPrefix(b.text[0], "firn serve ") })
	if i < 0 {
		t.Fatal("no flags in the README")
	}
	help, command, found := "", "", 0
	for _, word := range regexp.MustCompile(`\bfirn \w+|--[a-z-]+`).FindAllString(strings.Join(all[i].text, "\n"), -1) {
		if strings.HasPrefix(word, "firn ") {
			out, err := exec.Command("firn", strings.Fields(word)[1], "--help").CombinedOutput()
			if err != nil {
				t.Errorf("%s --help: %v", word, err)
			}
			help, command = string(out), word
			continue
		}
		if !regexp.MustCompile(word + `\b`).MatchString(help) {
			t.Errorf("%s has no %s", command, word)
		}
		found++
	}
	if found < 10 {
		t.Errorf("got %d flags, want those of the README", found)
	}
	if !strings.Contains(string(text), "`firn serve` remembers for 24 hours") {
		t.Error("the README does not begin with how long is remembered")
	}
	if got := serveCommand().Flag("retention").DefValue; got != "24h" {
		t.Errorf("--retention: got %s by default, and the README says 24 hours", got)
	}
}

// visit is one reading of a page: a directory, a server, and what was typed.
type visit struct {
	page
	*testing.T
	dir     string
	address string
	cli     *cli
	moments moments
}

// follow types what is on a page. After a sample that failed the rest would
// fail, too.
func (p page) follow(t *testing.T, name string, all []sample) {
	v := &visit{page: p, T: t, dir: t.TempDir(), moments: moments{}}
	v.serve()
	before := block{text: strings.Split(strings.TrimSpace(p.before), "\n")}
	for _, s := range before.samples() {
		v.check("before "+name, s)
	}
	for _, s := range all {
		v.check(fmt.Sprintf("%s:%d", name, s.line), s)
	}
}

// check runs one sample.
func (v *visit) check(where string, s sample) {
	v.Helper()
	command, err := v.moments.fill(s.command)
	if err != nil {
		v.Fatalf("%s: %s: %v", where, s.command, err)
	}
	want, got := trimmed(s.want), ""
	switch program, _, _ := strings.Cut(command, " "); {
	case s.redis:
		got, err = v.ask(command)
	case program == "redis-cli":
		v.connect(strings.Fields(command)[1:]...)
	case program == "sqlite3":
		// What follows is typed, too, and what it answers is not on the page.
		got, err = v.shell(command+" -bail", strings.Join(want, "\n"))
		want = trimmed(strings.Split(got, "\n"))
	default:
		got, err = v.shell(command, "")
	}
	if err != nil {
		v.Fatalf("%s: %s: %v\n%s", where, command, err, got)
	}
	if err := v.moments.agree(want, trimmed(strings.Split(got, "\n"))); err != nil {
		v.Fatalf("%s: %s: %v\n got %s\nwant %s", where, command, err, got, strings.Join(want, "\n"))
	}
}

// slow is a line that comes when something takes long: firn's progress, and
// what redis-cli tells of a command of more than half a second.
var slow = regexp.MustCompile(`^ *\d+ %  |^\(\d+\.\d\ds\)$`)

// trimmed is an output without such lines and without empty ones.
func trimmed(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		return strings.TrimSpace(line) == "" || slow.MatchString(line)
	})
}

// serve starts the server of the page, which ends with the test.
func (v *visit) serve() {
	store := cmp.Or(v.store, "firn.db")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		v.Fatal(err)
	}
	v.address = l.Addr().String()
	l.Close()
	log := new(bytes.Buffer)
	server := exec.Command("firn", append([]string{"serve", store, "--listen", v.address}, v.flags...)...)
	server.Dir, server.Stderr = v.dir, log
	if err := server.Start(); err != nil {
		v.Fatal(err)
	}
	v.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
		if v.Failed() {
			v.Logf("server's log:\n%s", log)
		}
	})
	conn, err := dial(v.Context(), "tcp", v.address)
	if err != nil {
		v.Fatal(err)
	}
	conn.Close()
}

// shell runs a command line. That it fails is no error: what it says then is
// on the page.
func (v *visit) shell(command, input string) (string, error) {
	ctx, cancel := context.WithTimeout(v.Context(), sampleLimit)
	defer cancel()
	program, _, _ := strings.Cut(command, " ")
	if _, err := exec.LookPath(program); err != nil {
		v.Skipf("%s is not on PATH", program)
	}
	run := exec.CommandContext(ctx, "sh", "-c", command)
	run.Dir, run.Stdin = v.dir, strings.NewReader(input)
	output, err := run.CombinedOutput()
	if program != "sqlite3" {
		err = ctx.Err()
	}
	return string(output), err
}

// ask types a command into redis-cli, and what comes beside it elsewhere.
func (v *visit) ask(command string) (string, error) {
	if v.cli == nil {
		v.connect()
	}
	if err := v.cli.enter(command); err != nil {
		return "", err
	}
	if other := v.beside[command]; other != "" {
		conn, err := dial(v.Context(), "tcp", v.address)
		if err != nil {
			return "", err
		}
		defer conn.Close()
		if _, err := newPeer(conn).ask(strings.Fields(other)...); err != nil {
			return "", err
		}
	}
	return v.cli.reply()
}

// connect begins a connection with redis-cli, instead of the one before.
func (v *visit) connect(flags ...string) {
	host, port, err := net.SplitHostPort(v.address)
	if err != nil {
		v.Fatal(err)
	}
	c := &cli{run: exec.CommandContext(v.Context(), "redis-cli", append(flags, "-h", host, "-p", port, "--no-raw")...)}
	if c.in, err = c.run.StdinPipe(); err != nil {
		v.Fatal(err)
	}
	out, err := c.run.StdoutPipe()
	if err != nil {
		v.Fatal(err)
	}
	c.out = bufio.NewReader(out)
	if err := c.run.Start(); err != nil {
		v.Fatal(err)
	}
	v.Cleanup(func() {
		c.in.Close()
		c.run.Wait()
	})
	v.cli = c
}

// cli is a redis-cli that waits for commands.
type cli struct {
	run *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// mark is echoed behind every reply: without a terminal there is no prompt.
const mark = "this was the reply"

// enter types a command.
func (c *cli) enter(command string) error {
	_, err := fmt.Fprintf(c.in, "%s\nECHO %q\n", command, mark)
	return err
}

// reply is what is printed until the mark.
func (c *cli) reply() (string, error) {
	hung := time.AfterFunc(sampleLimit, func() { c.run.Process.Kill() })
	defer hung.Stop()
	var reply strings.Builder
	for {
		line, err := c.out.ReadString('\n')
		if err != nil || strings.Contains(line, mark) {
			return reply.String(), err
		}
		reply.WriteString(line)
	}
}
