package keyspace

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/pack"
	"github.com/firndb/firn/tuple"
)

// Libraries of functions are documents of the table functions, which belongs to
// no database. Ids begin with an integer that says what the document is:
//
//	(0, library)   the operation that wrote it, the engine, the code, and for
//	               each function its name, flags, and description; a tombstone
//	               notes the operation
//	(1, function)  the library, the function's name, flags, and the hash of the
//	               library's code
//
// Both are written in one transaction, so a function names what its library has
// at every moment, and who calls one reads a single document unless its code is
// new to the process. Functions are found without regard to case, as in Redis:
// their ids are in lower case. Values are MessagePack arrays, see package pack.
const (
	libraryID  = 0
	functionID = 1
)

// CodeHash names code: equal hashes are equal code.
type CodeHash [sha256.Size]byte

// HashCode is the hash of code.
func HashCode(code []byte) CodeHash { return sha256.Sum256(code) }

// Library is a library of functions as of one moment.
type Library struct {
	Name      string
	Engine    string
	Operation string // what wrote it
	Code      []byte
	Functions []LibraryFunction // in the order in which they were registered
}

// LibraryFunction is one function of a library.
type LibraryFunction struct {
	Name        string
	Flags       uint32 // their meaning is the engine's
	Description []byte // nil: none
}

// Function is what a call must know of a function.
type Function struct {
	Library string
	Name    string
	Flags   uint32
	Hash    CodeHash // of the library's code
}

// FindLibrary reads a library; ok is false if there is none of the name.
func FindLibrary(v *View, name []byte) (l Library, ok bool, err error) {
	doc, err := v.R.Get(v.Functions, appendLibraryID(v.Room(), name))
	if err == firn.ErrNotFound {
		return Library{}, false, nil
	}
	if err != nil {
		return Library{}, false, err
	}
	l, err = parseLibrary(doc)
	return l, err == nil, err
}

// EachLibrary calls fn with every library in the order of their names. What it
// gets may be kept.
func EachLibrary(v *View, fn func(l Library) error) error {
	for item, err := range v.R.Scan(firn.Range{Index: v.Functions.ByID(), Prefix: tuple.AppendInt(nil, libraryID)}) {
		if err != nil {
			return err
		}
		l, err := parseLibrary(item.Doc)
		if err != nil {
			return err
		}
		l.Code = Own(l.Code)
		for i := range l.Functions {
			l.Functions[i].Description = bytes.Clone(l.Functions[i].Description)
		}
		if err := fn(l); err != nil {
			return err
		}
	}
	return nil
}

// CountLibraries is how many libraries and functions there are.
func CountLibraries(v *View) (libraries, functions int, err error) {
	if libraries, err = v.R.Count(v.Functions, tuple.AppendInt(nil, libraryID)); err != nil {
		return 0, 0, err
	}
	functions, err = v.R.Count(v.Functions, tuple.AppendInt(nil, functionID))
	return libraries, functions, err
}

// FindFunction finds a function; ok is false if there is none of the name.
func FindFunction(v *View, name []byte) (f Function, ok bool, err error) {
	doc, err := readDoc(v, v.Functions, appendFunctionID(v.Room(), name))
	if err == firn.ErrNotFound {
		return Function{}, false, nil
	}
	if err != nil {
		return Function{}, false, err
	}
	f, err = parseFunction(doc)
	return f, err == nil, err
}

// PutLibrary writes a library and its functions, in place of the one that has
// its name. No other library may have a function of the same name.
func PutLibrary(v *View, l *Library) error {
	if _, err := DeleteLibrary(v, []byte(l.Name)); err != nil {
		return err
	}
	f := Function{Library: l.Name, Hash: HashCode(l.Code)}
	for i := range l.Functions {
		f.Name, f.Flags = l.Functions[i].Name, l.Functions[i].Flags
		if err := v.Tx.Put(v.Functions, appendFunctionID(nil, []byte(f.Name)), appendFunction(nil, &f)); err != nil {
			return err
		}
	}
	l.Operation = v.Operation
	return v.Tx.Put(v.Functions, appendLibraryID(nil, []byte(l.Name)), appendLibrary(nil, l))
}

// DeleteLibrary deletes a library and its functions; ok is false if there is
// none of the name.
func DeleteLibrary(v *View, name []byte) (ok bool, err error) {
	l, ok, err := FindLibrary(v, name)
	if !ok || err != nil {
		return false, err
	}
	for _, f := range l.Functions {
		if err := v.Tx.Delete(v.Functions, appendFunctionID(nil, []byte(f.Name)), nil); err != nil {
			return false, err
		}
	}
	return true, v.Tx.Delete(v.Functions, appendLibraryID(nil, name), []byte(v.Operation))
}

// libraryChange is what a version of a library means; ok is false for its
// functions.
func libraryChange(doc *firn.Document) (c Change, ok bool, err error) {
	kind, rest, err := tuple.TakeInt(doc.ID)
	if err != nil || kind != libraryID {
		return c, false, err
	}
	c = Change{DB: -1, Type: "library", Deleted: doc.Deleted}
	if doc.Deleted {
		name, _, err := tuple.TakeString(rest)
		c.Key, c.Operation = []byte(name), string(doc.Value)
		return c, err == nil, err
	}
	l, err := parseLibrary(doc)
	c.Key, c.Operation = []byte(l.Name), l.Operation
	return c, err == nil, err
}

func appendLibraryID(dst, name []byte) []byte {
	return tuple.AppendBytes(tuple.AppendInt(dst, libraryID), name)
}

// appendFunctionID folds ASCII letters alone, as Redis does.
func appendFunctionID(dst, name []byte) []byte {
	folded := make([]byte, 0, 64)
	for _, c := range name {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		folded = append(folded, c)
	}
	return tuple.AppendBytes(tuple.AppendInt(dst, functionID), folded)
}

func appendBin(dst []byte, b string) []byte {
	return append(pack.AppendBinHeader(dst, len(b)), b...)
}

const codeNil = 0xc0

func appendLibrary(dst []byte, l *Library) []byte {
	dst = pack.AppendStr(append(dst, 0x94), l.Operation)
	dst = pack.AppendStr(dst, l.Engine)
	dst = append(pack.AppendBinHeader(dst, len(l.Code)), l.Code...)
	dst = pack.AppendArrayHeader(dst, len(l.Functions))
	for _, f := range l.Functions {
		dst = pack.AppendUint(appendBin(append(dst, 0x93), f.Name), uint64(f.Flags))
		if f.Description == nil {
			dst = append(dst, codeNil)
		} else {
			dst = append(pack.AppendBinHeader(dst, len(f.Description)), f.Description...)
		}
	}
	return dst
}

// parseLibrary shares memory with the document.
func parseLibrary(doc *firn.Document) (l Library, err error) {
	kind, rest, err := tuple.TakeInt(doc.ID)
	name, end, nameErr := tuple.TakeString(rest)
	d := pack.Decoder{B: doc.Value, Bad: err != nil || nameErr != nil || kind != libraryID || end != ""}
	d.Expect(0x94)
	l = Library{Name: name, Operation: string(d.Str()), Engine: string(d.Str()), Code: d.Bin()}
	for range d.Array() {
		d.Expect(0x93)
		l.Functions = append(l.Functions, LibraryFunction{Name: string(d.Bin()), Flags: functionFlags(&d), Description: d.Bin()})
		if d.Bad {
			break
		}
	}
	if d.Bad || len(d.B) > 0 {
		return Library{}, fmt.Errorf("library %x at %d: %w", doc.ID, doc.TS, ErrDamaged)
	}
	return l, nil
}

// functionFlags reads flags.
func functionFlags(d *pack.Decoder) uint32 {
	n := d.Int()
	d.Bad = d.Bad || n > math.MaxUint32
	return uint32(n)
}

func appendFunction(dst []byte, f *Function) []byte {
	dst = appendBin(appendBin(append(dst, 0x94), f.Library), f.Name)
	return appendBin(pack.AppendUint(dst, uint64(f.Flags)), string(f.Hash[:]))
}

func parseFunction(doc *firn.Document) (f Function, err error) {
	d := pack.Decoder{B: doc.Value}
	d.Expect(0x94)
	f = Function{Library: string(d.Bin()), Name: string(d.Bin()), Flags: functionFlags(&d)}
	hash := d.Bin()
	if d.Bad || len(d.B) > 0 || len(hash) != len(f.Hash) {
		return Function{}, fmt.Errorf("function %x at %d: %w", doc.ID, doc.TS, ErrDamaged)
	}
	copy(f.Hash[:], hash)
	return f, nil
}
