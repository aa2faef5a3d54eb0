package scripting

import (
	"bytes"
	"strconv"

	"github.com/firndb/firn/resp"
	glua "github.com/yuin/gopher-lua"
)

// tableOf is words as a table.
func tableOf(r *Run, words [][]byte) *glua.LTable {
	t := r.state.L().CreateTable(len(words), 0)
	for _, w := range words {
		t.Append(glua.LString(w))
	}
	return t
}

// wordsOf are the arguments of redis.call, in memory of r that is used again.
func (r *Run) wordsOf(L *glua.LState) [][]byte {
	r.arena, r.words = r.arena[:0], r.words[:0]
	n := L.GetTop()
	var ends []int
	for i := 1; i <= n; i++ {
		switch v := L.Get(i).(type) {
		case glua.LString:
			r.arena = append(r.arena, v...)
		case glua.LNumber:
			r.arena = strconv.AppendFloat(r.arena, float64(v), 'g', 17, 64)
		}
		ends = append(ends, len(r.arena))
	}
	from := 0
	for _, end := range ends {
		r.words = append(r.words, r.arena[from:end:end])
		from = end
	}
	return r.words
}

// valueOf is a reply as a Lua value, and what follows it.
func valueOf(L *glua.LState, reply []byte) (glua.LValue, []byte) {
	line, rest, _ := bytes.Cut(reply, []byte("\r\n"))
	switch line[0] {
	case ':':
		n, _ := resp.ParseInt(line[1:])
		return glua.LNumber(n), rest
	case '$':
		n, _ := resp.ParseInt(line[1:])
		if n < 0 {
			return glua.LFalse, rest
		}
		return glua.LString(rest[:n]), rest[n+2:]
	case '+', '-':
		t := L.NewTable()
		name := "ok"
		if line[0] == '-' {
			name = "err"
		}
		t.RawSetString(name, glua.LString(line[1:]))
		return t, rest
	case '*':
		n, _ := resp.ParseInt(line[1:])
		if n < 0 {
			return glua.LFalse, rest
		}
		t := L.CreateTable(int(n), 0)
		for range n {
			var v glua.LValue
			v, rest = valueOf(L, rest)
			t.Append(v)
		}
		return t, rest
	}
	return glua.LNil, rest
}

// replyValue replies what a script has returned.
func replyValue(r *Run, w *resp.Writer, v glua.LValue) error {
	switch v := v.(type) {
	case glua.LString:
		w.BulkString(string(v))
	case glua.LNumber:
		w.Int(int64(v))
	case glua.LBool:
		if v {
			w.Int(1)
		} else {
			w.Null()
		}
	case *glua.LTable:
		if text, ok := v.RawGetString("err").(glua.LString); ok {
			w.Error(string(text))
			return nil
		}
		if text, ok := v.RawGetString("ok").(glua.LString); ok {
			w.Simple(string(text))
			return nil
		}
		n := 0
		for v.RawGetInt(n+1) != glua.LNil {
			n++
		}
		w.Array(n)
		for i := range n {
			if err := replyValue(r, w, v.RawGetInt(i+1)); err != nil {
				return err
			}
		}
	default:
		w.Null()
	}
	return nil
}
