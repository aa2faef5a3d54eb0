package retention

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/firndb/firn/schema"
)

// Scope names whose history is meant: a member of a group; without Member, the
// whole group; the zero Scope is the store. By default a table is a group, and
// its documents' ids are the members.
type Scope struct{ Group, Member string }

// Compare orders scopes by group, and then by member: the store comes first, and
// a group before its members.
func (s Scope) Compare(other Scope) int {
	return cmp.Or(cmp.Compare(s.Group, other.Group), cmp.Compare(s.Member, other.Member))
}

// tiers lists the scopes whose policies may hold for s, the nearest first.
func (s Scope) tiers() []Scope {
	switch {
	case s.Member != "":
		return []Scope{s, {Group: s.Group}, {}}
	case s.Group != "":
		return []Scope{s, {}}
	}
	return []Scope{{}}
}

// Policy says how much of the past is kept. The zero Policy keeps everything.
// At most one field is set.
type Policy struct {
	// Off keeps nothing: what is replaced is forgotten soon.
	Off bool

	// Age keeps what was current within that time.
	Age time.Duration

	// Versions keeps so many versions of each document, the present one
	// included, however old they are.
	Versions int
}

// ErrPolicy means that a policy contradicts itself, or is out of range.
var ErrPolicy = errors.New("firn: invalid retention policy")

// Validate refuses what no Policy may be with ErrPolicy.
func (p Policy) Validate() error {
	set := 0
	for _, is := range []bool{p.Off, p.Age != 0, p.Versions != 0} {
		if is {
			set++
		}
	}
	if set > 1 || p.Age < 0 || p.Versions < 0 || p.Age > 0 && p.Age < time.Millisecond {
		return fmt.Errorf("%w: %+v", ErrPolicy, p)
	}
	return nil
}

// String is the policy's name: unlimited, off, time 24h0m0s or count 5. It is
// what the file knows it by.
func (p Policy) String() string {
	switch {
	case p.Off:
		return "off"
	case p.Age > 0:
		return "time " + p.Age.String()
	case p.Versions > 0:
		return "count " + strconv.Itoa(p.Versions)
	}
	return "unlimited"
}

// Record is what is set for one scope.
//
//   - Start never moves back. What was before it is forgotten for good,
//     whatever the policy becomes.
//   - Inherit is set in the record of a scope without a policy of its own. Such
//     a record is kept for its Start.
//   - Since is when the scope got its policy. In the file 0 stands for the
//     moment at which the record itself was written: another stands there only
//     if the record was written again for its Start.
type Record struct {
	Inherit bool             `json:"inherit,omitempty"`
	Off     bool             `json:"off,omitempty"`
	AgeMS   int64            `json:"age_ms,omitempty"`
	Count   int              `json:"count,omitempty"`
	Start   schema.Timestamp `json:"start,omitempty"` // 0: none
	Since   schema.Timestamp `json:"since,omitempty"`
}

// SetAt is the record as it was written at a moment.
func (r Record) SetAt(written schema.Timestamp) *Record {
	if r.Since == 0 && !r.Inherit {
		r.Since = written
	}
	return &r
}

// Policy is the scope's own, if it has one.
func (r Record) Policy() Policy {
	return Policy{Off: r.Off, Age: time.Duration(r.AgeMS) * time.Millisecond, Versions: r.Count}
}

// NewRecord is the record that sets p.
func NewRecord(p Policy, start schema.Timestamp) Record {
	return Record{Off: p.Off, AgeMS: p.Age.Milliseconds(), Count: p.Versions, Start: start}
}

// parsePolicy undoes String. What is not a policy's name is ErrPolicy.
func parsePolicy(name string) (Policy, error) {
	kind, amount, _ := strings.Cut(name, " ")
	var p Policy
	var err error
	switch kind {
	case "off":
		p.Off = true
	case "time":
		p.Age, err = time.ParseDuration(amount)
	case "count":
		p.Versions, err = strconv.Atoi(amount)
	}
	if err != nil || p.String() != name {
		return Policy{}, fmt.Errorf("%w: %q", ErrPolicy, name)
	}
	return p, p.Validate()
}
