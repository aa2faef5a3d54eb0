package firn

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/writer"
)

// Durability is what an answered write promises.
type Durability = writer.Durability

// The degrees of durability. Whichever is chosen, a crash of the process
// loses nothing that was answered, and no crash damages the file.
const (
	// Always answers after an fsync, which the transactions of a group share.
	Always = writer.Always

	// EverySecond answers after the commit; an fsync follows within a second.
	// A power cut may take the last second.
	EverySecond = writer.EverySecond

	// None leaves the fsync to the operating system.
	None = writer.None
)

// Options of a store. The zero value is ready for production.
type Options struct {
	// Tables are the tables that the program uses. A table that the store has
	// never seen is created. All tables that have declared indexes, or are
	// counted, must be declared whenever the store is opened for writing.
	Tables []TableSpec

	// Durability of an answered write; Always by default.
	Durability Durability

	// Memory is the budget in bytes for documents and ranges kept in memory: 0
	// is 256 MiB, negative is none. What else the store takes (page caches, the
	// tail of the index, a filter of ids) is about half as much again, at least
	// 32 MiB.
	//
	// On Linux most of it is off the heap, so GOMEMLIMIT and GOGC do not see
	// it. A store leaves both as they are: a program whose own heap is small
	// may want a higher GOGC.
	Memory int64

	// ReadOnly opens an existing store as it is now, also while another process
	// has it open: later commits are not seen, and writes are
	// refused. What is read is a *CompactedError once that process has
	// forgotten it.
	ReadOnly bool

	// Retention is how far back history is kept at least. 0 is for ever. It
	// is the policy of a store that none is set for, see SetRetention.
	Retention time.Duration

	// HistoryMaxBytes is how much of the file may be used before history is
	// shortened to make room, oldest first, whatever Retention and other
	// policies say; the present stays, and so does what a hold keeps. 0 is no
	// bound.
	HistoryMaxBytes int64

	// CompactByHand leaves forgetting to the program: the store does none by
	// itself, for age, policies or HistoryMaxBytes, but when Compact or Prune
	// is called.
	CompactByHand bool

	// TailEntries bounds the index entries that wait in memory to be merged
	// into the file; 0 chooses by Memory, at most 1,048,576.
	TailEntries int

	// MaxQueue bounds the transactions that wait for the writer; 0 is 65,536.
	MaxQueue int

	// LockWait is how long a write waits, at least, for another process that
	// holds the file's write lock, the sqlite3 shell for one: then it is
	// ErrBusy. 0 is 5 s, negative is not at all. Reads do not wait.
	LockWait time.Duration

	// WALMaxBytes bounds the file of the write-ahead log; 0 is 256 MiB, and the
	// least is 1 MiB. Near the bound commits wait, up to a second, for reads
	// of the file that keep the log from being emptied. If such a read lasts
	// for longer, or one group of transactions is larger, the log grows past
	// the bound: Stats counts it and the Logger is told.
	WALMaxBytes int64

	// FollowBytes bounds how much of the newest commits is kept in memory while
	// somebody follows, see Store.Changes; 0 is 16 MiB, negative is none. Who is
	// further behind than that reads the file.
	FollowBytes int64

	// Logger is told what no caller can be told; nil discards it.
	Logger *slog.Logger

	// Now is the wall clock; nil is time.Now.
	Now func() time.Time
}

const (
	defaultMemory      = 256 << 20
	defaultWALMaxBytes = 256 << 20
	minWALMaxBytes     = 1 << 20

	// Some 50,000 commits of one small document: half a second of as many as
	// there can be.
	defaultFollowBytes = 16 << 20

	// The tail takes up to a quarter of the memory budget, and up to as much
	// again while it is merged. An entry takes 54 bytes with a key of 20.
	tailShare     = 4
	minTailBytes  = 4 << 20
	bytesPerEntry = 64
	maxTail       = 1 << 20
)

func (o Options) withDefaults() Options {
	if o.Memory == 0 {
		o.Memory = defaultMemory
	}
	o.Memory = max(o.Memory, 0)
	if o.TailEntries == 0 {
		o.TailEntries = min(int(o.tailBytes()/bytesPerEntry), maxTail)
	}
	if o.WALMaxBytes == 0 {
		o.WALMaxBytes = defaultWALMaxBytes
	}
	if o.FollowBytes == 0 {
		o.FollowBytes = defaultFollowBytes
	}
	o.FollowBytes = max(o.FollowBytes, 0)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// policy is Retention as a policy, of whole milliseconds.
func (o Options) policy() Retention {
	return Retention{Age: (o.Retention + time.Millisecond - 1).Truncate(time.Millisecond)}
}

func (o Options) tailBytes() int64 { return max(o.Memory/tailShare, minTailBytes) }

func (o Options) validate() error {
	switch {
	case o.Durability < Always || o.Durability > None:
		return fmt.Errorf("firn: durability %d is unknown", o.Durability)
	case o.Retention < 0:
		return fmt.Errorf("firn: retention %s is negative", o.Retention)
	case o.HistoryMaxBytes < 0:
		return fmt.Errorf("firn: history of %d bytes is negative", o.HistoryMaxBytes)
	case o.TailEntries < 0 || o.MaxQueue < 0:
		return fmt.Errorf("firn: tail entries %d and queue %d must not be negative", o.TailEntries, o.MaxQueue)
	case o.WALMaxBytes != 0 && o.WALMaxBytes < minWALMaxBytes:
		return fmt.Errorf("firn: bound of the write-ahead log is %d bytes: the least is %d", o.WALMaxBytes, int64(minWALMaxBytes))
	}
	return nil
}

// sync is the durability as the engine knows it.
func (o Options) sync() schema.Sync {
	if o.Durability == Always {
		return schema.SyncFull
	}
	return schema.SyncNormal
}
