package schema

import (
	"strings"
	"testing"
)

// TestLogFillsItsPages: without the hint two thirds of each leaf are filled,
// and a file is a tenth larger.
func TestLogFillsItsPages(t *testing.T) {
	s := openTest(t, Options{Sync: SyncNormal})
	a := s.Appender()
	first, _, err := a.Pages()
	must(t, err)
	const groups, group, rowBytes = 200, 50, 200
	for i := range groups {
		rows := benchRows(group, Timestamp(2+i*group))
		for _, r := range rows {
			r.Value = []byte(strings.Repeat("v", rowBytes))
		}
		must(t, a.Begin(), a.Append(rows), a.Commit())
	}
	pages, _, err := a.Pages()
	must(t, err)
	// 16 rows of 245 bytes are 3920 of a page's 4096; one of 17 stands above.
	if got, most := pages-first, int64(groups*group)/16+10; got > most {
		t.Errorf("%d rows take %d pages, want at most %d: the leaves are not full", groups*group, got, most)
	}
	if s.gather.Statement("SELECT 1").FillLeaves() || !s.app.ownStatements() {
		t.Error("Statement must find those of the log, and those only")
	}
}
