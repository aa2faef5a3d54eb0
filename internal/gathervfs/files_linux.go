package gathervfs

import (
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// replaced is an open file some of whose methods are ours. file is 0 while it
// is not open.
type replaced struct {
	syncer
	file    uintptr
	methods uintptr // ours, and the others from below
	below   *sqlite3.Tsqlite3_io_methods
}

// replace makes the methods of an open file a copy, in which the caller puts
// its own.
func (r *replaced) replace(file uintptr) *sqlite3.Tsqlite3_io_methods {
	r.file = file
	r.below = at[sqlite3.Tsqlite3_io_methods](at[sqlite3.Tsqlite3_file](file).FpMethods)
	m := at[sqlite3.Tsqlite3_io_methods](r.methods)
	*m = *r.below
	at[sqlite3.Tsqlite3_file](file).FpMethods = r.methods
	return m
}

func (r *replaced) close(tls *libc.TLS, file uintptr) int32 {
	r.file = 0
	return function[func(*libc.TLS, uintptr) int32](r.below.FxClose)(tls, file)
}

// sync is xSync of an open file.
func (r *replaced) sync(tls *libc.TLS, file uintptr, flags int32) int32 {
	if rc, done := r.syncContent(file); done {
		return rc
	}
	return function[func(*libc.TLS, uintptr, int32) int32](r.below.FxSync)(tls, file, flags)
}

// mainFile is the database file: its wal-index has the lock of the writer.
type mainFile struct {
	replaced
	log *logFile
	db  uintptr // the connection

	closes   func(tls *libc.TLS, file uintptr) int32
	syncs    func(tls *libc.TLS, file uintptr, flags int32) int32
	shmLocks func(tls *libc.TLS, file uintptr, offset, n, flags int32) int32
	controls func(tls *libc.TLS, file uintptr, op int32, arg uintptr) int32
}

func (f *mainFile) opened(file uintptr, log *logFile) {
	m := f.replace(file)
	f.log = log
	f.closes, f.syncs, f.shmLocks, f.controls = f.close, f.sync, f.shmLock, f.control
	m.FxClose, m.FxSync = pointer(f.closes), pointer(f.syncs)
	m.FxShmLock, m.FxFileControl = pointer(f.shmLocks), pointer(f.controls)
}

// shmLock drops what a transaction has left, before another may write.
func (f *mainFile) shmLock(tls *libc.TLS, file uintptr, offset, n, flags int32) int32 {
	if offset == sqlite3.WAL_WRITE_LOCK && flags&sqlite3.SQLITE_SHM_UNLOCK != 0 {
		f.log.frames.drop()
	}
	return function[func(*libc.TLS, uintptr, int32, int32, int32) int32](f.below.FxShmLock)(tls, file, offset, n, flags)
}

// control notes which connection the file belongs to.
func (f *mainFile) control(tls *libc.TLS, file uintptr, op int32, arg uintptr) int32 {
	if op == sqlite3.SQLITE_FCNTL_PDB {
		f.db = *at[uintptr](arg)
	}
	return function[func(*libc.TLS, uintptr, int32, uintptr) int32](f.below.FxFileControl)(tls, file, op, arg)
}

func (f *mainFile) close(tls *libc.TLS, file uintptr) int32 {
	f.db = 0
	return f.replaced.close(tls, file)
}

// logFile is the write-ahead log.
type logFile struct {
	replaced
	tls    *libc.TLS // the connection's
	buffer uintptr   // gatherBytes, not of the Go heap: the file system below is C
	frames gatherer

	closes    func(tls *libc.TLS, file uintptr) int32
	reads     func(tls *libc.TLS, file, buf uintptr, n int32, offset int64) int32
	writes    func(tls *libc.TLS, file, buf uintptr, n int32, offset int64) int32
	truncates func(tls *libc.TLS, file uintptr, size int64) int32
	syncs     func(tls *libc.TLS, file uintptr, flags int32) int32
	sizes     func(tls *libc.TLS, file, size uintptr) int32
}

func (f *logFile) opened(tls *libc.TLS, file uintptr) {
	m := f.replace(file)
	f.tls = tls
	f.frames = gatherer{put: f.put, buf: unsafe.Slice(at[byte](f.buffer), gatherBytes)[:0]}
	f.closes, f.reads, f.writes, f.truncates, f.syncs, f.sizes = f.close, f.read, f.write, f.truncate, f.sync, f.size
	m.FxClose, m.FxRead, m.FxWrite = pointer(f.closes), pointer(f.reads), pointer(f.writes)
	m.FxTruncate, m.FxSync, m.FxFileSize = pointer(f.truncates), pointer(f.syncs), pointer(f.sizes)
}

// put writes below. data is the buffer's or SQLite's.
func (f *logFile) put(data []byte, offset int64) int32 {
	xWrite := function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](f.below.FxWrite)
	return xWrite(f.tls, f.file, uintptr(unsafe.Pointer(unsafe.SliceData(data))), int32(len(data)), offset)
}

func (f *logFile) close(tls *libc.TLS, file uintptr) int32 {
	f.frames.drop()
	return f.replaced.close(tls, file)
}

func (f *logFile) write(_ *libc.TLS, _, buf uintptr, n int32, offset int64) int32 {
	return f.frames.write(unsafe.Slice(at[byte](buf), n), offset)
}

func (f *logFile) read(tls *libc.TLS, file, buf uintptr, n int32, offset int64) int32 {
	if rc := f.frames.flush(); rc != 0 {
		return rc
	}
	return function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](f.below.FxRead)(tls, file, buf, n, offset)
}

func (f *logFile) truncate(tls *libc.TLS, file uintptr, size int64) int32 {
	if rc := f.frames.flush(); rc != 0 {
		return rc
	}
	return function[func(*libc.TLS, uintptr, int64) int32](f.below.FxTruncate)(tls, file, size)
}

func (f *logFile) sync(tls *libc.TLS, file uintptr, flags int32) int32 {
	if rc := f.frames.flush(); rc != 0 {
		return rc
	}
	return f.replaced.sync(tls, file, flags)
}

func (f *logFile) size(tls *libc.TLS, file, size uintptr) int32 {
	if rc := f.frames.flush(); rc != 0 {
		return rc
	}
	return function[func(*libc.TLS, uintptr, uintptr) int32](f.below.FxFileSize)(tls, file, size)
}
