package streams

import (
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// Errors of XGROUP.
const (
	errGroupKey    = resp.Error("ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically.")
	errGroupExists = resp.Error("BUSYGROUP Consumer Group name already exists")
	errGroupRead   = resp.Error("ERR value for ENTRIESREAD must be positive or -1")
)

// streamGroupOptions are those of CREATE and SETID.
type streamGroupOptions struct {
	make bool // MKSTREAM
	read int64
}

func parseStreamGroupOptions(c *command.Call, mayMake bool) (o streamGroupOptions, err error) {
	o.read = -1
	args := c.Args
	for i := 3; i < len(args); i++ {
		switch {
		case mayMake && command.Is(args[i], "MKSTREAM"):
			o.make = true
		case command.Is(args[i], "ENTRIESREAD") && i+1 < len(args):
			i++
			var ok bool
			if o.read, ok = resp.ParseInt(args[i]); !ok {
				return o, command.ErrNotInteger
			}
			if o.read < -1 {
				return o, errGroupRead
			}
		default:
			return o, command.ErrSubcommand(c)
		}
	}
	return o, nil
}

// openGroup opens the stream and the group that a command begins with; ok is
// false if one of them is not there.
func openGroup(c *command.Call) (s keyspace.Slot, st keyspace.Stream, g keyspace.StreamGroup, ok bool, err error) {
	if s, st, err = keyspace.OpenStream(c.View, c.Args[0]); err != nil || !s.Live {
		return s, st, g, false, err
	}
	g, ok, err = keyspace.FindStreamGroup(c.View, &s.Key, c.Args[1])
	return s, st, g, ok, err
}

// openStreamGroup is openGroup for an XGROUP subcommand that needs both.
func openStreamGroup(c *command.Call) (s keyspace.Slot, st keyspace.Stream, g keyspace.StreamGroup, err error) {
	s, st, g, ok, err := openGroup(c)
	switch {
	case err != nil || ok:
	case !s.Live:
		err = errGroupKey
	default:
		err = noConsumerGroup(c.Args[0], c.Args[1])
	}
	return s, st, g, err
}

func noConsumerGroup(key, name []byte) error {
	return resp.Error("NOGROUP No such consumer group '" + string(keyspace.CutAtZero(name)) + "' for key name '" + string(keyspace.CutAtZero(key)) + "'")
}

// groupCreateArgs and groupSetArgs are the most arguments that the
// subcommands take, each option once.
const (
	groupCreateArgs = 6
	groupSetArgs    = 5
)

func xGroupCreate(c *command.Call) error {
	o, err := parseStreamGroupOptions(c, true)
	if err != nil {
		return err
	}
	s, st, err := keyspace.OpenStream(c.View, c.Args[0])
	switch {
	case err != nil:
		return err
	case !s.Live && !o.make:
		return errGroupKey
	case len(c.Args) > groupCreateArgs:
		return command.ErrSubcommand(c)
	}
	last := st.Last
	if string(c.Args[2]) != "$" {
		if last, err = keyspace.ParseID(c.Args[2], 0); err != nil {
			return err
		}
	}
	_, exists, err := keyspace.FindStreamGroup(c.View, &s.Key, c.Args[1])
	if err != nil {
		return err
	}
	if exists {
		return errGroupExists
	}
	st.Groups++
	st.Serial++
	g := keyspace.StreamGroup{Serial: st.Serial, Last: last, Read: o.read}
	if err := c.Tx.Put(c.Groups, keyspace.GroupID(c.View, s.Key.UID, c.Args[1]), g.Encode()); err != nil {
		return err
	}
	c.Reply.Simple("OK")
	err = keyspace.WriteStream(c.View, &s, &st)
	c.Notify(keyspace.EventStream, "xgroup-create", c.Args[0])
	return err
}

func xGroupSetID(c *command.Call) error {
	o, err := parseStreamGroupOptions(c, false)
	if err != nil {
		return err
	}
	s, st, g, err := openStreamGroup(c)
	if err != nil {
		return err
	}
	if len(c.Args) > groupSetArgs {
		return command.ErrSubcommand(c)
	}
	g.Last, g.Read = st.Last, o.read
	if string(c.Args[2]) != "$" {
		if g.Last, err = keyspace.ParseOpenID(c.Args[2], 0); err != nil {
			return err
		}
	}
	if err := c.Tx.Put(c.Groups, keyspace.GroupID(c.View, s.Key.UID, g.Name), g.Encode()); err != nil {
		return err
	}
	c.Reply.Simple("OK")
	c.Notify(keyspace.EventStream, "xgroup-setid", c.Args[0])
	return keyspace.WriteStream(c.View, &s, &st)
}

func xGroupDestroy(c *command.Call) error {
	s, st, g, ok, err := openGroup(c)
	if err != nil {
		return err
	}
	if !s.Live {
		return errGroupKey
	}
	command.ReplyFlag(c, ok)
	if !ok {
		return nil
	}
	if err := keyspace.OpenGroupLedger(c.View, c.Args[0], &s.Key, g).Destroy(); err != nil {
		return err
	}
	st.Groups--
	c.Notify(keyspace.EventStream, "xgroup-destroy", c.Args[0])
	return keyspace.WriteStream(c.View, &s, &st)
}

func xGroupCreateConsumer(c *command.Call) error {
	s, st, g, err := openStreamGroup(c)
	if err != nil {
		return err
	}
	l := keyspace.OpenGroupLedger(c.View, c.Args[0], &s.Key, g)
	_, made, err := l.Join(c.Args[2])
	if err != nil {
		return err
	}
	command.ReplyFlag(c, made)
	return writeGroupLedger(c, l, &s, &st)
}

func xGroupDelConsumer(c *command.Call) error {
	s, st, g, err := openStreamGroup(c)
	if err != nil {
		return err
	}
	l := keyspace.OpenGroupLedger(c.View, c.Args[0], &s.Key, g)
	m, err := l.Find(c.Args[2])
	if err != nil {
		return err
	}
	if m == nil {
		c.Reply.Int(0)
		return nil
	}
	n, err := l.Dismiss(m)
	if err != nil {
		return err
	}
	c.Reply.Int(n)
	c.Notify(keyspace.EventStream, "xgroup-delconsumer", c.Args[0])
	return writeGroupLedger(c, l, &s, &st)
}

// writeGroupLedger stores a group that a command has changed, and the key.
func writeGroupLedger(c *command.Call, l *keyspace.GroupLedger, s *keyspace.Slot, st *keyspace.Stream) error {
	if !l.Changed {
		return nil
	}
	if err := l.Write(); err != nil {
		return err
	}
	return keyspace.WriteStream(c.View, s, st)
}

func xGroupHelp(c *command.Call) error {
	return command.ReplyLines(c, []string{
		"XGROUP <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
		"CREATE <key> <groupname> <id|$> [option]",
		"    Create a new consumer group. Options are:",
		"    * MKSTREAM",
		"      Create the empty stream if it does not exist.",
		"    * ENTRIESREAD entries_read",
		"      Set the group's entries_read counter (internal use).",
		"CREATECONSUMER <key> <groupname> <consumer>",
		"    Create a new consumer in the specified group.",
		"DELCONSUMER <key> <groupname> <consumer>",
		"    Remove the specified consumer.",
		"DESTROY <key> <groupname>",
		"    Remove the specified group.",
		"SETID <key> <groupname> <id|$> [ENTRIESREAD entries_read]",
		"    Set the current group ID and entries_read counter.",
		"HELP",
		"    Prints this help.",
	})
}
