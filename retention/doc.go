// Package retention decides how much of the past is kept, and deletes the rest.
//
// Four steps lead from a setting to a file that is smaller:
//
//	policy     what a scope keeps: everything, a time, so many versions, nothing   policy.go, state.go
//	horizon    the oldest moment at which a scope can be read                      state.go, progress.go
//	condemn    the versions that nobody can read any more                          judge.go, own.go, count.go
//	delete     them, in slices between commits                                     condemned.go, orphans.go, pacing.go
//
// A [Policy] is set for a [Scope]: a document, its group, or the store; the
// nearest one holds. [State] knows them all. The horizon of a policy follows
// the clock and only moves forward: in the file first, then in memory, so that
// nobody is given an answer about a moment that a crash could take away. A read
// before it is a [CompactedError].
//
// A [Compactor] makes a pass for each policy in use. The pass follows the log,
// commit by commit, up to the horizon, but not past what somebody reads
// ([Pins]) or holds ([Holds]). A commit says which versions nobody can read any
// more, because its rows name what they replaced:
//
//	commit at 30            what of it is condemned once the horizon has passed 30
//	  a = 3    prev 10      a at 10, and its entries in the indexes
//	  b gone   prev 20      b at 20, and b at 30: not to be there needs no row
//	  c = 1    prev none    nothing
//	  d owned a range       every version in the range, unless another document
//	    and does not now    of the commit owns it now: a deleted collection
//
// What a stretch of the log has condemned is deleted through the writer in
// slices, entries before rows, and the policy's cursor moves with the last of
// them. After a crash in between the next pass condemns the same rows again.
//
// A policy that counts versions goes along the versions of each document
// instead, and then judges their commits in the same way.
//
// The package writes through an [Executor] and reads through sessions of the
// engine. It does not know what documents mean; a [Table] says who owns what.
package retention
