package server

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/redis"
)

// What clients see of a key is what one would see who did everything alone,
// in some order that agrees with who waited for whom.

// operation is what one client asked about one key.
type operation struct {
	key   int
	word  string // GET, SET, INCR or CAS, which is INCR by hand: WATCH, GET, SET
	value int    // of SET
}

const refused = -1 // a CAS that found the key changed

var counters = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byKey := map[int][]porcupine.Operation{}
		for _, o := range history {
			key := o.Input.(operation).key
			byKey[key] = append(byKey[key], o)
		}
		var parts [][]porcupine.Operation
		for _, part := range byKey {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return 0 },
	Step: func(state, input, output any) (bool, any) {
		n, in, out := state.(int), input.(operation), output.(int)
		switch {
		case in.word == "GET":
			return out == n, n
		case in.word == "SET":
			return true, in.value
		case out == refused:
			return in.word == "CAS", n
		}
		return out == n+1, n + 1
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprint(input, " → ", output) },
}

func TestHistoriesAreLinearizable(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		seed := seed.Fresh(t)
		r := start(t, o, redis.Options{})
		const clients, each, keys = 8, 120, 3
		began := time.Now()
		histories := make([][]porcupine.Operation, clients)
		var all sync.WaitGroup
		for i := range clients {
			c := r.connect()
			rng := seed.Rand(uint64(i))
			all.Go(func() {
				for range each {
					in := operation{rng.IntN(keys), []string{"GET", "SET", "INCR", "CAS"}[rng.IntN(4)], rng.IntN(1000)}
					call := time.Since(began)
					out, err := c.operate(in)
					if err != nil {
						t.Errorf("%v: %v", in, err)
						return
					}
					histories[i] = append(histories[i], porcupine.Operation{
						ClientId: i, Input: in, Call: int64(call), Output: out, Return: int64(time.Since(began)),
					})
				}
			})
		}
		all.Wait()
		var history []porcupine.Operation
		for _, h := range histories {
			history = append(history, h...)
		}
		if len(history) != clients*each {
			t.Fatalf("operations: got %d, want %d", len(history), clients*each)
		}
		if got := porcupine.CheckOperationsTimeout(counters, history, patience); got != porcupine.Ok {
			t.Errorf("linearizable: got %s, want %s (seed %d)", got, porcupine.Ok, seed)
		}
	})
}

// operate does one operation and returns what was seen.
func (c *client) operate(o operation) (int, error) {
	key := fmt.Sprintf("k:%d", o.key)
	switch o.word {
	case "SET":
		return c.number("SET %s %d\r\n", key, o.value)
	case "CAS":
		return c.compareAndSet(key)
	}
	return c.number("%s %s\r\n", o.word, key)
}

// compareAndSet adds one to a key unless somebody else changes it meanwhile.
func (c *client) compareAndSet(key string) (int, error) {
	if _, err := c.number("WATCH %s\r\n", key); err != nil {
		return 0, err
	}
	n, err := c.number("GET %s\r\n", key)
	if err != nil {
		return 0, err
	}
	if _, err := c.number("MULTI\r\n"); err != nil {
		return 0, err
	}
	if _, err := c.number("SET %s %d\r\n", key, n+1); err != nil {
		return 0, err
	}
	executed, err := c.number("EXEC\r\n")
	if executed == refused || err != nil {
		return executed, err
	}
	return n + 1, nil
}

// number sends a command and returns the number that it replies, 0 for OK,
// QUEUED and nil, refused for an EXEC that did nothing.
func (c *client) number(format string, args ...any) (int, error) {
	if _, err := fmt.Fprintf(c, format, args...); err != nil {
		return 0, err
	}
	line, err := c.in.ReadString('\n')
	switch {
	case err != nil:
		return 0, err
	case line == "*-1\r\n":
		return refused, nil
	case line == "$-1\r\n" || line[0] == '+':
		return 0, nil
	case line == "*1\r\n":
		_, err = c.in.ReadString('\n')
		return 0, err
	case line[0] == '$':
		if line, err = c.in.ReadString('\n'); err != nil {
			return 0, err
		}
	}
	return strconv.Atoi(strings.Trim(line, ":\r\n"))
}
