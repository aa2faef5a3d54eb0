package main

import (
	"fmt"
	"strings"
)

// value64 is the 64-byte value of the large data sets.
var value64 = strings.Repeat("v", 64)

// numberedKey is the i-th of the large data sets' keys, all of one length.
func numberedKey(i int) string { return fmt.Sprintf("key:%012d", i) }

// loadKeys sets n keys to 64-byte values over one connection.
func loadKeys(s *server, n int) error {
	c, err := dial(s.addr())
	if err != nil {
		return fmt.Errorf("load keys into %s: %w", s.label, err)
	}
	defer c.close()
	err = c.load(n, func(i int) []string { return []string{"SET", numberedKey(i), value64} }, nil)
	if err != nil {
		return fmt.Errorf("load keys into %s: %w", s.label, err)
	}
	return nil
}

// countKeys returns an error unless s holds want keys.
func countKeys(s *server, want int64) error {
	c, err := dial(s.addr())
	if err != nil {
		return fmt.Errorf("count keys of %s: %w", s.label, err)
	}
	defer c.close()
	got, err := c.do("DBSIZE")
	if err != nil {
		return fmt.Errorf("count keys of %s: %w", s.label, err)
	}
	if got != want {
		return fmt.Errorf("%s has %v keys, want %d", s.label, got, want)
	}
	return nil
}
