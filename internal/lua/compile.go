package lua

import (
	"errors"
	"fmt"
	"strings"
)

// ErrTooLong means that a program is longer than what is compiled.
var ErrTooLong = errors.New("lua: chunk is too long")

// maxSource is the longest program, in bytes. Redis has no bound of its own; a
// script is code that somebody wrote, not data.
const maxSource = 1 << 20

// pieceBytes is what a piece of compiled code takes, measured over the scripts
// of queues and limiters.
const pieceBytes = 72

// Compile compiles a program. The error's text is the one that Lua 5.1 gives.
func Compile(name, source string) (*Chunk, error) {
	return compile("@"+strings.TrimPrefix(name, "@"), source, 0)
}

// compile is Compile for a name with Lua's mark before it. Levels are those of
// calls that Lua counts with those of the program.
//
// What begins like compiled code is text as well, and wrong: no compiled code
// is ever loaded.
func compile(source, text string, levels int) (chunk *Chunk, err error) {
	name := chunkID(source, maxSyntaxID)
	if len(text) > maxSource {
		return nil, fmt.Errorf("%s:1: %w", name, ErrTooLong)
	}
	defer func() {
		panicked := recover()
		switch e := panicked.(type) {
		case nil:
		case *syntaxError:
			chunk, err = nil, errors.New(e.text)
		default:
			panic(panicked)
		}
	}()
	p := &parser{lexer: lexer{name: name, src: text, line: 1, lastLine: 1}, levels: levels}
	fn := p.program()
	pieces := 0
	proto := newProto(chunkID(source, maxID), source, fn, &pieces)
	return &Chunk{proto: proto, bytes: pieces*pieceBytes + len(text)}, nil
}

// program reads a whole program.
func (p *parser) program() *funcNode {
	fn := &funcNode{vararg: true}
	p.fn = fn
	p.next()
	fn.body = p.chunk()
	if p.tok.kind != tEOS {
		p.expected(tEOS)
	}
	return fn
}
