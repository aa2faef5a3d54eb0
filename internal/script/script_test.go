package script

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// A script that agrees with its answers passes, one that does not says where,
// and whatever UPDATE writes is read back as the same answers.

// echo is a small vocabulary to test the runner with.
func echo(c Call) string {
	switch c.Verb {
	case "echo":
		return c.Input
	case "space":
		return c.Args["text"] + "\n\n"
	case "lines":
		return "line 1\n\nline 3\n"
	case "args":
		out := fmt.Sprintf("verb %q words %q", c.Verb, c.Words)
		keys := make([]string, 0, len(c.Args))
		for key := range c.Args {
			keys = append(keys, key)
		}
		sort.Strings(keys)
		for _, key := range keys {
			out += fmt.Sprintf(" %s=%q", key, c.Args[key])
		}
		return out
	}
	return "unknown verb " + c.Verb
}

func TestScriptsAgreeWithTheirAnswers(t *testing.T) {
	Run(t, "testdata/*.txt", func(t *testing.T, c Call) string { return echo(c) })
}

func TestScriptOnDiskIsInCanonicalForm(t *testing.T) {
	text, err := os.ReadFile("testdata/echo.txt")
	if err != nil {
		t.Fatal(err)
	}
	f := mustParse(t, string(text))
	if got := f.String(); got != string(text) {
		t.Errorf("parsed and printed:\n got %s\nwant %s", got, text)
	}
}

func TestWrongAnswerNamesFileLineGotAndWant(t *testing.T) {
	f := mustParse(t, "# story\necho\nnew\n----\nold\n\necho\nsame\n----\nsame\n")
	got := f.compare(echo)
	want := "s.txt:2: echo\n got new\nwant old"
	if len(got) != 1 || got[0] != want {
		t.Errorf("complaints:\n got %q\nwant %q", got, []string{want})
	}
}

func TestMissingDashesFailUntilUpdated(t *testing.T) {
	f := mustParse(t, "echo\nhello\n\n# next\necho\nx\n----\nx\n")
	got := f.compare(echo)
	if len(got) != 1 || !strings.HasPrefix(got[0], "s.txt:1: echo\nno line of dashes") {
		t.Fatalf("complaints:\n got %q\nwant one about the missing dashes", got)
	}
	if err := f.record(echo); err != nil {
		t.Fatal(err)
	}
	want := "echo\nhello\n----\nhello\n\n# next\necho\nx\n----\nx\n"
	if got := f.String(); got != want {
		t.Errorf("updated:\n got %q\nwant %q", got, want)
	}
}

func TestUpdateRewritesTheFileAndKeepsComments(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.txt")
	before := "# kept\necho\nnew\n----\nold\n\n# kept too\n"
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(updateVariable, "1")
	Play(t, path, echo)
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := "# kept\necho\nnew\n----\nnew\n\n# kept too\n"
	if string(got) != want {
		t.Errorf("file after UPDATE:\n got %q\nwant %q", got, want)
	}
}

func TestEveryOutputSurvivesRecordAndParse(t *testing.T) {
	for _, output := range []string{
		"", "a", "a\nb", "\na", "a\n\nb", "a\n", "----", "----\na", "a\n----\n\nb",
		" spaces ", "tab\t", "cr\r", "# hash", "a\n\n\n",
	} {
		f := mustParse(t, "say\n----\n")
		err := f.record(func(Call) string { return output })
		if !encodable(trimNewline(output)) {
			if err == nil {
				t.Errorf("record %q: got nil, want an error", output)
			}
			continue
		}
		if err != nil {
			t.Errorf("record %q: got %v, want nil", output, err)
			continue
		}
		if got, want := mustParse(t, f.String()).stanzas[0].output, trimNewline(output); got != want {
			t.Errorf("output through a file:\n got %q\nwant %q", got, want)
		}
	}
}

func TestUnreadableScriptsSayWhere(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", "s.txt: the script has no stanza"},
		{"# only a comment\n", "s.txt: the script has no stanza"},
		{"\nget id=\"a\n----\n", `s.txt:2: the quoted string "a does not end`},
		{"get id=\"a\"b\n----\n", `s.txt:1: a space is expected after "a"`},
		{"get id=a id=b\n----\n", `s.txt:1: argument "id" stands twice`},
		{"----\nx\n", `s.txt:1: a verb is expected in "----"`},
		{"id=a\n----\n", `s.txt:1: a verb is expected before "id="`},
		{"get\n----\n----\nx\n\n", "s.txt:1: the doubled dashes are never closed"},
	} {
		_, err := parse("s.txt", tt.text)
		if err == nil || err.Error() != tt.want {
			t.Errorf("parse %q:\n got %v\nwant %s", tt.text, err, tt.want)
		}
	}
}

func TestCallReadsFlagsAndIntegers(t *testing.T) {
	call, err := parseCall("get at=-7 rev empty=")
	if err != nil {
		t.Fatal(err)
	}
	if got := call.Int(t, "at", 0); got != -7 {
		t.Errorf("at: got %d, want -7", got)
	}
	if got := call.Int(t, "until", 9); got != 9 {
		t.Errorf("until: got %d, want the default 9", got)
	}
	for key, want := range map[string]bool{"at": true, "rev": true, "empty": true, "get": false} {
		if got := call.Has(key); got != want {
			t.Errorf("Has(%q): got %v, want %v", key, got, want)
		}
	}
}

func mustParse(t *testing.T, text string) *file {
	t.Helper()
	f, err := parse("s.txt", text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// FuzzParse checks that what can be read is printed in a form that reads the
// same again.
func FuzzParse(f *testing.F) {
	f.Add("# c\nput id=a value=\"x y\"\nmore\n----\nok\n\nget\n----\n----\n\n----\n----\n")
	f.Add("get\n\nget\n----\n")
	f.Fuzz(func(t *testing.T, text string) {
		first, err := parse("s.txt", text)
		if err != nil {
			return
		}
		printed := first.String()
		second, err := parse("s.txt", printed)
		if err != nil {
			t.Fatalf("printed form %q: got %v, want no error", printed, err)
		}
		if again := second.String(); again != printed {
			t.Errorf("printed twice:\n got %q\nwant %q", again, printed)
		}
	})
}
