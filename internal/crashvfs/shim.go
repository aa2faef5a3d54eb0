package crashvfs

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	sqlite3 "modernc.org/sqlite/lib"
)

// The shim is C structures made from Go: a sqlite3_vfs that is a copy of the
// platform's with another xOpen and xDelete, and for each open file a
// sqlite3_file that is followed in memory by the platform's own.
//
//	+----------------+---------------------------+
//	| shim's methods | the platform's file       |
//	+----------------+---------------------------+
//	  prefixBytes      szOsFile of the platform
const prefixBytes = 16 // a pointer, and what keeps the next one aligned

// shim is the C side of a Disk.
type shim struct {
	tls     *libc.TLS
	vfs     uintptr // our sqlite3_vfs
	real    uintptr // the platform's
	methods uintptr // our sqlite3_io_methods
	name    uintptr
}

// files and disks find the Go side of a C pointer.
var (
	registry sync.RWMutex
	disks    = map[uintptr]*Disk{}    // by sqlite3_vfs
	files    = map[uintptr]openFile{} // by sqlite3_file
)

// registering is held from copying the platform's file system to linking the
// copy into SQLite's list: the copied structure is itself a link of that list.
var registering sync.Mutex

type openFile struct {
	disk *Disk
	path string // "" if the file is temporary
}

// Register makes a disk under a name that no other file system has. The
// caller calls Unregister once nothing uses it.
func Register(name string) (*Disk, error) {
	registering.Lock()
	defer registering.Unlock()
	tls := libc.NewTLS()
	s := &shim{tls: tls}
	var err error
	if s.name, err = libc.CString(name); err != nil {
		tls.Close()
		return nil, fmt.Errorf("crashvfs: register %q: %w", name, err)
	}
	if sqlite3.Xsqlite3_vfs_find(tls, s.name) != 0 {
		s.free()
		return nil, fmt.Errorf("crashvfs: register %q: the name is taken", name)
	}
	s.real = sqlite3.Xsqlite3_vfs_find(tls, 0)
	s.vfs = libc.Xcalloc(tls, 1, types.Size_t(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
	s.methods = libc.Xcalloc(tls, 1, types.Size_t(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})))
	if s.real == 0 || s.vfs == 0 || s.methods == 0 {
		s.free()
		return nil, fmt.Errorf("crashvfs: register %q: %w", name, errNoMemory)
	}
	s.fill()
	d := &Disk{name: name, vfs: s, seen: map[string]bool{}}
	registry.Lock()
	disks[s.vfs] = d
	registry.Unlock()
	if rc := sqlite3.Xsqlite3_vfs_register(tls, s.vfs, 0); rc != sqlite3.SQLITE_OK {
		d.unregister()
		return nil, fmt.Errorf("crashvfs: register %q: SQLite answers %d", name, rc)
	}
	return d, nil
}

var errNoMemory = errors.New("out of memory")

// Unregister takes the file system away. No file on it may be open. The log
// stays readable.
func (d *Disk) Unregister() {
	registering.Lock()
	defer registering.Unlock()
	d.unregister()
}

func (d *Disk) unregister() {
	registry.Lock()
	delete(disks, d.vfs.vfs)
	registry.Unlock()
	sqlite3.Xsqlite3_vfs_unregister(d.vfs.tls, d.vfs.vfs)
	d.vfs.free()
}

func (s *shim) free() {
	for _, p := range []uintptr{s.name, s.vfs, s.methods} {
		if p != 0 {
			libc.Xfree(s.tls, p)
		}
	}
	s.tls.Close()
}

func (s *shim) fill() {
	vfs := at[sqlite3.Tsqlite3_vfs](s.vfs)
	*vfs = *at[sqlite3.Tsqlite3_vfs](s.real)
	vfs.FszOsFile += prefixBytes
	vfs.FpNext = 0
	vfs.FzName = s.name
	vfs.FxOpen = pointer(open)
	vfs.FxDelete = pointer(remove)

	// Version 2 is that with the -shm, and without memory-mapped pages,
	// which would be written past us.
	*at[sqlite3.Tsqlite3_io_methods](s.methods) = sqlite3.Tsqlite3_io_methods{
		FiVersion:               2,
		FxClose:                 pointer(xClose),
		FxRead:                  pointer(xRead),
		FxWrite:                 pointer(xWrite),
		FxTruncate:              pointer(xTruncate),
		FxSync:                  pointer(xSync),
		FxFileSize:              pointer(xFileSize),
		FxLock:                  pointer(xLock),
		FxUnlock:                pointer(xUnlock),
		FxCheckReservedLock:     pointer(xCheckReservedLock),
		FxFileControl:           pointer(xFileControl),
		FxSectorSize:            pointer(xSectorSize),
		FxDeviceCharacteristics: pointer(xDeviceCharacteristics),
		FxShmMap:                pointer(xShmMap),
		FxShmLock:               pointer(xShmLock),
		FxShmBarrier:            pointer(xShmBarrier),
		FxShmUnmap:              pointer(xShmUnmap),
	}
}

// at is the C structure at p.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// pointer is a function of the program as the library calls it: the address
// of its description, which for a declared function never moves.
func pointer[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// function is the other way round.
func function[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&p)) }

// lookup finds the open file behind a sqlite3_file, the platform's part of it
// and that one's methods.
func lookup(p uintptr) (f openFile, real uintptr, m *sqlite3.Tsqlite3_io_methods) {
	registry.RLock()
	defer registry.RUnlock()
	real = p + prefixBytes
	return files[p], real, at[sqlite3.Tsqlite3_io_methods](at[sqlite3.Tsqlite3_file](real).FpMethods)
}

// open is xOpen of the file system.
func open(tls *libc.TLS, vfs, name, p uintptr, flags int32, outFlags uintptr) int32 {
	registry.RLock()
	d := disks[vfs]
	registry.RUnlock()
	real := at[sqlite3.Tsqlite3_vfs](d.vfs.real)
	at[sqlite3.Tsqlite3_file](p).FpMethods = 0
	path := ""
	if name != 0 {
		path = libc.GoString(name)
	}
	before, err := os.ReadFile(path)
	xOpen := function[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](real.FxOpen)
	rc := xOpen(tls, d.vfs.real, name, p+prefixBytes, flags, outFlags)
	if rc != sqlite3.SQLITE_OK {
		return rc
	}
	at[sqlite3.Tsqlite3_file](p).FpMethods = d.vfs.methods
	registry.Lock()
	files[p] = openFile{disk: d, path: path}
	registry.Unlock()
	if path != "" {
		if err != nil {
			before = nil // the file is new
		}
		d.note(Op{Kind: Open, Path: path, Data: before})
	}
	return rc
}

// remove is xDelete of the file system.
func remove(tls *libc.TLS, vfs, name uintptr, syncDir int32) int32 {
	registry.RLock()
	d := disks[vfs]
	registry.RUnlock()
	op := Op{Kind: Delete, Path: libc.GoString(name), Durable: syncDir != 0}
	if d.fails(op) {
		return sqlite3.SQLITE_IOERR_DELETE
	}
	xDelete := function[func(*libc.TLS, uintptr, uintptr, int32) int32](at[sqlite3.Tsqlite3_vfs](d.vfs.real).FxDelete)
	rc := xDelete(tls, d.vfs.real, name, syncDir)
	if rc == sqlite3.SQLITE_OK {
		d.note(op)
	}
	return rc
}

// change does an operation on a file through do, unless it is to fail, and
// notes it once it is done. Two connections take turns in SQLite's own locks,
// so what is noted is in the order in which it was done.
func (f openFile) change(op Op, failure int32, do func() int32) int32 {
	op.Path = f.path
	if f.path != "" && f.disk.fails(op) {
		return failure
	}
	if f.path != "" && f.disk.refuses(op) {
		return sqlite3.SQLITE_FULL
	}
	rc := do()
	if rc == sqlite3.SQLITE_OK && f.path != "" {
		f.disk.note(op)
	}
	return rc
}

func xClose(tls *libc.TLS, p uintptr) int32 {
	_, real, m := lookup(p)
	rc := function[func(*libc.TLS, uintptr) int32](m.FxClose)(tls, real)
	registry.Lock()
	delete(files, p)
	registry.Unlock()
	return rc
}

func xRead(tls *libc.TLS, p, buf uintptr, n int32, offset int64) int32 {
	f, real, m := lookup(p)
	if f.path != "" && f.disk.fails(Op{Kind: Read, Path: f.path, Offset: offset}) {
		return sqlite3.SQLITE_IOERR_READ
	}
	return function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](m.FxRead)(tls, real, buf, n, offset)
}

func xWrite(tls *libc.TLS, p, buf uintptr, n int32, offset int64) int32 {
	f, real, m := lookup(p)
	data := append([]byte(nil), libc.GoBytes(buf, int(n))...)
	return f.change(Op{Kind: Write, Offset: offset, Data: data}, sqlite3.SQLITE_IOERR_WRITE, func() int32 {
		return function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](m.FxWrite)(tls, real, buf, n, offset)
	})
}

func xTruncate(tls *libc.TLS, p uintptr, size int64) int32 {
	f, real, m := lookup(p)
	return f.change(Op{Kind: Truncate, Offset: size}, sqlite3.SQLITE_IOERR_TRUNCATE, func() int32 {
		return function[func(*libc.TLS, uintptr, int64) int32](m.FxTruncate)(tls, real, size)
	})
}

func xSync(tls *libc.TLS, p uintptr, flags int32) int32 {
	f, real, m := lookup(p)
	return f.change(Op{Kind: Sync}, sqlite3.SQLITE_IOERR_FSYNC, func() int32 {
		return function[func(*libc.TLS, uintptr, int32) int32](m.FxSync)(tls, real, flags)
	})
}

func xFileSize(tls *libc.TLS, p, size uintptr) int32 {
	_, real, m := lookup(p)
	return function[func(*libc.TLS, uintptr, uintptr) int32](m.FxFileSize)(tls, real, size)
}

func xLock(tls *libc.TLS, p uintptr, level int32) int32 {
	_, real, m := lookup(p)
	return function[func(*libc.TLS, uintptr, int32) int32](m.FxLock)(tls, real, level)
}

func xUnlock(tls *libc.TLS, p uintptr, level int32) int32 {
	_, real, m := lookup(p)
	return function[func(*libc.TLS, uintptr, int32) int32](m.FxUnlock)(tls, real, level)
}

func xCheckReservedLock(tls *libc.TLS, p, held uintptr) int32 {
	_, real, m := lookup(p)
	return function[func(*libc.TLS, uintptr, uintptr) int32](m.FxCheckReservedLock)(tls, real, held)
}

func xFileControl(tls *libc.TLS, p uintptr, op int32, arg uintptr) int32 {
	_, real, m := lookup(p)
	return function[func(*libc.TLS, uintptr, int32, uintptr) int32](m.FxFileControl)(tls, real, op, arg)
}

func xSectorSize(tls *libc.TLS, p uintptr) int32 {
	_, real, m := lookup(p)
	return function[func(*libc.TLS, uintptr) int32](m.FxSectorSize)(tls, real)
}

func xDeviceCharacteristics(tls *libc.TLS, p uintptr) int32 {
	_, real, m := lookup(p)
	return function[func(*libc.TLS, uintptr) int32](m.FxDeviceCharacteristics)(tls, real)
}

func xShmMap(tls *libc.TLS, p uintptr, page, size, extend int32, out uintptr) int32 {
	_, real, m := lookup(p)
	return function[func(*libc.TLS, uintptr, int32, int32, int32, uintptr) int32](m.FxShmMap)(tls, real, page, size, extend, out)
}

func xShmLock(tls *libc.TLS, p uintptr, offset, n, flags int32) int32 {
	_, real, m := lookup(p)
	return function[func(*libc.TLS, uintptr, int32, int32, int32) int32](m.FxShmLock)(tls, real, offset, n, flags)
}

func xShmBarrier(tls *libc.TLS, p uintptr) {
	_, real, m := lookup(p)
	function[func(*libc.TLS, uintptr)](m.FxShmBarrier)(tls, real)
}

func xShmUnmap(tls *libc.TLS, p uintptr, remove int32) int32 {
	_, real, m := lookup(p)
	return function[func(*libc.TLS, uintptr, int32) int32](m.FxShmUnmap)(tls, real, remove)
}
