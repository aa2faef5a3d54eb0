// Package feed tells clients what commits mean for their keys: CHANGES.
//
// Package journal has commits, which are versions of documents. A [decoder]
// makes changes of keys of them: which database showed the key, what ran, what
// the key is now. With VALUES a change says as well what the key became: the
// value of a string, and of a collection the elements that the commit changed,
// so that who has read a snapshot at a token and follows from there has the
// keyspace, exactly. Each type has a file: hashes.go, sets.go, zsets.go, lists.go,
// streams.go, groups.go.
//
// What a change says follows from the rows of its commit, because every write to
// a key writes its key document, too, and the ids of a collection's elements
// begin with its uid. A collection that was made in the commit is there in full.
// Where that is not enough the past is read, at the commit's timestamp: which
// elements were there before, where in a list an item is, and all of a key that
// came from one that the client does not follow.
//
// The package knows no connection: who waits is parked by package redis, see
// command.Call.Await.
package feed
