package scripting

import (
	"errors"

	"github.com/firndb/firn/internal/lua"
	"github.com/firndb/firn/internal/lua/val"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/resp"
)

// Errors of EVAL and EVALSHA, in Redis's words.
const (
	errNoScript     = resp.Error("NOSCRIPT No matching script. Please use EVAL.")
	errManyKeys     = resp.Error("ERR Number of keys can't be greater than number of args")
	errNegativeKeys = resp.Error("ERR Number of keys can't be negative")
)

// hurriedSource is the longest script that is hashed and compiled on an event loop.
const hurriedSource = 4 << 10

// What the entries have in common.
const (
	evalFlags      = command.NoScript | command.Stale | command.RunsScript
	evalComplexity = "Depends on the script that is executed."
)

func evalCommands() []command.Command {
	return []command.Command{
		{
			Name: "EVAL", Args: "script numkeys [key [key ...]] [arg [arg ...]]", Min: 2, Max: -1, Flags: evalFlags | command.Writes | command.TakesSource,
			Keys:  command.CountedKeys(2, command.Changes).Noted("We cannot tell how the keys will be used so we assume the worst, RW and UPDATE"),
			Group: "scripting", Since: "2.6.0", Complexity: evalComplexity,
			Summary: "Executes a server-side Lua script.",
			Run:     func(c *command.Call) error { return eval(c, false) },
		},
		{
			Name: "EVALSHA", Args: "sha1 numkeys [key [key ...]] [arg [arg ...]]", Min: 2, Max: -1, Flags: evalFlags | command.Writes,
			Keys: command.CountedKeys(2, command.Changes), Group: "scripting", Since: "2.6.0", Complexity: evalComplexity,
			Summary: "Executes a server-side Lua script by SHA1 digest.",
			Run:     func(c *command.Call) error { return evalSHA(c, false) },
		},
		{
			Name: "EVAL_RO", Args: "script numkeys [key [key ...]] [arg [arg ...]]", Min: 2, Max: -1, Flags: evalFlags | command.ReadOnly | command.TakesSource,
			Keys:  command.CountedKeys(2, command.Reads).Noted("We cannot tell how the keys will be used so we assume the worst, RO and ACCESS"),
			Group: "scripting", Since: "7.0.0", Complexity: evalComplexity,
			Live:    command.Live{What: "what the commands that it calls are woken by"},
			Summary: "Executes a read-only server-side Lua script.",
			Run:     func(c *command.Call) error { return eval(c, true) },
		},
		{
			Name: "EVALSHA_RO", Args: "sha1 numkeys [key [key ...]] [arg [arg ...]]", Min: 2, Max: -1, Flags: evalFlags | command.ReadOnly,
			Keys: command.CountedKeys(2, command.Reads), Group: "scripting", Since: "7.0.0", Complexity: evalComplexity,
			Live:    command.Live{What: "what the commands that it calls are woken by"},
			Summary: "Executes a read-only server-side Lua script by SHA1 digest.",
			Run:     func(c *command.Call) error { return evalSHA(c, true) },
		},
	}
}

// eval is EVAL and EVAL_RO.
func eval(c *command.Call, readOnly bool) error {
	host := c.Client.(Hosted).ScriptHost()
	e := host.Engine()
	keys, args, err := splitArgs(c.Args[1:])
	if err != nil {
		return err
	}
	source := c.Args[0]
	if len(source) > hurriedSource && host.Limit(c) > 0 {
		return ErrLong
	}
	var sha [shaHexBytes]byte
	s := e.cache.find(shaOf(&sha, source))
	if s == nil {
		if s, err = e.load(string(sha[:]), source, false); err != nil {
			return err
		}
	}
	return e.run(c, host, s, keys, args, readOnly)
}

// evalSHA is EVALSHA and EVALSHA_RO.
func evalSHA(c *command.Call, readOnly bool) error {
	if len(c.Args[0]) != shaHexBytes {
		return errNoScript // before the number of keys is looked at
	}
	host := c.Client.(Hosted).ScriptHost()
	e := host.Engine()
	keys, args, err := splitArgs(c.Args[1:])
	if err != nil {
		return err
	}
	s := e.cache.find(c.Args[0])
	if s == nil {
		return errNoScript
	}
	return e.run(c, host, s, keys, args, readOnly)
}

// splitArgs reads numkeys, and parts what follows it.
func splitArgs(all [][]byte) (keys, args [][]byte, err error) {
	n, ok := resp.ParseInt(all[0])
	rest := all[1:]
	switch {
	case !ok:
		return nil, nil, command.ErrNotInteger
	case n > int64(len(rest)):
		return nil, nil, errManyKeys
	case n < 0:
		return nil, nil, errNegativeKeys
	}
	return rest[:n], rest[n:], nil
}

// load compiles a script and keeps it.
func (e *Engine) load(sha string, source []byte, stays bool) (*Script, error) {
	s := &Script{SHA: sha, Source: string(source), reason: "EVALSHA " + sha}
	if err := s.compile(); err != nil {
		return nil, err
	}
	s, ok := e.cache.keep(s, stays)
	if !ok {
		return nil, errCacheFull
	}
	if stays {
		s.seen.Store(true)
	}
	return s, nil
}

// run runs a script and appends its reply.
func (e *Engine) run(c *command.Call, host Host, s *Script, keys, args [][]byte, readOnly bool) error {
	r := e.take()
	defer e.give(r)
	if r.Reason = s.reason; !s.seen.Load() {
		r.Reason = c.Cmd.Name
	}
	r.state.SetGlobal("KEYS", r.state.Strings(keys))
	r.state.SetGlobal("ARGV", r.state.Strings(args))
	return e.execute(c, host, r, s, readOnly, r.state.Load(s.chunk))
}

// execute runs a function in a state that was set up for it, and appends its
// reply, or the error that it raised: what it wrote before that stays.
func (e *Engine) execute(c *command.Call, host Host, r *Run, s *Script, readOnly bool, fn *lua.Function, args ...val.Value) (err error) {
	if readOnly, err = s.readOnly(readOnly); err != nil {
		return err
	}
	if r.hurry(host.Limit(c)); r.Hurried && e.lately.has(s.SHA) {
		return ErrLong
	}
	defer func() {
		if r.leave(err); err == nil {
			s.seen.Store(true)
		}
	}()
	if err := r.enter(c, host, s.SHA, readOnly); err != nil {
		return err
	}
	value, err := r.state.Call(fn, &r.guard, args...)
	if end := r.endOf(err); end != nil {
		return end
	}
	if errors.Is(err, lua.ErrDeadline) {
		return r.Late
	}
	return r.answer(s, value, err)
}

// answer appends what the script has returned, or the error that it has raised.
func (r *Run) answer(s *Script, value val.Value, raised error) error {
	w := &r.Outer.Reply
	start, failed := len(w.Buf), raised != nil
	var err error
	if failed {
		replyError(r, s, raised)
	} else if failed, err = replyValue(r, w, value); err != nil {
		if err == ErrLong {
			return err
		}
		w.Buf, failed = w.Buf[:start], true
		w.Error(err.Error())
		r.Host.Failed(r, err.Error(), false)
	}
	if failed {
		r.Outer.Cmd.Failed.Add(1)
	}
	return nil
}
