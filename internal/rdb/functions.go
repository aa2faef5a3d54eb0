package rdb

import "errors"

// What FUNCTION DUMP returns is the code of each library, a byte and a string,
// in place of a value, and the footer.
const (
	opFunction    = 0xf5
	opFunctionOld = 0xf6 // of release candidates of 7.0: more than the code
)

// Errors of payloads of functions.
var (
	// ErrNotFunction means that a payload has something else, such as a value.
	ErrNotFunction = errors.New("rdb: not a function")

	// ErrOldFunction means that a release candidate of Redis 7.0 has made the
	// payload.
	ErrOldFunction = errors.New("rdb: functions of a release candidate")
)

// maxLibraries is the most libraries of a payload: more than a process would
// want to compile, and few enough to be looked at one by one.
const maxLibraries = 100_000

// AppendLibrary appends a library's code to a payload.
func AppendLibrary(dst, code []byte) []byte { return appendString(append(dst, opFunction), code) }

// DecodeLibraries reads the code of each library from a payload without its
// footer. The error is ErrNotFunction, ErrOldFunction or ErrFormat.
func DecodeLibraries(payload []byte) (codes [][]byte, err error) {
	s := source{b: payload}
	unpacked := 0
	for len(s.b) > 0 {
		switch s.byte() {
		case opFunction:
		case opFunctionOld:
			return nil, ErrOldFunction
		default:
			return nil, ErrNotFunction
		}
		code := s.string()
		unpacked += len(code)
		if s.bad || len(codes) == maxLibraries || unpacked > maxCodeBytes {
			return nil, ErrFormat
		}
		codes = append(codes, code)
	}
	return codes, nil
}

// maxCodeBytes is the most code of a payload: compressed, it may be small.
const maxCodeBytes = 512 << 20
