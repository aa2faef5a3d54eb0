package scripting

import (
	"math"
	"strings"

	"github.com/firndb/firn/internal/lua"
	"github.com/firndb/firn/internal/lua/number"
	"github.com/firndb/firn/internal/lua/val"
	"github.com/firndb/firn/resp"
)

// maxSlots is how many slots of C Lua's stack the reply of a script may take:
// LUAI_MAXCSTACK. So tables of tables end where they end in Redis.
const maxSlots = 8000

// Slots that a value and its parts take of C Lua's stack, in Redis.
const (
	outerSlots  = 2 // the error handler and the value that is replied
	neededSlots = 4 // what a value may need for itself
	memberSlots = 1 // a table that is an array
	keySlots    = 4 // {map=…}, its table, a key and its value, the key once more
	valueSlots  = 3 // {map=…}, its table, a key and its value
	setSlots    = 3 // {set=…}, its table, a member and its copy
)

// maxHurriedReply is how large the reply of a script may be that runs on an
// event loop: making more takes too long, a table that holds itself twice has no
// end. Beyond it the script runs again where it may take its time.
const maxHurriedReply = 1 << 20

// errLargeReply is the answer of a script whose reply is larger than what it
// may hold.
const errLargeReply = resp.Error("ERR script's reply is larger than script-max-memory")

// encoder makes a reply of what a script returns.
type encoder struct {
	w      *resp.Writer
	r      *Run
	limit  int // of len(w.Buf)
	failed bool
}

// replyValue appends what a script has returned. failed says that there is an
// error in it.
func replyValue(r *Run, w *resp.Writer, v val.Value) (failed bool, err error) {
	e := encoder{w: w, r: r, limit: len(w.Buf) + int(r.guard.Bytes)}
	if r.Hurried {
		e.limit = len(w.Buf) + maxHurriedReply
	}
	e.value(v, outerSlots)
	if len(w.Buf) <= e.limit {
		return e.failed, nil
	}
	if r.Hurried {
		return false, ErrLong
	}
	return false, errLargeReply
}

// value appends a value. slots are those that are taken.
func (e *encoder) value(v val.Value, slots int) {
	if slots+neededSlots > maxSlots {
		e.error("ERR reached lua stack limit", false)
		return
	}
	switch v := v.(type) {
	case val.String:
		e.w.BulkString(string(v))
	case val.Number:
		e.w.Int(number.Int64(float64(v)))
	case val.Bool:
		e.bool(bool(v))
	case lua.Table:
		e.table(v, slots)
	default:
		e.w.Null()
	}
}

func (e *encoder) bool(b bool) {
	switch {
	case e.r.Proto == 3:
		e.w.Bool(b)
	case b:
		e.w.Int(1)
	default:
		e.w.Null()
	}
}

// table appends a table: an array, unless a field says what it is.
func (e *encoder) table(t lua.Table, slots int) {
	if len(e.w.Buf) > e.limit {
		return // nobody will see it
	}
	if !e.named(t, slots) {
		e.array(t, slots)
	}
}

// named appends a table whose field says what it is; false if none does.
func (e *encoder) named(t lua.Table, slots int) bool {
	if text, ok := t.Field("err").(val.String); ok {
		e.error(string(text), t.Field(ignoreField) == val.True)
		return true
	}
	if text, ok := t.Field("ok").(val.String); ok {
		e.w.Simple(cutAtZero(string(text)))
		return true
	}
	if f, ok := t.Field("double").(val.Number); ok {
		e.double(float64(f))
		return true
	}
	if digits, ok := t.Field("big_number").(val.String); ok {
		e.w.BigNumber(withoutBreaks(string(digits)))
		return true
	}
	if e.verbatim(t) {
		return true
	}
	if pairs, ok := t.Field("map").(lua.Table); ok {
		e.pairs(pairs, slots)
		return true
	}
	if members, ok := t.Field("set").(lua.Table); ok {
		e.set(members, slots)
		return true
	}
	return false
}

func (e *encoder) array(t lua.Table, slots int) {
	n := 0
	for t.Index(n+1) != val.Nil {
		n++
	}
	e.w.Array(n)
	for i := range n {
		e.value(t.Index(i+1), slots+memberSlots)
	}
}

func (e *encoder) pairs(t lua.Table, slots int) {
	e.w.Map(membersOf(t))
	t.Walk(func(key, v val.Value) bool {
		e.value(key, slots+keySlots)
		e.value(v, slots+valueSlots)
		return true
	})
}

func (e *encoder) set(t lua.Table, slots int) {
	e.w.Set(membersOf(t))
	t.Walk(func(key, _ val.Value) bool {
		e.value(key, slots+setSlots)
		return true
	})
}

// membersOf is how many members a table has.
func membersOf(t lua.Table) (n int) {
	t.Walk(func(val.Value, val.Value) bool {
		n++
		return true
	})
	return n
}

// verbatim appends text that a person reads; false if the table is none.
func (e *encoder) verbatim(t lua.Table) bool {
	inner, ok := t.Field("verbatim_string").(lua.Table)
	if !ok {
		return false
	}
	format, ok := inner.Field("format").(val.String)
	text, also := inner.Field("string").(val.String)
	if !ok || !also {
		return false
	}
	e.w.Verbatim(cutAtZero(string(format)), string(text))
	return true
}

// double appends a float. What is no number has a sign, as C prints it.
func (e *encoder) double(f float64) {
	if !math.IsNaN(f) {
		e.w.Double(f)
		return
	}
	text := number.String(f)
	if e.w.Proto == 3 {
		e.w.Raw("," + text + "\r\n")
	} else {
		e.w.BulkString(text)
	}
}

// error appends an error. counted says that it was counted already, where it
// came from.
func (e *encoder) error(text string, counted bool) {
	e.failed = true
	appendError(e.w, text)
	e.r.Host.Failed(e.r, errorCode(text), counted)
}

// appendError appends an error whose text is the script's. Breaks before it
// stay as blanks, as in Redis.
func appendError(w *resp.Writer, text string) {
	w.Raw("-" + withoutBreaks(strings.TrimRight(cutAtZero(text), "\r\n")) + "\r\n")
}

// breaks makes blanks of what would end a line.
var breaks = strings.NewReplacer("\r", " ", "\n", " ")

func withoutBreaks(s string) string { return breaks.Replace(s) }

// cutAtZero is what C sees of a string.
func cutAtZero(s string) string {
	cut, _, _ := strings.Cut(s, "\x00")
	return cut
}
