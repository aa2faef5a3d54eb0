package keyspace

import (
	"github.com/firndb/firn"
)

// CopyElements copies a collection's elements, as r has them, into a new one.
func CopyElements(v *View, r firn.Reader, from *KeyDoc) (UID, error) {
	to := v.NewUID()
	prefix := AppendUID(nil, from.UID)
	for _, table := range v.ElementTables(from.Kind) {
		var items []firn.Item
		for item, err := range r.Scan(firn.Range{Index: table.ByID(), Prefix: prefix}) {
			if err != nil {
				return UID{}, err
			}
			items = append(items, item)
		}
		for _, item := range items {
			id := append(v.PrefixOf(to), item.Key[len(prefix):]...)
			if err := v.Tx.Put(table, id, item.Doc.Value); err != nil {
				return UID{}, err
			}
		}
	}
	return to, nil
}
