// Package e2e drives a real Firn server with the clients that people use.
//
// It is a module of its own, so that the clients stay out of the graph of
// whoever embeds Firn. Its tests build cmd/firn once and start a server per
// test, on a free port of 127.0.0.1 and a file in the test's directory.
package e2e
