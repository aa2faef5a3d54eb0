// Package storefile works on files at rest: it copies a store as of a moment,
// restores one, checks one, and builds its indexes anew. It knows what a file
// says about itself, and nothing of documents in memory: no goroutine, no
// clock but the one that [Restore] asks for now.
//
//   - catalog.go: the tables that a file has, and what declares them
//   - rows.go: walks through the log
//   - build.go, reindex.go: indexes from the log
//   - copy.go, leftout.go, target.go: a whole new file, or nothing
//   - check.go: what refers to what
//
// What a file says about what is forgotten is read by package retention.
package storefile
