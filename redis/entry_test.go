package redis

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
)

// A command is an entry: these two are nothing else, and all that the server
// knows about commands follows.
var newCommands = []command.Command{
	{
		Name: "TRUNCATE", Args: "key", Min: 1, Flags: command.Writes | command.Fast, Keys: command.FirstKey(command.Overwrites),
		Group: "string", Since: "9.0.0", Complexity: "O(1)", Summary: "Makes the string at key empty.", Operation: "CUT",
		Run: func(c *command.Call) error {
			s, err := c.OpenKind(c.Args[0], keyspace.KindString)
			if err != nil {
				return err
			}
			c.Reply.Simple("OK")
			return c.WriteString(&s, nil, keyspace.Compact, 0)
		},
	},
	{
		Name: "COMPARE", Args: "key key [key ...]", Min: 2, Max: -1, Flags: command.ReadOnly, Keys: command.AllKeys(command.Reads),
		Categories: command.CatString | command.CatDangerous, Group: "string", Since: "9.0.0", Complexity: "O(n), n the keys", Tips: []string{"request_policy:multi_shard"},
		Deprecated: command.Deprecation{Since: "9.1.0", Instead: "`MGET`"}, Summary: "Says whether all keys have the same string.",
		Run: func(c *command.Call) error {
			var first []byte
			for i, key := range c.Args {
				k, _, err := c.FindKind(key, keyspace.KindString)
				if err != nil {
					return err
				}
				if i == 0 {
					first = k.Value
				}
				if !bytes.Equal(first, k.Value) {
					command.ReplyFlag(c, false)
					return nil
				}
			}
			command.ReplyFlag(c, true)
			return nil
		},
	},
}

func serverWithNewCommands(t *testing.T) *Server {
	srv := New(openStore(t, firn.Options{}), Options{})
	srv.commands = command.NewRegistry(append(Commands(), newCommands...))
	srv.users = acl.NewACL(srv.commands, "")
	return srv
}

func TestAnEntryIsAllThatACommandTakes(t *testing.T) {
	srv := serverWithNewCommands(t)
	if err := srv.SetUser("u +@all -@dangerous on nopass ~*"); err != nil {
		t.Fatal(err)
	}
	if err := srv.SetUser("reader +@all on nopass %R~a %R~b"); err != nil {
		t.Fatal(err)
	}
	a := newOurs(t, srv)
	a.Run(t, "SET a x", "SET b x")
	then := a.lastTS(t)
	a.expect(t,
		"COMPARE a", "(error) ERR wrong number of arguments for 'compare' command",
		"TRUNCATE a b", "(error) ERR wrong number of arguments for 'truncate' command",
		"COMPARE a b", "(integer) 1",
		"TRUNCATE a", "OK",
		"COMPARE a b", "(integer) 0",
		"AT "+then+" COMPARE a b", "(integer) 1",
		"AT "+then+" TRUNCATE a", "(error) "+string(errATReads),
		"COMMAND GETKEYS COMPARE a b", "1) \"a\"\n2) \"b\"",
		"ACL DRYRUN u COMPARE a b", "\"This user has no permissions to run the 'compare' command\"",
		"ACL DRYRUN u TRUNCATE a", "OK",
		"ACL DRYRUN reader COMPARE a b", "OK",
		"ACL DRYRUN reader COMPARE a c", "\"This user has no permissions to access the 'c' key\"",
		"ACL DRYRUN reader TRUNCATE a", "\"This user has no permissions to access the 'a' key\"",
		"CLIENT ASOF "+then, "OK",
		"COMPARE a b", "(integer) 1",
		"TRUNCATE a", "(error) "+string(errASOF),
		"CLIENT ASOF OFF", "OK",
	)
	if events := a.Run(t, "HISTORY GET a"); !strings.Contains(events, "CUT") {
		t.Errorf("history: got %q, want CUT in it", events)
	}
}

func TestWhatIsToldOfACommandFollowsFromItsEntry(t *testing.T) {
	a := newOurs(t, serverWithNewCommands(t))
	for question, want := range map[string]string{
		"COMMAND INFO truncate": "truncate 2 write fast 1 1 1 @write @string @fast flags OW update begin_search type index spec index 1 find_keys type range spec lastkey 0 keystep 1 limit 0",
		"COMMAND INFO compare": "compare -3 readonly 1 -1 1 @read @string @slow @dangerous request_policy:multi_shard " +
			"flags RO access begin_search type index spec index 1 find_keys type range spec lastkey -1 keystep 1 limit 0",
		"COMMAND DOCS compare": "compare summary Says whether all keys have the same string. since 9.0.0 group string complexity O(n), n the keys doc_flags deprecated " +
			"deprecated_since 9.1.0 replaced_by `MGET` arguments name key type key key_spec_index 0 name key type key key_spec_index 0 flags multiple",
	} {
		Check(t, question, strings.Join(strings.Fields(strings.Join(ask(t, a, question).words(), " ")), " "), want)
	}
	if cat := ask(t, a, "ACL CAT dangerous").words(); !slices.Contains(cat, "compare") || slices.Contains(cat, "truncate") {
		t.Errorf("dangerous: got %q, want compare among them, and not truncate", cat)
	}
	if page := markdown(newCommands); !strings.Contains(page, "| `COMPARE key key [key ...]` | read | 9.0.0 | Says whether all keys have the same string. | O(n), n the keys |") {
		t.Errorf("page: got %s, want COMPARE in it", page)
	}
}

// TestTrackingFollowsFromTheEntry: what a command reads is invalidated.
func TestTrackingFollowsFromTheEntry(t *testing.T) {
	srv := serverWithNewCommands(t)
	a, b := newOurs(t, srv), newOurs(t, srv)
	a.Run(t, "SET a x", "SET b x", "HELLO 3", "CLIENT TRACKING ON", "COMPARE a b")
	b.Run(t, "TRUNCATE b")
	if got := invalidated(t, a.take(t)); len(got) != 1 || got[0] != "b" {
		t.Errorf("got %q, want b", got)
	}
}
