package main

import (
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis"
)

// bytesValue is a flag in bytes, with Redis's units.
type bytesValue int64

func (v *bytesValue) Type() string { return "bytes" }

func (v *bytesValue) Set(text string) error {
	n, err := redis.ParseBytes(text)
	if err != nil {
		return fmt.Errorf("%q is not a number of bytes, such as 64mb", text)
	}
	*v = bytesValue(n)
	return nil
}

func (v *bytesValue) String() string {
	n := int64(*v)
	for _, unit := range []struct {
		name string
		size int64
	}{{"gb", 1 << 30}, {"mb", 1 << 20}, {"kb", 1 << 10}} {
		if n >= unit.size && n%unit.size == 0 {
			return strconv.FormatInt(n/unit.size, 10) + unit.name
		}
	}
	return strconv.FormatInt(n, 10)
}

// retentionValue is a flag with a duration that may be in days, or for ever.
type retentionValue time.Duration

func (v *retentionValue) Type() string { return "duration" }

func (v *retentionValue) Set(text string) error {
	if text == "0" || text == "unlimited" {
		*v = 0
		return nil
	}
	span, unit := text, time.Duration(1)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		span, unit = days+"h", 24
	}
	d, err := time.ParseDuration(span)
	if err != nil || d <= 0 || d > (1<<63-1)/unit {
		return fmt.Errorf("%q is not a time such as 24h or 7d, nor unlimited", text)
	}
	*v = retentionValue(d * unit)
	return nil
}

func (v *retentionValue) String() string {
	d := time.Duration(*v)
	switch {
	case d == 0:
		return "unlimited"
	case d > 48*time.Hour && d%(24*time.Hour) == 0:
		return strconv.Itoa(int(d/(24*time.Hour))) + "d"
	case d%time.Hour == 0:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	}
	return d.String()
}

// fsyncValue is a flag with Redis's words for durability.
type fsyncValue firn.Durability

var fsyncNames = map[firn.Durability]string{firn.Always: "always", firn.EverySecond: "everysec", firn.None: "no"}

func (v *fsyncValue) Type() string   { return "mode" }
func (v *fsyncValue) String() string { return fsyncNames[firn.Durability(*v)] }

func (v *fsyncValue) Set(text string) error {
	for d, name := range fsyncNames {
		if name == text {
			*v = fsyncValue(d)
			return nil
		}
	}
	return errors.New("choose always, everysec or no")
}

// levelValue is a flag with a level of the log.
type levelValue struct{ *slog.LevelVar }

func (v levelValue) Type() string { return "level" }

func (v levelValue) String() string { return strings.ToLower(v.Level().String()) }

func (v levelValue) Set(text string) error {
	var level slog.Level
	if err := level.UnmarshalText([]byte(text)); err != nil {
		return errors.New("choose debug, info, warn or error")
	}
	v.LevelVar.Set(level)
	return nil
}

// choiceValue is a flag with one of a few words.
type choiceValue struct {
	text    string
	choices []string
}

func (v *choiceValue) Type() string   { return strings.Join(v.choices, "|") }
func (v *choiceValue) String() string { return v.text }

func (v *choiceValue) Set(text string) error {
	for _, choice := range v.choices {
		if choice == text {
			v.text = text
			return nil
		}
	}
	return fmt.Errorf("choose %s", strings.Join(v.choices, " or "))
}
