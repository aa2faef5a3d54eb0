package redis

import (
	"cmp"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/firndb/firn/internal/glob"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

var configCommands = []command.Command{{
	Name: "CONFIG", Flags: command.Local | command.Admin,
	Group: "server", Since: "2.0.0", Complexity: "that of the subcommand",
	Summary: "A container for server configuration commands.",
	Sub: []command.Command{
		{
			Name: "GET", Args: "parameter [parameter ...]", Min: 1, Max: -1,
			Flags: command.Local | command.Admin | command.NoScript | command.Loading | command.Stale,
			Since: "2.0.0", Complexity: "O(n), n the configuration parameters provided",
			Summary: "Returns the effective values of configuration parameters.",
			Run:     configGet,
		},
		command.HelpWith(0, configHelpText),
		{
			Name: "REWRITE", Flags: command.Local | command.Admin | command.NoScript | command.Loading | command.Stale,
			Since: "2.8.0", Complexity: "O(1)",
			Summary: "Refused: there is no configuration file, only flags.",
			Run:     func(*command.Call) error { return resp.Error("ERR The server is running without a config file") },
		},
		{
			Name: "RESETSTAT", Flags: command.Local | command.Admin | command.NoScript | command.Loading | command.Stale,
			Since: "2.0.0", Complexity: "O(1)",
			Summary: "Resets the server's statistics.",
			Run:     configResetStat,
		},
		{
			Name: "SET", Args: "parameter value [parameter value ...]", Min: 2, Max: -1,
			Flags: command.Local | command.Admin | command.Skip | command.NoScript | command.Loading | command.Stale,
			Since: "2.0.0", Complexity: "O(n), n the configuration parameters provided",
			Tips:    []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
			Summary: "Sets configuration parameters in-flight.",
			Run:     configSet, Waits: readsCertificates,
		},
	},
}}

// parameter is one setting, with its name and form in Redis.
type parameter struct {
	name string
	also string // another name for it
	get  func(srv *Server) string
	set  func(srv *Server, value string) error // nil: it cannot be changed while the server runs

	never  error // why it cannot be set, not even to what it is; nil: it can
	hidden bool  // shown to who asks for its name, not to patterns

	// together, if there is one, makes what set has noted hold, once all
	// parameters of the command are set.
	together func(srv *Server) error
}

// parameters are the settings that CONFIG knows, by name.
var parameters = sync.OnceValue(func() []parameter {
	all := []parameter{
		settled("appendonly", "yesno", errFixed, func(srv *Server) string { return yesNo(srv.opts.Durability != "no") }),
		settled("appendfsync", "everysec|always|no", errFixed, func(srv *Server) string { return srv.opts.Durability }),
		{name: "databases", get: func(srv *Server) string { return strconv.Itoa(srv.opts.Databases) }, never: errFixed},
		listening("port", "number:0:65535", func(srv *Server) string { return strconv.Itoa(srv.opts.Port) }),
		listening("bind", "text", func(srv *Server) string { return srv.opts.Bind }),
		{name: "unixsocket", get: func(srv *Server) string { return srv.opts.Unix }, never: errFixed},
		{name: "enable-debug-command", get: func(srv *Server) string { return srv.opts.Debug }, never: errFixed},
		{name: "firn-audit", get: func(srv *Server) string { return yesNo(!srv.opts.Anonymous) }},
		{name: "firn-memory", get: func(srv *Server) string { return strconv.FormatInt(srv.opts.Memory, 10) }},
		counted("maxclients", 1, 1<<32-1, func(srv *Server) *atomic.Int64 { return &srv.config.maxClients }, nil),
		counted("timeout", 0, 1<<31-1, func(srv *Server) *atomic.Int64 { return &srv.config.timeout }, nil),
		counted("tcp-keepalive", 0, 1<<31-1, func(srv *Server) *atomic.Int64 { return &srv.config.keepAlive }, nil),
		counted("tracking-table-max-keys", 0, math.MaxInt64, func(srv *Server) *atomic.Int64 { return &srv.tracking.MaxKeys },
			func(srv *Server) { srv.tracking.Evict() }),
		bytesOf("client-query-buffer-limit", 1<<20, 1<<40, func(srv *Server) *atomic.Int64 { return &srv.config.queryLimit }),
		bytesOf("proto-max-bulk-len", 1<<20, 512<<20, func(srv *Server) *atomic.Int64 { return &srv.catalog.MaxBulkBytes }),
		{name: "client-output-buffer-limit", get: func(srv *Server) string { return srv.config.outputLimits.Load().String() }, set: setOutputLimits},
		{name: "notify-keyspace-events", get: eventsText, set: setEvents},
		{name: "loglevel", get: logLevel, set: setLogLevel},
		{name: "requirepass", get: func(srv *Server) string { return srv.config.password() }, set: func(srv *Server, value string) error {
			srv.config.pass.Store(&value)
			srv.users.SetPassword(value)
			return nil
		}},
	}
	all = slices.Concat(all, limitParameters(), liveParameters(), scriptParameters(), serverParameters(), keptParameters(), tlsParameters())
	slices.SortFunc(all, func(a, b parameter) int { return cmp.Compare(a.name, b.name) })
	return all
})

// settled is a parameter that Redis changes at run time and Firn does not: it can
// be set to what it is.
func settled(name, form string, otherwise error, get func(*Server) string) parameter {
	return parameter{name: name, get: get, set: func(srv *Server, value string) error {
		value, err := checkKept(form, value)
		if err == nil && value != get(srv) {
			err = otherwise
		}
		return err
	}}
}

// listening is where the server listens, which it does as long as it runs.
func listening(name, form string, get func(*Server) string) parameter {
	return settled(name, form, resp.Error("sockets stay where they are: start the server with other addresses"), get)
}

const errFixed = resp.Error("can't set immutable config")

// logLevels are Redis's, from the most to the least talkative.
var logLevels = []struct {
	name  string
	level slog.Level
}{

	{"debug", slog.LevelDebug}, {"verbose", slog.LevelDebug}, {"notice", slog.LevelInfo}, {"warning", slog.LevelWarn}, {"nothing", slog.LevelError + 4},
}

func logLevel(srv *Server) string {
	if srv.opts.Level != nil {
		for _, l := range logLevels {
			if l.level == srv.opts.Level.Level() {
				return l.name
			}
		}
	}
	return "notice"
}

func setLogLevel(srv *Server, value string) error {
	for _, l := range logLevels {
		if l.name == strings.ToLower(value) && srv.opts.Level != nil {
			srv.opts.Level.Set(l.level)
			return nil
		}
	}
	return resp.Error("argument(s) must be one of the following: debug, verbose, notice, warning")
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

func configGet(c *command.Call) error {
	var found [][2]string
	srv := sessionOf(c).srv
	show := func(pattern []byte, name string, p *parameter) {
		shown := func(pair [2]string) bool { return strings.EqualFold(pair[0], name) }
		if p.hidden && !strings.EqualFold(string(pattern), name) {
			return
		}
		if name != "" && glob.Match(pattern, []byte(name), true) && !slices.ContainsFunc(found, shown) {
			if strings.EqualFold(string(pattern), name) {
				name = string(pattern) // as it was asked for
			}
			found = append(found, [2]string{name, p.get(srv)})
		}
	}
	known := parameters()
	for i := range known {
		for _, pattern := range c.Args[:min(len(c.Args), maxConfigArgs)] {
			show(pattern, known[i].name, &known[i])
			show(pattern, known[i].also, &known[i])
		}
	}
	c.Reply.Map(len(found))
	for _, pair := range found {
		command.ReplyField(&c.Reply, pair[0], pair[1])
	}
	return nil
}

// maxConfigArgs bounds the patterns and pairs of one command: each is
// compared with all parameters.
const maxConfigArgs = 1024

// change is one pair of CONFIG SET.
type change struct {
	parameter
	asked         string // the name that was given
	value, before string
}

// configSet sets all parameters or none.
func configSet(c *command.Call) error {
	if len(c.Args)%2 != 0 {
		return command.ErrSyntax
	}
	if len(c.Args) > 2*maxConfigArgs {
		return command.ErrSyntax
	}
	srv := sessionOf(c).srv
	srv.config.setting.Lock()
	defer srv.config.setting.Unlock()
	var changes []change
	for i := 0; i < len(c.Args); i += 2 {
		p, err := findParameter(c.Args[i])
		if err != nil {
			return err
		}
		name, value := string(c.Args[i]), string(c.Args[i+1])
		if p.never == nil && p.set == nil && p.get(srv) != value {
			p.never = errFixed
		}
		if p.never != nil {
			return configFailed(name, p.never.Error())
		}
		if slices.ContainsFunc(changes, func(q change) bool { return strings.EqualFold(q.asked, name) }) {
			return configFailed(name, "duplicate parameter")
		}
		changes = append(changes, change{p, name, value, p.get(srv)})
	}
	for i, ch := range changes {
		if ch.set == nil {
			continue // it has that value
		}
		if err := ch.set(srv, ch.value); err != nil {
			configRestore(srv, changes[:i])
			return configFailed(ch.asked, err.Error())
		}
	}
	if name, err := configTogether(srv, changes, !c.Client.InMulti()); err != nil {
		configRestore(srv, changes)
		return configFailed(name, err.Error())
	}
	c.Reply.Simple("OK")
	return nil
}

// configTogether makes hold what only holds together. An error comes with the
// name of a parameter that has to do with it.
func configTogether(srv *Server, changes []change, mayWait bool) (name string, err error) {
	for _, ch := range changes {
		switch {
		case ch.together == nil:
		case !mayWait:
			return ch.asked, resp.Error("not inside a transaction: files are read")
		default:
			return ch.asked, ch.together(srv) // there is one kind: TLS
		}
	}
	return "", nil
}

// findParameter is the parameter of a name in any case.
func findParameter(name []byte) (parameter, error) {
	for _, p := range parameters() {
		if strings.EqualFold(p.name, string(name)) || p.also != "" && strings.EqualFold(p.also, string(name)) {
			return p, nil
		}
	}
	return parameter{}, resp.Error(fmt.Sprintf("ERR Unknown option or number of arguments for CONFIG SET - '%s'", command.CString(name, 128)))
}

// configRestore undoes what CONFIG SET has set so far.
func configRestore(srv *Server, changes []change) {
	for _, ch := range changes {
		if ch.set != nil {
			_ = ch.set(srv, ch.before) // it was valid a moment ago
		}
	}
}

func configFailed(name, reason string) error {
	return resp.Error(fmt.Sprintf("ERR CONFIG SET failed (possibly related to argument '%s') - %s", name, reason))
}

func configResetStat(c *command.Call) error {
	srv := sessionOf(c).srv
	srv.stats.reset()
	srv.live.ResetStats()
	for _, e := range srv.commands.Numbered {
		e.ResetCounters()
	}
	c.Reply.Simple("OK")
	return nil
}

func eventsText(srv *Server) string { return keyspace.EventClass(srv.catalog.Events.Load()).String() }

func setEvents(srv *Server, value string) error {
	classes, ok := keyspace.ParseEvents(value)
	if !ok {
		return resp.Error("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")
	}
	srv.catalog.Events.Store(uint32(classes))
	return nil
}

func setOutputLimits(srv *Server, value string) error {
	limits, err := srv.config.outputLimits.Load().with(value)
	if err == nil {
		srv.config.outputLimits.Store(limits)
	}
	return err
}
