package storefile

import (
	"errors"
	"fmt"
	"os"

	"github.com/firndb/firn/retention"
	"github.com/firndb/firn/schema"
)

// Reindex rebuilds all indexes of the store at path from its log. The store
// must not be open. tables are those that have declared indexes or are
// counted, and any others. progress, if not nil, is called now and then with
// the timestamp that has been reached and the last one.
func Reindex(path string, tables []*retention.Table, progress func(at, last schema.Timestamp)) (err error) {
	if info, err := os.Stat(path); err != nil {
		return err
	} else if info.Size() == 0 {
		return fmt.Errorf("%w: the file is empty", schema.ErrForeign) // Open would make a store of it
	}
	engine, err := schema.Open(path, schema.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	session, err := engine.Session()
	if err != nil {
		return err
	}
	defer session.Close()
	cat, err := ReadCatalog(session)
	if err != nil {
		return err
	}
	if _, _, err := cat.Declare(tables); err != nil {
		return err
	}
	defs, err := cat.Writable(tables)
	if err != nil {
		return err
	}
	last, err := session.Last()
	if err != nil || last == 0 {
		return err
	}
	rows := 0
	return Rebuild(engine, session, defs, func(v *schema.Visit) error {
		if rows++; progress != nil && rows%checkPage == 0 {
			progress(v.TS, last)
		}
		return nil
	})
}
