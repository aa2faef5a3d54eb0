package schema

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"zombiezen.com/go/sqlite"
)

var errNested = errors.New("schema: transaction within a transaction")

func (s *session) Entry(index IndexID, key string, at Timestamp) (Entry, bool, error) {
	e, ok, err := s.entry(index, bytesOf(key), at)
	if err != nil {
		return Entry{}, false, fmt.Errorf("read entry %d/%.40q at %d: %w", index, key, at, mapError(err))
	}
	e.Key = key
	return e, ok, nil
}

// entry leaves the key to its caller.
func (s *session) entry(index IndexID, key []byte, at Timestamp) (e Entry, ok bool, err error) {
	stmt, err := s.stmt(stmtEntry)
	if err != nil {
		return e, false, err
	}
	var id [4]byte
	stmt.BindBytes(1, appendID(id[:0], uint32(index)))
	stmt.BindBytes(2, key)
	stmt.BindInt64(3, int64(at))
	if ok, err = stmt.Step(); err != nil || !ok {
		return e, false, resetAfter(stmt, err)
	}
	m, more := readMoment(stmt, 0, 1, 3, s.more)
	s.more = more
	m, err = m.newest(more, at)
	e = Entry{Index: index, TS: m.ts, Deleted: m.deleted, ID: readString(stmt, 2)}
	return e, true, errors.Join(err, stmt.Reset())
}

// sqlVersions and sqlVersionsBack walk the rows of one key that may have
// entries of an interval: those that begin in it, and the one before.
const (
	sqlVersions = `
SELECT ts, deleted, document_id, more
  FROM indexes
 WHERE index_id = :index AND key = :key AND ts <= :to AND ts >= coalesce((
	SELECT ts
	  FROM indexes
	 WHERE index_id = :index AND key = :key AND ts <= :from
	 ORDER BY ts DESC
	 LIMIT 1), 0)
 ORDER BY ts`

	sqlVersionsBack = sqlVersions + ` DESC`
)

func (s *session) Versions(dst []Entry, index IndexID, key string, from, to Timestamp, newestFirst bool, limit int) ([]Entry, error) {
	n := stmtVersions
	if newestFirst {
		n = stmtVersionsBack
	}
	dst, err := s.versions(dst, n, index, key, from, to, limit)
	if err != nil {
		return dst, fmt.Errorf("read versions of %d/%.40q in (%d, %d]: %w", index, key, from, to, mapError(err))
	}
	return dst, nil
}

func (s *session) versions(dst []Entry, n statement, index IndexID, key string, from, to Timestamp, limit int) ([]Entry, error) {
	stmt, err := s.stmt(n)
	if err != nil {
		return dst, err
	}
	var id [4]byte
	stmt.BindBytes(1, appendID(id[:0], uint32(index)))
	stmt.BindBytes(2, bytesOf(key))
	stmt.BindInt64(3, int64(to))
	stmt.BindInt64(4, int64(from))
	for start := len(dst); ; {
		found, err := stmt.Step()
		if err != nil || !found {
			return dst, resetAfter(stmt, err)
		}
		if err := s.unpack(stmt); err != nil {
			stmt.Reset()
			return dst, err
		}
		e := Entry{Index: index, Key: key, ID: readString(stmt, 2)}
		if n == stmtVersionsBack {
			slices.Reverse(s.moments)
		}
		for _, m := range s.moments {
			if m.ts <= from || m.ts > to {
				continue
			}
			e.TS, e.Deleted = m.ts, m.deleted
			if dst = append(dst, e); len(dst)-start == limit {
				return dst, stmt.Reset()
			}
		}
	}
}

// unpack reads the moments of the row at hand, (ts, deleted, …, more).
func (s *session) unpack(stmt *sqlite.Stmt) (err error) {
	m, more := readMoment(stmt, 0, 1, 3, s.more)
	s.more = more
	s.moments, err = m.unpack(s.moments[:0], more)
	return err
}

// sqlEntries walks the whole table behind an entry, from the row that has it.
const sqlEntries = `
SELECT ts, deleted, document_id, more, key, index_id
  FROM indexes
 WHERE (index_id, key, ts) >= (:index, :key, coalesce((
	SELECT ts
	  FROM indexes
	 WHERE index_id = :index AND key = :key AND ts <= :ts
	 ORDER BY ts DESC
	 LIMIT 1), :ts))
 ORDER BY index_id, key, ts`

func (s *session) Entries(dst []Entry, after Entry, limit int) ([]Entry, error) {
	dst, err := s.entries(dst, after, limit)
	if err != nil {
		return dst, fmt.Errorf("read entries behind %d/%.40q at %d: %w", after.Index, after.Key, after.TS, mapError(err))
	}
	return dst, nil
}

func (s *session) entries(dst []Entry, after Entry, limit int) ([]Entry, error) {
	stmt, err := s.stmt(stmtEntries)
	if err != nil {
		return dst, err
	}
	var id [4]byte
	stmt.BindBytes(1, appendID(id[:0], uint32(after.Index)))
	stmt.BindBytes(2, bytesOf(after.Key))
	stmt.BindInt64(3, int64(after.TS))
	start, bytes := len(dst), 0
	for len(dst)-start < limit && bytes < PageBytes {
		found, err := stmt.Step()
		if err != nil || !found {
			return dst, resetAfter(stmt, err)
		}
		index, err := readID(stmt, 5)
		if err == nil {
			err = s.unpack(stmt)
		}
		if err != nil {
			stmt.Reset()
			return dst, err
		}
		e := Entry{Index: IndexID(index)}
		e.Key, e.ID = readKey(stmt)
		bytes += len(e.Key) + len(e.ID)
		passed := e.Index == after.Index && e.Key == after.Key
		for _, m := range s.moments {
			if passed && m.ts <= after.TS {
				continue
			}
			e.TS, e.Deleted = m.ts, m.deleted
			if dst = append(dst, e); len(dst)-start == limit {
				break
			}
		}
	}
	return dst, stmt.Reset()
}

// readKey reads key and document_id, columns 4 and 2, into one allocation.
func readKey(stmt *sqlite.Stmt) (key, id string) {
	k, n := stmt.ColumnLen(4), stmt.ColumnLen(2)
	b := make([]byte, k+n)
	stmt.ColumnBytes(4, b[:k])
	if n > 0 {
		stmt.ColumnBytes(2, b[k:])
	}
	both := unsafe.String(unsafe.SliceData(b), len(b))
	return both[:k], both[k:]
}

// The four scans walk all entries of the keys of a range, from either end,
// with and without an upper bound. Choosing the newest entry of each key is
// left to the scanner: a GROUP BY would read every version ever made.
const (
	sqlScan = `
SELECT key, ts, deleted, document_id, more
  FROM indexes
 WHERE index_id = :index AND key >= :from
 ORDER BY key, ts`

	sqlScanTo = `
SELECT key, ts, deleted, document_id, more
  FROM indexes
 WHERE index_id = :index AND key >= :from AND key < :to
 ORDER BY key, ts`

	sqlScanBack = `
SELECT key, ts, deleted, document_id, more
  FROM indexes
 WHERE index_id = :index AND key >= :from
 ORDER BY key DESC, ts DESC`

	sqlScanBackTo = `
SELECT key, ts, deleted, document_id, more
  FROM indexes
 WHERE index_id = :index AND key >= :from AND key < :to
 ORDER BY key DESC, ts DESC`
)

// Bounds of one scan.
const (
	// scanPatience is the number of rows of one key that are stepped over
	// before the scan seeks instead. A seek costs about as much as eight
	// steps.
	scanPatience = 8

	// scanKeys is the number of keys that one call walks beyond its limit,
	// so that a range of deleted keys does not hold up its caller for long.
	scanKeys = 1000
)

// scanner is the state of one scan. It is kept from scan to scan for its
// buffers.
type scanner struct {
	session *session
	dst     []Entry
	r       KeyRange // what is still to scan, once step has returned
	at      Timestamp
	limit   int // entries that are still wanted
	keys    int // keys that may still be walked
	bytes   int // of keys and ids that may still be taken
	done    bool
	dead    bool    // keys that lead nowhere are taken, too
	tally   []Fence // if set, keys are not taken but counted in it; the first is of the interval at hand

	key []byte // the key that is being walked

	// The newest entry of key at or before at; unset unless found.
	found   bool
	deleted bool
	ts      Timestamp
	id      []byte

	scratch []byte // for the key of the row at hand
	more    []byte // for what is packed in it
}

func (s *session) Scan(dst []Entry, r KeyRange, at Timestamp, limit int) ([]Entry, KeyRange, bool, error) {
	if r.To != "" && r.From >= r.To {
		return dst, r, true, nil
	}
	return s.scanning(dst, r, at, limit, false)
}

// keys is Scan at the end of time that takes keys that lead nowhere, too.
func (s *session) keys(dst []Entry, r KeyRange, limit int) ([]Entry, KeyRange, bool, error) {
	return s.scanning(dst, r, MaxTimestamp, limit, true)
}

func (s *session) scanning(dst []Entry, r KeyRange, at Timestamp, limit int, dead bool) ([]Entry, KeyRange, bool, error) {
	if limit <= 0 {
		return dst, r, false, nil
	}
	sc := &s.scan
	*sc = scanner{
		session: s, dst: dst, r: r, at: at, limit: limit, keys: limit + scanKeys, bytes: PageBytes, dead: dead,
		key: sc.key[:0], id: sc.id[:0], scratch: sc.scratch[:0], more: sc.more[:0],
	}
	err := sc.run()
	entries, rest, done := sc.dst, sc.r, sc.done
	sc.dst, sc.r = nil, KeyRange{}
	if err != nil {
		return entries, r, false, fmt.Errorf("scan index %d at %d: %w", r.Index, at, mapError(err))
	}
	return entries, rest, done, nil
}

// run walks until the range, the limit or the keys are used up. Each round
// steps through neighbours until a key has too many entries.
func (sc *scanner) run() error {
	for !sc.done && !sc.spent() {
		stmt, err := sc.seek()
		if err != nil {
			return err
		}
		jump, err := sc.step(stmt)
		if err != nil {
			stmt.Reset()
			return err
		}
		if err := stmt.Reset(); err != nil {
			return err
		}
		if jump {
			if err := sc.jump(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (sc *scanner) spent() bool { return sc.limit == 0 || sc.keys == 0 || sc.bytes <= 0 }

// seek starts a walk at the near end of what is still to scan.
func (sc *scanner) seek() (*sqlite.Stmt, error) {
	n := stmtScan
	if sc.r.Reverse {
		n = stmtScanBack
	}
	if sc.r.To != "" {
		n++ // the same with an upper bound
	}
	stmt, err := sc.session.stmt(n)
	if err != nil {
		return nil, err
	}
	var id [4]byte
	stmt.BindBytes(1, appendID(id[:0], uint32(sc.r.Index)))
	stmt.BindBytes(2, bytesOf(sc.r.From))
	if sc.r.To != "" {
		stmt.BindBytes(3, bytesOf(sc.r.To))
	}
	return stmt, nil
}

// step walks entry by entry. jump means that the key at hand has too many of
// them; otherwise the walk is over, because the range or the bounds are.
func (sc *scanner) step(stmt *sqlite.Stmt) (jump bool, err error) {
	for seen := 0; ; { // seen counts the entries of sc.key
		more, err := stmt.Step()
		if err != nil {
			return false, err
		}
		if seen > 0 && (!more || !sc.sameKey(stmt)) {
			sc.finish()
			seen = 0
			if more && sc.spent() {
				sc.leave()
				return false, nil
			}
		}
		if !more {
			sc.done = true
			return false, nil
		}
		if seen == 0 {
			sc.key = readInto(sc.key, stmt, 0)
			sc.found = false
		}
		if err := sc.consider(stmt); err != nil {
			return false, err
		}
		if seen++; seen > scanPatience {
			return true, nil
		}
	}
}

// sameKey reports whether the row at hand has the key that is being walked.
func (sc *scanner) sameKey(stmt *sqlite.Stmt) bool {
	if stmt.ColumnLen(0) != len(sc.key) {
		return false
	}
	sc.scratch = readInto(sc.scratch, stmt, 0)
	return bytes.Equal(sc.scratch, sc.key)
}

// consider takes the newest entry of the row at hand that at can see, if it is
// the newest so far.
func (sc *scanner) consider(stmt *sqlite.Stmt) (err error) {
	if sc.r.Reverse && sc.found {
		return nil // only older entries follow
	}
	m, more := readMoment(stmt, 1, 2, 4, sc.more)
	sc.more = more
	if m.ts > sc.at {
		return nil
	}
	if m, err = m.newest(more, sc.at); err != nil {
		return err
	}
	sc.found, sc.ts, sc.deleted = true, m.ts, m.deleted
	if sc.tally == nil {
		sc.id = readInto(sc.id, stmt, 3)
	}
	return nil
}

// jump decides the key at hand by one descent, and goes behind it.
func (sc *scanner) jump() error {
	if !sc.r.Reverse || !sc.found {
		e, found, err := sc.session.entry(sc.r.Index, sc.key, sc.at)
		if err != nil {
			return err
		}
		sc.found, sc.ts, sc.deleted = found, e.TS, e.Deleted
		sc.id = append(sc.id[:0], e.ID...)
	}
	sc.finish()
	sc.leave()
	return nil
}

// finish takes the key's newest entry if it is wanted. Key and ID share one
// allocation.
func (sc *scanner) finish() {
	sc.keys--
	sc.bytes -= len(sc.key)
	if !sc.found || sc.deleted && !sc.dead {
		return
	}
	sc.bytes -= len(sc.id)
	if sc.tally != nil {
		for len(sc.tally) > 1 && sc.tally[1].Key <= string(sc.key) {
			sc.tally = sc.tally[1:]
		}
		sc.tally[0].Live++
		return
	}
	b := make([]byte, len(sc.key)+len(sc.id))
	copy(b[copy(b, sc.key):], sc.id)
	both := unsafe.String(unsafe.SliceData(b), len(b))
	sc.dst = append(sc.dst, Entry{
		Index:   sc.r.Index,
		Deleted: sc.deleted,
		TS:      sc.ts,
		Key:     both[:len(sc.key)],
		ID:      both[len(sc.key):],
	})
	sc.limit--
}

// leave moves the near end of the range behind the key at hand. A key and a
// zero byte is the smallest string behind the key.
func (sc *scanner) leave() {
	if sc.r.Reverse {
		sc.r.To = string(sc.key)
		sc.done = sc.r.To <= sc.r.From // also when the key is empty
		return
	}
	sc.r.From = string(append(sc.key, 0))
	sc.done = sc.r.To != "" && sc.r.From >= sc.r.To
}
