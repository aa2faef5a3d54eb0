package scripting

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/firndb/firn/internal/lua"
	"github.com/firndb/firn/internal/lua/arg"
	"github.com/firndb/firn/internal/lua/number"
	"github.com/firndb/firn/internal/lua/val"
)

// Where redis.set_repl would send what a script writes. Firn's followers get
// all of it.
const (
	replAOF     = 1
	replReplica = 2
	replAll     = replAOF | replReplica
)

// member is a number of the table redis.
func member(name string, n int) arg.Member { return arg.Member{Name: name, Value: val.Number(n)} }

func logLevels() []arg.Member {
	return []arg.Member{
		member("LOG_DEBUG", LevelDebug), member("LOG_VERBOSE", LevelVerbose), member("LOG_NOTICE", LevelNotice), member("LOG_WARNING", LevelWarning),
	}
}

// versions is the version that scripts are told.
func versions(version string) []arg.Member {
	var major, minor, patch int
	_, _ = fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &patch)
	return []arg.Member{member("REDIS_VERSION_NUM", major<<16|minor<<8|patch), {Name: "REDIS_VERSION", Value: val.String(version)}}
}

func replFlags() []arg.Member {
	return []arg.Member{
		member("REPL_NONE", 0), member("REPL_AOF", replAOF), member("REPL_SLAVE", replReplica),
		member("REPL_REPLICA", replReplica), member("REPL_ALL", replAll),
	}
}

// oneString is a function's only argument; false if it is not a string.
func oneString(c lua.Call) (string, bool) {
	text, ok := c.Arg(1).(val.String)
	return string(text), ok && c.Top() == 1
}

const errOneString = "ERR wrong number or type of arguments"

func redisErrorReply(c lua.Call, _ *Run) int {
	text, ok := oneString(c)
	if !ok {
		return pushOne(c, errorTable(c, errOneString, false))
	}
	text = strings.TrimPrefix(cutAtZero(text), "-")
	return pushOne(c, errorTable(c, errorIn([]byte(text)), false))
}

func redisStatusReply(c lua.Call, _ *Run) int {
	text, ok := oneString(c)
	if !ok {
		return pushOne(c, errorTable(c, errOneString, false))
	}
	t := c.NewTable(0)
	t.Set(c, val.String("ok"), val.String(text))
	return pushOne(c, t)
}

func redisSHA1(c lua.Call, _ *Run) int {
	if c.Top() != 1 {
		return raise(c, "wrong number of arguments")
	}
	text, _ := textOf(c.Arg(1))
	arg.SpendOnText(c, len(text))
	sum := sha1.Sum([]byte(text))
	return pushOne(c, val.String(hex.EncodeToString(sum[:])))
}

func redisLog(c lua.Call, r *Run) int {
	n := c.Top()
	if n < 2 {
		return raise(c, "redis.log() requires two arguments or more.")
	}
	level, ok := arg.ToNumber(c.Arg(1))
	if !ok {
		return raise(c, "First argument must be a number (log level).")
	}
	if l := number.Int64(level); l < LevelDebug || l > LevelWarning {
		return raise(c, "Invalid debug level.")
	}
	var line strings.Builder
	for i := 2; i <= n; i++ {
		text, ok := textOf(c.Arg(i))
		if ok && i > 2 {
			line.WriteByte(' ')
		}
		line.WriteString(text)
	}
	r.Host.Log(int(level), line.String())
	return 0
}

func redisSetRESP(c lua.Call, r *Run) int {
	if c.Top() != 1 {
		return raise(c, "redis.setresp() requires one argument.")
	}
	f, _ := arg.ToNumber(c.Arg(1))
	proto := number.Int64(f)
	if proto != 2 && proto != 3 {
		return raise(c, "RESP version must be 2 or 3.")
	}
	r.Proto = int(proto)
	return 0
}

func redisSetRepl(c lua.Call, _ *Run) int {
	if c.Top() != 1 {
		return raise(c, "redis.set_repl() requires two arguments.")
	}
	f, _ := arg.ToNumber(c.Arg(1))
	if number.Int64(f)&^replAll != 0 {
		return raise(c, "Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.")
	}
	return 0
}

func redisCheckCommand(c lua.Call, r *Run) int {
	words, refused := r.wordsOf(c)
	if refused != "" {
		return raise(c, refused)
	}
	may, known := r.Host.MayRun(words)
	if !known {
		return raise(c, "Invalid command passed to redis.acl_check_cmd()")
	}
	return pushOne(c, val.Bool(may))
}
