package keyspace

import (
	"fmt"
	"testing"
)

func TestFieldEndsAreRefusedUnlessExact(t *testing.T) {
	e := FieldEnds{2, 1000, 70000}
	encoded := e.encode()
	if got, want := fmt.Sprintf("%x", encoded), "9302cd03e8ce00011170"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got, ok := parseFieldEnds(encoded); !ok || got != e {
		t.Errorf("got %+v, %v\nwant %+v", got, ok, e)
	}
	for _, damaged := range [][]byte{{}, {0x93}, encoded[:9], append(encoded[:10:10], 0), {0x93, 0, 1, 1}, {0x93, 1, 2, 1}} {
		if got, ok := parseFieldEnds(damaged); ok {
			t.Errorf("%x\n got %+v\nwant it refused", damaged, got)
		}
	}
}
