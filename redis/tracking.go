package redis

import (
	"slices"
	"strings"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/tracking"
	"github.com/firndb/firn/resp"
)

// trackingCommands are subcommands of CLIENT: the server's part of a cache
// that clients keep.
var trackingCommands = []command.Command{
	{
		Name: "CACHING", Args: "YES | NO", Min: 1, Flags: command.Local | command.NoScript | command.Loading | command.Stale,
		Since: "6.0.0", Complexity: "O(1)",
		Summary: "Says whether the keys of the next command are tracked, in the modes OPTIN and OPTOUT.",
		Run:     clientCaching,
	},
	{
		Name: "GETREDIR", Flags: command.Local | command.NoScript | command.Loading | command.Stale,
		Since: "6.0.0", Complexity: "O(1)",
		Summary: "Returns the client that invalidations are redirected to; 0 if to none, -1 without tracking.",
		Run:     clientGetRedir,
	},
	{
		Name: "TRACKING", Args: "ON | OFF [REDIRECT client-id] [PREFIX prefix [PREFIX prefix ...]] [BCAST] [OPTIN] [OPTOUT] [NOLOOP] [SINCE when]", Min: 1, Max: -1,
		Flags: command.Local | command.NoScript | command.Loading | command.Stale,
		Since: "6.0.0", Complexity: "O(n), n the prefixes; with BCAST and SINCE also the changes since, or the keys with the prefixes",
		Summary: "Tells the client when keys change that it has read.",
		Differs: "SINCE is Firn's own: copies that the client has were good as of a moment, and it is told which are not any more: " +
			"with BCAST before the answer, otherwise before the answer to the command that names a key first. SWAPDB invalidates all keys. Reads of the past are not tracked.",
		Waits: trackingWaits,
		Run:   clientTracking,
	},
	{
		Name: "TRACKINGINFO", Flags: command.Local | command.NoScript | command.Loading | command.Stale,
		Since: "6.2.0", Complexity: "O(1)",
		Summary: "Returns what the client tracks, and how.",
		Run:     clientTrackingInfo,
	},
}

// parseTracking reads CLIENT TRACKING's options.
func parseTracking(c *command.Call, args [][]byte) (want tracking.State, since []byte, err error) {
	for len(args) > 0 {
		taken := 1
		switch {
		case command.Is(args[0], "REDIRECT") && len(args) > 1:
			taken = 2
			if want.Redirect, err = parseRedirect(c, want.Redirect, args[1]); err != nil {
				return want, nil, err
			}
		case command.Is(args[0], "SINCE") && len(args) > 1:
			taken, since = 2, args[1]
		case command.Is(args[0], "PREFIX") && len(args) > 1:
			taken = 2
			want.Prefixes = append(want.Prefixes, string(args[1]))
		case command.Is(args[0], "BCAST"):
			want.Bcast = true
		case command.Is(args[0], "OPTIN"):
			want.OptIn = true
		case command.Is(args[0], "OPTOUT"):
			want.OptOut = true
		case command.Is(args[0], "NOLOOP"):
			want.NoLoop = true
		default:
			return want, nil, command.ErrSyntax
		}
		args = args[taken:]
	}
	return want, since, nil
}

func parseRedirect(c *command.Call, before int64, arg []byte) (int64, error) {
	if before != 0 {
		return 0, resp.Error("ERR A client can only redirect to a single other client")
	}
	id, ok := resp.ParseInt(arg)
	if !ok {
		return 0, command.ErrNotInteger
	}
	if sessionOf(c).srv.clientByID(id) == nil {
		return 0, resp.Error("ERR The client ID you want redirect to does not exist")
	}
	return id, nil
}

func clientTracking(c *command.Call) error {
	want, since, err := parseTracking(c, c.Args[1:])
	if err != nil {
		return err
	}
	s := sessionOf(c)
	switch {
	case command.Is(c.Args[0], "ON"):
		if err := startTracking(c, want, since); err != nil {
			return err
		}
	case command.Is(c.Args[0], "OFF"):
		s.srv.tracking.Stop(&s.track)
	default:
		return command.ErrSyntax
	}
	c.Reply.Simple("OK")
	return nil
}

// startTracking makes the client track, and if since is not nil, tells it what
// has changed after that.
func startTracking(c *command.Call, want tracking.State, since []byte) error {
	s := sessionOf(c)
	if err := want.Check(&s.track.State); err != nil {
		return err
	}
	var ts firn.Timestamp
	var known bool
	if since != nil {
		var err error
		if ts, known, err = parseSince(c, since); err != nil {
			return err
		}
	}
	tracked := s.track.On
	s.srv.tracking.Start(&s.track, want, s.srv.store.Bounds().Newest, since != nil)
	if since == nil {
		return nil
	}
	return resume(c, ts, known, tracked)
}

func clientCaching(c *command.Call) error {
	state := &sessionOf(c).track
	switch {
	case !state.On:
		return resp.Error("ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled")
	case command.Is(c.Args[0], "YES"):
		if !state.OptIn {
			return resp.Error("ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.")
		}
	case command.Is(c.Args[0], "NO"):
		if !state.OptOut {
			return resp.Error("ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.")
		}
	default:
		return command.ErrSyntax
	}
	state.Caching = true
	c.Reply.Simple("OK")
	return nil
}

func clientGetRedir(c *command.Call) error {
	_, redirect := sessionOf(c).srv.tracking.Shown(&sessionOf(c).track)
	c.Reply.Int(redirect)
	return nil
}

func clientTrackingInfo(c *command.Call) error {
	shown, redirect := sessionOf(c).srv.tracking.Shown(&sessionOf(c).track)
	state := &sessionOf(c).track
	flags := []string{"on"}
	for _, flag := range []struct {
		on   bool
		name string
	}{
		{!state.On, "off"}, {state.Bcast, "bcast"},
		{state.OptIn, "optin"}, {state.OptIn && state.Caching, "caching-yes"},
		{state.OptOut, "optout"}, {state.OptOut && state.Caching, "caching-no"},
		{state.NoLoop, "noloop"}, {strings.Contains(shown, "R"), "broken_redirect"},
	} {
		if flag.on {
			flags = append(flags, flag.name)
		}
	}
	if !state.On {
		flags = flags[1:]
	}
	c.Reply.Map(3)
	c.Reply.BulkString("flags")
	c.Reply.Set(len(flags))
	for _, flag := range flags {
		c.Reply.BulkString(flag)
	}
	c.Reply.BulkString("redirect")
	c.Reply.Int(redirect)
	c.Reply.BulkString("prefixes")
	command.ReplyStrings(&c.Reply, slices.Sorted(slices.Values(state.Prefixes)))
	return nil
}
