// Package inside is the one way into a store for the proofs of internal/proof:
// to a file that can be full or fail, and to the parts that merge and forget.
// The public page has none of it, for nobody else needs it.
//
// The root package opens the way with [Admit] when the program starts. It lies
// above this one, so a store is any here.
package inside

import (
	"github.com/firndb/firn/index"
	"github.com/firndb/firn/reader"
	"github.com/firndb/firn/retention"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/writer"
)

// Parts are what a *firn.Store is made of.
type Parts struct {
	Engine    *schema.SQLite
	Writer    *writer.Writer
	Head      *reader.Head
	Tail      *index.Tail
	State     *retention.State
	Compactor *retention.Compactor
	Held      *retention.Holds
	Pins      *retention.Pins
	UsedBytes func() (int64, error)

	Copies      *schema.Options // of the files that backups make
	CopiesEnded func() bool     // the store closes: a backup that is under way ends

	// Table is a table that is declared.
	Table func(name string) *retention.Table
}

var (
	open func(path string, engine schema.Options, options any) (store any, err error)
	of   func(store any) Parts
)

// Admit is for the root package: how a store is opened on an engine with these
// options, besides those that follow from its own, and what a store's parts are.
func Admit(opens func(path string, engine schema.Options, options any) (store any, err error), parts func(store any) Parts) bool {
	open, of = opens, parts
	return true
}

// Open opens a *firn.Store with firn.Options.
func Open(path string, engine schema.Options, options any) (store any, err error) {
	return open(path, engine, options)
}

// Of are the parts of a *firn.Store.
func Of(store any) Parts { return of(store) }
