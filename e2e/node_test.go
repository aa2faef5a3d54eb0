package e2e

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The clients of Node.js. Their tests are in node/ and run by Node's own
// runner; npm fetches the clients, in the versions of package-lock.json.

// leastNode is the major version of Node.js that the clients ask for.
const leastNode = 20

func TestNodeClients(t *testing.T) {
	if version := nodeVersion(); version < leastNode {
		t.Skipf("Node.js %d or newer is needed, found %d (0: none)", leastNode, version)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	install(t, ctx, "node")
	t.Run("tls.test.mjs", func(t *testing.T) {
		eachDriver(t, func(t *testing.T, s tlsServer) {
			runNode(t, ctx, "node", "tls.test.mjs", "FIRN_ADDR="+s.addr, "FIRN_CA="+s.ca, "FIRN_CERT="+s.cert, "FIRN_KEY="+s.key)
		})
	})
	for _, script := range []string{"ioredis.test.mjs", "noderedis.test.mjs", "noderediscache.test.mjs"} {
		t.Run(script, func(t *testing.T) {
			runNode(t, ctx, "node", script, "FIRN_ADDR="+startFirn(t))
		})
	}
}

// install brings the packages of a directory, in the versions of its
// package-lock.json. Where they cannot be had the test is skipped.
func install(t *testing.T, ctx context.Context, dir string) {
	t.Helper()
	install := exec.CommandContext(ctx, "npm", "ci", "--no-audit", "--no-fund")
	install.Dir = dir
	output, err := install.CombinedOutput()
	switch {
	case err != nil && unreachable(string(output)):
		t.Skipf("the clients cannot be fetched: npm ci: %v\n%s", err, output)
	case err != nil:
		t.Fatalf("npm ci: %v\n%s", err, output)
	}
}

// runNode runs the tests of a script in a directory.
func runNode(t *testing.T, ctx context.Context, dir, script string, variables ...string) {
	t.Helper()
	run := exec.CommandContext(ctx, "node", "--test", "--test-timeout=60000", script)
	run.Dir = dir
	run.Env = append(os.Environ(), variables...)
	output, err := run.CombinedOutput()
	if err != nil || !strings.Contains(string(output), "# pass") {
		t.Errorf("node --test %s: got %v, want every test to pass\n%s", script, err, output)
	}
}

// nodeVersion is the major version of the node on PATH, if npm is there, too;
// otherwise 0.
func nodeVersion() int {
	if _, err := exec.LookPath("npm"); err != nil {
		return 0
	}
	output, err := exec.Command("node", "--version").Output()
	if err != nil {
		return 0
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(string(output), "v"), ".")
	n, err := strconv.Atoi(major)
	if err != nil {
		return 0
	}
	return n
}

// unreachable says whether npm could not reach where packages are.
func unreachable(output string) bool {
	for _, code := range []string{"ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT", "ENETUNREACH"} {
		if strings.Contains(output, code) {
			return true
		}
	}
	return false
}
