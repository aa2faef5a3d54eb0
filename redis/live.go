package redis

import (
	"strings"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/live"
	"github.com/firndb/firn/resp"
)

// Queries whose clients are told when the answer changes. What is live, and
// when it is evaluated again, is package live's business.
var liveCommands = []command.Command{
	{
		Name: "LIVE", Args: "<LIST | id [RESUME token] <command [arg ...] | MULTI>>", Min: 1, Max: -1,
		Flags: command.ReadOnly | command.OnWorker | command.NoMulti | command.NoScript | command.OwnName, Wraps: liveWords,
		Group: "history", Since: "0.2.0", Complexity: "that of the command, now and after each change of what it reads",
		Summary: "Answers a read command, and pushes its reply to this connection (RESP3) whenever it has changed: `live id ts token reply`. " +
			"After LIVE id MULTI the commands up to EXEC are queued, and their replies are one reply, of one timestamp. " +
			"RESUME answers UNCHANGED if the reply is what it was at the token. An error that takes the reply's place ends the subscription. " +
			"LIST returns this connection's subscriptions. [More](live.md#live).",
		Run: liveRun,
	},
	{
		Name: "UNLIVE", Args: "id", Min: 1, Flags: command.Local | command.Fast | command.NoScript | command.OwnName,
		Group: "history", Since: "0.2.0", Complexity: "O(log n), n the connection's subscriptions",
		Summary: "Ends a subscription of LIVE, and returns whether there was one. Nothing of it is pushed any more.",
		Run:     liveEnd,
	},
}

const (
	errLiveProtocol = resp.Error("ERR LIVE pushes what has changed, which takes protocol 3: say HELLO 3 first, or start redis-cli with -3")
	errLiveASOF     = resp.Error("READONLY this connection reads as of a moment of the past, where nothing changes; CLIENT ASOF OFF ends that")
	errLiveEmpty    = resp.Error("ERR LIVE MULTI without commands")
)

// liveWords are the words of the command in LIVE's arguments, of which there
// are two at least.
func liveWords(args [][]byte) [][]byte {
	if command.Is(args[1], "RESUME") {
		return args[min(3, len(args)):]
	}
	return args[1:]
}

// parseLive reads LIVE's arguments.
func parseLive(c *command.Call) (r live.Request, words [][]byte, err error) {
	r.ID, words = string(c.Args[0]), liveWords(c.Args)
	if len(words) == 0 {
		return r, nil, command.ErrArity(c)
	}
	if command.Is(c.Args[1], "RESUME") {
		r.Resume = true
		r.Since, err = sessionOf(c).Moment(c.Args[2])
	}
	return r, words, err
}

func liveRun(c *command.Call) error {
	s := sessionOf(c)
	switch {
	case len(c.Args) == 1 && command.Is(c.Args[0], "LIST"):
		return liveList(c)
	case len(c.Args) == 1:
		return command.ErrArity(c)
	case s.proto != 3:
		return errLiveProtocol
	case s.asof != 0:
		return errLiveASOF
	}
	r, words, err := parseLive(c)
	if err != nil {
		return err
	}
	if command.Is(words[0], "MULTI") {
		return liveMulti(c, r, words)
	}
	e, args, err := s.srv.commands.Resolve(words)
	if err != nil {
		return err
	}
	if err := e.MayLive(); err != nil {
		return err
	}
	if err := permit(s, e, args); err != nil {
		return err
	}
	r.Form = live.NewForm(s.db, false).With(e, args)
	err = replyLive(s, &c.Reply, r)
	e.Calls.Add(1)
	return err
}

// replyLive makes a query live and appends the first reply.
func replyLive(s *Session, w *resp.Writer, r live.Request) error {
	reply, same, err := liveOf(s).Subscribe(r)
	switch {
	case err != nil:
		return err
	case same:
		w.Simple("UNCHANGED")
	default:
		w.Buf = append(w.Buf, reply...)
	}
	return nil
}

func liveEnd(c *command.Call) error {
	command.ReplyFlag(c, sessionOf(c).live.Load().Unsubscribe(string(c.Args[0])))
	return nil
}

func liveList(c *command.Call) error {
	all := sessionOf(c).live.Load().List()
	c.Reply.Array(len(all))
	for _, one := range all {
		c.Reply.Map(4)
		command.ReplyField(&c.Reply, "id", one.ID)
		command.ReplyNumber(&c.Reply, "db", one.DB)
		c.Reply.BulkString("ts")
		c.Reply.Int(int64(one.TS))
		c.Reply.BulkString("commands")
		c.Reply.Array(len(one.Steps))
		for _, step := range one.Steps {
			words := append(nameWords(step.Entry), step.Args...)
			c.Reply.Array(len(words))
			for _, word := range words {
				c.Reply.Bulk(word)
			}
		}
	}
	return nil
}

// nameWords are the words of a command's name.
func nameWords(e *command.Entry) (words [][]byte) {
	for word := range strings.SplitSeq(e.Full, "|") {
		words = append(words, []byte(strings.ToUpper(word)))
	}
	return words
}
