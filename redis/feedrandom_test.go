package redis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
)

// Who reads a snapshot and then follows the feed with VALUES has at each token
// what a read AT it finds, whatever is written, forgotten and followed.

// follower is a client that keeps a copy.
type follower struct {
	*copied
	query  string
	token  string
	pages  int
	resets int
}

// newFollowers are clients that ask for different things.
func newFollowers() []*follower {
	all := []*follower{
		{query: ""}, {query: "COUNT 1"}, {query: "WHO BLOCK 1"},
		{query: "MATCH own* MATCH a COUNT 2", copied: &copied{patterns: []string{"own*", "a"}}},
		{query: "MATCH *w* ", copied: &copied{patterns: []string{"*w*"}}},
		{query: "MATCH own1 DB 0 DB 1 COUNT 3", copied: &copied{patterns: []string{"own1"}, databases: []int{0, 1}}},
		{query: "DB 1", copied: &copied{databases: []int{1}}},
		{query: "TYPE hash TYPE list", copied: &copied{kinds: []string{"hash", "list"}}},
		{query: "TYPE stream COUNT 1", copied: &copied{kinds: []string{"stream"}}},
	}
	for _, f := range all {
		if f.copied == nil {
			f.copied = &copied{}
		}
	}
	return all
}

// read reads the state of a database at a moment, as far as a follower wants it.
func (m *rememberer) read(f *follower, db int, ts string) map[string]*copiedKey {
	m.t.Helper()
	keys := map[string]*copiedKey{}
	m.ask("SELECT %d", db)
	for _, name := range m.ask("AT %s KEYS *", ts).texts() {
		if f.wants(db, name) {
			if k := m.readKey(strconv.Quote(name), ts); len(f.kinds) == 0 || slices.Contains(f.kinds, k.kind) {
				keys[name] = k
			}
		}
	}
	return keys
}

func (m *rememberer) readKey(name, ts string) *copiedKey {
	m.t.Helper()
	at := func(format string, args ...any) value {
		v := m.ask("AT "+ts+" "+format, args...)
		if v.mark == '-' {
			m.t.Fatalf("seed %d: AT %s %s of %s: %s", m.g.seed, ts, format, name, v.text)
		}
		return v
	}
	k := newCopiedKey(at("TYPE %s", name).text)
	k.expires = numberOf(at("PEXPIRETIME %s", name))
	switch k.kind {
	case "string":
		k.text = at("GET %s", name).text
	case "hash":
		for field, v := range mapOf(at("HGETALL %s", name)) {
			k.fields[field] = v.text
			if end := numberOf(at("HPEXPIRETIME %s FIELDS 1 %s", name, strconv.Quote(field)).elements[0]); end >= 0 {
				k.ends[field] = end
			}
		}
	case "set":
		for _, member := range at("SMEMBERS %s", name).texts() {
			k.fields[member] = ""
		}
	case "zset":
		for _, pair := range at("ZRANGE %s 0 -1 WITHSCORES", name).elements {
			k.fields[pair.elements[0].text] = pair.elements[1].text
		}
	case "list":
		k.items = at("LRANGE %s 0 -1", name).texts()
	case "stream":
		m.readStream(k, mapOf(at("XINFO STREAM %s FULL COUNT 0", name)))
	}
	return k
}

func (m *rememberer) readStream(k *copiedKey, info map[string]value) {
	for _, e := range info["entries"].elements {
		k.entries[e.elements[0].text] = fmt.Sprint(e.elements[1].texts())
	}
	k.whole = [3]string{info["last-generated-id"].text, info["max-deleted-entry-id"].text, info["entries-added"].text}
	for _, v := range info["groups"].elements {
		of := mapOf(v)
		g := &copiedGroup{last: of["last-delivered-id"].text, read: of["entries-read"].text, consumers: map[string]string{}, pending: map[string]string{}}
		if of["entries-read"].null {
			g.read = "-1"
		}
		for _, c := range of["consumers"].elements {
			consumer := mapOf(c)
			g.consumers[consumer["name"].text] = consumer["seen-time"].text
		}
		for _, p := range of["pending"].elements {
			g.pending[p.elements[0].text] = fmt.Sprint(p.texts()[1:])
		}
		k.groups[of["name"].text] = g
	}
}

// databases are those that the steps select.
const databases = 3

// begin reads a snapshot, to follow from.
func (m *rememberer) begin(f *follower) {
	m.t.Helper()
	f.token = mapOf(m.ask("HORIZON"))["token"].text
	f.dbs = map[int]map[string]*copiedKey{}
	f.reread = func(db int, ts string) map[string]*copiedKey { return m.read(f, db, ts) }
	for db := range 16 {
		if len(f.databases) == 0 || slices.Contains(f.databases, db) {
			f.dbs[db] = m.read(f, db, f.token)
		}
	}
}

// follow takes one page, and says whether there may be more.
func (m *rememberer) follow(f *follower) (more bool) {
	m.t.Helper()
	page := m.ask("CHANGES %s VALUES %s", f.token, f.query)
	if page.mark == '-' && strings.HasPrefix(page.text, "COMPACTED") {
		f.resets++
		m.begin(f)
		return true
	}
	if page.mark == '-' {
		m.t.Fatalf("seed %d: CHANGES %s VALUES %s: %s", m.g.seed, f.token, f.query, page.text)
	}
	for _, c := range page.elements[1].elements {
		f.commit(m.t, c)
	}
	if m.t.Failed() {
		m.t.Fatalf("seed %d: CHANGES %s VALUES %s:\n%v", m.g.seed, f.token, f.query, page)
	}
	f.pages++
	more = page.elements[0].text != f.token
	f.token = page.elements[0].text
	return more
}

// compare holds a follower's copy against what is read at its token.
func (m *rememberer) compare(f *follower) {
	m.t.Helper()
	ts, err := m.r.store.Moment(f.token)
	if err != nil {
		m.t.Fatal(err)
	}
	want := follower{copied: &copied{dbs: map[int]map[string]*copiedKey{}}}
	for db := range 16 {
		if len(f.databases) == 0 || slices.Contains(f.databases, db) {
			want.dbs[db] = m.read(f, db, f.token)
		}
	}
	got, expected := strings.Split(f.text(ts.Millis()), "\n"), strings.Split(want.text(ts.Millis()), "\n")
	if !slices.Equal(got, expected) {
		extra := slices.DeleteFunc(slices.Clone(got), func(line string) bool { return slices.Contains(expected, line) })
		missing := slices.DeleteFunc(slices.Clone(expected), func(line string) bool { return slices.Contains(got, line) })
		m.t.Fatalf("seed %d: %q at %d:\n got %s\nwant %s", m.g.seed, f.query, ts, strings.Join(extra, "\n"), strings.Join(missing, "\n"))
	}
}

// write takes a step that changes something, in one of the databases, and
// sometimes several in one transaction.
func (m *rememberer) write() {
	m.t.Helper()
	m.clock.advance(time.Duration(m.g.IntN(400)+1) * time.Millisecond)
	say := func(format string, args ...any) {
		m.mine.tell(m.t, SplitWords(m.t, fmt.Sprintf(format, args...))...)
	}
	key := func() string {
		if m.g.IntN(3) == 0 {
			return fmt.Sprintf("own_%c", "hlsztx"[m.g.IntN(6)])
		}
		return strconv.Quote(string(m.g.draw("$anykey")))
	}
	switch m.g.IntN(24) {
	case 0, 1:
		say("SELECT %d", m.g.IntN(databases))
	case 2:
		say("SWAPDB %d %d", m.g.IntN(databases), m.g.IntN(databases))
	case 3, 4:
		say("RENAME %s %s", key(), key())
	case 5:
		say("COPY %s %s DB %d REPLACE", key(), key(), m.g.IntN(databases))
	case 6:
		say("MOVE %s %d", key(), m.g.IntN(databases))
	case 7:
		if len(m.moments) > 0 {
			say("HISTORY REVERT %s TO %d", key(), m.moment())
		}
	case 8:
		if payload := m.mine.tell(m.t, []byte("DUMP"), []byte("own1")); len(payload) > 10 {
			v, _, _ := parseValue(payload)
			m.mine.tell(m.t, []byte("RESTORE"), m.g.draw("$anykey"), []byte("0"), []byte(v.text), []byte("REPLACE"))
		}
	case 9:
		if m.g.IntN(8) == 0 {
			say("FLUSHALL")
		}
	case 10, 11, 12, 13, 14, 15, 16:
		n := m.g.IntN(12)
		say("%s", strings.NewReplacer("f$n", fmt.Sprint("f", n%4), "f$m", fmt.Sprint("f", m.g.IntN(4)), "$n", strconv.Itoa(n), "$m", strconv.Itoa(m.g.IntN(12)), "$g", strconv.Itoa(n%2)).Replace(intricate[m.g.IntN(len(intricate))]))
	default:
		m.mine.tell(m.t, m.g.timedWrite()...)
	}
}

// intricate are commands whose changes take the most to tell, on keys of their
// own that live for long.
var intricate = strings.Split(`RPUSH own_l a$n b$m c$n
LPUSH own_l z$n y$m
LPOP own_l
RPOP own_l
LREM own_l 1 a$n
LREM own_l -2 b$m
LINSERT own_l BEFORE b$n i$m
LINSERT own_l AFTER c$n i$m
LINSERT own_l AFTER i$n i$m
LSET own_l $n s$m
LSET own_l -1 s$m
LTRIM own_l 0 $m
LTRIM own_l -20 -1
LMOVE own_l own_l LEFT RIGHT
HSET own_h f$n v$m f$m w
HSET own_h f$n v
HDEL own_h f$n f$m
HPEXPIRE own_h 9000 FIELDS 2 f$n f$m
HPERSIST own_h FIELDS 1 f$n
HINCRBY own_h n$n 1
PEXPIRE own_h 20000
PERSIST own_h
SADD own_s m$n m$m
SREM own_s m$n
SMOVE own_s own_t m$n
ZADD own_z $n m$m
ZADD own_z -0 m$n
ZINCRBY own_z 1.5 m$n
ZADD own_z -0 long$n-0123456789012345678901234567890123456789012345678901234567890123456789
ZREM own_z m$n
ZPOPMIN own_z
ZREMRANGEBYRANK own_z 0 1
XADD own_x * f v$n
XADD own_x MAXLEN ~ 5 * f v$n g $m
XADD own_x * f v
XGROUP CREATE own_x g$g 0 MKSTREAM
XGROUP DESTROY own_x g$g
XGROUP CREATECONSUMER own_x g$g c$m
XGROUP DELCONSUMER own_x g$g c$n
XGROUP SETID own_x g$g 0
XREADGROUP GROUP g$g c$m COUNT 2 STREAMS own_x >
XREADGROUP GROUP g$g c$m COUNT 2 STREAMS own_x >
XREADGROUP GROUP g$g c$m COUNT 2 STREAMS own_x 0
XAUTOCLAIM own_x g$g c$n 0 0 COUNT 2
XTRIM own_x MAXLEN $n
XSETID own_x 99999999999999-$n`, "\n")

// followStep writes, and lets some of the followers go on.
func (m *rememberer) followStep(followers []*follower) {
	m.t.Helper()
	if m.g.IntN(6) == 0 {
		m.mine.tell(m.t, []byte("MULTI"))
		for range m.g.IntN(6) + 2 {
			m.write()
		}
		m.mine.tell(m.t, []byte("EXEC"))
	} else {
		m.write()
	}
	if m.g.IntN(5) == 0 {
		m.step() // with a sweep now and then, and a moment
	}
	if m.g.IntN(60) == 0 {
		m.ask("COMPACT BEFORE %d", m.clock.now().UnixMicro()-int64(m.g.IntN(20_000_000)))
	}
	for _, f := range followers {
		if m.g.IntN(8) > 0 {
			continue
		}
		if f.token == "" {
			m.begin(f)
		}
		for m.follow(f) && m.g.IntN(10) > 0 {
			if m.g.IntN(4) == 0 {
				m.compareIfReadable(f)
			}
		}
		m.compareIfReadable(f)
	}
}

// compareIfReadable is compare, unless the token is forgotten by now.
func (m *rememberer) compareIfReadable(f *follower) {
	m.t.Helper()
	ts, _ := m.r.store.Moment(f.token)
	if ts >= m.r.store.Bounds().Oldest {
		m.compare(f)
	}
}

func TestRandomFollowersHaveWhatThereIs(t *testing.T) {
	for name, o := range historyOptions() {
		for _, ring := range []int64{0, -1} {
			t.Run(fmt.Sprintf("%s/ring=%t", name, ring == 0), func(t *testing.T) {
				o.Durability, o.FollowBytes = firn.None, ring
				m := newRememberer(t, o)
				m.ask("HELLO 3")
				followers := newFollowers()
				for range kindSteps(t, name, 4000) / 4 {
					m.followStep(followers)
				}
				pages, resets := 0, 0
				for _, f := range followers {
					for m.follow(f) {
					}
					m.compareIfReadable(f)
					pages, resets = pages+f.pages, resets+f.resets
				}
				t.Logf("%d pages, %d new beginnings", pages, resets)
				if pages < 50 {
					t.Errorf("seed %d: only %d pages", m.g.seed, pages)
				}
			})
		}
	}
}
