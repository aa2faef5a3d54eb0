package seed

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// Rule 32: a random test prints a command that reproduces it.

func TestReplayIsTheCommandThatRanTheTest(t *testing.T) {
	t.Setenv(soakVariable, "")
	short := ""
	if testing.Short() {
		short = "-short "
	}
	for _, tt := range []struct{ test, path, race, soak, want string }{
		{"TestA", "example.org/m/redis.test", "", "",
			"FIRN_SEED=17 go test " + short + "-count=1 -run '^TestA$' ./redis"},
		{"TestA", "example.org/m.test", "true", "",
			"FIRN_SEED=17 go test -race " + short + "-count=1 -run '^TestA$' ."},
		{"TestA/tail=1,x=(2)/it's", "example.org/m/cmd/m.test", "false", "1000",
			"FIRN_SEED=17 FIRN_SOAK=1000 go test " + short + `-count=1 -run '^TestA$/^tail=1,x=\(2\)$/^it'\''s$' ./cmd/m`},
	} {
		t.Setenv(soakVariable, tt.soak)
		build := &debug.BuildInfo{
			Path: tt.path, Main: debug.Module{Path: "example.org/m"},
			Settings: []debug.BuildSetting{{Key: "-race", Value: tt.race}},
		}
		if got := replay(tt.test, 17, build); got != tt.want {
			t.Errorf("replay of %s:\n got %s\nwant %s", tt.test, got, tt.want)
		}
	}
}

func TestSeedsFollowTheEnvironment(t *testing.T) {
	for _, tt := range []struct {
		seed, soak string
		fresh      bool  // Fresh draws
		fixed      Value // what Fixed(5) is; 0 when it draws
		steps      int
	}{
		{"", "", true, 5, 9},
		{"", "70", true, 0, 70},
		{"18446744073709551615", "", false, 1<<64 - 1, 9},
		{"3", "70", false, 3, 70},
	} {
		t.Setenv(seedVariable, tt.seed)
		t.Setenv(soakVariable, tt.soak)
		name := fmt.Sprintf("seed %q, soak %q", tt.seed, tt.soak)
		first, second := Fresh(t), Fresh(t)
		if drawn := first != second; drawn != tt.fresh {
			t.Errorf("%s: Fresh differs from call to call: got %t, want %t", name, drawn, tt.fresh)
		}
		if got := Fixed(t, 5); got != tt.fixed && tt.fixed != 0 || tt.fixed == 0 && got == Fixed(t, 5) {
			t.Errorf("%s: Fixed(5): got %d, want %d, or what it draws if 0", name, got, tt.fixed)
		}
		if got := Steps(t, 9); got != tt.steps && !(testing.Short() && tt.soak == "" && got == 4) {
			t.Errorf("%s: Steps(9): got %d, want %d, or half of 9 with -short", name, got, tt.steps)
		}
	}
}

// TestFailureOnDemand is what TestLogReplays runs in another process.
func TestFailureOnDemand(t *testing.T) {
	t.Run("part (1)", func(t *testing.T) {
		v := Fresh(t)
		t.Logf("drew %d", v.Rand(1).Uint64())
		if os.Getenv("FIRN_FAIL") != "" {
			t.Fail()
		}
	})
}

// TestLogReplays lets a test fail and runs the command in its log: it fails
// with the same draw.
func TestLogReplays(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	run := func(command string) (drew, replay string) {
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "FIRN_FAIL=1")
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Fatalf("%s: passed, want a failure\n%s", command, out)
		}
		for line := range strings.Lines(string(out)) {
			if _, after, found := strings.Cut(line, "drew "); found {
				drew = strings.TrimSpace(after)
			}
			if _, after, found := strings.Cut(line, "to draw the same again: "); found {
				replay = strings.TrimSpace(after)
			}
		}
		if drew == "" || replay == "" {
			t.Fatalf("%s: no draw or no command in\n%s", command, out)
		}
		return drew, replay
	}
	first, command := run("go test -count=1 -run '^TestFailureOnDemand$' ./internal/seed")
	if again, _ := run(command); again != first {
		t.Errorf("%s drew %s, want %s", command, again, first)
	}
}
