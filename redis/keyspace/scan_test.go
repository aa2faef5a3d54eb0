package keyspace

import (
	"strconv"
	"strings"
	"testing"
)

func TestCursorsAreBounded(t *testing.T) {
	var c cursors
	first := c.Put("first")
	for i := range maxCursors - 1 {
		c.Put(strconv.Itoa(i))
	}
	if got := c.Position(first); got != "first" {
		t.Errorf("got %q\nwant first", got)
	}
	last := c.Put("last")
	if got := c.Position(first); got != "" {
		t.Errorf("got %q\nwant it forgotten", got)
	}
	big := strings.Repeat("x", maxCursorBytes)
	huge := c.Put(big)
	if got := len(c.positions); got != 1 || c.bytes != len(big) || c.Position(huge) != big || c.Position(last) != "" {
		t.Errorf("got %d cursors of %d bytes\nwant the newest alone", got, c.bytes)
	}
}
