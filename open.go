package firn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/internal/storefile"
	"github.com/firndb/firn/reader"
	"github.com/firndb/firn/retention"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/writer"
)

// Open opens the store at path, or makes one. It reads the part of the log
// that is not in the indexes yet, and builds indexes that were declared since.
//
// A file that is not a Firn store, or has a newer format, is refused and not
// touched. ErrLocked says that the store is open already, which is no obstacle
// to Options.ReadOnly.
func Open(path string, o Options) (*Store, error) { return openOn(path, schema.Options{}, o) }

// openOn is Open on an engine that has these options, and those that follow
// from o.
func openOn(path string, e schema.Options, o Options) (*Store, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	if o.ReadOnly {
		o.stopClock()
	}
	e.Sync, e.CreatedAt, e.ReadOnly = o.sync(), schema.TimestampOf(o.Now()), o.ReadOnly
	engine, err := schema.Open(path, e)
	if err != nil {
		return nil, err
	}
	if lost := engine.Damage(); lost.Commits > 0 {
		o.Logger.Error("commits were lost from the write-ahead log", "path", engine.Path(), "commits", lost.Commits, "damage", lost.String())
	}
	s := &Store{opts: o, engine: engine}
	if err := loadStore(s); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), engine.Close())
	}
	startStore(s)
	return s, nil
}

// startStore starts the goroutines.
func startStore(s *Store) {
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.run, ctx = errgroup.WithContext(ctx)
	s.run.Go(func() error { return s.journal.Run(ctx) })
	s.run.Go(func() error { return s.matcher.Run(ctx) })
	if s.opts.ReadOnly {
		return
	}
	s.run.Go(func() error { return s.writer.Run(ctx) })
	s.run.Go(func() error { return s.head.Learn(ctx) })
	s.run.Go(func() error {
		for _, t := range s.tables {
			s.head.Recall(ctx, t.def)
		}
		return nil
	})
	if !s.opts.CompactByHand {
		s.run.Go(func() error { return s.compactor.Run(ctx) })
	}
}

// loadStore reads what the store must know before the first call.
func loadStore(s *Store) error {
	session, err := s.engine.Session()
	if err != nil {
		return err
	}
	defer session.Close()
	if s.opts.ReadOnly {
		if err := session.Begin(); err != nil {
			return err
		}
		defer session.End()
		session = storefile.OneState{Session: session}
	}
	if err := loadGlobals(s, session); err != nil {
		return err
	}
	cat, err := storefile.ReadCatalog(session)
	if err != nil {
		return err
	}
	known := len(cat)
	last, err := session.Last()
	if err != nil {
		return err
	}
	defs, err := declareTables(s, session, cat)
	if err != nil {
		return err
	}
	merged, err := index.ReadMerged(session)
	if err != nil {
		return err
	}
	watermark := merged.Watermark
	s.tail = index.NewTail(watermark)
	s.tail.Resume(merged.Merging)
	s.head = reader.NewHead(reader.Options{
		Engine: s.engine, Tail: s.tail, Budget: s.opts.Memory,
		Published: func(before Timestamp, rows []*schema.Row, entries []schema.Entry) {
			s.journal.Ring().Publish(before, rows, entries)
		},
	})
	if last == 0 || known == 0 {
		for _, t := range s.tables {
			s.head.Assume(t.def.ID)
		}
	}
	newest, err := replayLog(s, session, defs, watermark)
	if err != nil {
		return err
	}
	if s.opts.ReadOnly {
		if err := openPicture(s); err != nil {
			return err
		}
	}
	if err := loadSettings(s); err != nil {
		return err
	}
	s.writer = writer.New(writer.Options{
		Engine: s.engine, State: s.head, Tail: s.tail, Newest: max(newest, s.state.Oldest(), merged.UpTo()), Tables: defs.Indexes(),
		Durability: s.opts.Durability, Now: s.opts.Now, Logger: s.opts.Logger,
		MaxQueue: s.opts.MaxQueue, TailEntries: s.opts.TailEntries, TailBytes: s.opts.tailBytes(),
		WALMaxBytes: s.opts.WALMaxBytes, LockWait: s.opts.LockWait,
	})
	s.compactor = newCompactor(s, defs)
	s.journal = newJournal(s, cat.Names())
	s.matcher, s.watching = newWatching(s)
	return nil
}

func loadGlobals(s *Store, session schema.Session) error {
	text, _, err := session.Global(schema.GlobalIncarnation)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(text), &s.incarnation); err != nil {
		return fmt.Errorf("%w: global incarnation is %q", schema.ErrCorrupt, text)
	}
	stored, err := retention.ReadStored(session)
	if err != nil {
		return err
	}
	s.picture.forgotten = stored
	s.state.Take(stored, s.opts.policy())
	return nil
}

// loadSettings reads what the store keeps about itself in tables of its own.
func loadSettings(s *Store) error {
	return s.View(func(snap *Snapshot) error {
		return errors.Join(loadRetention(s, snap), loadHolds(s, snap))
	})
}

// declareTables makes the tables and stores what is new in the catalog, building
// the indexes that an older store lacks.
func declareTables(s *Store, session schema.Session, cat storefile.Catalog) (storefile.Definitions, error) {
	tables, err := declaredTables(s.opts.Tables)
	if err != nil {
		return nil, err
	}
	s.stored = slices.Sorted(maps.Keys(cat))
	grown, changed, err := cat.Declare(definitions(tables))
	if err != nil {
		return nil, err
	}
	if s.opts.ReadOnly {
		if grown {
			return nil, fmt.Errorf("%w: the file lacks indexes that are declared; opening it for writing once builds them", ErrTable)
		}
		defs := cat.Readable(definitions(tables)) // what is not in the catalog has no documents
		for _, def := range defs {
			if !slices.ContainsFunc(tables, func(t *Table) bool { return t.kept == def }) {
				tables = append(tables, undeclaredTable(def))
			}
		}
		useTables(s, tables)
		return defs, nil
	}
	defs, err := cat.Writable(definitions(tables))
	if err != nil {
		return nil, err
	}
	useTables(s, tables)
	if grown {
		s.opts.Logger.Info("building new indexes")
		if err := storefile.Rebuild(s.engine, session, defs, nil); err != nil {
			return nil, err
		}
	}
	if !changed {
		return defs, nil
	}
	return defs, storefile.Transact(s.engine.Appender(), cat.Store)
}

// useTables makes the handles of tables whose ids are known.
func useTables(s *Store, tables []*Table) {
	s.tables = map[string]*Table{}
	for _, t := range tables {
		t.identify()
		s.tables[t.spec.Name] = t
	}
	s.internal = internalTables{retention: s.tables[retention.RecordsTable], holds: s.tables[holdsTable]}
	s.authors.init(s.tables[storefile.AuthorsTable])
}

// replayLog derives the index entries of the log behind the watermark.
func replayLog(s *Store, session schema.Session, defs storefile.Definitions, watermark Timestamp) (Timestamp, error) {
	counts, err := index.ReadCounts(session)
	if err != nil {
		return 0, err
	}
	r := index.Replayer{Tables: defs.Indexes(), Session: session, Tail: s.tail, Counts: counts, Row: s.head.Warm}
	if !s.opts.ReadOnly {
		r.Full = storefile.MergeWhenFull(s.engine.Appender(), s.tail, defs.Indexes(), counts)
	}
	newest, err := r.Run(watermark)
	if err != nil {
		return 0, err
	}
	s.head.Opened(newest, counts)
	return newest, nil
}
