package server

import (
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/firndb/firn/redis"
)

// CLIENT LIST looks at clients that other goroutines run: the race detector
// says whether it may.

func TestClientListIsReadWhileOthersWork(t *testing.T) {
	const each, list = 30, "l"
	script := "SET k v\r\nMULTI\r\nINCR n\r\nCLIENT INFO\r\nCLIENT LIST\r\nEXEC\r\nRPUSH " + list + " a b\r\nBLPOP " + list + " 0\r\nPUBLISH c m\r\nGET k\r\nECHO end\r\n"
	eachDriver(t, func(t *testing.T, o Options) {
		r := start(t, o, redis.Options{})
		listens := r.connect()
		listens.send("SUBSCRIBE c\r\n")
		var all sync.WaitGroup
		for range 4 {
			c := r.connect()
			all.Go(func() {
				for range each {
					if _, err := io.WriteString(c, script); err != nil {
						t.Error(err)
						return
					}
					for line := ""; line != "end\r\n"; {
						var err error
						if line, err = c.in.ReadString('\n'); err != nil {
							t.Error(err)
							return
						}
					}
				}
			})
		}
		complete := regexp.MustCompile(`^id=\d+ .* qbuf=\d+ qbuf-free=\d+ argv-mem=\d+ multi-mem=\d+ rbs=\d+ rbp=\d+ obl=\d+ oll=\d+ omem=\d+ tot-mem=[1-9]\d* events=rw? cmd=`)
		watcher := r.connect()
		for range each {
			watcher.send("CLIENT LIST\r\n")
			for line := range strings.Lines(watcher.bulk()) {
				if !complete.MatchString(line) {
					t.Fatalf("CLIENT LIST: got %q", line)
				}
			}
		}
		all.Wait()
	})
}
