package server

import (
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

// TestWhatIsNear: the loops read addresses in the kernel's form.
func TestWhatIsNear(t *testing.T) {
	for text, want := range map[string]bool{
		"127.0.0.1": true, "127.9.9.9": true, "::1": true, "::ffff:127.0.0.1": true,
		"192.0.2.1": false, "0.0.0.0": false, "::": false, "2001:db8::1": false, "::ffff:192.0.2.1": false, "fe80::1": false,
	} {
		var a unix.Sockaddr
		if ip := netip.MustParseAddr(text); ip.Is4() {
			a = &unix.SockaddrInet4{Addr: ip.As4()}
		} else {
			a = &unix.SockaddrInet6{Addr: ip.As16()}
		}
		if got := isNear(a); got != want {
			t.Errorf("%s: got %t, want %t", text, got, want)
		}
	}
	if !isNear(&unix.SockaddrUnix{}) || isNear(nil) {
		t.Error("a Unix socket is near, and what has no address is not")
	}
}
