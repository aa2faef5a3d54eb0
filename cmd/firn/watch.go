package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firndb/firn"
	"github.com/firndb/firn/journal"
	answer "github.com/firndb/firn/resp/reply"
)

const watchHelp = `Print what is committed, as it comes: of the store in PATH, which may be in use, or of
a server at redis://[user:password@]host[:port][/db], rediss:// with TLS, or
unix://[user:password@]PATH. Certificates are read for each connection. A store in use is looked at several times a second; a
server tells at once.

A line is a change of a key: when, in which database, which key, what ran, and the type
of the key now. With --json it is a commit, with the token to go on from after it.

watch goes on when the server was restarted, from where it was, and tells nothing twice.
SIGINT or SIGTERM ends it. What it prints last, to the standard error, is the token to
go on from: with --from nothing is missed. If that is too old, what came after it is
forgotten; begin anew with what is there now.`

// watchQuery is what firn watch is asked for.
type watchQuery struct {
	from                        string
	match, types, operations    []string
	tables                      []string
	databases                   []int
	tls                         clientTLS
	json, values, who, justOnce bool
}

func watchCommand() *cobra.Command {
	q := &watchQuery{}
	c := &cobra.Command{
		Use:     "watch PATH|redis://[USER:PASSWORD@]HOST[:PORT][/DB]",
		Short:   "Print what is committed, as it comes",
		Long:    watchHelp,
		Example: "  firn watch orders.db --match 'order:*'\n  firn watch redis://127.0.0.1:6379/0 --json --values --from @lR5v8sy1TiGIn1bZ1qzSlAAGAZn5BWbA\n  firn watch rediss://db.example:6380 --cacert ca.crt --cert client.crt --key client.key",
		Args:    arguments(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			w := &watch{query: q, token: q.from, out: bufio.NewWriter(c.OutOrStdout()), log: c.ErrOrStderr()}
			return w.run(c.Context(), args[0])
		},
	}
	f := c.Flags()
	f.StringVar(&q.from, "from", "$", "begin after this token, or moment such as -1h; $ is now")
	f.StringArrayVar(&q.match, "match", nil, "only keys that fit this pattern, or another that is given")
	f.IntSliceVar(&q.databases, "db", nil, "only this database, or another that is given")
	f.StringArrayVar(&q.types, "type", nil, "only keys of this type, or another that is given")
	f.StringArrayVar(&q.operations, "op", nil, "only what this command did, or another that is given")
	f.StringArrayVar(&q.tables, "table", nil, "documents of this table of a program's own, in the place of keys")
	f.BoolVar(&q.values, "values", false, "print what the keys became")
	f.BoolVar(&q.who, "who", false, "print who wrote")
	f.BoolVar(&q.json, "json", false, "print a JSON object for each commit")
	q.tls.add(f)
	f.BoolVar(&q.justOnce, "once", false, "end when all is printed that there is now")
	return c
}

// words are the options of CHANGES that the query is.
func (q *watchQuery) words() (words []string) {
	for _, option := range []struct {
		name   string
		values []string
	}{{"MATCH", q.match}, {"TYPE", q.types}, {"OP", q.operations}, {"TABLE", q.tables}} {
		for _, value := range option.values {
			words = append(words, option.name, value)
		}
	}
	for _, db := range q.databases {
		words = append(words, "DB", strconv.Itoa(db))
	}
	if q.values {
		words = append(words, "VALUES")
	}
	if q.who {
		words = append(words, "WHO")
	}
	return words
}

// watch is one run of the command.
type watch struct {
	query *watchQuery
	token string // what comes after it is not printed yet
	out   *bufio.Writer
	log   io.Writer
	line  []byte // scratch
}

func (w *watch) run(ctx context.Context, where string) (err error) {
	if isServer(where) {
		err = w.server(ctx, where)
	} else if err = w.query.tls.check(false); err == nil {
		err = w.file(ctx, where)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, errInterrupted) {
		err = nil
	}
	if journal.IsToken(w.token) && (err == nil || w.token != w.query.from) {
		fmt.Fprintf(w.log, "firn: go on with --from %s\n", w.token)
	}
	return err
}

// isServer says whether an argument names a server.
func isServer(where string) bool {
	scheme, _, ok := strings.Cut(where, "://")
	return ok && (scheme == "redis" || scheme == "rediss" || scheme == "unix")
}

// errPage is what is wrong with a server that knows no CHANGES, or another one.
var errPage = errors.New("the reply is no page of changes")

// page prints a reply of CHANGES. Only what is out counts as printed.
func (w *watch) page(p *answer.Value) error {
	if p.IsError() {
		return refusal(p.Text)
	}
	if len(p.Elements) != 2 {
		return errPage
	}
	token, err := journal.ParseToken(p.Elements[0].Text)
	if err != nil {
		return err
	}
	commits := p.Elements[1].Elements
	for i := range commits {
		c := commits[i].Elements
		if len(c) != 2 {
			return errPage
		}
		token.TS = firn.Timestamp(c[0].Int())
		w.commit(token, c[1].Elements)
	}
	if err := w.out.Flush(); err != nil {
		return err
	}
	w.token = p.Elements[0].Text
	return nil
}

// commit prints a commit, whose token is given.
func (w *watch) commit(token journal.Token, changes []answer.Value) {
	if !w.query.json {
		for i := range changes {
			w.change(token, changes[i].Elements)
		}
		return
	}
	b := append(w.line[:0], `{"ts":`...)
	b = strconv.AppendInt(b, int64(token.TS), 10)
	b = append(b, `,"time":"`+clockTime(token.TS)+`","token":"`+token.String()+`","changes":[`...)
	for i := range changes {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendChange(b, changes[i].Elements)
	}
	w.line = append(b, "]}\n"...)
	w.out.Write(w.line)
}

// appendChange appends a change as a JSON object.
func appendChange(b []byte, ch []answer.Value) []byte {
	for i, name := range changeNames(ch) {
		mark := byte(',')
		if i == 0 {
			mark = '{'
		}
		b = append(append(b, mark, '"'), name...)
		b = ch[i].AppendJSON(append(b, '"', ':'))
	}
	if len(ch) > 4 {
		for i := 0; i+1 < len(ch[4].Elements); i += 2 {
			b = append(answer.AppendString(append(b, ','), ch[4].Elements[i].Text), ':')
			b = ch[4].Elements[i+1].AppendJSON(b)
		}
	}
	return append(b, '}')
}

// changeNames are what the elements of a change are: of a key, or of a program's
// own document.
func changeNames(ch []answer.Value) []string {
	if len(ch) > 0 && ch[0].Mark == ':' {
		return []string{"db", "key", "operation", "type"}[:min(len(ch), 4)]
	}
	return []string{"table", "id", "operation", "type"}[:min(len(ch), 4)]
}

// change prints a change for people.
func (w *watch) change(token journal.Token, ch []answer.Value) {
	fmt.Fprint(w.out, clockTime(token.TS))
	for i := range changeNames(ch) {
		text := "-"
		if !ch[i].Null {
			text = word(ch[i].Text)
		}
		fmt.Fprint(w.out, "  ", text)
	}
	if len(ch) > 4 {
		w.line = ch[4].AppendJSON(w.line[:0])
		fmt.Fprintf(w.out, "  %s", w.line)
	}
	fmt.Fprintln(w.out)
}
