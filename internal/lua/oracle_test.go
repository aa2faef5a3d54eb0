package lua

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firndb/firn/internal/redistest"
)

// Programs do what they do in Redis, to the byte.
//
// A line of testdata/<area>.txt is a program, a function's body whose values
// are rendered by Lua itself, so that no conversion hides a difference. "¶"
// stands for the end of a line, "--" begins a comment.

// render begins each program: it shows values, of tables their pairs in the
// order of next.
const render = `local function show(v, d) local t = type(v) ` +
	`if t == "string" then return string.format("%q", v) elseif t == "number" then return string.format("%.17g", v) ` +
	`elseif t == "table" then if d > 3 then return "{...}" end local o = {} ` +
	`for k, x in next, v do o[#o + 1] = "[" .. show(k, d + 1) .. "]=" .. show(x, d + 1) end return "{" .. table.concat(o, ",") .. "}" ` +
	`elseif t == "nil" or t == "boolean" then return tostring(v) end return t end ` +
	`local function all(...) local o = {} for i = 1, select("#", ...) do o[i] = show((select(i, ...)), 0) end return table.concat(o, " ") end ` +
	`return all(pcall(function(...) `

func program(body string) string {
	return render + "\n" + strings.ReplaceAll(body, "¶", "\n") + "\nend, 1, 2, 3))"
}

// programs are the lines of a file of testdata.
func programs(t *testing.T, name string) (all []string) {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "--") {
			all = append(all, line)
		}
	}
	return all
}

// redisAnswers runs programs on a real Redis.
func redisAnswers(t *testing.T, bodies []string) []string {
	t.Helper()
	conn, err := net.Dial("unix", redistest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	answers := make([]string, len(bodies))
	for i, body := range bodies {
		text := program(body)
		fmt.Fprintf(conn, "*3\r\n$4\r\nEVAL\r\n$%d\r\n%s\r\n$1\r\n0\r\n", len(text), text)
		reply, err := redistest.ReadReply(in)
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		answers[i] = string(reply)
	}
	return answers
}

func ourAnswer(t *testing.T, s *State, body string) string {
	t.Helper()
	text, err := run(t, s, nil, program(body))
	if err != nil {
		return "-" + err.Error()
	}
	return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text)
}

// same says whether an answer is Redis's. Redis ends an error that is not
// caught with where it was, which others write.
func same(got, want string) bool {
	if strings.HasPrefix(want, "-ERR ") {
		text, _, _ := strings.Cut(want[5:], " script: ")
		text = strings.TrimPrefix(text, "Error compiling script (new function): ")
		return got == "-"+strings.TrimSpace(text)
	}
	return got == want
}

func TestProgramsDoWhatTheyDoInRedis(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txt")
	if len(files) == 0 {
		t.Fatal("no programs")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			bodies := programs(t, file)
			want := redisAnswers(t, bodies)
			sharedRandom.Store(firstRandom)
			s := New(nil)
			for i, body := range bodies {
				if got := ourAnswer(t, s, body); !same(got, want[i]) {
					t.Errorf("%s\n got %q\nwant %q", body, got, want[i])
				}
			}
		})
	}
}
