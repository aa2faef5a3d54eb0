package gathervfs

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	sqlite3 "modernc.org/sqlite/lib"
)

// VFS is a registered file system for one connection. Its C side is a copy of
// the sqlite3_vfs below with another xOpen and xDelete. A file is the one of
// the file system below; those of the two files that matter get a copy of its
// methods in which some are ours.
//
// What is ours are closures of the VFS: the C side holds their addresses, so
// they live as long as the VFS is registered.
type VFS struct {
	name  string
	tls   *libc.TLS
	cName uintptr
	below uintptr // the sqlite3_vfs that we stand over
	vfs   uintptr // our sqlite3_vfs

	xOpen   func(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32
	xDelete func(tls *libc.TLS, vfs, name uintptr, syncDir int32) int32

	main mainFile
	log  logFile
}

// registered keeps each VFS from the collector while SQLite knows it.
var (
	registered sync.Map
	newest     atomic.Int64 // numbers the names
)

var errNoMemory = errors.New("out of memory")

// Over makes a file system over the one named base, the platform's own if it
// is empty. The caller opens one database with it, and calls Unregister once
// that is closed.
func Over(base string) (*VFS, error) {
	v := &VFS{name: fmt.Sprintf("gather-%d", newest.Add(1)), tls: libc.NewTLS()}
	v.main.syncer, v.log.syncer = platformSyncer(base), platformSyncer(base)
	if err := v.register(base); err != nil {
		v.free()
		return nil, fmt.Errorf("gathervfs: register over %q: %w", base, err)
	}
	registered.Store(v, nil)
	return v, nil
}

// Name is the name to open the database with.
func (v *VFS) Name() string { return v.name }

// Unregister takes the file system away.
func (v *VFS) Unregister() {
	sqlite3.Xsqlite3_vfs_unregister(v.tls, v.vfs)
	registered.Delete(v)
	v.free()
}

func (v *VFS) register(base string) (err error) {
	if v.cName, err = libc.CString(v.name); err != nil {
		return err
	}
	if v.below, err = v.find(base); err != nil {
		return err
	}
	v.vfs = libc.Xcalloc(v.tls, 1, types.Size_t(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
	v.main.methods, v.log.methods = v.newMethods(), v.newMethods()
	v.log.buffer = libc.Xmalloc(v.tls, gatherBytes)
	if v.vfs == 0 || v.main.methods == 0 || v.log.methods == 0 || v.log.buffer == 0 {
		return errNoMemory
	}
	v.fill()
	if rc := sqlite3.Xsqlite3_vfs_register(v.tls, v.vfs, 0); rc != sqlite3.SQLITE_OK {
		return fmt.Errorf("SQLite answers %d", rc)
	}
	return nil
}

func (v *VFS) newMethods() uintptr {
	return libc.Xcalloc(v.tls, 1, types.Size_t(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})))
}

// find returns the file system of a name.
func (v *VFS) find(base string) (uintptr, error) {
	name := uintptr(0)
	if base != "" {
		var err error
		if name, err = libc.CString(base); err != nil {
			return 0, err
		}
		defer libc.Xfree(v.tls, name)
	}
	found := sqlite3.Xsqlite3_vfs_find(v.tls, name)
	if found == 0 {
		return 0, errors.New("there is none")
	}
	return found, nil
}

func (v *VFS) free() {
	for _, p := range []uintptr{v.cName, v.vfs, v.main.methods, v.log.methods, v.log.buffer} {
		if p != 0 {
			libc.Xfree(v.tls, p)
		}
	}
	v.tls.Close()
}

// fill copies all fields but the list's: SQLite changes that one meanwhile.
// What we do not replace finds in our structure what it needs of its own.
func (v *VFS) fill() {
	vfs, below := at[sqlite3.Tsqlite3_vfs](v.vfs), at[sqlite3.Tsqlite3_vfs](v.below)
	v.xOpen, v.xDelete = v.open, v.remove
	*vfs = sqlite3.Tsqlite3_vfs{
		FiVersion:          below.FiVersion,
		FszOsFile:          below.FszOsFile,
		FmxPathname:        below.FmxPathname,
		FzName:             v.cName,
		FpAppData:          below.FpAppData,
		FxOpen:             pointer(v.xOpen),
		FxDelete:           pointer(v.xDelete),
		FxAccess:           below.FxAccess,
		FxFullPathname:     below.FxFullPathname,
		FxDlOpen:           below.FxDlOpen,
		FxDlError:          below.FxDlError,
		FxDlSym:            below.FxDlSym,
		FxDlClose:          below.FxDlClose,
		FxRandomness:       below.FxRandomness,
		FxSleep:            below.FxSleep,
		FxCurrentTime:      below.FxCurrentTime,
		FxGetLastError:     below.FxGetLastError,
		FxCurrentTimeInt64: below.FxCurrentTimeInt64,
		FxSetSystemCall:    below.FxSetSystemCall,
		FxGetSystemCall:    below.FxGetSystemCall,
		FxNextSystemCall:   below.FxNextSystemCall,
	}
}

// at is the C structure at p.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// pointer is a function of the program as the library calls it: the address of
// its description. Somebody must keep the function.
func pointer[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// function is the other way round.
func function[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&p)) }

// open is xOpen of the file system.
func (v *VFS) open(tls *libc.TLS, _, name, file uintptr, flags int32, outFlags uintptr) int32 {
	xOpen := function[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](at[sqlite3.Tsqlite3_vfs](v.below).FxOpen)
	rc := xOpen(tls, v.below, name, file, flags, outFlags)
	switch {
	case rc != sqlite3.SQLITE_OK:
	case flags&sqlite3.SQLITE_OPEN_MAIN_DB != 0 && v.main.file == 0:
		v.main.opened(file, &v.log)
	case flags&sqlite3.SQLITE_OPEN_WAL != 0 && v.log.file == 0 && sqlite3.Xsqlite3_database_file_object(tls, name) == v.main.file:
		v.log.opened(tls, file)
	}
	return rc
}

// remove is xDelete of the file system.
func (v *VFS) remove(tls *libc.TLS, _, name uintptr, syncDir int32) int32 {
	xDelete := function[func(*libc.TLS, uintptr, uintptr, int32) int32](at[sqlite3.Tsqlite3_vfs](v.below).FxDelete)
	return xDelete(tls, v.below, name, syncDir)
}
