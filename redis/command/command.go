// Package command has what a command is and what follows from that.
//
// A [Command] is an entry: name, syntax, flags, keys, what documentation says,
// and the function that runs it. A [Table] makes an [Entry] of each, with its
// counters, and finds it by name. From the entry follow the number of
// arguments, where keys are and how they are used ([Keys]), ACL categories,
// and the replies of COMMAND. Nobody asks for a command's name to know what it
// is: the entry says that.
//
// A [Call] is one run of a command. What several families need for their
// functions is here as well: replies, options, scans, pops, ranges. The package
// knows neither sessions nor the server; a call asks its [Client].
package command

import (
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// Flags says what a command is allowed and known to do. COMMAND INFO's flags
// follow from it.
type Flags uint32

// What a command may do.
const (
	Writes      Flags = 1 << iota // runs in a transaction and may change data
	Local                         // concerns the session or the server: gets no data
	Fast                          // constant or logarithmic time
	Admin                         // for operators
	NoAuth                        // allowed before AUTH
	NoMulti                       // refused inside MULTI
	NoQueue                       // runs at once inside MULTI (EXEC, DISCARD, …)
	Random                        // its reply depends on chance
	ReadOnly                      // reads data; the default of a command that is neither Writes nor Local
	PubSub                        // allowed to a RESP2 subscriber
	Skip                          // kept out of MONITOR and SLOWLOG (AUTH)
	OwnName                       // one of Firn's own commands
	Blocks                        // may wait for a key: see Call.Wants
	Protected                     // refused unless the server's options allow it (DEBUG)
	Executes                      // runs what was queued (EXEC)
	NeverPaused                   // CLIENT PAUSE does not hold it back
	RunsScript                    // runs a script: MONITOR shows it before what that calls
	Replicates                    // Redis would send it to replicas although it writes nothing
	TakesSource                   // with RunsScript: its first argument is the script itself
)

// What COMMAND INFO tells clients and proxies, and what means little here.
const (
	DenyOOM        Flags = 1 << (20 + iota) // may need more memory
	NoScript                                // not from scripts
	Loading                                 // also while the data is being loaded
	Stale                                   // also by a replica without its master
	SkipsSlowlog                            // never in the slow log
	NoAsyncLoading                          // not while other data is being loaded
	AllowBusy                               // also while a script takes its time
)

// Command is one entry of the command table. Arity errors, COMMAND INFO and
// DOCS, docs/commands.md, refusal in read-only contexts and AT support follow
// from it.
type Command struct {
	Name       string // upper case
	Args       string // its syntax after the name, as documentation shows it
	Min        int    // fewest arguments after the name
	Max        int    // most; 0 means Min, negative means any number
	Flags      Flags
	Keys       Keys
	Channels   Channels
	Secrets    func(args [][]byte) []int // indexes of arguments that nobody is shown; nil: none is
	Categories Category                  // ACL categories that do not follow from Flags; 0: its group's
	Group      string                    // Redis's group: string, hash, generic, connection, …
	Since      string                    // the Redis version that brought it; Firn's for its own
	Complexity string
	Tips       []string                             // Redis's hints to clients and proxies
	Deprecated Deprecation                          // by another command
	Summary    string                               // one sentence
	Differs    string                               // how it differs from Redis, where it does
	Live       Live                                 // of a read command: what makes its reply stale
	Operation  string                               // what history calls what it writes; empty: Name
	Wraps      func(args [][]byte) (words [][]byte) // the command that its arguments are, two at least (AT); nil: they are none
	Waits      func(args [][]byte) bool             // with these arguments it may wait for the file; nil: as Flags say
	Run        func(*Call) error
	Sub        []Command // subcommands of a container; Run is nil then
}

// Deprecation says since when another command is to be preferred, and which;
// the zero value: none is.
type Deprecation struct{ Since, Instead string }

// Call is one command being run. Reply is thrown away if Run fails, so a
// client never sees half an answer.
type Call struct {
	*keyspace.View
	Client Client
	Cmd    *Entry
	Args   [][]byte // arguments after the name (and subcommand)
	Reply  resp.Writer
	Waited bool // the command waited for a key, and runs again because one has come

	Patience Patience // what a command with Blocks may do that finds nothing
	Wants    *Wait    // what it waits for, once it has called wait

	// Followed is up to where the client has had what is committed, if it goes on
	// from there; 0: it does not follow.
	Followed firn.Timestamp
}

// Client is who a command runs for, as far as commands that are not about
// clients need to know.
type Client interface {
	// InMulti says that the command is part of a transaction of MULTI.
	InMulti() bool

	// MayBlock says that the goroutine that runs the command may wait for the
	// file, and take its time.
	MayBlock() bool

	// ReadsAnyKey says that the user may read keys that the command does not
	// name.
	ReadsAnyKey(c *Call) bool

	// ReadsKey says whether the user may read a key that the command does not
	// name.
	ReadsKey(c *Call, key []byte) bool

	// Moment reads a moment as clients write it.
	Moment(text []byte) (firn.Timestamp, error)

	// AsOf is the moment of CLIENT ASOF; 0: the present.
	AsOf() firn.Timestamp

	// Now is the server's clock.
	Now() time.Time
}
