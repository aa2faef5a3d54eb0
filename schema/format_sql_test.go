package schema

// The rule: what FORMAT.md shows for the sqlite3 shell answers as the code
// does, for any document and moment, wherever the version's entry is.

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"

	"github.com/firndb/firn/internal/seed"
)

// statementsAtMoments are those of FORMAT.md that ask for a document at a
// moment: over the log, and over indexes.
func statementsAtMoments(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile("FORMAT.md")
	must(t, err)
	var found []string
	for _, block := range regexp.MustCompile("(?s)```\n\\$ sqlite3.*?\n```").FindAllString(string(page), -1) {
		if _, after, ok := strings.Cut(block, ".parameter set :moment 1700000000000003\n"); ok {
			statement, _, _ := strings.Cut(after, ";")
			found = append(found, strings.TrimSpace(statement))
		}
	}
	if len(found) != 2 || !strings.HasPrefix(found[1], "WITH RECURSIVE") {
		t.Fatalf("statements in FORMAT.md: got %q, want two", found)
	}
	return found
}

type pastDocument struct {
	table TableID
	id    string
}

var pastDocuments = []pastDocument{{1, "a"}, {1, "a\x00"}, {1, "ab"}, {300, "a"}, {2, "\xff\x00;'"}}

// pastOf is a log of a few documents with up to 300 versions, of which some are
// tombstones: close to each other and years apart.
func pastOf(random *rand.Rand) []*Row {
	newest := map[pastDocument]*Row{}
	var rows []*Row
	for ts := Timestamp(1); len(rows) < 800; ts += 1 + Timestamp(random.Int64N(1<<random.IntN(52))) {
		d := pastDocuments[min(random.IntN(8), len(pastDocuments)-1)]
		row := &Row{TS: ts, Table: d.table, ID: d.id, Value: fmt.Append(nil, len(rows))}
		if old := newest[d]; old != nil {
			row.Prev = old.TS
			row.Deleted = !old.Deleted && random.IntN(4) == 0
		}
		newest[d] = row
		rows = append(rows, row)
	}
	return rows
}

// writePast appends rows, merges the first of them in two steps and sets the
// watermark; entries behind it may be in the file, from a merge under way.
func writePast(t *testing.T, s *SQLite, rows []*Row, merged, watermark int) {
	t.Helper()
	var entries []Entry
	for _, r := range rows[:merged] {
		entries = append(entries, Entry{Index: ByID(r.Table), TS: r.TS, Key: r.ID, Deleted: r.Deleted})
	}
	a := s.Appender()
	must(t, a.Begin(), a.Append(rows))
	for _, part := range [][]Entry{entries[:merged/3], entries[merged/3:]} {
		slices.SortStableFunc(part, func(a, b Entry) int {
			if a.Index != b.Index {
				return int(a.Index) - int(b.Index)
			}
			return strings.Compare(a.Key, b.Key)
		})
		must(t, a.Merge(part))
	}
	if watermark > 0 {
		must(t, a.SetGlobal("indexed_ts", fmt.Sprint(rows[watermark-1].TS)))
	}
	must(t, a.Commit())
}

// momentsOf are moments around versions of rows, not of all.
func momentsOf(rows []*Row) (moments []Timestamp) {
	for i := 0; i < len(rows); i += 37 {
		moments = append(moments, rows[i].TS-Timestamp(i%2), rows[i].TS)
	}
	return append(moments, MaxTimestamp)
}

// askAt runs a statement with the parameters that FORMAT.md sets: the version
// as text, "" if there is none.
func askAt(t *testing.T, conn *sqlite.Conn, sql string, table TableID, id string, at Timestamp) (found string) {
	t.Helper()
	stmt, err := conn.Prepare(sql)
	must(t, err)
	for i := 1; i <= stmt.BindParamCount(); i++ {
		switch name := stmt.BindParamName(i); name {
		case ":table":
			stmt.BindBytes(i, appendID(nil, uint32(table)))
		case ":index":
			stmt.BindBytes(i, appendID(nil, uint32(ByID(table))))
		case ":id":
			stmt.BindBytes(i, []byte(id))
		case ":moment":
			stmt.BindInt64(i, int64(at))
		default:
			t.Fatalf("parameter %s", name)
		}
	}
	ok, err := stmt.Step()
	if must(t, err); ok {
		found = fmt.Sprintf("%d|%d|%s", stmt.ColumnInt64(0), stmt.ColumnInt64(1), stmt.ColumnText(2))
	}
	must(t, stmt.Reset())
	return found
}

func TestStatementsOfTheFormatFindWhatWas(t *testing.T) {
	statements := statementsAtMoments(t)
	for _, sql := range statements {
		if got := plan(t, openTest(t, Options{}).app.conn, sql); strings.Contains(got, "TEMP B-TREE") || strings.Contains(got, "SCAN documents") {
			t.Errorf("plan of %s:\n%s", sql, got)
		}
	}
	random := seed.Fresh(t).Rand(0)
	for _, tt := range []struct{ merged, watermark int }{{0, 0}, {800, 800}, {800, 500}, {600, 500}} {
		s := openTest(t, Options{PageSize: 512})
		rows := pastOf(random)
		writePast(t, s, rows, tt.merged, tt.watermark)
		checkStatements(t, s, statements, rows)
		if tt.merged < 800 {
			continue
		}
		a := s.Appender() // forgets the older half of the documents' versions, one by one
		must(t, a.Begin())
		for _, r := range rows {
			if i := slices.IndexFunc(rows, func(o *Row) bool { return o.Table == r.Table && o.ID == r.ID && o.Prev == r.TS }); i >= 0 && i < 400 {
				must(t, a.DeleteEntries([]Entry{{Index: ByID(r.Table), Key: r.ID, TS: r.TS}}), a.DeleteRows([]*Row{r}))
			}
		}
		must(t, a.Commit())
		checkStatements(t, s, statements, rows[400:])
	}
}

// checkStatements compares with what the log says at each moment of rows.
func checkStatements(t *testing.T, s *SQLite, statements []string, rows []*Row) {
	t.Helper()
	log, err := openSession(t, s).Log(nil, Cursor{}, MaxTimestamp, 1000)
	must(t, err)
	for _, at := range momentsOf(rows) {
		newest := map[string]string{}
		for _, r := range log {
			if key := fmt.Sprint(r.Table, r.ID); r.TS <= at {
				deleted := 0
				if r.Deleted {
					deleted = 1
				}
				newest[key] = fmt.Sprintf("%d|%d|%s", r.TS, deleted, r.Value)
			}
		}
		for _, d := range pastDocuments {
			want := newest[fmt.Sprint(d.table, d.id)]
			for i, sql := range statements {
				if got := askAt(t, s.app.conn, sql, d.table, d.id, at); got != want {
					t.Fatalf("statement %d, %d %q at %d: got %q, want %q", i, d.table, d.id, at, got, want)
				}
			}
		}
	}
}

// TestStatementsOfTheFormatInTheShell types them into sqlite3.
func TestStatementsOfTheFormatInTheShell(t *testing.T) {
	shell, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("sqlite3 is not on PATH")
	}
	s := openTest(t, Options{})
	rows := pastOf(seed.Fresh(t).Rand(0))
	writePast(t, s, rows, 700, 600)
	for i, sql := range statementsAtMoments(t) {
		var script, want strings.Builder
		for _, r := range rows[640:] {
			for _, at := range []Timestamp{r.TS, r.TS + 1} {
				fmt.Fprintf(&script, ".parameter set :table \"x'%x'\"\n.parameter set :index \"x'%x'\"\n", appendID(nil, uint32(r.Table)), appendID(nil, uint32(ByID(r.Table))))
				fmt.Fprintf(&script, ".parameter set :id \"x'%x'\"\n.parameter set :moment %d\n%s;\n", r.ID, at, sql)
				fmt.Fprintln(&want, askAt(t, s.app.conn, sql, r.Table, r.ID, at))
			}
		}
		run := exec.Command(shell, "-readonly", "-bail", s.Path())
		run.Stdin = strings.NewReader(script.String())
		if got, err := run.CombinedOutput(); err != nil || string(got) != want.String() {
			t.Errorf("statement %d: %v\n got %.500s\nwant %.500s", i, err, got, &want)
		}
	}
}
