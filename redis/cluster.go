package redis

import (
	"strings"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/resp"
)

const errNoCluster = resp.Error("ERR This instance has cluster support disabled")

// clusterCommands answer as a Redis does that is no cluster: clients ask for
// READONLY and CLUSTER SLOTS to learn that.
var clusterCommands = []command.Command{
	clusterRefuses("ASKING", "Follows an ASK redirection of a cluster.", command.Fast),
	clusterRefuses("READONLY", "Allows reads of a cluster's replica.", command.Fast|command.Loading|command.Stale),
	clusterRefuses("READWRITE", "Ends READONLY.", command.Fast|command.Loading|command.Stale),
	{
		Name: "CLUSTER", Flags: command.Local, Group: "cluster", Since: "3.0.0", Complexity: "O(1)",
		Summary: "A container for commands about a cluster, which the server is not.",
		Sub:     clusterSubcommands(),
	},
}

func clusterRefuses(name, what string, flags command.Flags) command.Command {
	return command.Command{
		Name: name, Flags: command.Local | flags, Categories: command.CatConnection, Group: "cluster", Since: "3.0.0", Complexity: "O(1)",
		Summary: what + " Refused, as by a Redis that is no cluster.", Run: refuseCluster,
	}
}

func refuseCluster(*command.Call) error { return errNoCluster }

// clusterTable has a line for each subcommand: name, flags (a: admin, s: stale,
// l: loading, d: no_async_loading, n: noscript, r: its output is not
// deterministic), the version that brought it, fewest and most arguments, syntax.
const clusterTable = `
ADDSLOTS asd 3.0.0 1 * slot [slot ...]
ADDSLOTSRANGE asd 7.0.0 2 * start-slot end-slot [start-slot end-slot ...]
BUMPEPOCH asdr 3.0.0 0 0
COUNT-FAILURE-REPORTS asr 3.0.0 1 1 node-id
COUNTKEYSINSLOT s 3.0.0 1 1 slot
DELSLOTS asd 3.0.0 1 * slot [slot ...]
DELSLOTSRANGE asd 7.0.0 2 * start-slot end-slot [start-slot end-slot ...]
FAILOVER asd 3.0.0 0 * [FORCE | TAKEOVER]
FLUSHSLOTS asd 3.0.0 0 0
FORGET asd 3.0.0 1 1 node-id
GETKEYSINSLOT sr 3.0.0 2 2 slot count
HELP ls 5.0.0 0 0
INFO sr 3.0.0 0 0
KEYSLOT s 3.0.0 1 1 key
LINKS sr 7.0.0 0 0
MEET asd 3.0.0 2 * ip port [cluster-bus-port]
MYID s 3.0.0 0 0
NODES sr 3.0.0 0 0
REPLICAS asr 5.0.0 1 1 node-id
REPLICATE asd 3.0.0 1 1 node-id
RESET asn 3.0.0 0 * [HARD | SOFT]
SAVECONFIG asd 3.0.0 0 0
SET-CONFIG-EPOCH asd 3.0.0 1 1 config-epoch
SETSLOT asd 3.0.0 2 * slot <IMPORTING node-id | MIGRATING node-id | NODE node-id | STABLE>
SHARDS sr 7.0.0 0 0
SLAVES asr 3.0.0 1 1 node-id
SLOTS sr 3.0.0 0 0
`

var clusterFlags = map[rune]command.Flags{
	'a': command.Admin, 's': command.Stale, 'l': command.Loading, 'd': command.NoAsyncLoading, 'n': command.NoScript, 'r': 0,
}

// clusterReplaced are the subcommands that others have replaced.
var clusterReplaced = map[string]command.Deprecation{
	"SLAVES": {Since: "5.0.0", Instead: "`CLUSTER REPLICAS`"},
	"SLOTS":  {Since: "7.0.0", Instead: "`CLUSTER SHARDS`"},
}

func clusterSubcommands() (all []command.Command) {
	for line := range strings.Lines(strings.TrimSpace(clusterTable)) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 6)
		sub := command.Command{
			Name: words[0], Flags: command.Local, Since: words[2], Min: int(words[3][0] - '0'), Complexity: "O(1)",
			Deprecated: clusterReplaced[words[0]], Summary: "Refused, as by a Redis that is no cluster.", Run: refuseCluster,
		}
		for _, letter := range words[1] {
			sub.Flags |= clusterFlags[letter]
		}
		if strings.Contains(words[1], "r") {
			sub.Tips = []string{"nondeterministic_output"}
		}
		if words[4] == "*" {
			sub.Max = -1
		}
		if len(words) > 5 {
			sub.Args = words[5]
		}
		all = append(all, sub)
	}
	return all
}
