package redis

import (
	"strings"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/resp"
)

// debugProtocol replies with a value of each type that the protocol has.
func debugProtocol(c *command.Call, args [][]byte) error {
	w := &c.Reply
	const numbers = 3 // in an aggregate
	count := func() {
		for i := range numbers {
			w.Int(int64(i))
		}
	}
	switch strings.ToLower(string(args[0])) {
	case "string":
		w.BulkString("Hello World")
	case "integer":
		w.Int(12345)
	case "double":
		w.Double(3.141)
	case "null":
		w.Null()
	case "array":
		w.Array(numbers)
		count()
	case "set":
		w.Set(numbers)
		count()
	case "map":
		w.Map(numbers)
		for i := range numbers {
			w.Int(int64(i))
			w.Bool(i == 1)
		}
	case "attrib":
		if w.Attribute(1) {
			w.BulkString("key-popularity")
			w.Array(2)
			w.BulkString("key:123")
			w.Int(90)
		}
		w.BulkString("Some real reply following the attribute")
	case "push":
		if w.Proto != 3 {
			return resp.Error("ERR RESP2 is not supported by this command")
		}
		w.Push(2)
		w.BulkString("server-cpu-usage")
		w.Int(42)
		w.BulkString("Some real reply following the push reply")
	case "true":
		w.Bool(true)
	case "false":
		w.Bool(false)
	case "verbatim":
		w.Verbatim("txt", "This is a verbatim\nstring")
	case "bignum":
		w.BigNumber("1234567999999999999999999999999999999")
	default:
		return resp.Error("ERR Wrong protocol type name. Please use one of the following: " +
			"string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false")
	}
	return nil
}
