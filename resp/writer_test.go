package resp

import (
	"fmt"
	"math"
	"testing"

	"github.com/firndb/firn/internal/redistest"
)

// Replies are the same bytes that Redis sends, in both protocols.

func TestRepliesInBothProtocols(t *testing.T) {
	for _, tt := range []struct {
		name         string
		write        func(w *Writer)
		want2, want3 string
	}{
		{"array", func(w *Writer) { w.Array(2) }, "*2\r\n", "*2\r\n"},
		{"large array", func(w *Writer) { w.Array(1234567) }, "*1234567\r\n", "*1234567\r\n"},
		{"map", func(w *Writer) { w.Map(2) }, "*4\r\n", "%2\r\n"},
		{"set", func(w *Writer) { w.Set(0) }, "*0\r\n", "~0\r\n"},
		{"push", func(w *Writer) { w.Push(3) }, "*3\r\n", ">3\r\n"},
		{"simple", func(w *Writer) { w.Simple("OK") }, "+OK\r\n", "+OK\r\n"},
		{"simple with break", func(w *Writer) { w.Simple("a\r\nb") }, "+a  b\r\n", "+a  b\r\n"},
		{"error", func(w *Writer) { w.Error("ERR no") }, "-ERR no\r\n", "-ERR no\r\n"},
		{"error with breaks", func(w *Writer) { w.Error("\nERR a\r\n+OK\r\n") }, "-ERR a  +OK\r\n", "-ERR a  +OK\r\n"},
		{"error of breaks", func(w *Writer) { w.Error("\r\n") }, "-\r\n", "-\r\n"},
		{"int", func(w *Writer) { w.Int(0); w.Int(-1); w.Int(999); w.Int(1000) }, ":0\r\n:-1\r\n:999\r\n:1000\r\n", ":0\r\n:-1\r\n:999\r\n:1000\r\n"},
		{"extreme ints", func(w *Writer) { w.Int(math.MinInt64); w.Int(math.MaxInt64) }, ":-9223372036854775808\r\n:9223372036854775807\r\n", ":-9223372036854775808\r\n:9223372036854775807\r\n"},
		{"bulk", func(w *Writer) { w.Bulk([]byte("a\r\nb")) }, "$4\r\na\r\nb\r\n", "$4\r\na\r\nb\r\n"},
		{"nil bulk", func(w *Writer) { w.Bulk(nil) }, "$0\r\n\r\n", "$0\r\n\r\n"},
		{"bulk string", func(w *Writer) { w.BulkString("abc") }, "$3\r\nabc\r\n", "$3\r\nabc\r\n"},
		{"bulk int", func(w *Writer) { w.BulkInt(math.MinInt64) }, "$20\r\n-9223372036854775808\r\n", "$20\r\n-9223372036854775808\r\n"},
		{"null", (*Writer).Null, "$-1\r\n", "_\r\n"},
		{"null array", (*Writer).NullArray, "*-1\r\n", "_\r\n"},
		{"double", func(w *Writer) { w.Double(0.1) }, "$19\r\n0.10000000000000001\r\n", ",0.10000000000000001\r\n"},
		{"long double text", func(w *Writer) { w.Double(-2.2250738585072014e-308) }, "$24\r\n-2.2250738585072014e-308\r\n", ",-2.2250738585072014e-308\r\n"},
		{"infinite double", func(w *Writer) { w.Double(math.Inf(-1)) }, "$4\r\n-inf\r\n", ",-inf\r\n"},
		{"double that is none", func(w *Writer) { w.Double(math.NaN()) }, "$3\r\nnan\r\n", ",nan\r\n"},
		{"bool", func(w *Writer) { w.Bool(true); w.Bool(false) }, ":1\r\n:0\r\n", "#t\r\n#f\r\n"},
		{"big number", func(w *Writer) { w.BigNumber("1234567999999999999999999999999999999") }, "$37\r\n1234567999999999999999999999999999999\r\n", "(1234567999999999999999999999999999999\r\n"},
		{"verbatim", func(w *Writer) { w.Verbatim("txt", "abc") }, "$3\r\nabc\r\n", "=7\r\ntxt:abc\r\n"},
		{"verbatim of odd format", func(w *Writer) { w.Verbatim("plain", ""); w.Verbatim("m", "") }, "$0\r\n\r\n$0\r\n\r\n", "=4\r\npla:\r\n=4\r\nm  :\r\n"},
		{"raw", func(w *Writer) { w.Raw("+OK\r\n") }, "+OK\r\n", "+OK\r\n"},
		{"attribute", writeAttribute, ":1\r\n", "|1\r\n+ttl\r\n:9\r\n:1\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for proto, want := range map[int]string{0: tt.want2, 2: tt.want2, 3: tt.want3} {
				w := Writer{Proto: proto, Buf: []byte("before")}
				tt.write(&w)
				if got := string(w.Buf); got != "before"+want {
					t.Errorf("protocol %d: got %q, want %q", proto, got, "before"+want)
				}
			}
		})
	}
}

func writeAttribute(w *Writer) {
	if w.Attribute(1) {
		w.Simple("ttl")
		w.Int(9)
	}
	w.Int(1)
}

// TestRepliesAreThoseOfRedis asks for each kind with DEBUG PROTOCOL.
func TestRepliesAreThoseOfRedis(t *testing.T) {
	socket := redistest.Start(t, "--enable-debug-command", "yes")
	for kind, write := range map[string]func(w *Writer){
		"string":   func(w *Writer) { w.BulkString("Hello World") },
		"integer":  func(w *Writer) { w.Int(12345) },
		"double":   func(w *Writer) { w.Double(3.141) },
		"null":     (*Writer).Null,
		"bignum":   func(w *Writer) { w.BigNumber("1234567999999999999999999999999999999") },
		"verbatim": func(w *Writer) { w.Verbatim("txt", "This is a verbatim\nstring") },
		"true":     func(w *Writer) { w.Bool(true) },
		"false":    func(w *Writer) { w.Bool(false) },
		"array":    func(w *Writer) { w.Array(3); w.Int(0); w.Int(1); w.Int(2) },
		"set":      func(w *Writer) { w.Set(3); w.Int(0); w.Int(1); w.Int(2) },
		"map": func(w *Writer) {
			w.Map(3)
			for i := range int64(3) {
				w.Int(i)
				w.Bool(i == 1)
			}
		},
	} {
		for _, proto := range []int{2, 3} {
			var hello, all Writer
			hello.Raw(fmt.Sprintf("HELLO %d\r\n", proto))
			greeting := exchange(t, socket, string(hello.Buf))
			all.Raw(string(hello.Buf) + "DEBUG PROTOCOL " + kind + "\r\n")
			got := exchange(t, socket, string(all.Buf))
			w := Writer{Proto: proto}
			write(&w)
			// The greeting ends with the connection's number, which has
			// as many digits both times or one more.
			rest := max(0, len(got)-len(w.Buf))
			if got[rest:] != string(w.Buf) || rest < len(greeting) || rest > len(greeting)+1 {
				t.Errorf("%s in protocol %d: got %q from Redis, want the end to be %q", kind, proto, got, w.Buf)
			}
		}
	}
}

func TestWritingAllocatesNothing(t *testing.T) {
	for _, proto := range []int{2, 3} {
		w := Writer{Proto: proto, Buf: make([]byte, 0, 4096)}
		value, number := []byte("value"), int64(0)
		got := testing.AllocsPerRun(100, func() {
			number += 123457
			w.Buf = w.Buf[:0]
			w.Map(2)
			w.Set(int(number))
			w.Simple("OK")
			w.Error("ERR no")
			w.Int(number)
			w.Bulk(value)
			w.BulkString("value")
			w.BulkInt(number)
			w.Null()
			w.NullArray()
			w.Double(float64(number) / 7)
			w.Bool(true)
			w.BigNumber("123")
			w.Verbatim("txt", "abc")
		})
		if got != 0 {
			t.Errorf("protocol %d: got %v allocations, want 0", proto, got)
		}
	}
}

func BenchmarkWriter(b *testing.B) {
	value := make([]byte, 64)
	for name, write := range map[string]func(w *Writer){
		"reply=simple":    func(w *Writer) { w.Simple("OK") },
		"reply=small_int": func(w *Writer) { w.Int(7) },
		"reply=large_int": func(w *Writer) { w.Int(123456789012) },
		"reply=bulk64":    func(w *Writer) { w.Bulk(value) },
		"reply=double":    func(w *Writer) { w.Double(1234.5678) },
	} {
		b.Run(name, func(b *testing.B) {
			w := Writer{Buf: make([]byte, 0, 4096)}
			b.ReportAllocs()
			for b.Loop() {
				w.Buf = w.Buf[:0]
				write(&w)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "replies/s")
		})
	}
}
