package keyspace

import (
	"github.com/firndb/firn"
)

// KeyBytes is how many bytes of ids and values a live key's present state has.
func KeyBytes(v *View, doc *firn.Document, k *KeyDoc) (int, error) {
	n := len(doc.ID) + len(doc.Value)
	if k.Kind == KindString {
		return n, nil
	}
	for _, table := range v.ElementTables(k.Kind) {
		for item, err := range v.R.Scan(firn.Range{Index: table.ByID(), Prefix: v.PrefixOf(k.UID), Lent: true}) {
			if err != nil {
				return 0, err
			}
			n += len(item.Key) + len(item.Doc.Value)
		}
	}
	return n, nil
}
