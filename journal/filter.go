package journal

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firndb/firn/schema"
)

// Filter says what of the log is followed. The zero Filter is everything but
// the store's own tables, whose names begin with "firn.".
type Filter struct {
	// Tables are names of tables, the store's own among them if they are to be
	// followed. None is all but those.
	Tables []string

	// Prefixes are what ids begin with; a whole id is one, too. They need exactly
	// one of Tables. What was missed of few ids is then found by the index and
	// not by reading the log, where that is cheaper.
	Prefixes [][]byte

	// Authors are the users who wrote, see firn.Author. None is whoever.
	Authors []string

	// Keep says yes to what is wanted; nil wants all that the other fields admit.
	// It must be a pure function, and quick. The document and its value are lent
	// until it returns.
	Keep func(table string, doc *schema.Row) bool

	// MaxRows is how many rows a page reads at most, whether they are admitted or
	// not; 0 is 10,000. A page of a narrow filter that has reached it is empty,
	// and its token is progress.
	MaxRows int

	// MaxCommits is how many commits a page returns at most; 0 is 1,000.
	MaxCommits int

	// MaxBytes is after how many bytes of ids and values a page ends; 0 is 4 MiB.
	// A commit is never cut, so one that is larger is a page of its own.
	MaxBytes int

	// Bookmark is how long a follower is without a token at most; 0 is 10 s.
	Bookmark time.Duration
}

// What a page has at most, where its filter does not say: as many rows as are
// read in some 20 ms, and what of them is gathered in memory.
const (
	defaultMaxRows    = 10_000
	defaultMaxCommits = 1_000
	defaultMaxBytes   = schema.PageBytes
	defaultBookmark   = 10 * time.Second
)

func (f Filter) withDefaults() Filter {
	for _, bound := range [...]struct {
		at *int
		is int
	}{{&f.MaxRows, defaultMaxRows}, {&f.MaxCommits, defaultMaxCommits}, {&f.MaxBytes, defaultMaxBytes}} {
		if *bound.at <= 0 {
			*bound.at = bound.is
		}
	}
	if f.Bookmark <= 0 {
		f.Bookmark = defaultBookmark
	}
	return f
}

// internalPrefix begins the names of the store's own tables.
const internalPrefix = "firn."

// sieve is a filter against the tables of a store.
type sieve struct {
	Filter
	journal *Journal
	tables  []schema.TableID // what Tables are in the file; nil: not asked
	users   map[int64]bool   // numbers of authors that were looked up
	broad   bool             // the prefixes admit too many documents to look them up by the index
}

// sieve makes a filter's. A table that is not there is ErrFilter.
func (j *Journal) sieve(f *Filter) (*sieve, error) {
	s := &sieve{Filter: f.withDefaults(), journal: j}
	if len(f.Prefixes) > 0 && len(f.Tables) != 1 {
		return nil, fmt.Errorf("%w: prefixes of ids are those of one table, and there are %d", ErrFilter, len(f.Tables))
	}
	for _, name := range f.Tables {
		id, ok := j.ids[name]
		if !ok {
			return nil, fmt.Errorf("%w: there is no table %q", ErrFilter, name)
		}
		s.tables = append(s.tables, id)
	}
	return s, nil
}

// wants says whether a row is admitted, as far as can be told without its value.
func (s *sieve) wants(row *schema.Row) (table string, ok bool) {
	if s.tables != nil && !slices.Contains(s.tables, row.Table) {
		return "", false
	}
	table = s.journal.names[row.Table]
	if s.tables == nil && strings.HasPrefix(table, internalPrefix) {
		return "", false
	}
	return table, len(s.Prefixes) == 0 || s.begins(row.ID)
}

func (s *sieve) begins(id string) bool {
	return slices.ContainsFunc(s.Prefixes, func(prefix []byte) bool {
		return len(prefix) <= len(id) && bytes.Equal(prefix, []byte(id[:len(prefix)]))
	})
}

// keeps says whether a row that is wanted is admitted.
func (s *sieve) keeps(table string, row *schema.Row) (bool, error) {
	if len(s.Authors) > 0 {
		by, err := s.wrote(row)
		if err != nil || !by {
			return false, err
		}
	}
	return s.Keep == nil || s.Keep(table, row), nil
}

// maxKnownUsers is how many authors a sieve remembers: who asks for few wants
// nothing of most.
const maxKnownUsers = 4096

// wrote says whether one of Authors wrote a version.
func (s *sieve) wrote(row *schema.Row) (bool, error) {
	if row.Author == 0 {
		return slices.Contains(s.Authors, ""), nil
	}
	if by, known := s.users[row.Author]; known {
		return by, nil
	}
	user, err := s.journal.opts.User(row)
	if err != nil {
		return false, err
	}
	if s.users == nil || len(s.users) >= maxKnownUsers {
		s.users = map[int64]bool{}
	}
	by := slices.Contains(s.Authors, user)
	s.users[row.Author] = by
	return by, nil
}
