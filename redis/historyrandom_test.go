package redis

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
)

// What HISTORY says of random changes follows from what was read meanwhile,
// and going back brings back what was read then.

// rememberer takes random steps and remembers the moments between them.
type rememberer struct {
	t       *testing.T
	g       *generator
	clock   *fakeClock
	r       *restarted
	mine    *ours
	asker   *ours
	moments []int64 // nothing had expired that was not swept
}

func newRememberer(t *testing.T, o firn.Options) *rememberer {
	t.Helper()
	m := &rememberer{t: t, g: newGenerator(t), clock: newFakeClock()}
	o.Now = m.clock.now
	m.r = &restarted{options: o, path: filepath.Join(t.TempDir(), "firn.db")}
	m.mine = m.r.open(t)
	t.Cleanup(func() { m.r.close(t) })
	m.asker = newOurs(t, m.r.server)
	return m
}

func (m *rememberer) ask(format string, args ...any) value {
	m.t.Helper()
	v := ask(m.t, m.asker, fmt.Sprintf(format, args...))
	if v.mark == '-' && strings.Contains(v.text, "internal error") {
		m.t.Fatalf("seed %d: %s: %s", m.g.seed, fmt.Sprintf(format, args...), v.text)
	}
	return v
}

// key draws a key, mostly one that there is, as a quoted word.
func (m *rememberer) key() string {
	if m.g.IntN(4) > 0 {
		if keys := m.ask("KEYS *").elements; len(keys) > 0 {
			return strconv.Quote(keys[m.g.IntN(len(keys))].text)
		}
	}
	return strconv.Quote(string(m.g.draw("$anykey")))
}

// moment draws a moment, mostly a late one.
func (m *rememberer) moment() int64 {
	recent := m.moments
	if m.g.IntN(4) > 0 {
		recent = recent[max(len(recent)-5, 0):]
	}
	return recent[m.g.IntN(len(recent))]
}

func (m *rememberer) step() {
	m.t.Helper()
	m.clock.advance(time.Duration(m.g.IntN(900)+1) * time.Millisecond)
	m.mine.tell(m.t, m.g.timedWrite()...)
	if m.g.IntN(4) == 0 {
		m.clock.advance(time.Millisecond)
		if err := keyspace.NewSweeper(m.r.store).Sweep(m.t.Context()); err != nil {
			m.t.Fatal(err)
		}
		m.moments = append(m.moments, m.clock.now().UnixMicro())
	}
}

// interval draws two moments, the earlier one first.
func (m *rememberer) interval() (from, to int64) {
	a, b := m.moment(), m.moment()
	return min(a, b), max(a, b)
}

func TestRandomHistories(t *testing.T) {
	for name, o := range historyOptions() {
		t.Run(name, func(t *testing.T) {
			o.Durability = firn.None
			m := newRememberer(t, o)
			for i := range kindSteps(t, name, 2400) / 4 {
				m.step()
				if len(m.moments) == 0 {
					continue
				}
				m.checkDiff()
				if i%5 == 0 {
					m.checkRevert()
				}
				if i%10 == 0 {
					m.checkChanged()
				}
			}
			m.r.close(t)
			problems, err := firn.Check(m.r.path, func(problem string) { t.Error(problem) })
			if err != nil || problems > 0 {
				t.Errorf("seed %d: the file has %d problems, %v", m.g.seed, problems, err)
			}
		})
	}
}

// checkRevert takes a key back to a moment, and compares all that can be asked
// about it with what it was.
func (m *rememberer) checkRevert() {
	m.t.Helper()
	key, to := m.key(), m.moment()
	m.ask("HISTORY REVERT %s TO %d", key, to)
	for _, question := range []string{
		"TYPE %s", "OBJECT ENCODING %s", "HLEN %s", "SCARD %s", "ZRANGE %s 0 -1 WITHSCORES", "ZREVRANGE %s 0 -1",
		"LRANGE %s 0 -1", "LINDEX %s -1", "HGETALL %s", "SMEMBERS %s", "XINFO STREAM %s FULL COUNT 0", "XREVRANGE %s + -", "GET %s",
	} {
		question = fmt.Sprintf(question, key)
		got, want := m.ask("%s", question), m.ask("AT %d %s", to, question)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			m.t.Fatalf("seed %d: %s as reverted to %d:\n got %v\nwant %v", m.g.seed, question, to, got, want)
		}
	}
	got, want := m.ask("PEXPIRETIME %s", key).text, m.ask("AT %d PEXPIRETIME %s", to, key).text
	if end, _ := strconv.ParseInt(want, 10, 64); end > 0 && end < m.clock.now().UnixMilli() {
		want = "-1"
	}
	Check(m.t, "expiry", got, want)
}

// checkDiff applies what HISTORY DIFF says to what was.
func (m *rememberer) checkDiff() {
	m.t.Helper()
	key, kind := m.key(), ""
	from, to := m.interval()
	diff := map[string]value{}
	v := m.ask("HISTORY DIFF %s %d %d", key, from, to)
	for i := 0; i+1 < len(v.elements); i += 2 {
		diff[v.elements[i].text] = v.elements[i+1]
	}
	kind = diff["type_after"].text
	if kind == "none" {
		kind = diff["type_before"].text
	}
	before, after := m.ask("HISTORY GETAT %s %d", key, from), m.ask("HISTORY GETAT %s %d", key, to)
	if _, whole := diff["before"]; whole {
		if fmt.Sprint(diff["before"], diff["after"]) != fmt.Sprint(before, after) {
			m.t.Fatalf("seed %d: HISTORY DIFF %s %d %d:\n got %v\nwant %v and %v", m.g.seed, key, from, to, diff, before, after)
		}
		return
	}
	got, want := applied(before, diff, kind), elementsOf(after, kind)
	if kind == "list" {
		got = appliedToList(before, diff)
	} else {
		slices.Sort(got)
		slices.Sort(want)
	}
	if !slices.Equal(got, want) {
		m.t.Fatalf("seed %d: HISTORY DIFF %s %d %d of %v:\n got %q\nwant %q", m.g.seed, key, from, to, v, got, want)
	}
}

// elementsOf is one text for each element of a state.
func elementsOf(state value, kind string) (all []string) {
	step := 1
	if kind == "hash" || kind == "zset" {
		step = 2
	}
	for pair := range slices.Chunk(state.elements, step) {
		all = append(all, fmt.Sprint(pair))
	}
	return all
}

// applied is the elements of a state with what HISTORY DIFF says has changed.
func applied(before value, diff map[string]value, kind string) []string {
	all := elementsOf(before, kind)
	drop := func(element string) {
		if i := slices.Index(all, element); i >= 0 {
			all = slices.Delete(all, i, i+1)
		} else {
			all = append(all, "not there: "+element)
		}
	}
	for _, element := range elementsOf(diff["removed"], kind) {
		drop(element)
	}
	all = append(all, elementsOf(diff["added"], kind)...)
	for _, change := range diff["changed"].elements {
		name, old, new := change.elements[0], change.elements[1], change.elements[2]
		if kind == "stream" {
			drop(fmt.Sprint([]value{{mark: '*', elements: []value{name, old}}}))
			all = append(all, fmt.Sprint([]value{{mark: '*', elements: []value{name, new}}}))
			continue
		}
		drop(fmt.Sprint([]value{name, old}))
		all = append(all, fmt.Sprint([]value{name, new}))
	}
	return all
}

// appliedToList is applied for a list, whose changes have indexes.
func appliedToList(before value, diff map[string]value) (all []string) {
	index := func(v value) int {
		n, _ := strconv.Atoi(v.elements[0].text)
		return n
	}
	items := slices.Clone(before.elements)
	for _, gone := range slices.Backward(diff["removed"].elements) {
		items = slices.Delete(items, index(gone), index(gone)+1)
	}
	for _, came := range diff["added"].elements {
		items = slices.Insert(items, index(came), came.elements[1])
	}
	for _, change := range diff["changed"].elements {
		items[index(change)] = change.elements[2]
	}
	return elementsOf(value{elements: items}, "list")
}

// checkChanged holds HISTORY CHANGED, whole and page by page, against the
// history of each key, and against what was at both ends.
func (m *rememberer) checkChanged() {
	m.t.Helper()
	from, to := m.interval()
	all := m.ask("HISTORY CHANGED %d %d", from, to).elements[1].elements
	var paged []value
	for next := strconv.FormatInt(from, 10); next != "0"; {
		v := m.ask("HISTORY CHANGED %s %d COUNT 3", next, to)
		next = v.elements[0].text
		paged = append(paged, v.elements[1].elements...)
	}
	if fmt.Sprint(paged) != fmt.Sprint(all) {
		m.t.Fatalf("seed %d: changed in (%d, %d], by threes:\n got %v\nwant %v", m.g.seed, from, to, paged, all)
	}
	changed := map[string]string{}
	var last int64
	for _, e := range all {
		ts, _ := strconv.ParseInt(e.elements[3].text, 10, 64)
		if _, twice := changed[e.elements[1].text]; twice || ts < last {
			m.t.Fatalf("seed %d: changed in (%d, %d]: got %v, twice or out of order", m.g.seed, from, to, all)
		}
		last = ts
		changed[e.elements[1].text] = e.elements[3].text + " " + e.elements[5].text + " " + e.elements[9].text
	}
	for _, e := range m.ask("HISTORY LIST").elements {
		key := e.elements[1].text
		quoted := strconv.Quote(key)
		newest := m.ask("HISTORY GET %s SINCE %d UNTIL %d REV LIMIT 1", quoted, from+1, to)
		want := ""
		if len(newest.elements) > 0 {
			f := newest.elements[0].elements
			want = f[1].text + " " + f[5].text + " " + f[13].text
		}
		Check(m.t, fmt.Sprintf("seed %d: key %q changed in (%d, %d]", m.g.seed, key, from, to), changed[key], want)
		before, after := m.ask("HISTORY GETAT %s %d", quoted, from), m.ask("HISTORY GETAT %s %d", quoted, to)
		if want == "" && fmt.Sprint(before) != fmt.Sprint(after) {
			m.t.Errorf("seed %d: key %q has not changed in (%d, %d], but was %v and is %v", m.g.seed, key, from, to, before, after)
		}
		delete(changed, key)
	}
	if len(changed) > 0 {
		m.t.Errorf("seed %d: changed in (%d, %d] but without history: %v", m.g.seed, from, to, changed)
	}
}
