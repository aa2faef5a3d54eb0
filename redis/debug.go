package redis

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/glob"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/history"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// DEBUG is what test suites ask for. As in Redis it is one command and not a
// container.
var debugCommands = []command.Command{{
	Name: "DEBUG", Args: "subcommand [arg ...]", Min: 1, Max: -1,
	Flags: command.Local | command.Admin | command.OnWorker | command.Protected | command.NoScript | command.Loading | command.Stale,
	Group: "server", Since: "1.0.0", Complexity: "that of the subcommand",
	Summary: "Debugging commands: DEBUG HELP lists them.",
	Differs: "Off unless --enable-debug-command is yes or local. Has what test suites need, and obeys the rights to keys. SLEEP holds up this connection alone. RELOAD and LOADAOF move the write-ahead log into the file. DIGEST is Firn's own.",
	Run:     debugRun,
}}

// debugCommand is a subcommand of DEBUG, with the number of its arguments.
type debugCommand struct {
	name     string
	args     string
	min, max int // negative max: any number
	run      func(c *command.Call, args [][]byte) error
}

// debugTable lists the subcommands. It is a function because HELP reads it.
func debugTable() []debugCommand {
	return []debugCommand{
		{"AOF-FLUSH-SLEEP", "microsec", 1, 1, debugNothing},
		{"CHANGE-REPL-ID", "", 0, 0, debugChangeReplID},
		{"DIGEST", "", 0, 0, debugDigest},
		{"DIGEST-VALUE", "key [key ...]", 1, -1, debugDigestValue},
		{"ERROR", "message", 1, 1, debugError},
		{"HELP", "", 0, 0, debugHelp},
		{"LISTPACK", "key", 1, 1, debugListpack},
		{"LOADAOF", "", 0, 0, debugReload},
		{"LOG", "message", 1, 1, debugLog},
		{"OBJECT", "key [fast]", 1, 2, debugObject},
		{"PAUSE-CRON", "0 | 1", 1, 1, debugNothing},
		{"POPULATE", "count [prefix] [size]", 1, 3, debugPopulate},
		{"PROTOCOL", "type", 1, 1, debugProtocol},
		{"QUICKLIST-PACKED-THRESHOLD", "size", 1, 1, debugPackedThreshold},
		{"RELOAD", "[MERGE] [NOFLUSH] [NOSAVE]", 0, -1, debugReload},
		{"SET-ACTIVE-EXPIRE", "0 | 1", 1, 1, debugActiveExpire},
		{"SET-DISABLE-DENY-SCRIPTS", "0 | 1", 1, 1, debugNothing},
		{"SET-SKIP-CHECKSUM-VALIDATION", "0 | 1", 1, 1, debugNothing},
		{"SLEEP", "seconds", 1, 1, debugSleep},
		{"STRINGMATCH-LEN", "length pattern", 2, 2, debugStringMatch},
	}
}

func debugRun(c *command.Call) error {
	args := c.Args[1:]
	for _, d := range debugTable() {
		if command.Is(c.Args[0], d.name) && len(args) >= d.min && (d.max < 0 || len(args) <= d.max) {
			return d.run(c, args)
		}
	}
	return command.WrongSubcommand(c.Cmd.Name, string(command.CString(c.Args[0], 128)))
}

func debugHelp(c *command.Call, _ [][]byte) error {
	table := debugTable()
	c.Reply.Array(1 + len(table))
	c.Reply.Simple("DEBUG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")
	for _, d := range table {
		c.Reply.Simple(d.name + " " + d.args)
	}
	return nil
}

// debugNothing accepts a switch for something that is not here.
func debugNothing(c *command.Call, _ [][]byte) error {
	c.Reply.Simple("OK")
	return nil
}

// maxSleep bounds what one client can occupy a worker for.
const maxSleep = time.Minute

func debugSleep(c *command.Call, args [][]byte) error {
	seconds, err := strconv.ParseFloat(string(args[0]), 64)
	if err == nil && seconds > 0 {
		time.Sleep(min(time.Duration(min(seconds, 3600)*float64(time.Second)), maxSleep))
	}
	c.Reply.Simple("OK")
	return nil
}

func debugChangeReplID(c *command.Call, _ [][]byte) error {
	id := randomID()
	sessionOf(c).srv.replID.Store(&id)
	c.Reply.Simple("OK")
	return nil
}

// randomID is 40 random hexadecimal digits.
func randomID() string {
	var id [20]byte
	rand.Read(id[:])
	return hex.EncodeToString(id[:])
}

func debugError(c *command.Call, args [][]byte) error {
	c.Reply.Error(string(args[0]))
	return nil
}

// maxLogBytes bounds what a client can write to the log at once.
const maxLogBytes = 4096

func debugLog(c *command.Call, args [][]byte) error {
	sessionOf(c).srv.opts.Logger.Info("DEBUG LOG", "message", string(args[0][:min(len(args[0]), maxLogBytes)]))
	c.Reply.Simple("OK")
	return nil
}

func debugReload(c *command.Call, args [][]byte) error {
	for _, arg := range args {
		if !command.Is(arg, "MERGE") && !command.Is(arg, "NOFLUSH") && !command.Is(arg, "NOSAVE") {
			return resp.Error("ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.")
		}
	}
	return checkpoint(c, "OK")
}

func debugActiveExpire(c *command.Call, args [][]byte) error {
	n, _ := strconv.Atoi(string(args[0])) // as in C, what is no number is 0
	sessionOf(c).srv.passive.Store(n == 0)
	c.Reply.Simple("OK")
	return nil
}

func debugPackedThreshold(c *command.Call, args [][]byte) error {
	if n, err := ParseBytes(string(args[0])); err != nil || n > 4<<30 {
		return resp.Error("ERR argument must be a memory value bigger than 1 and smaller than 4gb")
	}
	c.Reply.Simple("OK")
	return nil
}

func debugObject(c *command.Call, args [][]byte) error {
	if err := permitKeys(c, 0, args[:1]...); err != nil {
		return err
	}
	return c.Current(func(v *keyspace.View) error {
		doc, k, ok, err := v.FindLive(args[0])
		if err != nil {
			return err
		}
		if !ok {
			return command.ErrNoSuchKey
		}
		n, err := keyspace.KeyBytes(v, doc, &k)
		if err != nil {
			return err
		}
		idle := max(v.Now()-doc.TS.Millis(), 0) / 1000
		c.Reply.Simple(fmt.Sprintf("Value at:%#x refcount:1 encoding:%s serializedlength:%d lru:%d lru_seconds_idle:%d",
			int64(doc.TS), k.EncodingName(), n, doc.TS.Millis()/1000&(1<<24-1), idle))
		return nil
	})
}

func debugListpack(c *command.Call, args [][]byte) error {
	if err := permitKeys(c, 0, args...); err != nil {
		return err
	}
	return c.Current(func(v *keyspace.View) error {
		k, ok, err := v.Find(args[0])
		switch {
		case err != nil:
			return err
		case !ok:
			return command.ErrNoSuchKey
		case k.EncodingName() != "listpack":
			return resp.Error("ERR Not a listpack encoded object.")
		}
		c.Reply.Simple("Listpack structure printed on stdout")
		return nil
	})
}

// maxMatchBytes bounds the string that STRINGMATCH-LEN makes.
const maxMatchBytes = 64 << 20

func debugStringMatch(c *command.Call, args [][]byte) error {
	n, ok := resp.ParseInt(args[0])
	if !ok || n < 0 || n > maxMatchBytes {
		return command.ErrNotInteger
	}
	command.ReplyFlag(c, glob.Match(args[1], bytes.Repeat([]byte{'a'}, int(n)), false))
	return nil
}

// Bounds of DEBUG POPULATE.
const (
	maxPopulated    = 10_000_000
	populateBatch   = 1000    // keys in a transaction
	populateBytes   = 4 << 20 // of their values
	maxPopulateSize = 1 << 20
)

// debugPopulate makes count string keys, in many transactions. Keys that are
// there stay as they are.
func debugPopulate(c *command.Call, args [][]byte) error {
	count, ok := resp.ParseInt(args[0])
	if !ok || count < 0 || count > maxPopulated {
		return command.ErrNotPositive
	}
	prefix, size := []byte("key"), int64(0)
	if len(args) > 1 {
		prefix = args[1]
	}
	if len(args) > 2 {
		if size, ok = resp.ParseInt(args[2]); !ok || size < 0 || size > maxPopulateSize {
			return command.ErrNotInteger
		}
	}
	if err := permitPopulate(c, prefix, count); err != nil {
		return err
	}
	keys := populatedAtOnce(size)
	for from := int64(0); from < count; from += keys {
		_, err := c.Store.Update(context.Background(), func(tx *firn.Tx) error {
			return populate(c, tx, prefix, from, min(from+keys, count), int(size))
		})
		if err != nil {
			return err
		}
	}
	c.Reply.Simple("OK")
	return nil
}

// populatedAtOnce is how many keys with values of a size make a transaction,
// which is in memory until it is committed.
func populatedAtOnce(size int64) int64 {
	return min(populateBatch, max(populateBytes/max(size, 1), 1))
}

// permitPopulate says whether the user may write the keys that POPULATE makes.
func permitPopulate(c *command.Call, prefix []byte, count int64) error {
	if sessionOf(c).user.Load().Bounds.Load() == nil {
		return nil
	}
	var key []byte
	for i := range count {
		key = fmt.Appendf(key[:0], "%s:%d", prefix, i)
		if err := permitKeys(c, command.AccessWrite, key); err != nil {
			return err
		}
	}
	return nil
}

func populate(c *command.Call, tx *firn.Tx, prefix []byte, from, to int64, size int) error {
	if err := tx.SetAuthor(sessionOf(c).author); err != nil {
		return err
	}
	inner := keyspace.NewView(c.Catalog, nil)
	inner.R, inner.Tx, inner.DB, inner.Operation = tx, tx, c.DB, c.Operation
	for i := from; i < to; i++ {
		s, err := inner.Open(fmt.Appendf(nil, "%s:%d", prefix, i))
		if err != nil {
			return err
		}
		if s.Live {
			continue
		}
		value := fmt.Appendf(nil, "value:%d", i)
		if size > 0 {
			sized := make([]byte, size)
			copy(sized, value)
			value = sized
		}
		if err := inner.Write(&s, keyspace.KeyDoc{Kind: keyspace.KindString, Length: int64(len(value)), Value: value}); err != nil {
			return err
		}
	}
	return nil
}

// digest is the state of a key as a hash: equal for equal states.
func digest(v *keyspace.View, key []byte) (sum [sha1.Size]byte, ok bool, err error) {
	k, ok, err := v.Find(key)
	if err != nil || !ok {
		return sum, false, err
	}
	var state resp.Writer
	if err := history.ReplyState(v, &state, &k); err != nil {
		return sum, false, err
	}
	h := sha1.New()
	fmt.Fprintf(h, "%d %d %t ", v.DB, k.Kind, k.Expires != 0)
	fmt.Fprintf(h, "%d ", len(key))
	h.Write(key)
	h.Write(state.Buf)
	return [sha1.Size]byte(h.Sum(nil)), true, nil
}

func debugDigestValue(c *command.Call, args [][]byte) error {
	if err := permitKeys(c, command.AccessRead, args...); err != nil {
		return err
	}
	return c.Current(func(v *keyspace.View) error {
		c.Reply.Array(len(args))
		for _, key := range args {
			sum, _, err := digest(v, key)
			if err != nil {
				return err
			}
			c.Reply.BulkString(hex.EncodeToString(sum[:]))
		}
		return nil
	})
}

// debugDigest combines the digests of all keys, in whatever order.
func debugDigest(c *command.Call, _ [][]byte) error {
	if !c.Client.ReadsAnyKey(c) {
		return errNoKeyAccess
	}
	var total [sha1.Size]byte
	err := c.Current(func(v *keyspace.View) error {
		return v.EachDatabase(func(v *keyspace.View, prefix []byte) error { return addDigests(v, &total, prefix) })
	})
	if err != nil {
		return err
	}
	c.Reply.Simple(hex.EncodeToString(total[:]))
	return nil
}

// addDigests adds the digests of the keys whose ids begin with prefix.
func addDigests(v *keyspace.View, total *[sha1.Size]byte, prefix []byte) error {
	for item, err := range v.R.Scan(firn.Range{Index: v.Keys.ByID(), Prefix: prefix}) {
		if err != nil {
			return err
		}
		key, err := v.SubKey(item.Key, len(prefix))
		if err != nil {
			return err
		}
		sum, _, err := digest(v, keyspace.Own(key))
		if err != nil {
			return err
		}
		for i := range total {
			total[i] ^= sum[i]
		}
	}
	return nil
}
