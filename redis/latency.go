package redis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/measure"
	"github.com/firndb/firn/resp"
)

// LATENCY.
var latencyCommands = []command.Command{{
	Name: "LATENCY", Flags: command.Local,
	Group: "server", Since: "2.8.13", Complexity: "that of the subcommand",
	Summary: "A container for latency diagnostics commands.",
	Sub: []command.Command{
		{
			Name: "DOCTOR", Flags: command.Local | command.Admin | command.NoScript | command.Loading | command.Stale,
			Since: "2.8.13", Complexity: "O(1)",
			Tips:    []string{"nondeterministic_output", "request_policy:all_nodes", "response_policy:special"},
			Summary: "Returns a human-readable latency analysis report.",
			Run:     latencyDoctor,
		},
		{
			Name: "GRAPH", Args: "event", Min: 1, Flags: command.Local | command.Admin | command.NoScript | command.Loading | command.Stale,
			Since: "2.8.13", Complexity: "O(1)",
			Tips:    []string{"nondeterministic_output", "request_policy:all_nodes", "response_policy:special"},
			Summary: "Returns a latency graph for an event.",
			Run:     latencyGraph,
		},
		command.HelpWith(0, latencyHelpText),
		{
			Name: "HISTOGRAM", Args: "[command [command ...]]", Max: -1,
			Flags: command.Local | command.Admin | command.NoScript | command.Loading | command.Stale,
			Since: "7.0.0", Complexity: "O(n), n the commands with latency information being retrieved",
			Tips:    []string{"nondeterministic_output", "request_policy:all_nodes", "response_policy:special"},
			Summary: "Returns the cumulative distribution of latencies of a subset or all commands.",
			Differs: "Of fast commands and of writes one in 16 is timed, and the counts are projected from those.",
			Run:     latencyHistogram,
		},
		{
			Name: "HISTORY", Args: "event", Min: 1, Flags: command.Local | command.Admin | command.NoScript | command.Loading | command.Stale,
			Since: "2.8.13", Complexity: "O(1)",
			Tips:    []string{"nondeterministic_output", "request_policy:all_nodes", "response_policy:special"},
			Summary: "Returns timestamp-latency samples for an event.",
			Run:     latencyHistory,
		},
		{
			Name: "LATEST", Flags: command.Local | command.Admin | command.NoScript | command.Loading | command.Stale,
			Since: "2.8.13", Complexity: "O(1)",
			Tips:    []string{"nondeterministic_output", "request_policy:all_nodes", "response_policy:special"},
			Summary: "Returns the latest latency samples for all events.",
			Run:     latencyLatest,
		},
		{
			Name: "RESET", Args: "[event [event ...]]", Max: -1, Flags: command.Local | command.Admin | command.NoScript | command.Loading | command.Stale,
			Since: "2.8.13", Complexity: "O(1)",
			Tips:    []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
			Summary: "Resets the latency data for one or more events.",
			Run:     latencyReset,
		},
	},
}}

func latencyLatest(c *command.Call) error {
	l := &sessionOf(c).srv.latency
	names := l.Names()
	c.Reply.Array(len(names))
	for _, name := range names {
		e, _ := l.Event(name)
		var last measure.LatencySample
		if n := len(e.Samples); n > 0 {
			last = e.Samples[n-1]
		}
		c.Reply.Array(4)
		c.Reply.BulkString(name)
		c.Reply.Int(last.At)
		c.Reply.Int(last.MS)
		c.Reply.Int(e.Worst)
	}
	return nil
}

func latencyHistory(c *command.Call) error {
	e, _ := sessionOf(c).srv.latency.Event(string(c.Args[0]))
	c.Reply.Array(len(e.Samples))
	for _, s := range e.Samples {
		c.Reply.Array(2)
		c.Reply.Int(s.At)
		c.Reply.Int(s.MS)
	}
	return nil
}

func latencyReset(c *command.Call) error {
	l := &sessionOf(c).srv.latency
	names := make([]string, len(c.Args))
	for i, name := range c.Args {
		names[i] = string(name)
	}
	c.Reply.Int(int64(l.Reset(names)))
	return nil
}

func latencyDoctor(c *command.Call) error {
	l := &sessionOf(c).srv.latency
	if !l.Watched() {
		c.Reply.Verbatim("txt", "I'm sorry, Dave, I can't do that. Latency monitoring is disabled in this Redis instance. "+
			"You may use \"CONFIG SET latency-monitor-threshold <milliseconds>.\" in order to enable it.\n")
		return nil
	}
	names := l.Names()
	if len(names) == 0 {
		c.Reply.Verbatim("txt", "Dave, no latency spike was observed during the lifetime of this Redis instance, "+
			"not in the slightest bit. I honestly think you ought to sit down calmly, take a stress pill, and think things over.\n")
		return nil
	}
	var text strings.Builder
	text.WriteString("Dave, I have observed latency spikes in this Redis instance:\n\n")
	for i, name := range names {
		e, _ := l.Event(name)
		sum := int64(0)
		for _, s := range e.Samples {
			sum += s.MS
		}
		fmt.Fprintf(&text, "%d. %s: %d latency spikes (average %dms, worst all time event %dms).\n",
			i+1, name, len(e.Samples), sum/max(int64(len(e.Samples)), 1), e.Worst)
	}
	text.WriteString("\nSLOWLOG GET shows which commands were slow; INFO firn shows how the file keeps up.\n")
	c.Reply.Verbatim("txt", text.String())
	return nil
}

// graphRows is the height of LATENCY GRAPH.
const graphRows = 4

func latencyGraph(c *command.Call) error {
	name := string(c.Args[0])
	srv := sessionOf(c).srv
	e, ok := srv.latency.Event(name)
	if !ok || len(e.Samples) == 0 {
		return resp.Error(fmt.Sprintf("ERR No samples available for event '%s'", command.CString(c.Args[0], 128)))
	}
	byMS := func(a, b measure.LatencySample) int { return cmp.Compare(a.MS, b.MS) }
	high, low := slices.MaxFunc(e.Samples, byMS).MS, slices.MinFunc(e.Samples, byMS).MS
	var text strings.Builder
	fmt.Fprintf(&text, "%s - high %d ms, low %d ms (all time high %d ms)\n%s\n", name, high, low, e.Worst, strings.Repeat("-", 80))
	for row := graphRows - 1; row >= 0; row-- {
		for _, s := range e.Samples {
			// The height in half rows, at least one so that each sample shows.
			switch height := 1 + int((s.MS-low)*(2*graphRows-1)/max(high-low, 1)); {
			case height >= 2*row+2:
				text.WriteByte('#')
			case height == 2*row+1:
				text.WriteByte('_')
			default:
				text.WriteByte(' ')
			}
		}
		text.WriteByte('\n')
	}
	text.WriteString("\n" + ages(e.Samples, srv.opts.Now().Unix()))
	c.Reply.Verbatim("txt", text.String())
	return nil
}

// ages are the samples' ages such as 12s or 3h, written downwards.
func ages(samples []measure.LatencySample, now int64) string {
	labels := make([]string, len(samples))
	rows := 0
	for i, s := range samples {
		age := max(now-s.At, 0)
		switch {
		case age < 60:
			labels[i] = fmt.Sprintf("%ds", age)
		case age < 3600:
			labels[i] = fmt.Sprintf("%dm", age/60)
		case age < 86400:
			labels[i] = fmt.Sprintf("%dh", age/3600)
		default:
			labels[i] = fmt.Sprintf("%dd", age/86400)
		}
		rows = max(rows, len(labels[i]))
	}
	var text strings.Builder
	for row := range rows {
		for _, label := range labels {
			if row < len(label) {
				text.WriteByte(label[row])
			} else {
				text.WriteByte(' ')
			}
		}
		text.WriteByte('\n')
	}
	return text.String()
}

func latencyHistogram(c *command.Call) error {
	var entries []*command.Entry
	add := func(e *command.Entry) {
		if e.Spread.Load() != nil && !slices.Contains(entries, e) {
			entries = append(entries, e)
		}
	}
	t := sessionOf(c).srv.commands
	if len(c.Args) == 0 {
		t.Each(add)
	}
	for _, name := range c.Args {
		if e := t.Named(name); e != nil {
			add(e)
			for _, sub := range e.Sub {
				add(sub)
			}
		}
	}
	c.Reply.Map(len(entries))
	for _, e := range entries {
		replyHistogram(&c.Reply, e)
	}
	return nil
}

// replyHistogram appends how many calls took up to 1, 2, 4 … µs, until all
// are counted.
func replyHistogram(w *resp.Writer, e *command.Entry) {
	calls, upTo := max(e.Calls.Load(), 1), []int64{0}
	if h := e.Spread.Load(); h != nil {
		upTo = h.Octaves()
	}
	timed := max(upTo[len(upTo)-1], 1)
	var pairs [][2]int64
	for i, n := range upTo {
		if n == 0 || i > 0 && n == upTo[i-1] {
			continue
		}
		micros := int64(1) << i
		if i >= 5 {
			micros = 33 << (i - 5) // where the buckets of Redis's histogram end
		}
		pairs = append(pairs, [2]int64{micros, max(n*calls/timed, 1)})
	}
	w.BulkString(e.Full)
	w.Map(2)
	w.BulkString("calls")
	w.Int(calls)
	w.BulkString("histogram_usec")
	w.Map(len(pairs))
	for _, p := range pairs {
		w.Int(p[0])
		w.Int(p[1])
	}
}
