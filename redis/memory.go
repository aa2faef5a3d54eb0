package redis

import (
	"fmt"
	"runtime"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// MEMORY.
var memoryCommands = []command.Command{{
	Name: "MEMORY", Flags: command.ReadOnly,
	Group: "server", Since: "4.0.0", Complexity: "that of the subcommand",
	Summary: "A container for memory diagnostics commands.",
	Sub: []command.Command{
		{
			Name: "DOCTOR", Flags: command.Local,
			Since: "4.0.0", Complexity: "O(1)",
			Tips:    []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
			Summary: "Outputs a memory problems report.",
			Run:     memoryDoctor,
		},
		command.HelpWith(0, memoryHelpText),
		{
			Name: "MALLOC-STATS", Flags: command.Local,
			Since: "4.0.0", Complexity: "O(1)",
			Tips:    []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
			Summary: "Returns the allocator's statistics.",
			Run:     memoryAllocator,
		},
		{
			Name: "PURGE", Flags: command.Local | command.OnWorker,
			Since: "4.0.0", Complexity: "O(n), n the memory in use",
			Tips:    []string{"request_policy:all_shards", "response_policy:all_succeeded"},
			Summary: "Collects garbage and returns free memory to the system.",
			Run:     func(c *command.Call) error { purgeMemory(); c.Reply.Simple("OK"); return nil },
		},
		{
			Name: "STATS", Flags: command.Local | command.OnWorker,
			Since: "4.0.0", Complexity: "O(n), n the databases",
			Tips:    []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
			Summary: "Returns details about memory usage.",
			Run:     memoryStats,
		},
		{
			Name: "USAGE", Args: "key [SAMPLES count]", Min: 1, Max: -1, Flags: command.ReadOnly, Keys: command.FirstKey(command.Looks),
			Since: "4.0.0", Complexity: "O(n), n the elements",
			Summary: "Estimates the memory usage of a key.",
			Differs: "Counts the bytes of ids and values of the key and all its elements; nothing is sampled.",
			Run:     memoryUsage,
		},
	},
}}

func memoryUsage(c *command.Call) error {
	for rest := c.Args[1:]; len(rest) > 0; rest = rest[2:] {
		if !command.Is(rest[0], "SAMPLES") || len(rest) == 1 {
			return command.ErrSyntax
		}
		n, ok := resp.ParseInt(rest[1])
		if !ok {
			return command.ErrNotInteger
		}
		if n < 0 {
			return command.ErrSyntax
		}
	}
	doc, k, ok, err := c.FindLive(c.Args[0])
	if err != nil {
		return err
	}
	if !ok {
		c.Reply.Null()
		return nil
	}
	n, err := keyspace.KeyBytes(c.View, doc, &k)
	if err != nil {
		return err
	}
	c.Reply.Int(int64(n))
	return nil
}

func memoryDoctor(c *command.Call) error {
	srv := sessionOf(c).srv
	m, st := srv.memory(), srv.store.Stats()
	const small = 64 << 20 // below this, figures say nothing
	text := "Hi Sam, I can't find any memory issue in your instance. I can only account for what occurs on this base.\n"
	switch {
	case m.used < small:
		text = "Hi Sam, this instance is empty or is using very little memory, my issues detector can't be used in these conditions. " +
			"Please, leave for your mission on Earth and fill it with some data. The new Sam and I will be back to our programming as soon as I finished rebooting.\n"
	case st.HeadBudget > 0 && st.HeadBytes*10 > st.HeadBudget*9:
		text = fmt.Sprintf("Sam, I detected a few issues in this Firn instance memory implants:\n\n"+
			" * The documents in memory take %s of the %s that they may: what is used least is read from the file. "+
			"Give --memory more if reads are slow.\n", human(uint64(st.HeadBytes)), human(uint64(st.HeadBudget)))
	case m.resident > 2*m.total:
		text = fmt.Sprintf("Sam, I detected a few issues in this Firn instance memory implants:\n\n"+
			" * The process takes %s but the runtime has %s only.\n", human(m.resident), human(m.total))
	}
	c.Reply.Verbatim("txt", text)
	return nil
}

func memoryAllocator(c *command.Call) error {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	c.Reply.Verbatim("txt", fmt.Sprintf("%s\nheap_alloc:%d\nheap_inuse:%d\nheap_idle:%d\nheap_released:%d\nheap_objects:%d\nstack_inuse:%d\nsys:%d\nnum_gc:%d\n",
		runtime.Version(), m.HeapAlloc, m.HeapInuse, m.HeapIdle, m.HeapReleased, m.HeapObjects, m.StackInuse, m.Sys, m.NumGC))
	return nil
}

// figure is one pair of MEMORY STATS: an integer or a float.
type figure struct {
	name  string
	whole int64
	part  float64
	float bool
}

func memoryStats(c *command.Call) error {
	srv := sessionOf(c).srv
	keys, err := countAllKeys(c)
	if err != nil {
		return err
	}
	m := srv.memory()
	used, data := int64(m.used), int64(m.data)
	whole := func(name string, n int64) figure { return figure{name: name, whole: n} }
	part := func(name string, f float64) figure { return figure{name: name, part: f, float: true} }
	figures := []figure{
		whole("peak.allocated", int64(m.peak)), whole("total.allocated", used), whole("startup.allocated", 0),
		whole("replication.backlog", 0), whole("clients.slaves", 0), whole("clients.normal", 0), whole("cluster.links", 0),
		whole("aof.buffer", 0), whole("lua.caches", 0), whole("functions.caches", 0), whole("overhead.total", used-data),
		whole("keys.count", keys), whole("keys.bytes-per-key", data/max(keys, 1)), whole("dataset.bytes", data),
		part("dataset.percentage", percent(m.data, m.used)), part("peak.percentage", percent(m.used, m.peak)),
		whole("allocator.allocated", used), whole("allocator.active", int64(m.heap)), whole("allocator.resident", int64(m.total)),
		part("allocator-fragmentation.ratio", over(m.heap, m.used)), whole("allocator-fragmentation.bytes", int64(m.heap)-used),
		part("allocator-rss.ratio", over(m.total, m.heap)), whole("allocator-rss.bytes", int64(m.total)-int64(m.heap)),
		part("rss-overhead.ratio", over(m.resident, m.total)), whole("rss-overhead.bytes", int64(m.resident)-int64(m.total)),
		part("fragmentation", over(m.resident, m.used)), whole("fragmentation.bytes", int64(m.resident)-used),
	}
	c.Reply.Map(len(figures))
	for _, f := range figures {
		c.Reply.BulkString(f.name)
		if f.float {
			c.Reply.Double(f.part)
		} else {
			c.Reply.Int(f.whole)
		}
	}
	return nil
}

// countAllKeys counts the keys of all databases, those included that the
// sweeper has still to end.
func countAllKeys(c *command.Call) (total int64, err error) {
	err = c.Present(func(v *keyspace.View) error {
		return v.EachDatabase(func(v *keyspace.View, prefix []byte) error {
			n, err := v.R.Count(v.Keys, prefix)
			total += int64(n)
			return err
		})
	})
	return total, err
}

// memory is what the process takes, and how much of that is the store's.
func (srv *Server) memory() memoryUse {
	st := srv.store.Stats()
	return srv.stats.memory(st.HeadBytes+st.TailBytes, uint64(st.HeadOffHeapBytes))
}
