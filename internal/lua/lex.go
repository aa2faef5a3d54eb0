package lua

import (
	"fmt"
	"strconv"

	"github.com/firndb/firn/internal/lua/unwind"
)

// Kinds of tokens. A token of one character is that character.
const (
	tEOS = 256 + iota
	tName
	tString
	tNumber
	tConcat
	tDots
	tEq
	tGe
	tLe
	tNe
	tAnd
	tBreak
	tDo
	tElse
	tElseif
	tEnd
	tFalse
	tFor
	tFunction
	tIf
	tIn
	tLocal
	tNil
	tNot
	tOr
	tRepeat
	tReturn
	tThen
	tTrue
	tUntil
	tWhile
)

var tokenNames = [...]string{"<eof>", "<name>", "<string>", "<number>", "..", "...", "==", ">=", "<=", "~=",
	"and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local", "nil", "not", "or",
	"repeat", "return", "then", "true", "until", "while"}

var reserved = func() map[string]int {
	m := map[string]int{}
	for i := tAnd; i <= tWhile; i++ {
		m[tokenNames[i-tEOS]] = i
	}
	return m
}()

type token struct {
	kind int
	text string // of names and strings
	n    float64
}

// lexer cuts a program into tokens.
type lexer struct {
	name     string
	src      string
	at       int
	line     int // of the token that is looked at
	lastLine int // of the token before it
	tok      token
	ahead    token
	hasAhead bool
	buf      []byte // the raw text of the newest token
}

// syntaxError is what the compiler panics with.
type syntaxError struct{ text string }

// fail ends the compilation; near is a kind of token, or 0.
func (lx *lexer) fail(msg string, near int) {
	text := fmt.Sprintf("%s:%d: %s", lx.name, lx.line, msg)
	if near != 0 {
		text += " near '" + lx.tokenText(near) + "'"
	}
	unwind.Throw(&syntaxError{text})
}

func (lx *lexer) failHere(msg string) { lx.fail(msg, lx.tok.kind) }

func (lx *lexer) tokenText(kind int) string {
	switch kind {
	case tName, tString, tNumber:
		return cString(lx.buf)
	}
	return tokenName(kind)
}

// cString is text up to its first zero, as C prints it.
func cString(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

func tokenName(kind int) string {
	switch {
	case kind >= tEOS:
		return tokenNames[kind-tEOS]
	case kind < ' ' || kind == 127:
		return "char(" + strconv.Itoa(kind) + ")"
	}
	return string([]byte{byte(kind)})
}

func (lx *lexer) next() {
	lx.lastLine = lx.line
	if lx.hasAhead {
		lx.tok, lx.hasAhead = lx.ahead, false
		return
	}
	lx.tok = lx.scan()
}

func (lx *lexer) lookAhead() int {
	lx.ahead, lx.hasAhead = lx.scan(), true
	return lx.ahead.kind
}

// peek is the byte i places on, or -1 behind the end.
func (lx *lexer) peek(i int) int {
	if lx.at+i < len(lx.src) {
		return int(lx.src[lx.at+i])
	}
	return -1
}

func (lx *lexer) newline() {
	c := lx.peek(0)
	lx.at++
	if d := lx.peek(0); (d == '\n' || d == '\r') && d != c {
		lx.at++
	}
	lx.line++
}

func (lx *lexer) scan() token {
	lx.buf = lx.buf[:0]
	for {
		c := lx.peek(0)
		switch c {
		case -1:
			return token{kind: tEOS}
		case '\n', '\r':
			lx.newline()
			continue
		case '-':
			if lx.peek(1) != '-' {
				lx.at++
				return token{kind: '-'}
			}
			lx.comment()
			continue
		case '[':
			level := lx.bracket()
			if level >= 0 {
				return token{kind: tString, text: lx.longString(level, false)}
			}
			if level == -1 {
				lx.at++
				return token{kind: '['}
			}
			lx.fail("invalid long string delimiter", tString)
		case '=', '<', '>', '~':
			return lx.relation(c)
		case '"', '\'':
			return lx.quoted(byte(c))
		case '.':
			return lx.dots()
		}
		if isSpace(byte(c)) {
			lx.at++
			continue
		}
		return lx.word(byte(c))
	}
}

func (lx *lexer) word(c byte) token {
	if isDigit(c) {
		return lx.numeral()
	}
	if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') {
		lx.at++
		return token{kind: int(c)}
	}
	start := lx.at
	for lx.at < len(lx.src) && isWord(lx.src[lx.at]) {
		lx.at++
	}
	text := lx.src[start:lx.at]
	if kind, ok := reserved[text]; ok {
		return token{kind: kind}
	}
	lx.buf = append(lx.buf, text...)
	return token{kind: tName, text: text}
}

func isWord(c byte) bool { return c == '_' || isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z' }

func (lx *lexer) relation(c int) token {
	lx.at++
	if lx.peek(0) != '=' {
		return token{kind: c}
	}
	lx.at++
	switch c {
	case '=':
		return token{kind: tEq}
	case '<':
		return token{kind: tLe}
	case '>':
		return token{kind: tGe}
	}
	return token{kind: tNe}
}

func (lx *lexer) dots() token {
	if c := lx.peek(1); c >= 0 && isDigit(byte(c)) {
		return lx.numeral()
	}
	lx.at++
	if lx.peek(0) != '.' {
		return token{kind: '.'}
	}
	lx.at++
	if lx.peek(0) != '.' {
		return token{kind: tConcat}
	}
	lx.at++
	return token{kind: tDots}
}

func (lx *lexer) numeral() token {
	start := lx.at
	for lx.at < len(lx.src) && (isDigit(lx.src[lx.at]) || lx.src[lx.at] == '.') {
		lx.at++
	}
	if c := lx.peek(0); c == 'e' || c == 'E' {
		lx.at++
		if c := lx.peek(0); c == '+' || c == '-' {
			lx.at++
		}
	}
	for lx.at < len(lx.src) && isWord(lx.src[lx.at]) {
		lx.at++
	}
	text := lx.src[start:lx.at]
	lx.buf = append(lx.buf, text...)
	n, ok := parseNumber(text)
	if !ok {
		lx.fail("malformed number", tNumber)
	}
	return token{kind: tNumber, n: n}
}

func (lx *lexer) comment() {
	lx.at += 2
	if lx.peek(0) == '[' {
		if level := lx.bracket(); level >= 0 {
			lx.longString(level, true)
			lx.buf = lx.buf[:0]
			return
		}
		lx.buf = lx.buf[:0]
	}
	for lx.at < len(lx.src) && lx.src[lx.at] != '\n' && lx.src[lx.at] != '\r' {
		lx.at++
	}
}

// bracket looks for [[ or [=…=[. It is -1 for a bracket alone, and less when
// there are signs without a second bracket.
func (lx *lexer) bracket() int {
	level := 0
	for lx.peek(1+level) == '=' {
		level++
	}
	if lx.peek(1+level) == '[' {
		return level
	}
	lx.buf = append(lx.buf, lx.src[lx.at:lx.at+1+level]...)
	return -level - 1
}

func (lx *lexer) longString(level int, comment bool) string {
	lx.buf = append(lx.buf, lx.src[lx.at:lx.at+2+level]...)
	lx.at += 2 + level
	if c := lx.peek(0); c == '\n' || c == '\r' {
		lx.newline()
	}
	for {
		c := lx.peek(0)
		switch c {
		case -1:
			if comment {
				lx.fail("unfinished long comment", tEOS)
			}
			lx.fail("unfinished long string", tEOS)
		case ']':
			if lx.closes(level) {
				lx.buf = append(lx.buf, lx.src[lx.at:lx.at+2+level]...)
				lx.at += 2 + level
				return string(lx.buf[2+level : len(lx.buf)-2-level])
			}
		case '\n', '\r':
			lx.buf = append(lx.buf, '\n')
			lx.newline()
			continue
		}
		lx.buf = append(lx.buf, byte(c))
		lx.at++
	}
}

func (lx *lexer) closes(level int) bool {
	for i := range level {
		if lx.peek(1+i) != '=' {
			return false
		}
	}
	return lx.peek(1+level) == ']'
}

func (lx *lexer) quoted(quote byte) token {
	lx.buf = append(lx.buf, quote)
	lx.at++
	for {
		c := lx.peek(0)
		switch {
		case c == -1:
			lx.fail("unfinished string", tEOS)
		case c == '\n' || c == '\r':
			lx.fail("unfinished string", tString)
		case c == '\\':
			lx.escape()
		case c == int(quote):
			lx.buf = append(lx.buf, quote)
			lx.at++
			return token{kind: tString, text: string(lx.buf[1 : len(lx.buf)-1])}
		default:
			lx.buf = append(lx.buf, byte(c))
			lx.at++
		}
	}
}

var escapes = map[int]byte{'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v'}

func (lx *lexer) escape() {
	lx.at++
	c := lx.peek(0)
	if e, ok := escapes[c]; ok {
		lx.buf = append(lx.buf, e)
		lx.at++
		return
	}
	switch {
	case c == -1: // reported by who reads on
	case c == '\n' || c == '\r':
		lx.buf = append(lx.buf, '\n')
		lx.newline()
	case isDigit(byte(c)):
		n := 0
		for i := 0; i < 3 && lx.peek(0) >= 0 && isDigit(byte(lx.peek(0))); i++ {
			n = n*10 + lx.peek(0) - '0'
			lx.at++
		}
		if n > 255 {
			lx.fail("escape sequence too large", tString)
		}
		lx.buf = append(lx.buf, byte(n))
	default:
		lx.buf = append(lx.buf, byte(c))
		lx.at++
	}
}
