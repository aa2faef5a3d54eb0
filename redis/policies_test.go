package redis

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
)

// Who may change what is kept, where the limits are, and what is told about
// forgetting. What the commands do is in testdata/histories.

func TestPoliciesAskForTheRightToTheKey(t *testing.T) {
	srv := New(openStore(t, firn.Options{Durability: firn.None}), Options{})
	newOurs(t, srv).Run(t, "SET mine:k 1", "SET other 1")
	for _, tt := range []struct {
		rules, command string
		allowed        bool
	}{
		{"+@all ~mine:*", "HISTORY ENABLE KEY mine:k", true},
		{"+@all ~mine:*", "HISTORY ENABLE KEY other", false},
		{"+@all ~mine:*", "HISTORY DISABLE KEY other", false},
		{"+@all ~mine:*", "HISTORY DISABLE KEY mine:k", true},
		{"+@all %R~mine:*", "HISTORY DISABLE KEY mine:k", false},
		{"+@all ~mine:*", "HISTORY ENABLE DATABASE 0", true},
		{"+@all ~mine:*", "HISTORY POLICY other", false},
		{"+@all %R~mine:*", "HISTORY POLICY mine:k", true},
		{"+@all ~mine:*", "HISTORY CLEAR other", false},
		{"+@all %R~mine:*", "HISTORY CLEAR mine:k", false},
		{"+@all ~mine:*", "HISTORY CLEAR mine:k", true},
		{"+@all -@admin ~*", "HISTORY CLEAR mine:k", false},
		{"+@all -@admin ~*", "HISTORY PRUNE BEFORE 1", false},
		{"+@all -@admin ~*", "HISTORY CONFIG", false},
		{"+@all -@dangerous ~*", "COMPACT", false},
		{"+@all -@dangerous ~*", "HOLD h TTL 5", false},
		{"+@all -@dangerous ~*", "RELEASE h", false},
		{"+@all -@dangerous ~*", "HOLDS", true},
		{"+@all -@dangerous ~*", "HISTORY POLICY mine:k", true},
		{"+@history ~*", "HISTORY DISABLE GLOBAL", true},
		{"+@read ~*", "HISTORY DISABLE GLOBAL", false},
		{"+@all -history|disable ~*", "HISTORY DISABLE GLOBAL", false},
	} {
		got := newUser(t, srv, "resetkeys -@all "+tt.rules).Run(t, tt.command)
		if allowed := !strings.HasPrefix(got, "-NOPERM"); allowed != tt.allowed || allowed && got[0] == '-' {
			t.Errorf("%s with %s: got %q, want allowed=%t", tt.command, tt.rules, got, tt.allowed)
		}
	}
	locked := newOurs(t, New(openStore(t, firn.Options{}), Options{Password: "secret"}))
	for _, command := range []string{"HISTORY CONFIG", "HISTORY ENABLE GLOBAL", "HISTORY CLEAR k", "COMPACT", "HOLD h TTL 5", "HOLDS", "RELEASE h"} {
		Check(t, command, locked.Run(t, command), "-NOAUTH Authentication required.\r\n")
	}
}

func TestKeysOfPolicyCommandsAreKnown(t *testing.T) {
	o := newOurs(t, New(openStore(t, firn.Options{}), Options{}))
	for command, want := range map[string]string{
		"HISTORY ENABLE KEY k RETENTION COUNT 5": "k",
		"HISTORY DISABLE KEY k":                  "k",
		"HISTORY CLEAR k BEFORE now":             "k",
		"HISTORY POLICY k":                       "k",
	} {
		Check(t, command, o.Run(t, "COMMAND GETKEYS "+command), fmt.Sprintf("*1\r\n$%d\r\n%s\r\n", len(want), want))
	}
}

func TestOneHoldTooMany(t *testing.T) {
	store := openStore(t, firn.Options{Durability: firn.None})
	o := newOurs(t, New(store, Options{}))
	for i := range 1000 {
		h := firn.Hold{Name: fmt.Sprint("h", i), Until: time.Now().Add(time.Hour)}
		if err := store.Hold(t.Context(), h); err != nil {
			t.Fatal(err)
		}
	}
	Check(t, "one more", o.Run(t, "HOLD more TTL 5"), "-ERR invalid hold: there are 1000, and may not be more\r\n")
	Check(t, "in the place of one", o.Run(t, "HOLD h7 TTL 5"), "+OK\r\n")
	long := strings.Repeat("n", 256)
	Check(t, "a long name", o.Run(t, "HOLD "+long+" TTL 5"), "-ERR invalid hold: name \""+long+"\" must have 1 to 255 bytes\r\n")
}

// TestRefusalsOfTheStoreAreTold: what a client can do something about is no
// internal error.
func TestRefusalsOfTheStoreAreTold(t *testing.T) {
	store := openStore(t, firn.Options{Durability: firn.None})
	for _, tt := range []struct {
		err  error
		want string
	}{
		{store.SetRetention(t.Context(), firn.Scope{Member: "m"}, nil), `ERR invalid retention policy: member "m" of no group`},
		{store.Hold(t.Context(), firn.Hold{Name: "h"}), `ERR invalid hold: "h" ends at `},
		{store.Hold(t.Context(), firn.Hold{Name: "h", At: 1, Until: time.Now().Add(time.Hour)}), "COMPACTED oldest readable timestamp is "},
	} {
		text, known := wire(tt.err)
		if !known || !strings.HasPrefix(text, tt.want) {
			t.Errorf("%v: got %q, known=%t, want %q", tt.err, text, known, tt.want)
		}
	}
}

// infoFields are the fields of INFO's own section.
func infoFields(t *testing.T, o *ours) map[string]string {
	t.Helper()
	fields := map[string]string{}
	for line := range strings.SplitSeq(ask(t, o, "INFO firn").text, "\r\n") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			fields[name] = value
		}
	}
	return fields
}

func TestForgettingIsCounted(t *testing.T) {
	a, _, clock := clockedPair(t, 0)
	a.Run(t, "SET k 1", "SET k 2", "SET k 3")
	held := a.lastTS(t)
	clock.advance(time.Minute)
	a.Run(t, "SET k 4", "HOLD h AT "+held+" TTL 60", "HISTORY ENABLE KEY k RETENTION UNLIMITED")

	before := infoFields(t, a)
	reply := ask(t, a, "COMPACT BEFORE now") // as far as the hold lets it
	if len(reply.elements) != 6 || reply.elements[1].text != "2" || reply.elements[5].text != held {
		t.Errorf("COMPACT: got %s, want 2 versions gone and the horizon %s", reply.flat(), held)
	}
	after := infoFields(t, a)
	for field, want := range map[string]string{
		"policies": "1", "holds": "1", "oldest_hold": held, "compacted_versions": "2", "failed_compactions": "0", "compaction_last_error": "",
		"compaction_lag_seconds": "0", "history_shortened": "0", "history_full": "0", "history_max_bytes": "0",
	} {
		if after[field] != want {
			t.Errorf("INFO %s: got %q, want %q", field, after[field], want)
		}
	}
	for _, field := range []string{"file_bytes", "free_bytes", "compactions", "compaction_last_ms"} {
		if after[field] == "" || field == "compactions" && after[field] == before[field] || field == "file_bytes" && after[field] == "0" {
			t.Errorf("INFO %s: got %q after %q", field, after[field], before[field])
		}
	}
	stats := ask(t, a, "HISTORY STATS").flat()
	if want := "compacted_versions,2,compaction_lag_seconds,0,policies,1,holds,1"; !strings.Contains(stats, want) {
		t.Errorf("HISTORY STATS: got %s, want %s in it", stats, want)
	}
}

func TestAHistoryThatIsTooLargeIsTold(t *testing.T) {
	store := openStore(t, firn.Options{Durability: firn.None, HistoryMaxBytes: 1})
	o := newOurs(t, New(store, Options{}))
	o.Run(t, "SET k 1", "SET k 2", "COMPACT")
	fields := infoFields(t, o)
	if fields["history_max_bytes"] != "1" || fields["history_full"] != "1" || fields["history_shortened"] == "0" {
		t.Errorf("past its bound: got max=%s full=%s shortened=%s", fields["history_max_bytes"], fields["history_full"], fields["history_shortened"])
	}
}
