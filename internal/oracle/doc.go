// Package oracle holds clients that follow a server against the server's past.
//
// Clients of all kinds follow one real server: the feed, live queries, caches
// with CLIENT TRACKING, and streams over HTTP. They disconnect when they like
// and go on from the last token that they have. Meanwhile writers write all
// types, a compactor forgets, and the server is killed and started again. At
// every token a client's state has to be what a read AT that token finds, and
// what was delivered has to be what the log has, in the six words of package
// journal.
//
// There are only tests here; README.md says in which order to read them.
package oracle
