package redis

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/firndb/firn/resp"
)

// What CONFIG SET accepts as the value of a parameter, in Redis's words.

// maxKeptBytes bounds the text of one setting that is only kept.
const maxKeptBytes = 4096

// keptParameter makes a parameter out of a line of keptTable.
func keptParameter(line string) parameter {
	name, rest, _ := strings.Cut(line, " ")
	form, value, _ := strings.Cut(rest, " ")
	name, also, _ := strings.Cut(name, "=")
	form, hidden := strings.CutPrefix(form, "hidden:")
	p := parameter{name: name, also: also, hidden: hidden, get: func(srv *Server) string { return srv.config.kept(name, value) }}
	if form == "fixed" {
		p.never = errFixed
	} else {
		p.set = func(srv *Server, text string) error {
			text, err := checkKept(form, text)
			if err == nil {
				srv.config.keep(name, text)
			}
			return err
		}
	}
	return p
}

// checkKept says whether a text has the form that a setting asks for, and
// returns it as it is shown.
func checkKept(form, text string) (string, error) {
	if len(text) > maxKeptBytes {
		return "", resp.Error("argument is too long")
	}
	switch form {
	case "yesno":
		if lower := strings.ToLower(text); lower == "yes" || lower == "no" {
			return lower, nil
		}
		return "", resp.Error("argument must be 'yes' or 'no'")
	case "bytes":
		return checkBounds("0:9223372036854775807", parseMemory, text)
	case "percent":
		return checkMemoryOrPercent(text)
	case "scores":
		return checkScores(text)
	case "shutdown":
		return checkShutdown(text)
	case "title":
		return checkTitle(text)
	case "text":
		return text, nil
	case "save":
		return text, checkSavePoints(text)
	}
	if bounds, ok := strings.CutPrefix(form, "number:"); ok {
		return checkBounds(bounds, parseNumber, text)
	}
	if bounds, ok := strings.CutPrefix(form, "bytes:"); ok {
		return checkBounds(bounds, parseMemory, text)
	}
	words := strings.Split(form, "|")
	if lower := strings.ToLower(text); slices.Contains(words, lower) {
		return lower, nil
	}
	return "", resp.Error("argument(s) must be one of the following: " + strings.Join(words, ", "))
}

// checkBounds reads a number between two bounds, which the table has right.
func checkBounds(bounds string, parse func(string) (int64, error), text string) (string, error) {
	least, most, _ := strings.Cut(bounds, ":")
	from, _ := strconv.ParseInt(least, 10, 64)
	to, _ := strconv.ParseInt(most, 10, 64)
	n, err := within(parse, from, to)(text)
	return strconv.FormatInt(n, 10), err
}

// checkSavePoints refuses what Redis's save does.
func checkSavePoints(text string) error {
	words := strings.Fields(text)
	if len(words)%2 != 0 {
		return resp.Error("Invalid save parameters")
	}
	for i, word := range words {
		if n, err := strconv.ParseInt(word, 10, 32); err != nil || n < int64(1-i%2) {
			return resp.Error("Invalid save parameters")
		}
	}
	return nil
}

// within is parse, and refuses what is not between least and most.
func within(parse func(string) (int64, error), least, most int64) func(string) (int64, error) {
	return func(value string) (int64, error) {
		n, err := parse(value)
		if errors.Is(err, errBeyond) || err == nil && (n < least || n > most) {
			err = resp.Error(fmt.Sprintf("argument must be between %d and %d inclusive", least, most))
		}
		return n, err
	}
}

func parseNumber(value string) (int64, error) {
	n, ok := resp.ParseInt([]byte(value))
	if !ok {
		return 0, resp.Error("argument couldn't be parsed into an integer")
	}
	return n, nil
}

// errBeyond is the error of a number of bytes that no int64 holds.
var errBeyond = errors.New("redis: more bytes than an int64 holds")

// parseMemory reads a number of bytes. Nothing is 0, as in Redis.
func parseMemory(value string) (int64, error) {
	n, err := ParseBytes(value)
	switch {
	case err == nil || value == "":
		return n, nil
	case strings.Trim(value, "0123456789") == "":
		return math.MaxInt64, errBeyond
	}
	return 0, resp.Error("argument must be a memory value")
}

// maxPercent is what part of the memory clients may take, at most.
const maxPercent = 100

// checkMemoryOrPercent reads a number of bytes, or a percentage.
func checkMemoryOrPercent(text string) (string, error) {
	if share, ok := strings.CutSuffix(text, "%"); ok {
		n, err := strconv.ParseUint(share, 10, 63)
		switch {
		case err != nil:
			return "", resp.Error("argument must be a memory or percent value")
		case n > maxPercent:
			return "", resp.Error("percentage argument must be less or equal to 100")
		}
		return strconv.FormatUint(n, 10) + "%", nil
	}
	n, err := parseMemory(text)
	if err != nil {
		return "", resp.Error("argument must be a memory or percent value")
	}
	return strconv.FormatInt(n, 10), nil
}

// checkScores reads the adjustments of the kernel's out-of-memory score.
func checkScores(text string) (string, error) {
	words := strings.Split(text, " ")
	if len(words) != 3 {
		return "", resp.Error("wrong number of arguments")
	}
	for _, word := range words {
		if n, err := strconv.Atoi(word); err != nil || n < -2000 || n > 2000 {
			return "", resp.Error("Invalid oom-score-adj-values, elements must be between -2000 and 2000.")
		}
	}
	return text, nil
}

// shutdownWords are what a signal's shutdown can be, in the order in which they
// are shown; the first is the absence of the others.
var shutdownWords = []string{"default", "save", "nosave", "now", "force"}

// checkShutdown reads how to shut down on a signal.
func checkShutdown(text string) (string, error) {
	words := strings.Split(strings.ToLower(text), " ")
	for _, word := range words {
		if !slices.Contains(shutdownWords, word) {
			return "", resp.Error("argument(s) must be one of the following: " + strings.Join(shutdownWords, ", "))
		}
	}
	var shown []string
	for _, word := range shutdownWords[1:] {
		if slices.Contains(words, word) {
			shown = append(shown, word)
		}
	}
	switch {
	case len(shown) == 0:
		return shutdownWords[0], nil
	case len(shown) > 1 && shown[0] == "save" && shown[1] == "nosave":
		return "", resp.Error("shutdown options SAVE and NOSAVE can't be used simultaneously")
	}
	return strings.Join(shown, " "), nil
}

// titleVariables are what a title's template may name, the title itself first:
// a template that has nothing else is refused.
var titleVariables = strings.NewReplacer("{title}", "", "{listen-addr}", "x", "{server-mode}", "x", "{port}", "x",
	"{tls-port}", "x", "{unixsocket}", "x", "{config-file}", "x")

func checkTitle(text string) (string, error) {
	if rest := titleVariables.Replace(text); rest == "" || strings.Contains(rest, "{") {
		return "", resp.Error("template format is invalid or contains unknown variables")
	}
	return text, nil
}
