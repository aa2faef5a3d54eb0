package tidy

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
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
	for _, require := range requirements(t) {
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

// TestModulesAreTidy wants go mod tidy to change nothing. It needs more modules
// than a build, those that tests of dependencies import, and no test asks the
// network for them.
func TestModulesAreTidy(t *testing.T) {
	for name, dir := range map[string]string{"root": "../..", "e2e": "../../e2e", "examples": "../../examples", "tools": "../../tools"} {
		t.Run(name, func(t *testing.T) {
			tidy := exec.Command("go", "mod", "tidy", "-diff")
			tidy.Dir = dir
			tidy.Env = append(os.Environ(), "GOPROXY=off", "GOSUMDB=off", "GOFLAGS=", "GOWORK=off")
			var said strings.Builder
			tidy.Stderr = &said
			diff, err := tidy.Output()
			switch {
			case len(diff) > 0:
				t.Errorf("go mod tidy would change:\n%s", diff)
			case strings.Contains(said.String(), "GOPROXY=off"):
				t.Skip("the cache lacks modules that go mod tidy looks at: run go mod tidy once")
			case err != nil:
				t.Errorf("go mod tidy: %v\n%s", err, said.String())
			}
		})
	}
}

// TestImportedModulesAreRequiredDirectly is the part of it that a build's
// modules are enough for.
func TestImportedModulesAreRequiredDirectly(t *testing.T) {
	const imports = `{{range .Imports}}{{.}} {{end}}{{range .TestImports}}{{.}} {{end}}{{range .XTestImports}}{{.}} {{end}}`
	imported := strings.Fields(goCommand(t, "list", "-f", imports, "github.com/firndb/firn/..."))
	if len(imported) == 0 {
		t.Fatal("the module imports nothing")
	}
	for _, require := range requirements(t) {
		uses := func(path string) bool { return path == require.Path || strings.HasPrefix(path, require.Path+"/") }
		if require.Indirect && slices.ContainsFunc(imported, uses) {
			t.Errorf("%s is imported, and go.mod says // indirect: run go mod tidy", require.Path)
		}
	}
}

// TestEveryDependencyHasItsLine on the page that gives the reasons.
func TestEveryDependencyHasItsLine(t *testing.T) {
	page, err := os.ReadFile("../../docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range requirements(t) {
		if line := fmt.Sprintf("\n| %s | %s |", m.Path, m.Version); !m.Indirect && !strings.Contains(string(page), line) {
			t.Errorf("docs/dependencies.md has no line that begins with %s", line[1:])
		}
	}
}

// required is a module that go.mod requires.
type required struct {
	Path, Version string
	Indirect      bool
}

func requirements(t *testing.T) []required {
	t.Helper()
	var file struct{ Require []required }
	if err := json.Unmarshal([]byte(goCommand(t, "mod", "edit", "-json", "../../go.mod")), &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Require) == 0 {
		t.Fatal("go.mod requires nothing")
	}
	return file.Require
}
