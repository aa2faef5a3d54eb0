package redis

import "github.com/firndb/firn/resp"

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

func parseStreamGroupOptions(c *Call, sub string) (o streamGroupOptions, err error) {
	o.read = -1
	args := c.Args
	for i := 3; i < len(args); i++ {
		switch {
		case sub == "CREATE" && is(args[i], "MKSTREAM"):
			o.make = true
		case is(args[i], "ENTRIESREAD") && i+1 < len(args):
			i++
			var ok bool
			if o.read, ok = resp.ParseInt(args[i]); !ok {
				return o, errNotInteger
			}
			if o.read < -1 {
				return o, errGroupRead
			}
		default:
			return o, wrongSubcommand("XGROUP", sub)
		}
	}
	return o, nil
}

// openGroup opens the stream and the group that a command begins with; ok is
// false if one of them is not there.
func openGroup(c *Call) (s slot, st stream, g streamGroup, ok bool, err error) {
	if s, st, err = openStream(c.View, c.Args[0]); err != nil || !s.live {
		return s, st, g, false, err
	}
	g, ok, err = findStreamGroup(c.View, &s.key, c.Args[1])
	return s, st, g, ok, err
}

// openStreamGroup is openGroup for an XGROUP subcommand that needs both.
func openStreamGroup(c *Call) (s slot, st stream, g streamGroup, err error) {
	s, st, g, ok, err := openGroup(c)
	switch {
	case err != nil || ok:
	case !s.live:
		err = errGroupKey
	default:
		err = noConsumerGroup(c.Args[0], c.Args[1])
	}
	return s, st, g, err
}

func noConsumerGroup(key, name []byte) error {
	return resp.Error("NOGROUP No such consumer group '" + string(cutAtZero(name)) + "' for key name '" + string(cutAtZero(key)) + "'")
}

// groupCreateArgs and groupSetArgs are the most arguments that the
// subcommands take, each option once.
const (
	groupCreateArgs = 6
	groupSetArgs    = 5
)

func xGroupCreate(c *Call) error {
	o, err := parseStreamGroupOptions(c, "CREATE")
	if err != nil {
		return err
	}
	s, st, err := openStream(c.View, c.Args[0])
	switch {
	case err != nil:
		return err
	case !s.live && !o.make:
		return errGroupKey
	case len(c.Args) > groupCreateArgs:
		return wrongSubcommand("XGROUP", "CREATE")
	}
	last := st.last
	if string(c.Args[2]) != "$" {
		if last, err = parseID(c.Args[2], 0); err != nil {
			return err
		}
	}
	_, exists, err := findStreamGroup(c.View, &s.key, c.Args[1])
	if err != nil {
		return err
	}
	if exists {
		return errGroupExists
	}
	st.groups++
	st.serial++
	g := streamGroup{serial: st.serial, last: last, read: o.read}
	if err := c.Tx.Put(c.groups, groupID(c.View, s.key.UID, c.Args[1]), g.encode()); err != nil {
		return err
	}
	c.Reply.Simple("OK")
	err = writeStream(c.View, &s, &st)
	c.notify(eventStream, "xgroup-create", c.Args[0])
	return err
}

func xGroupSetID(c *Call) error {
	o, err := parseStreamGroupOptions(c, "SETID")
	if err != nil {
		return err
	}
	s, st, g, err := openStreamGroup(c)
	if err != nil {
		return err
	}
	if len(c.Args) > groupSetArgs {
		return wrongSubcommand("XGROUP", "SETID")
	}
	g.last, g.read = st.last, o.read
	if string(c.Args[2]) != "$" {
		if g.last, err = parseOpenID(c.Args[2], 0); err != nil {
			return err
		}
	}
	if err := c.Tx.Put(c.groups, groupID(c.View, s.key.UID, g.name), g.encode()); err != nil {
		return err
	}
	c.Reply.Simple("OK")
	c.notify(eventStream, "xgroup-setid", c.Args[0])
	return writeStream(c.View, &s, &st)
}

func xGroupDestroy(c *Call) error {
	s, st, g, ok, err := openGroup(c)
	if err != nil {
		return err
	}
	if !s.live {
		return errGroupKey
	}
	replyFlag(c, ok)
	if !ok {
		return nil
	}
	if err := openGroupLedger(c.View, c.Args[0], &s.key, g).destroy(); err != nil {
		return err
	}
	st.groups--
	c.notify(eventStream, "xgroup-destroy", c.Args[0])
	return writeStream(c.View, &s, &st)
}

func xGroupCreateConsumer(c *Call) error {
	s, st, g, err := openStreamGroup(c)
	if err != nil {
		return err
	}
	l := openGroupLedger(c.View, c.Args[0], &s.key, g)
	_, made, err := l.join(c.Args[2])
	if err != nil {
		return err
	}
	replyFlag(c, made)
	return writeGroupLedger(c, l, &s, &st)
}

func xGroupDelConsumer(c *Call) error {
	s, st, g, err := openStreamGroup(c)
	if err != nil {
		return err
	}
	l := openGroupLedger(c.View, c.Args[0], &s.key, g)
	m, err := l.find(c.Args[2])
	if err != nil {
		return err
	}
	if m == nil {
		c.Reply.Int(0)
		return nil
	}
	n, err := l.dismiss(m)
	if err != nil {
		return err
	}
	c.Reply.Int(n)
	c.notify(eventStream, "xgroup-delconsumer", c.Args[0])
	return writeGroupLedger(c, l, &s, &st)
}

// writeGroupLedger stores a group that a command has changed, and the key.
func writeGroupLedger(c *Call, l *groupLedger, s *slot, st *stream) error {
	if !l.changed {
		return nil
	}
	if err := l.write(); err != nil {
		return err
	}
	return writeStream(c.View, s, st)
}

func xGroupHelp(c *Call) error {
	return replyLines(c, []string{
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
