package reader

// The rule: a range gives the documents back that were put into it, and the
// ids.

import (
	"reflect"
	"strings"
	"testing"

	"github.com/firndb/firn/schema"
)

func TestElementsAreTheirRows(t *testing.T) {
	for _, want := range []schema.Row{
		{TS: 1, Value: []byte("v")},
		{TS: 1 << 52, Prev: 1, Value: []byte{}},
		{TS: 1790000000000000, Prev: 1789999999999999, JSON: true, Author: 7, Value: []byte("{}")},
		{TS: 3, Author: 1 << 60},
		{TS: 3, Value: []byte(strings.Repeat("v", largeValue-1))},
		{TS: 3, Prev: 2, Value: []byte(strings.Repeat("v", largeValue))},
	} {
		want.Table, want.ID = 5, "id"
		v := rowElement(nil, &want)
		if (v.Blob != nil) != (len(want.Value) >= largeValue) {
			t.Errorf("%d bytes: beside the page: %t", len(want.Value), v.Blob != nil)
		}
		for _, copied := range []bool{false, true} {
			if got := elementRow(5, "id", v, copied); !reflect.DeepEqual(*got, want) {
				t.Errorf("row:\n got %+v\nwant %+v", *got, want)
			}
		}
	}
	if row := elementRow(5, "id", bareElement(nil, 9), false); row != nil {
		t.Errorf("a bare element: got %+v, want nothing", row)
	}
	if ts := elementTS(bareElement(nil, 1790000000000001)); ts != 1790000000000001 {
		t.Errorf("timestamp of a bare element: got %d", ts)
	}
}

func TestElementsAreTheirIDs(t *testing.T) {
	for _, tt := range []struct {
		key, id string
		bytes   int
	}{
		{"uid score member", "uid member", 2},
		{"uid score member+", "uid member", 8},
		{"key", "id", 4},
		{"key", "key", 2},
		{"aaa", "aaaa", 2},
		{"aaaa", "aa", 2},
		{"", "id", 4},
	} {
		v := idElement(nil, tt.key, tt.id)
		if got := string(appendElementID(nil, []byte(tt.key), v)); got != tt.id {
			t.Errorf("%q behind %q: got %q", tt.id, tt.key, got)
		}
		if len(v.Bytes) != tt.bytes {
			t.Errorf("%q behind %q: got %d bytes, want %d", tt.id, tt.key, len(v.Bytes), tt.bytes)
		}
	}
}
