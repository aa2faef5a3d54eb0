package redis

import (
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/pubsub"
	"github.com/firndb/firn/resp"
)

// Publish and subscribe. The confirmations are pushes: the client gets them
// with CLIENT REPLY OFF, too.
var pubsubCommands = []command.Command{
	{
		Name: "SUBSCRIBE", Args: "channel [channel ...]", Min: 1, Max: -1,
		Flags: command.Local | command.PubSub | command.Confirms | command.NoScript | command.Loading | command.Stale, Channels: command.AllChannels,
		Group: "pubsub", Since: "2.0.0", Complexity: "O(n), n the channels",
		Summary: "Listens to channels.",
		Run:     func(c *command.Call) error { return subscribe(c, 'C') },
	},
	{
		Name: "UNSUBSCRIBE", Args: "[channel [channel ...]]", Max: -1,
		Flags: command.Local | command.PubSub | command.Confirms | command.NoScript | command.Loading | command.Stale,
		Group: "pubsub", Since: "2.0.0", Complexity: "O(n), n the listeners of the channels",
		Summary: "Stops listening to channels, or to all.",
		Run:     func(c *command.Call) error { return unsubscribe(c, 'C') },
	},
	{
		Name: "PSUBSCRIBE", Args: "pattern [pattern ...]", Min: 1, Max: -1,
		Flags: command.Local | command.PubSub | command.Confirms | command.NoScript | command.Loading | command.Stale, Channels: command.AllPatterns,
		Group: "pubsub", Since: "2.0.0", Complexity: "O(n), n the patterns",
		Summary: "Listens to all channels whose names match patterns.",
		Run:     func(c *command.Call) error { return subscribe(c, 'P') },
	},
	{
		Name: "PUNSUBSCRIBE", Args: "[pattern [pattern ...]]", Max: -1,
		Flags: command.Local | command.PubSub | command.Confirms | command.NoScript | command.Loading | command.Stale,
		Group: "pubsub", Since: "2.0.0", Complexity: "O(n), n the listeners of the patterns",
		Summary: "Stops listening to patterns, or to all.",
		Run:     func(c *command.Call) error { return unsubscribe(c, 'P') },
	},
	{
		Name: "SSUBSCRIBE", Args: "shardchannel [shardchannel ...]", Min: 1, Max: -1,
		Flags: command.Local | command.PubSub | command.Confirms | command.NoScript | command.Loading | command.Stale,
		Keys:  command.AllKeys(command.IsChannel), Channels: command.AllChannels,
		Group: "pubsub", Since: "7.0.0", Complexity: "O(n), n the channels",
		Summary: "Listens to shard channels.",
		Run:     func(c *command.Call) error { return subscribe(c, 'S') },
	},
	{
		Name: "SUNSUBSCRIBE", Args: "[shardchannel [shardchannel ...]]", Max: -1,
		Flags: command.Local | command.PubSub | command.Confirms | command.NoScript | command.Loading | command.Stale,
		Keys:  command.AllKeys(command.IsChannel),
		Group: "pubsub", Since: "7.0.0", Complexity: "O(n), n the listeners of the channels",
		Summary: "Stops listening to shard channels, or to all.",
		Run:     func(c *command.Call) error { return unsubscribe(c, 'S') },
	},
	{
		Name: "PUBLISH", Args: "channel message", Min: 2, Flags: command.Local | command.Fast | command.Loading | command.Stale | command.Replicates,
		Channels: command.FirstChannel,
		Group:    "pubsub", Since: "2.0.0", Complexity: "O(n + m), n the listeners and m all patterns",
		Summary: "Sends a message to a channel and returns how many subscriptions got it.",
		Differs: "Inside MULTI the messages go out when EXEC is committed, and to the client itself after EXEC's reply.",
		Run:     func(c *command.Call) error { return publish(c, noteMessage) },
	},
	{
		Name: "SPUBLISH", Args: "shardchannel message", Min: 2, Flags: command.Local | command.Fast | command.Loading | command.Stale | command.Replicates,
		Keys: command.FirstKey(command.IsChannel), Channels: command.FirstChannel,
		Group: "pubsub", Since: "7.0.0", Complexity: "O(n), n the listeners",
		Summary: "Sends a message to a shard channel and returns how many subscriptions got it.",
		Run:     func(c *command.Call) error { return publish(c, noteShard) },
	},
	{
		Name: "PUBSUB", Flags: command.Local,
		Group: "pubsub", Since: "2.8.0", Complexity: "that of the subcommand",
		Summary: "A container for commands about who listens.",
		Sub: []command.Command{
			{
				Name: "CHANNELS", Args: "[pattern]", Max: -1, Flags: command.Local | command.Loading | command.Stale,
				Since: "2.8.0", Complexity: "O(n), n the channels",
				Summary: "Returns the channels that somebody listens to.",
				Run:     func(c *command.Call) error { return pubsubNames(c, &sessionOf(c).srv.pubsub.Channels) },
			},
			{
				Name: "HELP", Flags: command.Local | command.Loading | command.Stale, Categories: command.CatSlow,
				Since: "6.2.0", Complexity: "O(1)",
				Summary: "Returns a text about the subcommands.",
				Run:     pubsubHelp,
			},
			{
				Name: "NUMPAT", Flags: command.Local | command.Loading | command.Stale,
				Since: "2.8.0", Complexity: "O(1)",
				Summary: "Returns how many different patterns are listened to.",
				Run:     pubsubNumPat,
			},
			{
				Name: "NUMSUB", Args: "[channel [channel ...]]", Max: -1, Flags: command.Local | command.Loading | command.Stale,
				Since: "2.8.0", Complexity: "O(n), n the channels",
				Summary: "Returns how many clients listen to each channel.",
				Run:     func(c *command.Call) error { return pubsubCounts(c, &sessionOf(c).srv.pubsub.Channels) },
			},
			{
				Name: "SHARDCHANNELS", Args: "[pattern]", Max: -1, Flags: command.Local | command.Loading | command.Stale,
				Since: "7.0.0", Complexity: "O(n), n the channels",
				Summary: "Returns the shard channels that somebody listens to.",
				Run:     func(c *command.Call) error { return pubsubNames(c, &sessionOf(c).srv.pubsub.Shards) },
			},
			{
				Name: "SHARDNUMSUB", Args: "[shardchannel [shardchannel ...]]", Max: -1, Flags: command.Local | command.Loading | command.Stale,
				Since: "7.0.0", Complexity: "O(n), n the channels",
				Summary: "Returns how many clients listen to each shard channel.",
				Run:     func(c *command.Call) error { return pubsubCounts(c, &sessionOf(c).srv.pubsub.Shards) },
			},
		},
	},
}

// subscribe confirms each name on its own. A message that comes meanwhile
// waits in the inbox, and so comes after the confirmation.
func subscribe(c *command.Call, letter byte) error {
	t := sessionOf(c).subs.Topic(letter)
	if !t.Mine.Fits(c.Args) {
		return resp.Error("ERR too many subscriptions")
	}
	for _, name := range c.Args {
		t.Subscribe(name)
		c.Reply.Push(3)
		c.Reply.BulkString(t.Begins)
		c.Reply.Bulk(name)
		c.Reply.Int(t.Count())
	}
	return nil
}

// unsubscribe lets the client have the messages that came before, and then
// confirms each name.
func unsubscribe(c *command.Call, letter byte) error {
	t := sessionOf(c).subs.Topic(letter)
	names := c.Args
	if len(names) == 0 {
		names = t.Mine.CopyNames()
	}
	counts := make([]int64, len(names))
	for i, name := range names {
		t.Unsubscribe(string(name))
		counts[i] = t.Count()
	}
	takeInbox(c)
	for i, name := range names {
		c.Reply.Push(3)
		c.Reply.BulkString(t.Ends)
		c.Reply.Bulk(name)
		c.Reply.Int(counts[i])
	}
	if len(names) == 0 {
		c.Reply.Push(3)
		c.Reply.BulkString(t.Ends)
		c.Reply.Null()
		c.Reply.Int(t.Count())
	}
	return nil
}

// publish sends a message. Inside a transaction it is only noted: it must not
// be seen before the transaction is.
func publish(c *command.Call, what noteKind) error {
	s, p := sessionOf(c), &sessionOf(c).srv.pubsub
	in := &p.Channels
	if what == noteShard {
		in = &p.Shards
	}
	if !s.InMulti() {
		c.Reply.Int(int64(p.Publish(in, c.Args[0], c.Args[1])))
		return nil
	}
	n := p.Receivers(in, c.Args[0])
	if n > 0 {
		s.outbox.add(note{what: what}, c.Args[0], c.Args[1])
	}
	c.Reply.Int(int64(n))
	return nil
}

func pubsubNames(c *command.Call, in *pubsub.Audiences) error {
	if len(c.Args) > 1 {
		return command.ErrSubcommand(c)
	}
	var pattern []byte
	if len(c.Args) == 1 {
		pattern = c.Args[0]
	}
	names := sessionOf(c).srv.pubsub.Matching(in, pattern)
	return command.ReplyNames(c, names)
}

func pubsubCounts(c *command.Call, in *pubsub.Audiences) error {
	c.Reply.Array(2 * len(c.Args))
	for _, name := range c.Args {
		c.Reply.Bulk(name)
		c.Reply.Int(int64(sessionOf(c).srv.pubsub.Listeners(in, name)))
	}
	return nil
}

func pubsubNumPat(c *command.Call) error {
	_, patterns, _ := sessionOf(c).srv.pubsub.Counts()
	c.Reply.Int(int64(patterns))
	return nil
}

func pubsubHelp(c *command.Call) error {
	lines := []string{
		"PUBSUB <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
		"CHANNELS [<pattern>]",
		"    Return the currently active channels matching a <pattern> (default: '*').",
		"NUMPAT",
		"    Return number of subscriptions to patterns.",
		"NUMSUB [<channel> ...]",
		"    Return the number of subscribers for the specified channels, excluding",
		"    pattern subscriptions(default: no channels).",
		"SHARDCHANNELS [<pattern>]",
		"    Return the currently active shard level channels matching a <pattern> (default: '*').",
		"SHARDNUMSUB [<shardchannel> ...]",
		"    Return the number of subscribers for the specified shard level channel(s)",
		"HELP",
		"    Prints this help.",
	}
	return command.ReplyLines(c, lines)
}
