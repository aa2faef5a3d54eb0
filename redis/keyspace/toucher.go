package keyspace

import "github.com/firndb/firn"

// Toucher brings keys into the processor's caches. It belongs to one goroutine.
type Toucher struct {
	view *View
	text []byte // of the ids
	ids  [][]byte
}

// NewToucher makes a Toucher of a catalog's keys.
func NewToucher(t *Catalog) Toucher { return Toucher{view: NewView(t, nil)} }

// Touch touches keys of a database. What it does not find in memory it does
// not look for.
func (t *Toucher) Touch(snap *firn.Snapshot, db int, keys [][]byte) error {
	v := t.view
	v.Begin()
	v.R, v.DB = snap, db
	defer func() { v.R = nil }()
	space, err := v.Keyspace(db)
	if err != nil {
		return err
	}
	t.text, t.ids = t.text[:0], t.ids[:0]
	for _, key := range keys {
		from := len(t.text)
		t.text = AppendKeyID(t.text, space, key)
		t.ids = append(t.ids, t.text[from:])
	}
	snap.Touch(v.Keys, t.ids)
	if cap(t.text) > maxKeptText {
		t.text = nil
	}
	return nil
}

// maxKeptText is the most bytes of ids that a Toucher keeps room for: 512 keys
// of 128 bytes.
const maxKeptText = 64 << 10
