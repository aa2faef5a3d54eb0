package values

import (
	"fmt"
	"strings"

	"github.com/firndb/firn/internal/hll"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// A HyperLogLog is a string in Redis's own format, see hllForm.
var hyperLogLogCommands = []command.Command{
	{
		Name: "PFADD", Args: "key [element [element ...]]", Min: 1, Max: -1, Flags: command.Writes | command.Fast | command.DenyOOM,
		Keys:  command.FirstKey(command.Inserts),
		Group: "hyperloglog", Since: "2.8.9", Complexity: "O(n), n the elements",
		Summary: "Adds elements to the HyperLogLog at key: 1 if it changed, else 0.",
		Run:     pfAdd,
	},
	{
		Name: "PFCOUNT", Args: "key [key ...]", Min: 1, Max: -1, Flags: command.ReadOnly | command.Replicates,
		Keys:  command.AllKeys(command.Recodes).Noted("RW because it may change the internal representation of the key, and propagate to replicas"),
		Group: "hyperloglog", Since: "2.8.9", Complexity: "O(n), n the keys",
		Summary: "Returns about how many different elements the HyperLogLogs have together.",
		Differs: "Only reads: the result is not kept in the string, so GET returns other bytes 8 to 15 than in Redis.",
		Run:     pfCount,
	},
	{
		Name: "PFMERGE", Args: "destkey [sourcekey [sourcekey ...]]", Min: 1, Max: -1, Flags: command.Writes | command.DenyOOM,
		Keys:  command.FirstKey(command.Gathers).And(command.KeysFrom(2, -1, 1, command.Reads)),
		Group: "hyperloglog", Since: "2.8.9", Complexity: "O(n), n the keys",
		Summary: "Makes destkey the union of the HyperLogLogs, its own included.",
		Run:     pfMerge,
	},
	{
		Name: "PFDEBUG", Args: "GETREG | DECODE | ENCODING | TODENSE key", Min: 2, Flags: command.Writes | command.Admin | command.DenyOOM,
		Keys:  command.KeyAt(2, command.Recodes),
		Group: "hyperloglog", Since: "2.8.9", Complexity: "O(1)",
		Summary: "Shows the inside of the HyperLogLog at key.",
		Run:     pfDebug,
	},
	{
		Name: "PFSELFTEST", Flags: command.Local | command.Admin,
		Group: "hyperloglog", Since: "2.8.9", Complexity: "O(1)",
		Summary: "Counts elements that it knows the number of, in both forms.",
		Run:     pfSelfTest,
	},
}

// Errors about strings that are no HyperLogLogs.
const (
	errNotHLL = resp.Error("WRONGTYPE Key is not a valid HyperLogLog string value.")
)

// checkHLL says whether a live key is a HyperLogLog.
func checkHLL(k *keyspace.KeyDoc) error {
	if k.Kind != keyspace.KindString {
		return keyspace.ErrWrongType
	}
	if !hll.Is(k.Value) {
		return errNotHLL
	}
	return nil
}

// writeHLL stores a HyperLogLog over the one that is there.
func writeHLL(c *command.Call, s *keyspace.Slot, value []byte, key []byte) error {
	err := c.WriteString(s, value, keyspace.Large, s.Key.Expires)
	c.Notify(keyspace.EventString, "pfadd", key)
	return err
}

func pfAdd(c *command.Call) error {
	s, err := c.Open(c.Args[0])
	if err != nil {
		return err
	}
	h := hll.New(c.SparseBytes())
	if s.Live {
		if err := checkHLL(&s.Key); err != nil {
			return err
		}
		h = hll.Sketch{B: s.Key.Value, SparseBytes: h.SparseBytes}
	}
	updated := !s.Live
	for _, element := range c.Args[1:] {
		index, count := hll.Place(element)
		changed, err := h.Raise(index, count)
		if err != nil {
			return err
		}
		updated = updated || changed
	}
	command.ReplyFlag(c, updated)
	if !updated {
		return nil
	}
	h.ForgetCount()
	return writeHLL(c, &s, h.B, c.Args[0])
}

func pfCount(c *command.Call) error {
	if len(c.Args) == 1 {
		return countOne(c)
	}
	var registers hll.Registers
	if _, err := mergeHLLs(c, &registers); err != nil {
		return err
	}
	var histogram hll.Histogram
	for _, n := range registers {
		histogram[n]++
	}
	c.Reply.Int(histogram.Estimate())
	return nil
}

// countOne counts one HyperLogLog, or believes what it says of itself.
func countOne(c *command.Call) error {
	k, ok, err := c.Find(c.Args[0])
	if err != nil {
		return err
	}
	if !ok {
		c.Reply.Int(0)
		return nil
	}
	if err := checkHLL(&k); err != nil {
		return err
	}
	h := hll.Sketch{B: k.Value}
	n, known := h.KnownCount()
	if !known {
		var histogram hll.Histogram
		err := h.Each(func(_, length int, count byte) { histogram[count] += length })
		if err != nil {
			return err
		}
		n = histogram.Estimate()
	}
	c.Reply.Int(n)
	return nil
}

// mergeHLLs raises the registers to those of the HyperLogLogs at all
// arguments, and says whether one of them is dense.
func mergeHLLs(c *command.Call, registers *hll.Registers) (dense bool, err error) {
	for _, key := range c.Args {
		k, ok, err := c.Find(key)
		if err != nil {
			return false, err
		}
		if !ok {
			continue
		}
		if err := checkHLL(&k); err != nil {
			return false, err
		}
		h := hll.Sketch{B: k.Value}
		dense = dense || h.Dense()
		err = h.Each(func(first, length int, count byte) {
			for i := first; i < first+length; i++ {
				registers[i] = max(registers[i], count)
			}
		})
		if err != nil {
			return false, err
		}
	}
	return dense, nil
}

func pfMerge(c *command.Call) error {
	var registers hll.Registers
	dense, err := mergeHLLs(c, &registers)
	if err != nil {
		return err
	}
	s, err := c.Open(c.Args[0])
	if err != nil {
		return err
	}
	h := hll.New(c.SparseBytes())
	if s.Live {
		h = hll.Sketch{B: s.Key.Value, SparseBytes: h.SparseBytes}
	}
	if dense {
		if err := h.ToDense(); err != nil {
			return err
		}
	}
	for i, n := range registers {
		if n == 0 {
			continue
		}
		if _, err := h.Raise(i, n); err != nil {
			return err
		}
	}
	h.ForgetCount()
	c.Reply.Simple("OK")
	return writeHLL(c, &s, h.B, c.Args[0])
}

func pfDebug(c *command.Call) error {
	s, err := c.Open(c.Args[1])
	if err != nil {
		return err
	}
	if !s.Live {
		return resp.Error("ERR The specified key does not exist")
	}
	if err := checkHLL(&s.Key); err != nil {
		return err
	}
	h := hll.Sketch{B: s.Key.Value}
	run := debugHLL(c.Args[0])
	if run == nil {
		return resp.Error(fmt.Sprintf("ERR Unknown PFDEBUG subcommand '%s'", c.Args[0]))
	}
	if err := run(c, &h); err != nil || !h.Owned {
		return err
	}
	return c.WriteString(&s, h.B, keyspace.Large, s.Key.Expires)
}

// debugHLL is a subcommand of PFDEBUG; nil if there is none of that name.
func debugHLL(name []byte) func(*command.Call, *hll.Sketch) error {
	switch {
	case command.Is(name, "GETREG"):
		return hllRegistersOf
	case command.Is(name, "DECODE"):
		return hllDecode
	case command.Is(name, "ENCODING"):
		return hllEncoding
	case command.Is(name, "TODENSE"):
		return hllToDense
	}
	return nil
}

// hllRegistersOf replies all registers. Like Redis, it makes the string dense.
func hllRegistersOf(c *command.Call, h *hll.Sketch) error {
	if err := h.ToDense(); err != nil {
		return err
	}
	c.Reply.Array(hll.RegisterCount)
	return h.Each(func(_, _ int, count byte) { c.Reply.Int(int64(count)) })
}

// hllDecode replies the runs of a sparse one: z and Z are zeros, v a value.
func hllDecode(c *command.Call, h *hll.Sketch) error {
	if h.Dense() {
		return resp.Error("ERR HLL encoding is not sparse")
	}
	var runs []string
	for at := hll.HeaderBytes; at < len(h.B); {
		r := h.RunAt(at)
		switch {
		case r.Value > 0:
			runs = append(runs, fmt.Sprintf("v:%d,%d", r.Value, r.Length))
		case r.Bytes == 2:
			runs = append(runs, fmt.Sprintf("Z:%d", r.Length))
		default:
			runs = append(runs, fmt.Sprintf("z:%d", r.Length))
		}
		at += r.Bytes
	}
	c.Reply.BulkString(strings.Join(runs, " "))
	return nil
}

func hllEncoding(c *command.Call, h *hll.Sketch) error {
	if h.Dense() {
		c.Reply.Simple("dense")
	} else {
		c.Reply.Simple("sparse")
	}
	return nil
}

func hllToDense(c *command.Call, h *hll.Sketch) error {
	command.ReplyFlag(c, !h.Dense())
	return h.ToDense()
}

// pfSelfTest counts up to 10,000 elements in one HyperLogLog that becomes
// dense by itself, and in one that was so from the start. Both must have the
// same registers, and be right within what the method promises six times over.
func pfSelfTest(c *command.Call) error {
	const elements, tolerance = 10_000, 6 * 0.0081
	grown, dense := hll.New(keyspace.DefaultSparseBytes), hll.New(keyspace.DefaultSparseBytes)
	if err := dense.ToDense(); err != nil {
		return err
	}
	for i := range elements {
		index, count := hll.Place(fmt.Appendf(nil, "element:%d", i))
		for _, h := range []*hll.Sketch{&grown, &dense} {
			if _, err := h.Raise(index, count); err != nil {
				return err
			}
		}
	}
	var histograms [2]hll.Histogram
	for i, h := range []*hll.Sketch{&grown, &dense} {
		if err := h.Each(func(_, length int, count byte) { histograms[i][count] += length }); err != nil {
			return err
		}
	}
	n := float64(histograms[0].Estimate())
	if histograms[0] != histograms[1] || n < elements*(1-tolerance) || n > elements*(1+tolerance) {
		return resp.Error(fmt.Sprintf("ERR TESTFAILED %d elements were counted as %.0f", elements, n))
	}
	c.Reply.Simple("OK")
	return nil
}
