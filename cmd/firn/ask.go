package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis"
	"github.com/firndb/firn/resp"
	answer "github.com/firndb/firn/resp/reply"
)

// reading opens a store for fn, and makes what is wrong an error of a command:
// what it could not do.
func reading(path, cannot string, fn func(*firn.Store) error) (err error) {
	store, err := openToRead(path)
	if err == nil {
		err = fn(store)
		err = errors.Join(err, store.Close())
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", cannot, path, explained(err))
	}
	return nil
}

// explained makes errors about moments readable for people, and mistakes of
// whoever typed the command usage errors.
func explained(err error) error {
	if e, ok := errors.AsType[*firn.CompactedError](err); ok {
		if e.Unborn() {
			return beforeAll(e.Began)
		}
		return forgotten(e.Oldest)
	}
	if e, ok := errors.AsType[*firn.FutureError](err); ok {
		return unborn(e.Newest)
	}
	switch {
	case errors.Is(err, context.Canceled):
		return errInterrupted
	case errors.Is(err, firn.ErrMoment):
		return usageError{err}
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%w: choose another name, or remove it first", err)
	}
	return err
}

func forgotten(oldest firn.Timestamp) error {
	return fmt.Errorf("that moment is forgotten: history begins at %s (%d); choose a later one, and serve with a longer --retention to keep more", clockTime(oldest), oldest)
}

func beforeAll(began firn.Timestamp) error {
	return fmt.Errorf("that moment is before the store, which began at %s (%d); choose a later one", clockTime(began), began)
}

func unborn(newest firn.Timestamp) error {
	return fmt.Errorf("that moment has not come: the newest commit is of %s (%d)", clockTime(newest), newest)
}

// clockTime is a moment for people, in UTC to the microsecond.
func clockTime(ts firn.Timestamp) string { return ts.Time().Format("2006-01-02T15:04:05.000000Z") }

// momentFlag reads a flag that names a moment; empty is 0.
func momentFlag(store *firn.Store, text string) (firn.Timestamp, error) {
	if text == "" {
		return 0, nil
	}
	ts, err := store.Moment(text)
	return max(ts, 1), err // 0 would mean that none was given
}

// ask runs one of the server's commands on a store, in this process.
func ask(store *firn.Store, db int, words ...string) (r answer.Value, err error) {
	if !hasKeys(store) {
		return r, noKeys(store)
	}
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil)) // what clients are not told
	s := redis.New(store, redis.Options{Databases: db + 1, Version: version, Logger: logger}).NewSession("firn", "firn")
	defer s.Close()
	var input []byte
	for _, command := range [][]string{{"HELLO", "3"}, {"SELECT", strconv.Itoa(db)}, words} {
		args := make([][]byte, len(command))
		for i, w := range command {
			args[i] = []byte(w)
		}
		input = resp.AppendCommand(input, args...)
	}
	output, err := converse(s, input)
	if err != nil {
		return r, err
	}
	for range 3 {
		if r, output, err = answer.Parse(output); err != nil {
			return r, err
		}
	}
	if r.IsError() {
		return r, refusal(r.Text)
	}
	return r, nil
}

// converse is what a session answers to input.
func converse(s *redis.Session, input []byte) (output []byte, err error) {
	for {
		if n := copy(s.Space(len(input)), input); n > 0 {
			s.Fill(n)
			input = input[n:]
		}
		need := s.Run()
		output = append(output, s.Output()...)
		s.Sent(len(s.Output()))
		switch {
		case need == redis.NeedCold:
			s.RunCold()
		case need == redis.NeedFlush, need == redis.NeedInput && len(input) > 0:
		case need == redis.NeedCommit:
			return nil, errors.New("the command writes, and the file is open for reading only")
		default:
			return append(output, s.Output()...), nil
		}
	}
}

// refusal makes an error of a command one of the program.
func refusal(text string) error {
	code, rest, _ := strings.Cut(text, " ")
	number, err := strconv.ParseInt(rest[strings.LastIndexByte(rest, ' ')+1:], 10, 64)
	switch {
	case code == "COMPACTED":
		return unreadable(rest)
	case code == "FUTURE" && err == nil:
		return unborn(firn.Timestamp(number))
	case code == "ERR" && (strings.HasPrefix(rest, "invalid moment") || strings.HasPrefix(rest, "unknown ") || strings.HasPrefix(rest, "wrong number") || strings.HasPrefix(rest, "syntax")):
		return usageError{errors.New(rest)}
	case code == "ERR":
		return errors.New(rest)
	}
	return errors.New(text)
}

// unreadable is refusal for a moment that history does not reach back to.
func unreadable(text string) error {
	number, why, _ := strings.Cut(strings.TrimPrefix(text, "oldest readable timestamp is "), ": ")
	oldest, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return errors.New(text)
	}
	birth, young := strings.CutPrefix(why, "the store began at ")
	switch began, err := strconv.ParseInt(birth, 10, 64); {
	case young && err == nil:
		return beforeAll(firn.Timestamp(began))
	case why != "":
		return fmt.Errorf("%w: %s", forgotten(firn.Timestamp(oldest)), why)
	}
	return forgotten(firn.Timestamp(oldest))
}

// maxDatabase is the highest number that firn serve --databases allows.
const maxDatabase = 1<<20 - 1

func checkDatabase(db int) error {
	if db < 0 || db > maxDatabase {
		return usageError{fmt.Errorf("--db %d: choose 0 to %d", db, maxDatabase)}
	}
	return nil
}

// duration is a time for people.
func duration(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	case d >= time.Minute:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%ds", int(d.Seconds()))
}
