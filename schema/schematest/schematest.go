// Package schematest is the storage contract: what every engine under
// [schema.Engine] must do, as tests. An engine's own package calls [Run].
//
// It covers the calls of the interface and what they promise each other. What
// is particular to one engine, its files, plans and settings, is tested there.
package schematest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firndb/firn/schema"
)

// Open makes an empty engine that is closed when the test ends. reopen closes
// it and opens the same store again.
type Open func(t *testing.T) (e schema.Engine, reopen func() schema.Engine)

// Run runs the contract. Each test opens a store of its own.
func Run(t *testing.T, open func(t *testing.T) (e schema.Engine, reopen func() schema.Engine)) {
	for _, tt := range []struct {
		name string
		test func(*testing.T, Open)
	}{
		{"LogComesBackInOrder", testLogOrder},
		{"AuthorsComeBackEverywhere", testAuthors},
		{"LogPagesMeet", testLogPages},
		{"WalksReadValuesWhenAsked", testWalk},
		{"WalksStopWhereTheyAreTold", testWalkStops},
		{"PagesAreBoundedInBytes", testPages},
		{"ValuesKeepTheirBytes", testValues},
		{"LargeValuesKeepTheirBytes", testLargeValues},
		{"VersionTwiceIsAnError", testDuplicate},
		{"BadRowsAreRefused", testBadRows},
		{"EqualIDsInTwoTablesDoNotMix", testTwoTables},
		{"EveryVersionAtEveryTS", testVersions},
		{"OneCallTakesManyRows", testManyRows},
		{"DeletingTwiceIsANoOp", testDelete},
		{"EveryRangeInBothDirections", testRanges},
		{"IndexesDoNotLeak", testLeak},
		{"LimitsCountLiveEntries", testLimits},
		{"ScanOfTheDeadIsBounded", testDead},
		{"ScanJumpsOverHistory", testHistory},
		{"MergingAgainReplaces", testMerge},
		{"EntriesOfAKeyShareARow", testPacked},
		{"ForgettingLeavesOtherDocuments", testForget},
		{"EntriesWalkTheWholeIndex", testEntries},
		{"DroppedIndexesAreEmpty", testDrop},
		{"FencesOfARangeAlone", testFences},
		{"KeysSeeTheTransaction", testKeys},
		{"TallyCountsWhatScanFinds", testTally},
		{"DanglingEntryIsCorruption", testDangling},
		{"RollbackLeavesNothing", testRollback},
		{"WritesNeedATransaction", testNoTransaction},
		{"SessionSeesOneState", testSession},
		{"GlobalsKeepTheirNames", testGlobals},
		{"ReopenedStoreSeesAll", testReopen},
		{"CheckpointsLoseNothing", testCheckpoint},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, open) })
	}
}

// must ends the test at an error.
func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// write runs one transaction of rows and entries.
func write(t *testing.T, e schema.Engine, rows []*schema.Row, entries []schema.Entry) {
	t.Helper()
	a := e.Appender()
	must(t, a.Begin(), a.Append(rows), a.Merge(entries), a.Commit())
}

// put writes rows with their entries by id.
func put(t *testing.T, e schema.Engine, rows ...*schema.Row) {
	t.Helper()
	write(t, e, rows, byID(rows))
}

func byID(rows []*schema.Row) []schema.Entry {
	entries := make([]schema.Entry, len(rows))
	for i, r := range rows {
		entries[i] = schema.Entry{Index: schema.ByID(r.Table), TS: r.TS, Key: r.ID, Deleted: r.Deleted}
	}
	return entries
}

// session opens a read session for the rest of the test.
func session(t *testing.T, e schema.Engine) schema.Session {
	t.Helper()
	s, err := e.Session()
	must(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// read runs f in a session that ends before the next write.
func read(t *testing.T, e schema.Engine, f func(schema.Session)) {
	t.Helper()
	s, err := e.Session()
	must(t, err)
	defer s.Close()
	f(s)
}

// text shows a row in full but for long values.
func text(r *schema.Row) string {
	if r == nil {
		return "none"
	}
	value := fmt.Sprintf("%.40q", r.Value)
	if r.Value == nil {
		value = "null"
	}
	return fmt.Sprintf("%d/%.40q @%d prev=%d author=%d deleted=%t json=%t value=%s(%d)",
		r.Table, r.ID, r.TS, r.Prev, r.Author, r.Deleted, r.JSON, value, len(r.Value))
}

func texts(rows []*schema.Row) string {
	lines := make([]string, len(rows))
	for i, r := range rows {
		lines[i] = text(r)
	}
	return strings.Join(lines, "\n")
}

// wantRows compares rows in full.
func wantRows(t *testing.T, what string, got, want []*schema.Row) {
	t.Helper()
	same := func(a, b *schema.Row) bool {
		return a.TS == b.TS && a.Prev == b.Prev && a.Author == b.Author && a.Table == b.Table && a.ID == b.ID && a.Deleted == b.Deleted &&
			a.JSON == b.JSON && string(a.Value) == string(b.Value) && (a.Value == nil) == (b.Value == nil)
	}
	if !slices.EqualFunc(got, want, same) {
		t.Fatalf("%s:\n got %d rows\n%s\nwant %d rows\n%s", what, len(got), texts(got), len(want), texts(want))
	}
}

func wantRow(t *testing.T, what string, got, want *schema.Row) {
	t.Helper()
	if got == nil || want == nil {
		if got != want {
			t.Fatalf("%s:\n got %s\nwant %s", what, text(got), text(want))
		}
		return
	}
	wantRows(t, what, []*schema.Row{got}, []*schema.Row{want})
}

func wantEntries(t *testing.T, what string, got, want []schema.Entry) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s:\n got %d: %.400v\nwant %d: %.400v", what, len(got), got, len(want), want)
	}
}

// scanAll scans page by page to the end. A page that neither gives an entry
// nor comes nearer to the end is a failure, and so is one beyond its limit.
func scanAll(t *testing.T, s schema.Session, r schema.KeyRange, at schema.Timestamp, limit int) []schema.Entry {
	t.Helper()
	var all []schema.Entry
	for {
		page, rest, done, err := s.Scan(nil, r, at, limit)
		must(t, err)
		if len(page) > limit {
			t.Fatalf("page of %v: got %d entries, want at most %d", r, len(page), limit)
		}
		all = append(all, page...)
		if done {
			return all
		}
		if rest == r {
			t.Fatalf("scan of %.200v stands still", r)
		}
		r = rest
	}
}
