package keyspace

import (
	"bytes"
	"math"
	"testing"

	"github.com/firndb/firn/tuple"
)

func TestScoresSortAsTheirEntries(t *testing.T) {
	u := AppendUID(nil, UID{7, 1})
	var last string
	for _, m := range []struct {
		score  float64
		member string
	}{
		{math.Inf(-1), "z"}, {-2.5, "b"}, {-1, ""}, {-1, "a"}, {math.Copysign(0, -1), "a"}, {0, "a\x00"}, {math.Copysign(0, -1), "a\x00b"},
		{0, "ab"}, {1e-300, "a"}, {1, "a"}, {1, "a\xff"}, {1, "\xff"}, {math.Inf(1), ""},
	} {
		id := string(tuple.AppendString(bytes.Clone(u), m.member))
		var keys []string
		scoreKeys(id, appendScore(nil, m.score), func(key []byte) { keys = append(keys, string(key)) })
		if len(keys) != 1 || keys[0] <= last {
			t.Fatalf("entries of %v %q:\n got %q\nwant one behind %q", m.score, m.member, keys, last)
		}
		last = keys[0]
		got, err := ParseEntry(last, len(u))
		if err != nil || got.Member != m.member || math.Float64bits(got.Score) != math.Float64bits(m.score) {
			t.Errorf("entry of %v %q:\n got %+v, %v\nwant the same", m.score, m.member, got, err)
		}
	}
}

func TestDamagedScoresAreErrors(t *testing.T) {
	scoreKeys("\x10", appendScore(nil, 1), func(key []byte) { t.Errorf("entry of a damaged id:\n got %q\nwant none", key) })
	scoreKeys(string(AppendUID(nil, UID{1, 1})), []byte("x"), func(key []byte) { t.Errorf("entry of a damaged score:\n got %q\nwant none", key) })
	for _, value := range [][]byte{nil, {1}, make([]byte, 9), appendScore(nil, math.NaN())} {
		if _, ok := ParseScore(value); ok {
			t.Errorf("score %x:\n got one\nwant none", value)
		}
	}
	for _, key := range []string{"", "\x10a\x00", string(tuple.AppendFloat(nil, 1)), string(tuple.AppendString(tuple.AppendFloat(nil, 1), "a")) + "x"} {
		if m, err := ParseEntry(key, 0); err == nil {
			t.Errorf("entry %q:\n got %v\nwant an error", key, m)
		}
	}
	for _, note := range []string{"", "\x92", "\x92\xc4\x00\xc0", "\x92\xc4\x00\xc4\x00x", "\x93"} {
		if e, err := ParseZSetEnds(&KeyDoc{Value: []byte(note)}); err == nil {
			t.Errorf("note %x:\n got %v\nwant an error", note, e)
		}
	}
}
