package lua

import (
	"fmt"
	"strings"

	glua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"

	"github.com/firndb/firn/internal/lua/arg"
)

// Bounds on what is compiled.
const (
	// maxSource is the longest program, in bytes. Redis has no bound of its
	// own; a script is code that somebody wrote, not data.
	maxSource = 1 << 20

	// protoBytesPerByte is what compiled code takes for each byte of source,
	// measured over the scripts of bullmq, sidekiq and redlock.
	protoBytesPerByte = 12
)

// Chunk is a compiled program. It is never changed, and states share it.
type Chunk struct {
	proto *glua.FunctionProto
	bytes int
}

// Compile compiles a program. The error's text is the one that Lua 5.1 gives.
func Compile(name, source string) (chunk *Chunk, err error) {
	if strings.HasPrefix(source, "\x1b") {
		return nil, fmt.Errorf("%s: bad code in precompiled chunk", name)
	}
	if len(source) > maxSource {
		return nil, fmt.Errorf("%s:1: chunk is too long", name)
	}
	defer func() {
		if broken := recover(); broken != nil {
			chunk, err = nil, fmt.Errorf("%s:1: %v", name, broken)
		}
	}()
	tree, err := parse.Parse(strings.NewReader(source), name)
	if err != nil {
		return nil, fmt.Errorf("%s:1: %w", name, err)
	}
	proto, err := glua.Compile(tree, name)
	if err != nil {
		return nil, fmt.Errorf("%s:1: %w", name, err)
	}
	arg.MarkMethods(proto)
	return &Chunk{proto: proto, bytes: len(source) * protoBytesPerByte}, nil
}

// Bytes is about what the chunk takes in memory.
func (c *Chunk) Bytes() int { return c.bytes }
