package web

import (
	"math"
	"strconv"
	"strings"

	"github.com/firndb/firn/internal/spread"
)

// exposition is the text that Prometheus reads, version 0.0.4: families of
// samples, each after its HELP and TYPE.
type exposition struct{ text []byte }

// The kinds of families.
const (
	kindCounter   = "counter"
	kindGauge     = "gauge"
	kindHistogram = "histogram"
)

// family begins a family. Its samples follow before the next one begins.
func (x *exposition) family(name, kind, help string) {
	x.text = append(x.text, "# HELP "+name+" "+help+"\n# TYPE "+name+" "+kind+"\n"...)
}

// sample adds a sample, with pairs of a label and its value.
func (x *exposition) sample(name string, value float64, labels ...string) {
	x.text = append(x.text, name...)
	for i := 0; i+1 < len(labels); i += 2 {
		mark := byte(',')
		if i == 0 {
			mark = '{'
		}
		x.text = append(append(append(x.text, mark), labels[i]...), `="`...)
		x.text = append(append(x.text, labelEscapes.Replace(strings.ToValidUTF8(labels[i+1], "?"))...), '"')
	}
	if len(labels) > 0 {
		x.text = append(x.text, '}')
	}
	x.text = append(appendSample(append(x.text, ' '), value), '\n')
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func appendSample(dst []byte, value float64) []byte {
	if whole := int64(value); float64(whole) == value && math.Abs(value) < 1<<53 {
		return strconv.AppendInt(dst, whole, 10)
	}
	return strconv.AppendFloat(dst, value, 'g', -1, 64)
}

// counter adds a family of one sample that only grows, until it is set back.
func (x *exposition) counter(name, help string, value int64) {
	x.family(name, kindCounter, help)
	x.sample(name, float64(value))
}

// gauge adds a family of one sample.
func (x *exposition) gauge(name, help string, value float64) {
	x.family(name, kindGauge, help)
	x.sample(name, value)
}

// buckets is the shape of a histogram: of those that a spread has, every
// step-th from the first to the last.
type buckets struct {
	first, last, step int
	unit              float64 // of a sample, in what the spread counts
}

var (
	// durations has buckets from 16 µs to 17 s, each four times the one before:
	// a commit without fsync takes some ten microseconds, and what takes
	// seconds is wrong.
	durations = buckets{14, 34, 2, 1e9}

	// sizes has buckets from 1 to 4,096: no group is larger than that many.
	sizes = buckets{0, 12, 2, 1}
)

// histogram adds a family of one histogram.
func (x *exposition) histogram(name, help string, shape buckets, counts *spread.Counts) {
	x.family(name, kindHistogram, help)
	for i := shape.first; i <= shape.last; i += shape.step {
		x.sample(name+"_bucket", float64(counts.UpTo[i]), "le", formatted(math.Ldexp(1, i)/shape.unit))
	}
	x.sample(name+"_bucket", float64(counts.Total()), "le", "+Inf")
	x.sample(name+"_sum", float64(counts.Sum)/shape.unit)
	x.sample(name+"_count", float64(counts.Total()))
}

func formatted(value float64) string { return string(appendSample(nil, value)) }

// truth is 1 for what is so.
func truth(so bool) float64 {
	if so {
		return 1
	}
	return 0
}
