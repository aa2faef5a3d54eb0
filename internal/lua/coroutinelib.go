package lua

import "github.com/firndb/firn/internal/lua/val"

var coroutineFunctions = map[string]native{
	"create":  coCreate,
	"resume":  coResume,
	"running": coRunning,
	"status":  coStatus,
	"wrap":    coWrap,
	"yield":   func(th *thread, args []value) []value { return th.suspend(args) },
}

func newCoroutine(th *thread, args []value) *coroutine {
	if len(args) > 0 {
		if fn, ok := args[0].(*function); ok && fn.native == nil {
			th.m.charge(tableBytes)
			return &coroutine{fn: fn, status: suspended}
		}
	}
	th.argError(1, "Lua function expected")
	return nil
}

func coCreate(th *thread, args []value) []value { return th.one(newCoroutine(th, args)) }

func checkCoroutine(th *thread, args []value) *coroutine {
	if len(args) > 0 {
		if co, ok := args[0].(*coroutine); ok {
			return co
		}
	}
	th.argError(1, "coroutine expected")
	return nil
}

func coResume(th *thread, args []value) []value {
	r, raised := th.resume(checkCoroutine(th, args), args[1:])
	if raised != nil {
		return th.two(val.False, raised.value)
	}
	return append([]value{val.True}, r...)
}

func coWrap(th *thread, args []value) []value {
	co := newCoroutine(th, args)
	return th.one(&function{name: "wrap", native: func(th *thread, args []value) []value {
		r, raised := th.resume(co, args)
		if raised != nil {
			if text, ok := textOf(raised.value); ok {
				th.throw(val.String(th.where(1) + text))
			}
			th.throw(raised.value)
		}
		return r
	}, ups: []*cell{{v: co}}})
}

func coRunning(th *thread, _ []value) []value {
	if th.co == nil {
		return th.one(vnil)
	}
	return th.one(th.co)
}

func coStatus(th *thread, args []value) []value {
	return th.one(val.String(checkCoroutine(th, args).status))
}
