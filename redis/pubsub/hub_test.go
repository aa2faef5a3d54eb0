package pubsub

import "testing"

func TestSubscriptionsAreBounded(t *testing.T) {
	full := Names{bytes: maxSubscriptionBytes - 3}
	for _, tt := range []struct {
		names [][]byte
		want  bool
	}{
		{[][]byte{[]byte("ab"), []byte("c")}, true},
		{[][]byte{[]byte("ab"), []byte("cd")}, false},
		{make([][]byte, maxSubscriptions), true},
		{make([][]byte, maxSubscriptions+1), false},
	} {
		if got := full.Fits(tt.names); got != tt.want {
			t.Errorf("%d names: got %t, want %t", len(tt.names), got, tt.want)
		}
	}
}
