package redis

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/redis/command"
)

// Users may do what their rules say, from the next command on, and nothing
// else.

// words are the texts of a reply's elements, at any depth.
func (v value) words() []string {
	if v.elements == nil {
		return []string{v.text}
	}
	var all []string
	for _, e := range v.elements {
		all = append(all, e.words()...)
	}
	return all
}

func ask(t testing.TB, with talker, command string) value {
	t.Helper()
	v, _, err := parseValue(with.tell(t, SplitWords(t, command)...))
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return v
}

// TestCategoriesAreThoseOfRedis compares the categories of every command that both
// servers have.
func TestCategoriesAreThoseOfRedis(t *testing.T) {
	redis := startRedis(t)()
	table := command.NewRegistry(Commands())
	theirs := map[string]command.Category{}
	for _, name := range ask(t, redis, "ACL CAT").words() {
		for _, word := range ask(t, redis, "ACL CAT "+name).words() {
			theirs[word] |= command.CategoryNamed(name)
		}
	}
	for _, e := range table.Numbered {
		want, ok := theirs[e.Full]
		if got := e.Category(); ok && e.Run != nil && got != want {
			t.Errorf("%s: got %s, want %s", e.Full, got.Names(), want.Names())
		}
	}
}

// newUser is a session of a user with rules.
func newUser(t *testing.T, srv *Server, rules string) *ours {
	t.Helper()
	if err := srv.SetUser("u on nopass " + rules); err != nil {
		t.Fatal(err)
	}
	o := newOurs(t, srv)
	Check(t, "AUTH", o.Run(t, "AUTH u x"), "+OK\r\n")
	return o
}

func TestChangedRulesHoldAtOnce(t *testing.T) {
	srv := New(openStore(t, firn.Options{}), Options{})
	admin := newOurs(t, srv)
	u := newUser(t, srv, "+get ~*")
	Check(t, "GET", u.Run(t, "GET k"), "$-1\r\n")
	admin.Run(t, "ACL SETUSER u -get")
	Check(t, "GET, forbidden", u.Run(t, "GET k"), "-NOPERM this user has no permissions to run the 'get' command\r\n")
	admin.Run(t, "ACL SETUSER u +@all &*")
	if srv.users.Find("u").Bounds.Load() != nil {
		t.Error("a user who may do everything is checked")
	}
	Check(t, "SET", u.Run(t, "SET k v"), "+OK\r\n")
	admin.Run(t, "ACL SETUSER u resetkeys ~x")
	Check(t, "a pipeline", u.Run(t, "GET x", "GET k", "SET x 1"),
		"$-1\r\n-NOPERM this user has no permissions to access one of the keys used as arguments\r\n+OK\r\n")
}

func TestDeletedUsersAreDisconnected(t *testing.T) {
	srv := New(openStore(t, firn.Options{}), Options{})
	admin, u := newOurs(t, srv), newUser(t, srv, "+@all")
	hung := false
	u.session.Hang = func() { hung = true }
	Check(t, "ACL DELUSER", admin.Run(t, "ACL DELUSER u"), ":1\r\n")
	if need := u.session.Run(); !hung || need != NeedClose {
		t.Errorf("the user's session: got hung=%t and %d, want true and NeedClose", hung, need)
	}
	Check(t, "others", admin.Run(t, "PING"), "+PONG\r\n")

	self := newUser(t, srv, "+@all")
	Check(t, "ACL DELUSER of oneself", self.Run(t, "ACL DELUSER u"), ":1\r\n")
	if need := self.session.Run(); need != NeedClose {
		t.Errorf("one's own session: got %d, want NeedClose", need)
	}
}

// TestListenersWhoLoseAChannelAreDisconnected: and nobody else is.
func TestListenersWhoLoseAChannelAreDisconnected(t *testing.T) {
	for _, tt := range []struct {
		subscribe, rules string
		hangs            bool
	}{
		{"SUBSCRIBE a b", "resetchannels &a", true},
		{"SUBSCRIBE a", "resetchannels &a &b", false},
		{"SUBSCRIBE a", "resetchannels &x (&a*)", false},
		{"SSUBSCRIBE a", "resetchannels &b", true},
		{"PSUBSCRIBE a*", "resetchannels &a*", false},
		{"PSUBSCRIBE a*", "resetchannels &*a*", true},
		{"SUBSCRIBE a", "-@all", false},
		{"SUBSCRIBE a", "allchannels off", false},
		{"PING", "resetchannels", false},
	} {
		srv := New(openStore(t, firn.Options{}), Options{})
		admin, u := newOurs(t, srv), newUser(t, srv, "+@all allchannels")
		admin.Run(t, "SUBSCRIBE other")
		admin.Run(t, "RESET")
		u.Run(t, tt.subscribe)
		Check(t, tt.rules, admin.Run(t, "ACL SETUSER u "+tt.rules), "+OK\r\n")
		if need := u.session.Run(); (need == NeedClose) != tt.hangs {
			t.Errorf("%s, then %s: got %d, want closed %t", tt.subscribe, tt.rules, need, tt.hangs)
		}
	}
}

func TestClientsAreKilledByUser(t *testing.T) {
	srv := New(openStore(t, firn.Options{}), Options{})
	admin, u := newOurs(t, srv), newUser(t, srv, "+@all")
	Check(t, "nobody", admin.Run(t, "CLIENT KILL USER nobody"), "-ERR No such user 'nobody'\r\n")
	Check(t, "u", admin.Run(t, "CLIENT KILL USER u"), ":1\r\n")
	if need := u.session.Run(); need != NeedClose {
		t.Errorf("the user's session: got %d, want NeedClose", need)
	}
}

func TestThePastIsGuardedLikeThePresent(t *testing.T) {
	srv := New(openStore(t, firn.Options{}), Options{})
	admin := newOurs(t, srv)
	admin.Run(t, "SET mine 1", "SET yours 2")
	ts := admin.lastTS(t)
	u := newUser(t, srv, "~mine %W~yours +@all -set")
	noKey := "-NOPERM this user has no permissions to access one of the keys used as arguments\r\n"
	for command, want := range map[string]string{
		"AT " + ts + " GET mine":     "$1\r\n1\r\n",
		"AT " + ts + " GET yours":    noKey,
		"HISTORY GETAT mine " + ts:   "$1\r\n1\r\n",
		"HISTORY GETAT yours " + ts:  noKey,
		"HISTORY GET yours":          noKey,
		"KEYINFO yours":              noKey,
		"SET mine 2":                 "-NOPERM this user has no permissions to run the 'set' command\r\n",
		"AT " + ts + " SET mine 2":   "-READONLY AT runs read commands only\r\n",
		"EXISTS yours":               ":1\r\n",
		"MULTI\r\nGET mine\r\nEXEC":  "+OK\r\n+QUEUED\r\n*1\r\n$1\r\n1\r\n",
		"MULTI\r\nGET yours\r\nEXEC": "+OK\r\n" + noKey + "-EXECABORT Transaction discarded because of previous errors.\r\n",
		"CLIENT ASOF " + ts:          "+OK\r\n",
	} {
		Check(t, command, u.Run(t, command), want)
		u.Run(t, "CLIENT ASOF OFF")
	}
	admin.Run(t, "ACL SETUSER u -get")
	Check(t, "AT without GET", u.Run(t, "AT "+ts+" GET mine"), "-NOPERM this user has no permissions to run the 'get' command\r\n")
}

func TestRefusalsAreLogged(t *testing.T) {
	srv := New(openStore(t, firn.Options{}), Options{})
	admin, u := newOurs(t, srv), newUser(t, srv, "+get +multi +auth ~a")
	u.Run(t, "GET b", "GET b", "SET a 1", "AUTH u", "MULTI", "GET b", "NOSUCH")
	u.Run(t, "RESET")
	u.Run(t, "AUTH nobody pass")
	log := ask(t, admin, "ACL LOG")
	var got []string
	for _, e := range log.elements {
		f := e.words()
		if f[0] != "count" || f[10] != "age-seconds" || f[12] != "client-info" || f[14] != "entry-id" || f[16] != "timestamp-created" || f[18] != "timestamp-last-updated" {
			t.Fatalf("fields: got %q", f)
		}
		got = append(got, strings.Join([]string{f[1], f[3], f[5], f[7], f[9]}, " "))
	}
	want := []string{"1 auth toplevel auth nobody", "1 key multi b u", "1 command toplevel set u", "2 key toplevel b u"}
	if !slices.Equal(got, want) {
		t.Errorf("ACL LOG:\n got %q\nwant %q", got, want)
	}
	if n := len(ask(t, admin, "ACL LOG 1").elements); n != 1 {
		t.Errorf("ACL LOG 1: got %d entries, want 1", n)
	}
	admin.Run(t, "CONFIG SET acllog-max-len 2")
	if n := len(ask(t, admin, "ACL LOG").elements); n != 2 {
		t.Errorf("with acllog-max-len 2: got %d entries, want 2", n)
	}
	admin.Run(t, "ACL LOG RESET")
	Check(t, "after RESET", admin.Run(t, "ACL LOG"), "*0\r\n")
}

func TestPatternsOfSubscriptionsAreTakenLiterally(t *testing.T) {
	srv := New(openStore(t, firn.Options{}), Options{})
	if err := srv.SetUser("u +@all &news* &exact"); err != nil {
		t.Fatal(err)
	}
	r := srv.users.Find("u").Rights.Load()
	for _, tt := range []struct {
		name, args string
		want       acl.Denial
	}{
		{"SUBSCRIBE", "exact newspaper", acl.DenialNone}, {"SUBSCRIBE", "exact other", acl.DenialChannel},
		{"PSUBSCRIBE", "news*", acl.DenialNone}, {"PSUBSCRIBE", "newsp*", acl.DenialChannel}, {"PSUBSCRIBE", "exact", acl.DenialNone},
		{"PUBLISH", "news hello", acl.DenialNone}, {"PUBLISH", "other news", acl.DenialChannel},
		{"SSUBSCRIBE", "other", acl.DenialChannel}, {"SPUBLISH", "exact hello", acl.DenialNone}, {"UNSUBSCRIBE", "other", acl.DenialNone},
	} {
		if got, _ := r.Check(srv.commands.ByName[tt.name], SplitWords(t, tt.args)); got != tt.want {
			t.Errorf("%s %s: got %d, want %d", tt.name, tt.args, got, tt.want)
		}
	}
}

// TestACLFiles saves users, changes them, and loads them again; a file with
// mistakes changes nothing.
func TestACLFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "users.acl")
	if err := os.WriteFile(file, []byte("user default on nopass ~* &* +@all\n\n user a  on >p ~x +@read \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	srv := New(openStore(t, firn.Options{}), Options{ACLFile: file})
	if err := srv.LoadACL(); err != nil {
		t.Fatal(err)
	}
	admin, a := newOurs(t, srv), newOurs(t, srv)
	Check(t, "AUTH", a.Run(t, "AUTH a p"), "+OK\r\n")
	before := ask(t, admin, "ACL LIST").words()
	Check(t, "SAVE", admin.Run(t, "ACL SAVE"), "+OK\r\n")
	saved, err := os.ReadFile(file)
	if err != nil || string(saved) != strings.Join(before, "\n")+"\n" {
		t.Errorf("saved: got %q, %v, want %q", saved, err, before)
	}
	if left, _ := filepath.Glob(file + ".tmp-*"); left != nil {
		t.Errorf("left behind: %q", left)
	}
	admin.Run(t, "ACL SETUSER a -@all", "ACL SETUSER b on nopass +@all")
	b := newOurs(t, srv)
	b.Run(t, "AUTH b x")
	Check(t, "LOAD", admin.Run(t, "ACL LOAD"), "+OK\r\n")
	if after := ask(t, admin, "ACL LIST").words(); !slices.Equal(after, before) {
		t.Errorf("loaded:\n got %q\nwant %q", after, before)
	}
	Check(t, "who stays", a.Run(t, "GET x"), "$-1\r\n")
	if need := b.session.Run(); need != NeedClose {
		t.Errorf("who is gone: got %d, want NeedClose", need)
	}
	wrong := "# no comments\nuser c +foo +bar ~* ~x &* &y\nuser c\nuser x (+get\n"
	if err := os.WriteFile(file, []byte(wrong), 0o600); err != nil {
		t.Fatal(err)
	}
	Check(t, "a wrong file", admin.Run(t, "ACL LOAD"), strings.ReplaceAll("-ERR F:1 should start with user keyword followed by the username. "+
		"F:2: Error in applying operation '+foo': Unknown command or category name in ACL. "+
		"F:2: Error in applying operation '+bar': Unknown command or category name in ACL. "+
		"F:2: "+string(acl.ErrACLPattern)+". WARNING: Duplicate user 'c' found on line 3. "+
		"F:4: Unmatched parenthesis in selector definition. "+
		"WARNING: ACL errors detected, no change to the previously active ACL rules was performed\r\n", "F", file))
	if after := ask(t, admin, "ACL LIST").words(); !slices.Equal(after, before) {
		t.Errorf("after a wrong file:\n got %q\nwant %q", after, before)
	}
	os.Remove(file)
	Check(t, "no file", admin.Run(t, "ACL LOAD"), "-ERR Error loading ACLs, opening file '"+file+"': No such file or directory\r\n")
}

func TestClientsOfAClosedServerAuthenticate(t *testing.T) {
	srv := New(openStore(t, firn.Options{}), Options{})
	early := newOurs(t, srv)
	Check(t, "off", early.Run(t, "ACL SETUSER default off"), "+OK\r\n")
	Check(t, "who was there", early.Run(t, "PING"), "+PONG\r\n")
	late := newOurs(t, srv)
	Check(t, "who comes", late.Run(t, "PING"), "-NOAUTH Authentication required.\r\n")
	Check(t, "on", early.Run(t, "ACL SETUSER default on"), "+OK\r\n")
	Check(t, "open again", late.Run(t, "PING"), "+PONG\r\n")
}

// TestManyRulesAreRefused keeps to the limits.
func TestManyRulesAreRefused(t *testing.T) {
	l := acl.NewACL(command.NewRegistry(Commands()), "")
	r := &acl.Rights{Selectors: []acl.Selector{l.NewSelector()}}
	var err error
	n := 0
	for ; err == nil && n <= acl.MaxPatterns; n++ {
		err = l.ApplyUser(r, fmt.Sprintf("&c%d", n))
	}
	if err != acl.ErrACLTooMany || n != acl.MaxPatterns+1 {
		t.Errorf("channels: got %v after %d, want %v after %d", err, n, acl.ErrACLTooMany, acl.MaxPatterns+1)
	}
	for err, n = nil, 0; err == nil && n <= acl.MaxSelectors; n++ {
		err = l.ApplyUser(r, "(+get)")
	}
	if err != acl.ErrACLTooMany {
		t.Errorf("selectors: got %v after %d, want %v", err, n, acl.ErrACLTooMany)
	}
}

// TestDescriptionsMakeTheSameUser applies random rules, and the description of
// what they made to another user: both may do the same.
func TestDescriptionsMakeTheSameUser(t *testing.T) {
	seed := seed.Fresh(t)
	random := seed.Rand(0)
	l := acl.NewACL(command.NewRegistry(Commands()), "")
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	rule := func() string {
		switch random.IntN(8) {
		case 0:
			return pick("on", "off", "nopass", "resetpass", ">p", ">q", "<p", "reset", "sanitize-payload", "clearselectors")
		case 1:
			return pick("~a*", "%R~b", "%W~b", "%RW~c", "allkeys", "resetkeys", "~*", "&x", "&y*", "allchannels", "resetchannels")
		case 2:
			return pick("+@all", "-@all", "+select|1", "+select|2", "-select", "+config|get", "-config")
		case 3:
			return "(" + pick("+get", "+@hash", "-@all", "+@all -@admin", "+select|7") + " " + pick("~k", "%W~k", "allkeys", "&z") + ")"
		case 4, 5:
			return pick("+@", "-@") + command.CategoryNames[random.IntN(len(command.CategoryNames))]
		}
		return pick("+", "-") + l.Commands.Numbered[random.IntN(len(l.Commands.Numbered))].Full
	}
	for range 100 {
		r := &acl.Rights{Selectors: []acl.Selector{l.NewSelector()}}
		var rules []string
		for range random.IntN(30) {
			rules = append(rules, rule())
			if err := l.ApplyUser(r, rules[len(rules)-1]); err != nil && err != acl.ErrACLPattern && err != acl.ErrACLChannel && err != acl.ErrACLNoPassword {
				t.Fatalf("%q: %v", rules[len(rules)-1], err)
			}
		}
		text := l.Describe(acl.NewAccount("u", r))
		users, problems := l.Parse(text, "F")
		if problems != "" {
			t.Fatalf("%q of %q: %s", text, rules, problems)
		}
		again := users["u"]
		if got := l.Describe(acl.NewAccount("u", again)); got != text {
			t.Errorf("rules %q:\n got %s\nwant %s", rules, got, text)
		}
		for i := range r.Selectors {
			for _, e := range l.Commands.Numbered {
				if got, want := again.Selectors[i].Commands.Has(e), r.Selectors[i].Commands.Has(e); got != want {
					t.Errorf("rules %q, %s: got %t, want %t", rules, e.Full, got, want)
				}
			}
		}
	}
}
