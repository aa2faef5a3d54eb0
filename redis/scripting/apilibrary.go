package scripting

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/firndb/firn/internal/lua/number"
	glua "github.com/yuin/gopher-lua"
)

// Levels of redis.log.
const (
	LogDebug   = 0
	LogVerbose = 1
	LogNotice  = 2
	LogWarning = 3
)

// Where redis.set_repl would send what a script writes. Firn's followers get
// all of it.
const (
	replAOF     = 1
	replReplica = 2
	replAll     = replAOF | replReplica
)

// constants are the values of the table redis.
func constants(version string) map[string]glua.LValue {
	var major, minor, patch int
	_, _ = fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &patch)
	return map[string]glua.LValue{
		"LOG_DEBUG": glua.LNumber(LogDebug), "LOG_VERBOSE": glua.LNumber(LogVerbose),
		"LOG_NOTICE": glua.LNumber(LogNotice), "LOG_WARNING": glua.LNumber(LogWarning),
		"REPL_NONE": glua.LNumber(0), "REPL_AOF": glua.LNumber(replAOF), "REPL_SLAVE": glua.LNumber(replReplica),
		"REPL_REPLICA": glua.LNumber(replReplica), "REPL_ALL": glua.LNumber(replAll),
		"REDIS_VERSION": glua.LString(version), "REDIS_VERSION_NUM": glua.LNumber(major<<16 | minor<<8 | patch),
	}
}

// oneString is a function's only argument; false if it is not a string.
func oneString(L *glua.LState) (string, bool) {
	text, ok := L.Get(1).(glua.LString)
	return string(text), ok && L.GetTop() == 1
}

const errOneString = "ERR wrong number or type of arguments"

func redisErrorReply(L *glua.LState, _ *Run) int {
	text, ok := oneString(L)
	if !ok {
		return pushOne(L, errorTable(L, errOneString, false))
	}
	text = strings.TrimPrefix(cutAtZero(text), "-")
	return pushOne(L, errorTable(L, errorIn([]byte(text)), false))
}

func redisStatusReply(L *glua.LState, _ *Run) int {
	text, ok := oneString(L)
	if !ok {
		return pushOne(L, errorTable(L, errOneString, false))
	}
	t := L.CreateTable(0, 1)
	t.RawSetString("ok", glua.LString(text))
	return pushOne(L, t)
}

func redisSHA1(L *glua.LState, _ *Run) int {
	if L.GetTop() != 1 {
		return raise(L, "wrong number of arguments")
	}
	text, _ := textOf(L.Get(1))
	sum := sha1.Sum([]byte(text))
	return pushOne(L, glua.LString(hex.EncodeToString(sum[:])))
}

func redisLog(L *glua.LState, r *Run) int {
	n := L.GetTop()
	if n < 2 {
		return raise(L, "redis.log() requires two arguments or more.")
	}
	level, ok := numberOf(L.Get(1))
	if !ok {
		return raise(L, "First argument must be a number (log level).")
	}
	if l := number.Int64(level); l < LogDebug || l > LogWarning {
		return raise(L, "Invalid debug level.")
	}
	var line strings.Builder
	for i := 2; i <= n; i++ {
		text, ok := textOf(L.Get(i))
		if ok && i > 2 {
			line.WriteByte(' ')
		}
		line.WriteString(text)
	}
	r.Host.Log(int(level), line.String())
	return 0
}

func redisSetRESP(L *glua.LState, r *Run) int {
	if L.GetTop() != 1 {
		return raise(L, "redis.setresp() requires one argument.")
	}
	f, _ := numberOf(L.Get(1))
	proto := number.Int64(f)
	if proto != 2 && proto != 3 {
		return raise(L, "RESP version must be 2 or 3.")
	}
	r.Proto = int(proto)
	return 0
}

func redisSetRepl(L *glua.LState, _ *Run) int {
	if L.GetTop() != 1 {
		return raise(L, "redis.set_repl() requires two arguments.")
	}
	f, _ := numberOf(L.Get(1))
	if number.Int64(f)&^replAll != 0 {
		return raise(L, "Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.")
	}
	return 0
}

func redisCheckCommand(L *glua.LState, r *Run) int {
	words, refused := r.wordsOf(L)
	if refused != "" {
		return raise(L, refused)
	}
	may, known := r.Host.MayRun(words)
	if !known {
		return raise(L, "Invalid command passed to redis.acl_check_cmd()")
	}
	return pushOne(L, glua.LBool(may))
}
