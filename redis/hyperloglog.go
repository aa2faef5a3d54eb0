package redis

import (
	"fmt"
	"strings"

	"github.com/firndb/firn/resp"
)

// A HyperLogLog is a string in Redis's own format, see hllForm.
var hyperLogLogCommands = []Command{
	{
		Name: "PFADD", Args: "key [element [element ...]]", Min: 1, Max: -1, Flags: Writes | Fast, Keys: Keys{1, 1, 1},
		Group: "hyperloglog", Since: "2.8.9", Complexity: "O(n), n the elements",
		Summary: "Adds elements to the HyperLogLog at key: 1 if it changed, else 0.",
		Run:     pfAdd,
	},
	{
		Name: "PFCOUNT", Args: "key [key ...]", Min: 1, Max: -1, Flags: ReadOnly, Keys: Keys{1, -1, 1},
		Group: "hyperloglog", Since: "2.8.9", Complexity: "O(n), n the keys",
		Summary: "Returns about how many different elements the HyperLogLogs have together.",
		Differs: "Only reads: the result is not kept in the string, so GET returns other bytes 8 to 15 than in Redis.",
		Run:     pfCount,
	},
	{
		Name: "PFMERGE", Args: "destkey [sourcekey [sourcekey ...]]", Min: 1, Max: -1, Flags: Writes, Keys: Keys{1, -1, 1},
		Group: "hyperloglog", Since: "2.8.9", Complexity: "O(n), n the keys",
		Summary: "Makes destkey the union of the HyperLogLogs, its own included.",
		Run:     pfMerge,
	},
	{
		Name: "PFDEBUG", Args: "GETREG | DECODE | ENCODING | TODENSE key", Min: 2, Flags: Writes | Admin, Keys: Keys{2, 2, 1},
		Group: "hyperloglog", Since: "2.8.9", Complexity: "O(1)",
		Summary: "Shows the inside of the HyperLogLog at key.",
		Run:     pfDebug,
	},
	{
		Name: "PFSELFTEST", Flags: Local | Admin,
		Group: "hyperloglog", Since: "2.8.9", Complexity: "O(1)",
		Summary: "Counts elements that it knows the number of, in both forms.",
		Run:     pfSelfTest,
	},
}

// Errors about strings that are no HyperLogLogs.
const (
	errNotHLL     = resp.Error("WRONGTYPE Key is not a valid HyperLogLog string value.")
	errCorruptHLL = resp.Error("INVALIDOBJ Corrupted HLL object detected")
)

// checkHLL says whether a live key is a HyperLogLog.
func checkHLL(k *keyDoc) error {
	if k.Kind != kindString {
		return errWrongType
	}
	if !isHLL(k.Value) {
		return errNotHLL
	}
	return nil
}

// writeHLL stores a HyperLogLog over the one that is there.
func writeHLL(c *Call, s *slot, value []byte, key []byte) error {
	err := c.writeString(s, value, large, s.key.Expires)
	c.notify(eventString, "pfadd", key)
	return err
}

func pfAdd(c *Call) error {
	s, err := c.open(c.Args[0])
	if err != nil {
		return err
	}
	h := newHLL(sparseBytes(c.View))
	if s.live {
		if err := checkHLL(&s.key); err != nil {
			return err
		}
		h = hll{b: s.key.Value, sparseBytes: h.sparseBytes}
	}
	updated := !s.live
	for _, element := range c.Args[1:] {
		index, count := hllPlace(element)
		changed, err := h.raise(index, count)
		if err != nil {
			return err
		}
		updated = updated || changed
	}
	replyFlag(c, updated)
	if !updated {
		return nil
	}
	h.forgetCount()
	return writeHLL(c, &s, h.b, c.Args[0])
}

func pfCount(c *Call) error {
	if len(c.Args) == 1 {
		return countOne(c)
	}
	var registers hllRegisters
	if _, err := mergeHLLs(c, &registers); err != nil {
		return err
	}
	var histogram hllHistogram
	for _, n := range registers {
		histogram[n]++
	}
	c.Reply.Int(histogram.estimate())
	return nil
}

// countOne counts one HyperLogLog, or believes what it says of itself.
func countOne(c *Call) error {
	k, ok, err := c.find(c.Args[0])
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
	h := hll{b: k.Value}
	n, known := h.knownCount()
	if !known {
		var histogram hllHistogram
		err := h.each(func(_, length int, count byte) { histogram[count] += length })
		if err != nil {
			return err
		}
		n = histogram.estimate()
	}
	c.Reply.Int(n)
	return nil
}

// mergeHLLs raises the registers to those of the HyperLogLogs at all
// arguments, and says whether one of them is dense.
func mergeHLLs(c *Call, registers *hllRegisters) (dense bool, err error) {
	for _, key := range c.Args {
		k, ok, err := c.find(key)
		if err != nil {
			return false, err
		}
		if !ok {
			continue
		}
		if err := checkHLL(&k); err != nil {
			return false, err
		}
		h := hll{b: k.Value}
		dense = dense || h.dense()
		err = h.each(func(first, length int, count byte) {
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

func pfMerge(c *Call) error {
	var registers hllRegisters
	dense, err := mergeHLLs(c, &registers)
	if err != nil {
		return err
	}
	s, err := c.open(c.Args[0])
	if err != nil {
		return err
	}
	h := newHLL(sparseBytes(c.View))
	if s.live {
		h = hll{b: s.key.Value, sparseBytes: h.sparseBytes}
	}
	if dense {
		if err := h.toDense(); err != nil {
			return err
		}
	}
	for i, n := range registers {
		if n == 0 {
			continue
		}
		if _, err := h.raise(i, n); err != nil {
			return err
		}
	}
	h.forgetCount()
	c.Reply.Simple("OK")
	return writeHLL(c, &s, h.b, c.Args[0])
}

func pfDebug(c *Call) error {
	s, err := c.open(c.Args[1])
	if err != nil {
		return err
	}
	if !s.live {
		return resp.Error("ERR The specified key does not exist")
	}
	if err := checkHLL(&s.key); err != nil {
		return err
	}
	h := hll{b: s.key.Value}
	run := debugHLL(c.Args[0])
	if run == nil {
		return resp.Error(fmt.Sprintf("ERR Unknown PFDEBUG subcommand '%s'", c.Args[0]))
	}
	if err := run(c, &h); err != nil || !h.owned {
		return err
	}
	return c.writeString(&s, h.b, large, s.key.Expires)
}

// debugHLL is a subcommand of PFDEBUG; nil if there is none of that name.
func debugHLL(name []byte) func(*Call, *hll) error {
	switch {
	case is(name, "GETREG"):
		return hllRegistersOf
	case is(name, "DECODE"):
		return hllDecode
	case is(name, "ENCODING"):
		return hllEncoding
	case is(name, "TODENSE"):
		return hllToDense
	}
	return nil
}

// hllRegistersOf replies all registers. Like Redis, it makes the string dense.
func hllRegistersOf(c *Call, h *hll) error {
	if err := h.toDense(); err != nil {
		return err
	}
	c.Reply.Array(hllRegisterCount)
	return h.each(func(_, _ int, count byte) { c.Reply.Int(int64(count)) })
}

// hllDecode replies the runs of a sparse one: z and Z are zeros, v a value.
func hllDecode(c *Call, h *hll) error {
	if h.dense() {
		return resp.Error("ERR HLL encoding is not sparse")
	}
	var runs []string
	for at := hllHeaderBytes; at < len(h.b); {
		r := h.run(at)
		switch {
		case r.value > 0:
			runs = append(runs, fmt.Sprintf("v:%d,%d", r.value, r.length))
		case r.bytes == 2:
			runs = append(runs, fmt.Sprintf("Z:%d", r.length))
		default:
			runs = append(runs, fmt.Sprintf("z:%d", r.length))
		}
		at += r.bytes
	}
	c.Reply.BulkString(strings.Join(runs, " "))
	return nil
}

func hllEncoding(c *Call, h *hll) error {
	if h.dense() {
		c.Reply.Simple("dense")
	} else {
		c.Reply.Simple("sparse")
	}
	return nil
}

func hllToDense(c *Call, h *hll) error {
	replyFlag(c, !h.dense())
	return h.toDense()
}

// pfSelfTest counts up to 10,000 elements in one HyperLogLog that becomes
// dense by itself, and in one that was so from the start. Both must have the
// same registers, and be right within what the method promises six times over.
func pfSelfTest(c *Call) error {
	const elements, tolerance = 10_000, 6 * 0.0081
	grown, dense := newHLL(defaultSparseBytes), newHLL(defaultSparseBytes)
	if err := dense.toDense(); err != nil {
		return err
	}
	for i := range elements {
		index, count := hllPlace(fmt.Appendf(nil, "element:%d", i))
		for _, h := range []*hll{&grown, &dense} {
			if _, err := h.raise(index, count); err != nil {
				return err
			}
		}
	}
	var histograms [2]hllHistogram
	for i, h := range []*hll{&grown, &dense} {
		if err := h.each(func(_, length int, count byte) { histograms[i][count] += length }); err != nil {
			return err
		}
	}
	n := float64(histograms[0].estimate())
	if histograms[0] != histograms[1] || n < elements*(1-tolerance) || n > elements*(1+tolerance) {
		return resp.Error(fmt.Sprintf("ERR TESTFAILED %d elements were counted as %.0f", elements, n))
	}
	c.Reply.Simple("OK")
	return nil
}
