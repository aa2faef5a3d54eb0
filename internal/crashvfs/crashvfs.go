// Package crashvfs is a disk that can lose power.
//
// [Register] makes a SQLite virtual file system that passes everything
// through to the platform's own and notes each write, truncation, sync and
// deletion in order. [Disk.Rebuild] then makes the files as they may be after
// a power cut at any point of that order: what was synced is there, and of
// everything later each sector is kept or lost at random. A test reopens
// them, and compares what it finds with what had been acknowledged.
//
// What the model leaves out: sectors are never torn within, nor damaged; a
// file's name is durable as soon as it is created, and its older namesake is
// then gone for good; and "-shm", which SQLite rebuilds, is not followed.
package crashvfs

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// sectorBytes is the unit that a disk keeps or loses as a whole. Most write
// 4096 at once; 512 is the smallest that any promises.
const sectorBytes = 512

// Kind is what an operation does.
type Kind int

const (
	// Open made the file, or found it with Data.
	Open Kind = iota
	// Write put Data at Offset.
	Write
	// Truncate made the file Offset bytes long.
	Truncate
	// Sync made everything before it in the file durable. The first one of a
	// new journal or write-ahead log also syncs the directory.
	Sync
	// Delete removed the file. It is durable at once if Durable, and else
	// when the directory is synced.
	Delete
	// Read is only there to fail: it changes nothing and is not noted.
	Read
)

func (k Kind) String() string {
	return [...]string{"open", "write", "truncate", "sync", "delete", "read"}[k]
}

// Op is one operation that changed a file or made it durable. Data must not
// be changed.
type Op struct {
	Kind    Kind
	Path    string
	Offset  int64
	Data    []byte
	Durable bool
}

func (op Op) String() string {
	return fmt.Sprintf("%s %s at %d, %d bytes", op.Kind, filepath.Base(op.Path), op.Offset, len(op.Data))
}

// Disk is one registered file system. It is safe for concurrent use.
type Disk struct {
	name string
	vfs  *shim

	mu    sync.Mutex
	ops   []Op
	seen  map[string]bool // paths with an Open since they were last deleted
	fault func(Op) bool
	full  func(Op) bool
}

// Name is the name to give as schema.Options.VFS.
func (d *Disk) Name() string { return d.name }

// Log is every operation so far, in order.
func (d *Disk) Log() []Op {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ops[:len(d.ops):len(d.ops)]
}

// Len is the number of operations so far: the point that is now.
func (d *Disk) Len() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.ops)
}

// SetFault makes the operations fail for which fault returns true: they are
// neither done nor noted, and SQLite sees an I/O error. nil ends it. fault is
// called with the disk's lock held and must not call the disk.
func (d *Disk) SetFault(fault func(Op) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault = fault
}

// SetFull is SetFault for writes that find no room: SQLite sees a full disk.
func (d *Disk) SetFull(full func(Op) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = full
}

// refuses reports whether there is no room for op.
func (d *Disk) refuses(op Op) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return op.Kind == Write && d.full != nil && d.full(op)
}

// fails reports whether op is to fail.
func (d *Disk) fails(op Op) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fault != nil && d.fault(op)
}

// note appends an operation. Opening a file that is followed already changes
// nothing.
func (d *Disk) note(op Op) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch op.Kind {
	case Open:
		if d.seen[op.Path] {
			return
		}
		d.seen[op.Path] = true
	case Delete:
		delete(d.seen, op.Path)
	}
	d.ops = append(d.ops, op)
}

// Cut says how the power is cut. The zero value is an honest disk.
type Cut struct {
	// IgnoreSync makes nothing durable, as a disk that lies would: a control,
	// under which a test of durability must fail.
	IgnoreSync bool

	// KeepPercent is how many of 100 unsynced sectors survive; 0 means 50,
	// negative means none.
	KeepPercent int
}

// Rebuild writes to dir the files as they may be after a power cut between
// the first point operations and the next. The same point and seed make the
// same files. Files of different directories must differ in name.
func (d *Disk) Rebuild(dir string, point int, seed uint64, c Cut) error {
	log := d.Log()
	if point < 0 || point > len(log) {
		return fmt.Errorf("crashvfs: point %d is not within the %d operations", point, len(log))
	}
	r := rebuild{
		cut:    c,
		random: rand.New(rand.NewPCG(seed, uint64(point))),
		files:  map[string]*file{},
	}
	for _, op := range log[:point] {
		r.apply(op)
	}
	for _, path := range r.order {
		f := r.files[path]
		if f == nil {
			continue
		}
		content, exists := r.settle(f)
		if !exists {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), content, 0o644); err != nil {
			return fmt.Errorf("crashvfs: rebuild: %w", err)
		}
	}
	return nil
}

// rebuild replays a log.
type rebuild struct {
	cut    Cut
	random *rand.Rand
	files  map[string]*file
	order  []string // paths as they first appeared, so that a seed repeats
}

// file is a file's durable content and what came behind it.
type file struct {
	content []byte
	pending []Op
	fresh   bool // the next sync is one of the directory too
}

func (r *rebuild) apply(op Op) {
	f := r.files[op.Path]
	if f == nil {
		if op.Kind == Delete {
			return
		}
		if _, known := r.files[op.Path]; !known {
			r.order = append(r.order, op.Path)
		}
		f = &file{}
		r.files[op.Path] = f
	}
	switch op.Kind {
	case Open:
		// A deletion that is still pending may yet come undone, but then the
		// old content is not what the new file's writes were made on.
		*f = file{content: append([]byte(nil), op.Data...), fresh: op.Data == nil && syncsDirectory(op.Path)}
	case Write, Truncate:
		f.pending = append(f.pending, op)
	case Sync:
		if r.cut.IgnoreSync {
			return
		}
		for _, op := range f.pending {
			f.content = change(f.content, op)
		}
		f.pending = nil
		if f.fresh {
			f.fresh = false
			r.syncDirectory(filepath.Dir(op.Path))
		}
	case Delete:
		if op.Durable && !r.cut.IgnoreSync {
			r.files[op.Path] = nil
			return
		}
		f.pending = append(f.pending, op)
	}
}

// syncsDirectory reports whether SQLite syncs the directory of a new file.
func syncsDirectory(path string) bool {
	return strings.HasSuffix(path, "-journal") || strings.HasSuffix(path, "-wal")
}

// syncDirectory makes the deletions in dir durable.
func (r *rebuild) syncDirectory(dir string) {
	for path, f := range r.files {
		if f == nil || len(f.pending) == 0 || filepath.Dir(path) != dir {
			continue
		}
		if f.pending[len(f.pending)-1].Kind == Delete {
			r.files[path] = nil
		}
	}
}

// settle decides what the cut left of a file.
func (r *rebuild) settle(f *file) (content []byte, exists bool) {
	content = f.content
	for _, op := range f.pending {
		switch op.Kind {
		case Write:
			for _, piece := range sectors(op) {
				if r.keeps() {
					content = change(content, piece)
				}
			}
		case Truncate:
			if r.keeps() {
				content = change(content, op)
			}
		case Delete:
			if r.keeps() {
				return nil, false
			}
		}
	}
	return content, true
}

func (r *rebuild) keeps() bool {
	percent := r.cut.KeepPercent
	if percent == 0 {
		percent = 50
	}
	return r.random.IntN(100) < percent
}

// sectors splits a write where the disk's sectors meet.
func sectors(op Op) []Op {
	var pieces []Op
	for offset, data := op.Offset, op.Data; len(data) > 0; {
		n := min(int(sectorBytes-offset%sectorBytes), len(data))
		pieces = append(pieces, Op{Kind: Write, Path: op.Path, Offset: offset, Data: data[:n]})
		offset, data = offset+int64(n), data[n:]
	}
	return pieces
}

// change does a write or a truncation to content. What is skipped is zero.
func change(content []byte, op Op) []byte {
	end := op.Offset
	if op.Kind == Write {
		end += int64(len(op.Data))
	}
	if grow := end - int64(len(content)); grow > 0 {
		content = append(content, make([]byte, grow)...)
	}
	if op.Kind == Write {
		copy(content[op.Offset:], op.Data)
		return content
	}
	return content[:end]
}
