package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
)

const (
	// expiringFields is how many fields of a hash expire; one more stays, so
	// that the hash does.
	expiringFields = 1000

	// fieldsPart is how many times fewer fields expire than keys: letting a
	// million of them expire takes minutes.
	fieldsPart = 4

	// expiryPhase is how long SETs are sent between two looks whether the
	// sweeper has come to its end, and expiryLimit how long at most in all.
	expiryPhase = time.Second
	expiryLimit = 5 * time.Minute
)

// measureExpiry asks what a client notices when a million keys, or fields,
// expire in the same second.
func measureExpiry(ctx context.Context, l *lab) (s section, err error) {
	s = section{
		title: "Expiry",
		method: fmt.Sprintf("%d keys, or %d fields of hashes with %d each, expire in the same millisecond. From then on, until all are removed, "+
			"%d connections send a SET of 64 bytes every %v; the bar is on the p99 in ms. An fsync each second.",
			l.cfg.keys, l.cfg.keys/fieldsPart, expiringFields, stallClients, stallPause),
		header: []string{"what expires", "server", "removed in", "p50 / p99 / max", "bar"},
	}
	for _, what := range []struct {
		name   string
		expire func(*server, int) (time.Time, error)
		redis  bool // Redis 7.0 has no fields that expire
	}{{"keys", expireKeys, true}, {"fields", expireFields, false}} {
		servers := []func(string) (*server, error){l.redisServer, func(fsync string) (*server, error) { return l.subject(fsync) }}
		names := []string{"Redis", "Firn"}
		for i, plan := range servers {
			if i == 0 && !what.redis {
				continue
			}
			server, err := plan("everysec")
			if err != nil {
				return s, err
			}
			lasted, times, err := expiryPhases(ctx, server, l.cfg.keys, what.expire)
			if err != nil {
				return s, err
			}
			p99 := float64(percentile(times, 99)) / float64(time.Millisecond)
			s.rows = append(s.rows, []string{
				what.name, names[i], lasted.Round(100 * time.Millisecond).String(), showLatencies(times),
				verdict("expiry/"+what.name+"/"+names[i], p99),
			})
		}
	}
	return s, nil
}

// expiryPhases measures one server from start to stop.
func expiryPhases(ctx context.Context, s *server, n int, expire func(*server, int) (time.Time, error)) (lasted time.Duration, times []time.Duration, err error) {
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.start(ctx); err != nil {
		return 0, nil, err
	}
	moment, err := expire(s, n)
	if err != nil {
		return 0, nil, err
	}
	time.Sleep(time.Until(moment))
	work, err := workDone(s)
	for err == nil && time.Since(moment) < expiryLimit {
		before := work
		var phase []time.Duration
		if phase, err = pacedSets(ctx, s, expiryPhase); err != nil {
			break
		}
		times = append(times, phase...)
		if work, err = workDone(s); err == nil && work-before < 2*int64(len(phase)) {
			return time.Since(moment), times, nil
		}
	}
	if err == nil {
		err = fmt.Errorf("%s has not removed all after %v", s.label, expiryLimit)
	}
	return 0, nil, err
}

// workDone counts what a server has written so far: rows, or for Redis the
// keys that it has expired.
func workDone(s *server) (int64, error) {
	for _, field := range [][2]string{{"firn", "rows"}, {"stats", "expired_keys"}} {
		text, err := info(s, field[0])
		if err != nil {
			return 0, err
		}
		if value, ok := infoField(text, field[1]); ok {
			return strconv.ParseInt(value, 10, 64)
		}
	}
	return 0, fmt.Errorf("INFO of %s does not say what it has done", s.label)
}

// expireKeys sets n keys and lets all expire at the moment that it returns.
func expireKeys(s *server, n int) (time.Time, error) {
	return expireAll(s, n, 3,
		func(i int) []string { return []string{"SET", "gone:" + strconv.Itoa(i), value64} },
		func(i int, moment string) []string { return []string{"PEXPIREAT", "gone:" + strconv.Itoa(i), moment} })
}

// expireFields makes hashes of which n fields expire.
func expireFields(s *server, n int) (time.Time, error) {
	return expireAll(s, n/fieldsPart/expiringFields, 10,
		func(i int) []string {
			args := []string{"HSET", "hash:" + strconv.Itoa(i), "stays", "v"}
			for f := range expiringFields {
				args = append(args, "field:"+strconv.Itoa(f), "v")
			}
			return args
		},
		func(i int, moment string) []string {
			args := []string{"HPEXPIREAT", "hash:" + strconv.Itoa(i), moment, "FIELDS", strconv.Itoa(expiringFields)}
			for f := range expiringFields {
				args = append(args, "field:"+strconv.Itoa(f))
			}
			return args
		})
}

// expireAll runs n commands that make something and n that let it expire, at
// a moment that lies behind all of them if those take at most patience times
// as long.
func expireAll(s *server, n, patience int, create func(int) []string, expire func(i int, moment string) []string) (time.Time, error) {
	c, err := dial(s.addr())
	if err != nil {
		return time.Time{}, err
	}
	defer c.close()
	began := time.Now()
	if err := c.load(n, create, nil); err != nil {
		return time.Time{}, err
	}
	moment := time.Now().Add(5*time.Second + time.Duration(patience)*time.Since(began))
	text := strconv.FormatInt(moment.UnixMilli(), 10)
	if err := c.load(n, func(i int) []string { return expire(i, text) }, nil); err != nil {
		return time.Time{}, err
	}
	if time.Now().After(moment) {
		return moment, errors.New("loading took so long that keys expired before it ended")
	}
	return moment, nil
}
