// Package journal follows the log: commits in order, as they happen or from
// where a follower left off.
//
// A [Token] names a place in one store's line of history. It is opaque to
// clients, who keep it and give it back: with their data, if they are to have
// each commit exactly once.
//
// # What a follower is promised
//
// The words are those that etcd uses for its watches.
//
//   - Ordered: the timestamps of commits strictly increase along one follower. A
//     bookmark's is never less than what came before.
//   - Unique: no commit comes twice, nor again to who goes on from the token that
//     came with it.
//   - Reliable: between two tokens nothing is missing that the filter admits. If
//     that cannot be had any more, or never could, it is an error and the
//     following ends: COMPACTED for what is forgotten, FORKED for a token of
//     another line of history, FUTURE for a moment that has not come.
//   - Atomic: all changes of one transaction come together, in one [Commit].
//   - Resumable: every token that was given goes on where it stood, with any
//     filter, after any number of others, after a restart, and after a
//     compaction that has not passed it.
//   - Bookmarkable: a token comes while nothing is admitted, too, at least every
//     [Filter].Bookmark, and before each pass of the compactor. Everything up to
//     it has been delivered.
//
// # How
//
// The newest commits are in a [Ring] in memory while somebody follows. Who is
// further behind reads the log from the file: pages, each up to the end of a
// commit. At the seam nobody takes the ring's word for what it cannot have: it
// knows from which commit on it has all, and who stands before that reads the
// file, up to where the ring begins or beyond.
//
// What is read from the file may be deleted meanwhile, so the horizon is looked
// at afterwards: if it has not passed the place where the page began, the page
// is whole. What is in the ring needs no horizon.
//
// The writer waits for nobody. A follower that is slow is further behind, and
// then reads the file; one that the horizon passes is told. [Stats] says how far
// behind the last one is, the store's Logger is warned before the horizon
// reaches one, and a Hold keeps the horizon back.
//
// Who waits costs a place in a list: [Ring.Notify] calls back, on the journal's
// one goroutine.
package journal
