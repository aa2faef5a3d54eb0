package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/tuple"
)

const (
	// historyFields is how many documents a range has, as a hash has fields.
	historyFields = 1000

	// historyRows is how many rows the longest log has for each of -keys.
	historyRows = 10

	historyReads  = 2000 // of one document
	historyScans  = 40   // of a whole range
	historyWalks  = 200  // of the last versions
	lastVersions  = 100
	shortHistory  = 1000 // versions of the document that the long one is compared with
	versionedKeys = 10   // a tenth of -keys are SET, ten times each
)

// measureHistory asks what the past costs to read and to keep.
func measureHistory(ctx context.Context, l *lab) (s section, err error) {
	s = section{
		title: "History",
		method: fmt.Sprintf("The library, after the store was closed and opened again without memory for documents, so that the present is cold, too. "+
			"Documents of 64 bytes in a range of %d, as a hash's fields are; each was written as often as the row says, all in turn. "+
			"*point*: one document at a random moment against now, with %d rows in the log. *range*: all of them. *last %d*: of the newest versions of a document. "+
			"*bytes*: the file for each of %d SETs of 64 bytes to a tenth as many keys, through the server.",
			historyFields, historyRows*l.cfg.keys, lastVersions, l.cfg.keys),
		header: []string{"what", "versions", "now, or of few", "then, or of many", "ratio of p50", "bar"},
	}
	most := historyRows * l.cfg.keys / historyFields
	for _, versions := range []int{1, most / 100, most} {
		p, err := makePast(ctx, filepath.Join(l.dir, fmt.Sprintf("past-%d.db", versions)), versions)
		if err != nil {
			return s, err
		}
		if versions == most {
			now, then, err := p.compare(historyReads, p.point)
			if err != nil {
				return s, err
			}
			s.add("point", strconv.Itoa(versions), "history/point", now, then)
		}
		now, then, err := p.compare(historyScans, p.scan)
		if err := errors.Join(err, p.store.Close()); err != nil {
			return s, err
		}
		s.add("range", strconv.Itoa(versions), "history/range", now, then)
	}
	few, many, err := measureLast(ctx, filepath.Join(l.dir, "last.db"), l.cfg.keys)
	if err != nil {
		return s, err
	}
	s.add(fmt.Sprintf("last %d", lastVersions), fmt.Sprintf("%d and %d", shortHistory, l.cfg.keys), "history/last", few, many)
	each, err := bytesPerVersion(ctx, l)
	if err != nil {
		return s, err
	}
	s.rows = append(s.rows, []string{
		"bytes", strconv.Itoa(versionedKeys), "", fmt.Sprintf("%.0f B", each), "", verdict("history/bytes", each),
	})
	return s, nil
}

// add adds a row of two lists of latencies.
func (s *section) add(what, versions, key string, base, measured []time.Duration) {
	times := ratio(float64(percentile(measured, 50)), float64(percentile(base, 50)))
	s.rows = append(s.rows, []string{
		what, versions, showMicros(percentile(base, 50)), showMicros(percentile(measured, 50)), showRatio(times), verdict(key, times),
	})
}

// past is an open store with a range of documents and the moments at which
// all had been written once more.
type past struct {
	store   *firn.Store
	table   *firn.Table
	moments []firn.Timestamp
}

var pastTables = []firn.TableSpec{{Name: "documents", Prefix: 1}}

func pastID(i int) []byte {
	return tuple.AppendInt(tuple.AppendBytes(nil, []byte("hash")), int64(i))
}

// makePast writes every document so many times.
func makePast(ctx context.Context, path string, versions int) (*past, error) {
	store, err := firn.Open(path, firn.Options{Tables: pastTables, Durability: firn.None})
	if err != nil {
		return nil, err
	}
	p := &past{}
	table := store.Table("documents")
	for v := range versions {
		ts, err := store.Update(ctx, func(tx *firn.Tx) error {
			for i := range historyFields {
				if err := tx.Put(table, pastID(i), fmt.Appendf(nil, "%064d", v)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, errors.Join(err, store.Close())
		}
		p.moments = append(p.moments, ts)
	}
	if err := store.Close(); err != nil {
		return nil, err
	}
	if p.store, err = firn.Open(path, firn.Options{Tables: pastTables, Memory: -1}); err != nil {
		return nil, err
	}
	p.table = p.store.Table("documents")
	return p, nil
}

// compare times a read now and at a random moment, in turns.
func (p *past) compare(reads int, read func(s *firn.Snapshot, version int) error) (now, then []time.Duration, err error) {
	for range reads {
		v := rand.IntN(len(p.moments))
		began := time.Now()
		if err := p.store.View(func(s *firn.Snapshot) error { return read(s, len(p.moments)-1) }); err != nil {
			return nil, nil, err
		}
		between := time.Now()
		if err := p.store.At(p.moments[v], func(s *firn.Snapshot) error { return read(s, v) }); err != nil {
			return nil, nil, err
		}
		now, then = append(now, between.Sub(began)), append(then, time.Since(between))
	}
	return now, then, nil
}

// point reads a random document and checks its version.
func (p *past) point(s *firn.Snapshot, version int) error {
	doc, err := s.Get(p.table, pastID(rand.IntN(historyFields)))
	if err != nil {
		return err
	}
	return checkVersion(doc, version)
}

// scan reads all documents.
func (p *past) scan(s *firn.Snapshot, version int) error {
	n := 0
	for item, err := range s.Scan(firn.Range{Index: p.table.ByID(), From: tuple.AppendBytes(nil, []byte("hash"))}) {
		if err != nil {
			return err
		}
		if err := checkVersion(item.Doc, version); err != nil {
			return err
		}
		n++
	}
	if n != historyFields {
		return fmt.Errorf("a range has %d documents, want %d", n, historyFields)
	}
	return nil
}

func checkVersion(doc *firn.Document, version int) error {
	if got, err := strconv.Atoi(string(doc.Value)); err != nil || got != version {
		return fmt.Errorf("%q at %d: got %q, want version %d", doc.ID, doc.TS, doc.Value, version)
	}
	return nil
}

// measureLast times walks over the newest versions of a document with few and
// of one with many versions.
func measureLast(ctx context.Context, path string, versions int) (few, many []time.Duration, err error) {
	store, err := firn.Open(path, firn.Options{Tables: pastTables, Durability: firn.None})
	if err != nil {
		return nil, nil, err
	}
	table := store.Table("documents")
	for _, load := range []struct {
		id       string
		versions int
	}{{"few", shortHistory}, {"many", versions}} {
		w := &versionWriter{table: table, id: []byte(load.id), done: make(chan error, 1)}
		for left := load.versions; left > 0 && err == nil && ctx.Err() == nil; left -= w.n {
			w.n = min(left, loadWindow)
			if err = store.Submit(w); err == nil {
				err = <-w.done
			}
		}
	}
	if err := errors.Join(err, ctx.Err(), store.Close()); err != nil {
		return nil, nil, err
	}
	if store, err = firn.Open(path, firn.Options{Tables: pastTables, Memory: -1}); err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	table = store.Table("documents")
	for range historyWalks {
		for id, times := range map[string]*[]time.Duration{"few": &few, "many": &many} {
			began := time.Now()
			if err := walkLast(store, table, []byte(id)); err != nil {
				return nil, nil, err
			}
			*times = append(*times, time.Since(began))
		}
	}
	return few, many, nil
}

func walkLast(store *firn.Store, table *firn.Table, id []byte) error {
	return store.View(func(s *firn.Snapshot) error {
		n := 0
		for _, err := range s.Versions(table, id, firn.VersionRange{Newest: true, Limit: lastVersions}) {
			if err != nil {
				return err
			}
			n++
		}
		if n != lastVersions {
			return fmt.Errorf("%s has %d versions, want %d", id, n, lastVersions)
		}
		return nil
	})
}

// versionWriter is a batch that writes n versions of a document.
type versionWriter struct {
	table *firn.Table
	id    []byte
	n     int
	done  chan error // capacity 1: answering never blocks
}

func (w *versionWriter) Len() int { return w.n }

func (w *versionWriter) Transact(i int, tx *firn.Tx) error {
	return tx.Put(w.table, w.id, fmt.Appendf(nil, "%064d", i))
}

func (w *versionWriter) Done(_ firn.Timestamp, err error) { w.done <- err }

// bytesPerVersion is the file's size after SETs, for each of them.
func bytesPerVersion(ctx context.Context, l *lab) (each float64, err error) {
	firn, err := l.subject("everysec")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, firn.stop()) }()
	if err := firn.start(ctx); err != nil {
		return 0, err
	}
	c, err := dial(firn.addr())
	if err != nil {
		return 0, err
	}
	defer c.close()
	keys := l.cfg.keys / versionedKeys
	set := func(i int) []string { return []string{"SET", numberedKey(i % keys), value64} }
	if err := c.load(l.cfg.keys, set, nil); err != nil {
		return 0, err
	}
	c.close()
	if err := firn.stop(); err != nil { // merges, and empties the write-ahead log
		return 0, err
	}
	return float64(sizeBytes(firn.path())) / float64(l.cfg.keys), nil
}
