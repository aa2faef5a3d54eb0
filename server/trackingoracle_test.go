package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firndb/firn/internal/redistest"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/redis"
	"github.com/firndb/firn/resp"
)

// Clients that track are told the same, in the same order and form, as by a
// real Redis: random conversations of several connections, with both.

func TestTrackingAgreesWithRealRedis(t *testing.T) {
	socket := redistest.Start(t)
	eachDriver(t, func(t *testing.T, o Options) {
		r := start(t, o, redis.Options{})
		drawn := seed.Fresh(t)
		d := newTrackingDialogue(t, drawn.Rand(0), r.unix, socket)
		defer d.close()
		for range seed.Steps(t, 3000) {
			d.step()
		}
		t.Logf("%d steps, %d pushes, %d clients ended, %d redirections broken", d.steps, d.pushes, d.ended, d.broken)
		if d.pushes < d.steps/10 || d.ended < d.steps/200 || d.broken < d.steps/200 {
			t.Error("too little was pushed, ended or broken to say anything")
		}
	})
}

// trackingVoices are the clients of a conversation; the last one only looks,
// and tracks all the time, but no key.
const trackingVoices = "abcdeZ"

// trackingTemplates are what clients say; "9* " has a line come nine times
// more. $k is a key, $c a client, $p a prefix. What stands between semicolons is
// sent at once.
var trackingTemplates = expandLines(`
9* GET $k
3* MGET $k $k $k
EXISTS $k $k
TOUCH $k
TYPE $k
TTL $k
STRLEN $k
LRANGE $k 0 -1
HGETALL $k
HGET $k f
OBJECT ENCODING $k
SORT $k BY nosort
GETRANGE $k 0 1
ZADD $k 1 m
SADD $k m
SINTERCARD 2 $k $k
SUNION $k $k
9* SET $k v
3* DEL $k
UNLINK $k $k
3* MSET $k 1 $k 2 $k 3
APPEND $k x
INCR $k
RPUSH $k x
LPOP $k
HSET $k f v
HDEL $k f
RENAME $k $k
COPY $k $k REPLACE
MOVE $k 1
EXPIRE $k 1000
PERSIST $k
GETEX $k PERSIST
GETDEL $k
SETNX $k v
SETRANGE $k 1 x
PEXPIREAT $k 1
SUNIONSTORE $k $k $k
PING
SET $k 1; SET $k 2; MSET $k 1 $k 2; DEL $k
GET $k; SET $k 3
3* MULTI; GET $k; SET $k 1; MGET $k $k; EXEC
MULTI; SET $k 1; DEL $k; EXEC
MULTI; CLIENT CACHING YES; GET $k; EXEC
MULTI; GET $k; FLUSHDB; SET $k 1; EXEC
MULTI; LPOP $k; GET $k; INCR $k; EXEC
9* CLIENT TRACKING ON
3* CLIENT TRACKING ON NOLOOP
9* CLIENT TRACKING ON REDIRECT $c
CLIENT TRACKING ON REDIRECT $c NOLOOP
CLIENT TRACKING ON BCAST REDIRECT $c PREFIX $p
3* CLIENT TRACKING ON OPTIN
CLIENT TRACKING ON OPTIN REDIRECT $c
3* CLIENT TRACKING ON OPTOUT
3* CLIENT TRACKING ON BCAST
CLIENT TRACKING ON BCAST PREFIX $p PREFIX $p
CLIENT TRACKING ON BCAST PREFIX $p NOLOOP
CLIENT TRACKING ON PREFIX $p
CLIENT TRACKING ON BCAST OPTIN
CLIENT TRACKING ON OPTIN OPTOUT
CLIENT TRACKING ON REDIRECT 0
CLIENT TRACKING ON REDIRECT 99999999
CLIENT TRACKING ON REDIRECT x
CLIENT TRACKING ON REDIRECT $c REDIRECT $c
CLIENT TRACKING MAYBE
CLIENT TRACKING ON NONSENSE
6* CLIENT TRACKING OFF
9* CLIENT CACHING YES
6* CLIENT CACHING NO
CLIENT CACHING MAYBE
CLIENT GETREDIR
CLIENT TRACKINGINFO
9* HELLO 3
3* HELLO 2
SELECT 1
3* SELECT 0
FLUSHDB
FLUSHALL
6* SUBSCRIBE __redis__:invalidate
SUBSCRIBE other
SSUBSCRIBE shard
PSUBSCRIBE p*
3* UNSUBSCRIBE __redis__:invalidate
UNSUBSCRIBE other
PUNSUBSCRIBE
SUNSUBSCRIBE
3* RESET
3* CLIENT KILL ID $c
2* CLOSE
`)

// trackingScenes are of three clients, x, y and z.
var trackingScenes = []string{`
x> RESET
x> HELLO 3
x> CLIENT TRACKING ON REDIRECT $y
x> GET $k
z> CLIENT KILL ID $y
z> SET $k 1
x> CLIENT TRACKINGINFO
x> GET $k
z> SET $k 2
x> CLIENT TRACKING ON
x> CLIENT TRACKINGINFO
x> GET $k
z> SET $k 3`, `
x> RESET
x> HELLO 3
x> CLIENT TRACKING ON BCAST REDIRECT $y PREFIX a
y> CLOSE
z> SET a1 1
x> CLIENT GETREDIR
z> FLUSHALL
x> CLIENT TRACKING OFF
z> SET a1 1`, `
x> RESET
y> RESET
x> CLIENT TRACKING ON REDIRECT $y
y> SUBSCRIBE __redis__:invalidate
x> MGET $k a1
z> MSET a1 1 $k 2
x> GET $k
y> UNSUBSCRIBE __redis__:invalidate
z> SET $k 1
x> GET $k
z> HELLO 3
y> HELLO 3
z> SET $k 1
z> FLUSHALL
y> CLOSE
z> FLUSHALL`, `
x> RESET
x> HELLO 3
x> CLIENT TRACKING ON REDIRECT $x
x> GET $k
z> SET $k 1
x> GET $k
x> SET $k 2
x> HELLO 2
x> GET $k
z> SET $k 1
x> SUBSCRIBE __redis__:invalidate
z> SET $k 3`,
}

var trackingKeys = []string{"a1", "a2", "b1", "b2", "ab", "c"}

var trackingPrefixes = []string{"a", "b", "ab", "c", "a1", ""}

func expandLines(text string) (lines []string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		line = strings.TrimSpace(line)
		times := 0
		if n, rest, ok := strings.Cut(line, "* "); ok && len(n) == 1 {
			times, _ = strconv.Atoi(n)
			line = rest
		}
		lines = append(lines, slices.Repeat([]string{line}, times+1)...)
	}
	return lines
}

// voice is one connection to one server.
type voice struct {
	net.Conn
	in   *bufio.Reader
	id   string
	gone bool
}

// side is one of the two servers.
type side struct {
	socket string
	voices map[byte]*voice
	names  map[string]string // by id, also of those who are gone
}

func newSide(socket string) *side {
	return &side{socket, map[byte]*voice{}, map[string]string{}}
}

// trackingDialogue is what several clients say to Firn and to Redis.
type trackingDialogue struct {
	*rand.Rand
	t      *testing.T
	sides  [2]*side // Firn, Redis
	script []string
	aim    map[byte]bool // clients that others may redirect to

	connected, steps, pushes, ended, broken int
}

func newTrackingDialogue(t *testing.T, rng *rand.Rand, firn, redis string) *trackingDialogue {
	d := &trackingDialogue{Rand: rng, t: t, aim: map[byte]bool{}, sides: [2]*side{newSide(firn), newSide(redis)}}
	for _, name := range []byte(trackingVoices) {
		d.connect(name)
	}
	d.both('Z', "FLUSHALL")
	d.both('Z', "CLIENT TRACKING ON OPTIN")
	return d
}

func (d *trackingDialogue) close() {
	for _, s := range d.sides {
		for _, v := range s.voices {
			v.Close()
		}
	}
}

// connect gives a name a new connection to each server.
func (d *trackingDialogue) connect(name byte) {
	d.t.Helper()
	d.connected++
	d.aim[name] = false
	for _, s := range d.sides {
		conn, err := net.Dial("unix", s.socket)
		if err != nil {
			d.t.Fatal(err)
		}
		v := &voice{Conn: conn, in: bufio.NewReader(conn)}
		s.voices[name] = v
		v.say(d.t, "CLIENT ID")
		id, err := redistest.ReadReply(v.in)
		if err != nil {
			d.t.Fatal(err)
		}
		v.id = strings.Trim(string(id), ":\r\n")
		s.names[v.id] = fmt.Sprintf("%c%d", name, d.connected)
		v.named(d.t)
	}
}

// named gives the connection the name that barriers ask for.
func (v *voice) named(t *testing.T) {
	v.say(t, "CLIENT SETNAME barrier")
	if _, err := redistest.ReadReply(v.in); err != nil {
		t.Fatal(err)
	}
}

func (v *voice) say(t *testing.T, line string) {
	t.Helper()
	var out []byte
	for _, command := range strings.Split(line, "; ") {
		var words [][]byte
		for _, word := range strings.Split(command, " ") {
			words = append(words, []byte(word))
		}
		out = resp.AppendCommand(out, words...)
	}
	_ = v.SetDeadline(time.Now().Add(patience))
	if _, err := v.Write(out); err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		t.Fatal(err)
	}
}

// hear is all that has come, up to a barrier.
func (v *voice) hear(t *testing.T) (frames []string) {
	t.Helper()
	if v.gone {
		return nil
	}
	v.say(t, "CLIENT GETNAME")
	for {
		reply, err := redistest.ReadReply(v.in)
		frame := string(reply)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
			v.gone = true
			return append(frames, "gone")
		case err != nil:
			t.Fatal(err)
		case frame == "$7\r\nbarrier\r\n", strings.HasPrefix(frame, "-ERR Can't execute 'client|getname'"):
			return frames
		case (frame == "_\r\n" || frame == "$-1\r\n") && slices.Contains(frames, "+RESET\r\n"):
			v.named(t) // the name was reset, too
			return frames
		}
		frames = append(frames, frame)
	}
}

// step has one client say something to both servers.
func (d *trackingDialogue) step() {
	d.t.Helper()
	d.steps++
	if d.IntN(20) == 0 {
		d.scene(trackingScenes[d.IntN(len(trackingScenes))])
		return
	}
	name := trackingVoices[d.IntN(len(trackingVoices)-1)]
	template := trackingTemplates[d.IntN(len(trackingTemplates))]
	line := d.fill(template)
	switch {
	case line == "CLOSE":
		d.cut(name)
	case strings.HasPrefix(line, "MULTI") && d.aim[name]:
		// What others redirect to a client that runs EXEC, Redis puts into the
		// middle of EXEC's reply.
	default:
		d.both(name, line)
	}
	d.comeBack()
	if d.IntN(10) == 0 {
		d.look()
	}
}

// scene plays what chance would not bring about often enough.
func (d *trackingDialogue) scene(lines string) {
	d.t.Helper()
	cast := map[byte]byte{}
	for i, who := range d.Perm(len(trackingVoices) - 1)[:3] {
		cast["xyz"[i]] = trackingVoices[who]
	}
	key := trackingKeys[d.IntN(len(trackingKeys))]
	for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
		name, said, _ := strings.Cut(line, "> ")
		for role, voice := range cast {
			said = strings.ReplaceAll(said, "$"+string(role), "$"+string(voice))
		}
		if said = strings.ReplaceAll(said, "$k", key); said == "CLOSE" {
			d.cut(cast[name[0]])
		} else {
			d.both(cast[name[0]], said)
		}
	}
	d.comeBack()
	d.look()
}

// comeBack connects those again who have gone.
func (d *trackingDialogue) comeBack() {
	d.t.Helper()
	for _, other := range []byte(trackingVoices) {
		if d.sides[0].voices[other].gone {
			d.ended++
			d.connect(other)
		}
	}
}

var chosen = regexp.MustCompile(`\$[kp]`)

func (d *trackingDialogue) fill(template string) string {
	return chosen.ReplaceAllStringFunc(template, func(word string) string {
		from := trackingKeys
		if word == "$p" {
			from = trackingPrefixes
		}
		return from[d.IntN(len(from))]
	})
}

// both says the same to both servers and compares what all clients hear.
func (d *trackingDialogue) both(name byte, line string) {
	d.t.Helper()
	other := trackingVoices[d.IntN(len(trackingVoices))]
	line = strings.ReplaceAll(line, "$c", "$"+string(other))
	if _, to, ok := strings.Cut(line, "REDIRECT $"); ok {
		d.aim[to[0]] = true
	}
	line = strings.ReplaceAll(line, "KILL ID $Z", "KILL ID $a")
	d.script = append(d.script, string(name)+"> "+line)
	heard := [2]map[byte][]string{{}, {}}
	for i, s := range d.sides {
		s.voices[name].say(d.t, s.withIDs(line))
		for _, other := range append([]byte{name}, trackingVoices...) {
			frames := s.normal(line, s.voices[other].hear(d.t))
			if d.aim[other] && (other == name || strings.Contains(line, "FLUSH")) { // Redis flushes its clients in any order
				frames = repliesFirst(frames)
			}
			heard[i][other] = append(heard[i][other], frames...)
		}
	}
	d.compare(heard)
	for _, frames := range heard[0] {
		for _, frame := range frames {
			if strings.Contains(frame, "invalidate") {
				d.pushes++
			}
			if strings.HasPrefix(frame, ">2\r\n$21\r\ntracking-redir-broken") {
				d.broken++
			}
		}
	}
}

// repliesFirst moves what is pushed behind the replies, in one order, if others
// redirect to the client that speaks: where such a push stands in Redis depends on
// whether the command has replied when it writes.
func repliesFirst(frames []string) []string {
	var replies, pushes []string
	for _, frame := range frames {
		if strings.HasPrefix(frame, ">2\r\n") || strings.Contains(frame, "message\r\n") {
			pushes = append(pushes, frame)
		} else {
			replies = append(replies, frame)
		}
	}
	return append(replies, slices.Sorted(slices.Values(pushes))...)
}

func (d *trackingDialogue) compare(heard [2]map[byte][]string) {
	d.t.Helper()
	if !maps.EqualFunc(heard[0], heard[1], slices.Equal) {
		d.t.Fatalf("got  %q\nwant %q\nafter\n%s", heard[0], heard[1], strings.Join(d.script[max(0, len(d.script)-200):], "\n"))
	}
}

// withIDs puts the clients' ids in.
func (s *side) withIDs(line string) string {
	for name, v := range s.voices {
		line = strings.ReplaceAll(line, "$"+string(name), v.id)
	}
	return line
}

var integer = regexp.MustCompile(`:\d+\r\n`)

// normal is what was heard without what differs by nature: ids, the answer to
// HELLO, and the form of the null that empties a cache where it is redirected to
// another protocol.
func (s *side) normal(line string, frames []string) []string {
	var all []string
	for _, frame := range frames {
		if strings.Contains(frame, "proto\r\n") {
			frame = "HELLO"
		}
		if strings.Contains(frame, "redir") || strings.Contains(line, "GETREDIR") {
			frame = integer.ReplaceAllStringFunc(frame, func(n string) string {
				if name, ok := s.names[strings.Trim(n, ":\r\n")]; ok {
					return ":" + name + "\r\n"
				}
				return n
			})
		}
		if strings.Contains(frame, "invalidate\r\n") {
			frame = strings.ReplaceAll(frame, "$-1\r\n", "_\r\n")
		}
		all = append(all, frame)
	}
	return all
}

// cut closes a client's connections, and goes on when the servers know.
func (d *trackingDialogue) cut(name byte) {
	d.t.Helper()
	d.script = append(d.script, string(name)+" goes")
	for _, s := range d.sides {
		v := s.voices[name]
		v.Close()
		v.gone = true
		waitFor(d.t, "the client to be gone", func() bool {
			s.voices['Z'].say(d.t, "CLIENT LIST ID "+v.id)
			return !strings.Contains(strings.Join(s.voices['Z'].hear(d.t), ""), "id=")
		})
	}
}

// look compares what INFO and CLIENT LIST tell of tracking.
func (d *trackingDialogue) look() {
	d.t.Helper()
	var told [2]map[byte][]string
	for i, s := range d.sides {
		z := s.voices['Z']
		z.say(d.t, "INFO")
		told[i] = map[byte][]string{'Z': fields(strings.Join(z.hear(d.t), ""), `(tracking_\w+:\d+)`)}
		for name, v := range s.voices {
			z.say(d.t, "CLIENT LIST ID "+v.id)
			line := strings.Join(z.hear(d.t), "")
			told[i][name] = append(told[i][name], fields(line, `(flags=\w+)`)...)
			for _, redir := range fields(line, ` redir=(-?\d+)`) {
				if other, ok := s.names[redir]; ok {
					redir = other
				}
				told[i][name] = append(told[i][name], redir)
			}
		}
	}
	d.compare(told)
}

func fields(text, pattern string) (found []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}
