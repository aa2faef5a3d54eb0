package live

import (
	"encoding/binary"
	"errors"

	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/redis/command"
)

// Form is what a query asks, as text: a database, and one command or those of
// a transaction, with all their arguments. Equal forms with equal rights are
// one query. It does not depend on the client's protocol.
//
//	form    = database uvarint · 0 or 1, whether it is a transaction · command …
//	command = name · number of arguments uvarint · argument …
//	name, argument = length uvarint · bytes
//
// The text is all that is kept of a query that waits: it is taken apart again
// whenever the query is evaluated.
type Form string

// question is what forms are told apart by.
type question struct {
	form   Form
	rights *acl.Rights // nil: everything is allowed
}

// NewForm begins the form of a query about a database.
func NewForm(db int, transaction bool) Form {
	form := binary.AppendUvarint(nil, uint64(db))
	if transaction {
		return Form(append(form, 1))
	}
	return Form(append(form, 0))
}

// With is the form with another command. Its arguments are copied.
func (f Form) With(e *command.Entry, args [][]byte) Form {
	form := appendText([]byte(f), []byte(e.Full))
	form = binary.AppendUvarint(form, uint64(len(args)))
	for _, arg := range args {
		form = appendText(form, arg)
	}
	return Form(form)
}

func appendText(form, text []byte) []byte {
	return append(binary.AppendUvarint(form, uint64(len(text))), text...)
}

// Step is one command of a query.
type Step struct {
	Entry *command.Entry
	Args  [][]byte
}

// Query is a form taken apart.
type Query struct {
	DB          int
	Transaction bool
	Steps       []Step
}

// errForm is what a text is that is no form.
var errForm = errors.New("live: not the form of a query")

// Parse takes a form apart. What it returns is the caller's.
func (f Form) Parse(commands *command.Registry) (Query, error) {
	p := parser{rest: []byte(f)}
	q := Query{DB: int(p.number()), Transaction: p.number() == 1}
	for len(p.rest) > 0 && !p.broken {
		step := Step{Entry: commands.Named(p.text())}
		n := p.number()
		if step.Entry == nil || n > uint64(len(p.rest)) {
			return Query{}, errForm
		}
		step.Args = make([][]byte, n)
		for i := range step.Args {
			step.Args[i] = p.text()
		}
		q.Steps = append(q.Steps, step)
	}
	if p.broken {
		return Query{}, errForm
	}
	return q, nil
}

// parser reads a form from its beginning. After a mistake it is broken, and
// what it returns means nothing.
type parser struct {
	rest   []byte
	broken bool
}

func (p *parser) number() uint64 {
	n, size := binary.Uvarint(p.rest)
	if size <= 0 {
		p.broken = true
		return 0
	}
	p.rest = p.rest[size:]
	return n
}

func (p *parser) text() []byte {
	n := p.number()
	if n > uint64(len(p.rest)) {
		p.broken = true
		return nil
	}
	text := p.rest[:n:n]
	p.rest = p.rest[n:]
	return text
}

// Refused is the first step that rights do not allow; ok is false if they
// allow all.
func (q *Query) Refused(rights *acl.Rights) (step Step, why acl.Denial, ok bool) {
	if rights == nil {
		return Step{}, acl.DenialNone, false
	}
	for _, step := range q.Steps {
		if why, _ := rights.Check(step.Entry, step.Args); why != acl.DenialNone {
			return step, why, true
		}
	}
	return Step{}, acl.DenialNone, false
}
