package tidy

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// SQLite's Go code is generated against one version of its C library. Any
// dependency that asks for a newer one raises it for SQLite too, without a
// word and with crashes, so the build's version must be the one that SQLite
// asks for.

func TestLibcIsTheOneSQLiteWasGeneratedWith(t *testing.T) {
	selected := goCommand(t, "list", "-m", "-f", "{{.Version}}", "modernc.org/libc")
	asked := requirement(t, goCommand(t, "list", "-m", "-f", "{{.GoMod}}", "modernc.org/sqlite"), "modernc.org/libc")
	if selected != asked {
		t.Errorf("modernc.org/libc:\n got %s\nwant %s, as modernc.org/sqlite requires", selected, asked)
	}
}

func TestRequirementReadsGoMod(t *testing.T) {
	if got := requirement(t, "../../go.mod", "modernc.org/libc"); !strings.HasPrefix(got, "v1.") {
		t.Errorf("libc in go.mod: got %q, want a version", got)
	}
	if got := requirement(t, "../../go.mod", "modernc.org/unheard"); got != "" {
		t.Errorf("unheard module in go.mod: got %q, want nothing", got)
	}
}

// requirement is the version of module that the go.mod at path asks for, or
// nothing if it does not.
func requirement(t *testing.T, path, module string) string {
	t.Helper()
	var file struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal([]byte(goCommand(t, "mod", "edit", "-json", path)), &file); err != nil {
		t.Fatalf("read %s: %v", path, err)
	}
	for _, require := range file.Require {
		if require.Path == module {
			return require.Version
		}
	}
	return ""
}

// goCommand is what the go command prints.
func goCommand(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		exit, ok := err.(*exec.ExitError)
		if !ok {
			t.Fatalf("go %s: %v", strings.Join(args, " "), err)
		}
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, exit.Stderr)
	}
	return strings.TrimSpace(string(out))
}
