package scripting

import (
	"errors"
	"fmt"
	"strings"

	"github.com/firndb/firn/internal/lua"
	"github.com/firndb/firn/internal/lua/val"
)

// ignoreField is the field of an error's table that says that the error was
// counted where it came from.
const ignoreField = "ignore_error_stats_update"

// errorTable is an error as scripts see it. counted says that it was counted.
func errorTable(c lua.Call, text string, counted bool) val.Value {
	t := c.NewTable(0)
	t.Set(c, val.String("err"), val.String(cutAtZero(text)))
	if counted {
		t.Set(c, val.String(ignoreField), val.True)
	}
	return t
}

// errorIn is the text of an error reply, with a code in any case.
func errorIn(reply []byte) string {
	code, text, ok := strings.Cut(string(reply), " ")
	if !ok {
		code, text = "ERR", string(reply)
	}
	return code + " " + strings.Trim(text, "\r\n")
}

// errorOf is errorIn for an error of a command, which has one line as it goes to
// clients: names of keys may be in it.
func errorOf(err error) string {
	return errorIn([]byte(withoutBreaks(strings.Trim(err.Error(), "\r\n"))))
}

// errorCode is the code of an error, as statistics have it.
func errorCode(text string) string {
	const most = 32 // bytes that Redis looks at
	if code, _, ok := strings.Cut(text[:min(len(text), most)], " "); ok {
		return code
	}
	return "ERR"
}

// errorText is an error that a script has raised, with its code. counted says
// that it was counted where it came from.
func errorText(err error) (text string, counted bool) {
	var raised *lua.Error
	if !errors.As(err, &raised) {
		return "ERR " + strings.TrimPrefix(err.Error(), "lua: "), false
	}
	t, ok := raised.Value.(lua.Table)
	if !ok {
		return "ERR " + cutAtZero(raised.Error()), false
	}
	text, ok = textOf(t.Field("err"))
	if !ok {
		text = "ERR unknown error"
	}
	return cutAtZero(text), t.Field(ignoreField) == val.True
}

// replyError appends the error that a script has raised, and where.
func replyError(r *Run, s *Script, err error) {
	text, counted := errorText(err)
	var raised *lua.Error
	if errors.As(err, &raised) && raised.Source != "" {
		text += fmt.Sprintf(" script: %s, on %s:%d.", s.SHA, raised.Source, raised.Line)
	}
	e := encoder{w: &r.Outer.Reply, r: r}
	e.error(text, counted)
}
