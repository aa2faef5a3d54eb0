// Package seed gives every random test its seed and says how to draw the same
// again.
//
// A test asks for a [Value] once and makes its random sources of it. When the
// test fails, its log has a command that repeats it:
//
//	FIRN_SEED=17 go test -count=1 -run '^TestRandomHistories$' ./redis
//
// FIRN_SEED is the seed of all random tests of a run. FIRN_SOAK is how many
// steps those take that ask for [Steps]: a long run, which draws something new.
package seed

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

// The variables that a run of the tests may set.
const (
	seedVariable = "FIRN_SEED"
	soakVariable = "FIRN_SOAK"
)

// Value is what a test draws from. The same value draws the same.
type Value uint64

// Fresh is another value in every run, unless FIRN_SEED names one.
func Fresh(t testing.TB) Value {
	t.Helper()
	return logged(t, fromEnvironment(t, rand.Uint64()))
}

// Fixed is n in every run, unless FIRN_SEED names another value. A failure of
// such a test is news about the change that is tested. A soak draws a fresh
// value.
func Fixed(t testing.TB, n uint64) Value {
	t.Helper()
	if os.Getenv(soakVariable) != "" {
		n = rand.Uint64()
	}
	return logged(t, fromEnvironment(t, n))
}

// Steps is how many steps a random test takes: n, half of them with -short, or
// as many as FIRN_SOAK says.
func Steps(t testing.TB, n int) int {
	t.Helper()
	if testing.Short() {
		n /= 2
	}
	return int(number(t, soakVariable, uint64(n)))
}

// Rand is one of the sources that follow from v. A test with several goroutines
// gives each a stream of its own: what one draws then does not depend on how
// the others are scheduled.
func (v Value) Rand(stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(v), stream))
}

func fromEnvironment(t testing.TB, otherwise uint64) Value {
	t.Helper()
	return Value(number(t, seedVariable, otherwise))
}

// number is a number from the environment.
func number(t testing.TB, variable string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s=%s is not a number", variable, text)
	}
	return n
}

// logged logs at once and not after a failure, so that -v shows the seed of a
// test that hangs. The log of a test that passes is not printed.
func logged(t testing.TB, v Value) Value {
	t.Helper()
	build, ok := debug.ReadBuildInfo()
	if !ok {
		build = &debug.BuildInfo{}
	}
	t.Logf("to draw the same again: %s", replay(t.Name(), v, build))
	return v
}

// replay is the command that runs one test again, in the way that it was built
// and called this time.
func replay(test string, v Value, build *debug.BuildInfo) string {
	words := []string{fmt.Sprintf("%s=%d", seedVariable, v)}
	if steps := os.Getenv(soakVariable); steps != "" {
		words = append(words, soakVariable+"="+steps)
	}
	words = append(words, "go test")
	for _, setting := range build.Settings {
		if setting.Key == "-race" && setting.Value == "true" {
			words = append(words, "-race")
		}
	}
	if testing.Short() {
		words = append(words, "-short")
	}
	return strings.Join(append(words, "-count=1 -run", pattern(test), directory(build)), " ")
}

// pattern is what -run has to be told to run one test, or one of its parts,
// and no other.
func pattern(test string) string {
	parts := strings.Split(test, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return "'" + strings.ReplaceAll(strings.Join(parts, "/"), "'", `'\''`) + "'"
}

// directory is where the package is that the running binary tests, seen from
// the directory of its module.
func directory(build *debug.BuildInfo) string {
	path := strings.TrimSuffix(strings.TrimPrefix(build.Path, build.Main.Path), ".test")
	return "." + path
}
