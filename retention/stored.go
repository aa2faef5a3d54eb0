package retention

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// RecordsTable is the table of the records: the id is the (group, member) of a
// scope, the value its Record as JSON.
const RecordsTable = "firn.retention"

// ClassesGlobal is how far each policy has forgotten, in the file: a JSON
// object from a policy's name to its Progress.
const ClassesGlobal = "retention"

// Stored is what the globals of a file say about what is forgotten. The rest
// of what is known is in the records, see ParseRecord.
type Stored struct {
	created schema.Timestamp
	horizon schema.Timestamp // of the store
	classes map[Policy]Progress
}

// ReadStored reads the globals of a file.
func ReadStored(session schema.Session) (Stored, error) {
	created, err := readCreated(session)
	if err != nil {
		return Stored{}, err
	}
	return readStored(session, created)
}

// readCreated is when the store was made: the horizon of a store that has never
// forgotten anything.
func readCreated(session schema.Session) (schema.Timestamp, error) {
	text, ok, err := session.Global(schema.GlobalCreated)
	if err != nil || !ok {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: global created is %q", schema.ErrCorrupt, text)
	}
	return schema.Timestamp(n), nil
}

func readStored(session schema.Session, created schema.Timestamp) (Stored, error) {
	horizon, err := readHorizon(session, created)
	if err != nil {
		return Stored{}, err
	}
	classes, err := readClasses(session)
	return Stored{created, horizon, classes}, err
}

func readClasses(session schema.Session) (map[Policy]Progress, error) {
	text, ok, err := session.Global(ClassesGlobal)
	if err != nil || !ok {
		return map[Policy]Progress{}, err
	}
	named := map[string]Progress{}
	if err := json.Unmarshal([]byte(text), &named); err != nil {
		return nil, fmt.Errorf("%w: global %s: %v", schema.ErrCorrupt, ClassesGlobal, err)
	}
	classes := map[Policy]Progress{}
	for name, p := range named {
		policy, err := parsePolicy(name)
		if err != nil {
			return nil, fmt.Errorf("%w: global %s: %v", schema.ErrCorrupt, ClassesGlobal, err)
		}
		classes[policy] = p
	}
	return classes, nil
}

// Write makes the horizon and the progress those of a file, inside a
// transaction.
func (s Stored) Write(a schema.Appender) error {
	named := map[string]Progress{}
	for p, progress := range s.classes {
		named[p.String()] = progress
	}
	text, err := json.Marshal(named)
	if err != nil {
		return fmt.Errorf("encode progress: %w", err)
	}
	return errors.Join(a.SetGlobal(ClassesGlobal, string(text)), a.SetGlobal(horizonGlobal, strconv.FormatInt(int64(s.horizon), 10)))
}

// Restarted is what a copy of the file says, whose log no policy has been
// applied to yet: the same horizons, and no cursor.
func (s Stored) Restarted() Stored {
	classes := map[Policy]Progress{}
	for policy, p := range s.classes {
		p.Cursor, p.Pruned = 0, 0
		classes[policy] = p
	}
	s.classes = classes
	return s
}

// Forgotten is the latest moment of which anything may be forgotten, as far as
// the globals tell: all that was current after it is there.
func (s Stored) Forgotten() schema.Timestamp {
	latest := max(s.created, s.horizon)
	for _, p := range s.classes {
		latest = max(latest, p.Horizon, p.Applied)
	}
	return latest
}

// Behind is the latest moment up to which anything is forgotten in later, of
// the same file, and was not in s; 0 if there is none. Policies are compared
// one by one: one may have moved up to where another was before.
func (s Stored) Behind(later Stored) (to schema.Timestamp) {
	if later.horizon > s.horizon {
		to = later.horizon
	}
	for policy, p := range later.classes {
		was := s.classes[policy]
		if at := max(p.Horizon, p.Applied); at > max(was.Horizon, was.Applied) {
			to = max(to, at)
		}
	}
	return to
}

// RecordID is the id of a scope's record.
func RecordID(scope Scope) []byte {
	return tuple.AppendString(tuple.AppendString(nil, scope.Group), scope.Member)
}

// Encode is the record as its document's value.
func (r Record) Encode() ([]byte, error) { return json.Marshal(r) }

// ParseRecord reads a document of RecordsTable. What is none is
// schema.ErrCorrupt.
func ParseRecord(id string, value []byte) (scope Scope, r Record, err error) {
	scope, err = ParseRecordID(id)
	if err == nil {
		err = json.Unmarshal(value, &r)
	}
	if err == nil {
		err = r.Policy().Validate()
	}
	if err != nil {
		return Scope{}, Record{}, fmt.Errorf("%w: policy of %q: %v", schema.ErrCorrupt, id, err)
	}
	return scope, r, nil
}

// ParseRecordID undoes RecordID.
func ParseRecordID(id string) (scope Scope, err error) {
	rest := ""
	if scope.Group, rest, err = tuple.TakeString(id); err != nil {
		return Scope{}, err
	}
	if scope.Member, rest, err = tuple.TakeString(rest); err != nil {
		return Scope{}, err
	}
	if rest != "" {
		return Scope{}, tuple.ErrMalformed
	}
	return scope, nil
}

// ScopeOf is whose history a document's is that no other document owns.
func (t *Table) ScopeOf(id string) Scope { return t.scope(id) }
