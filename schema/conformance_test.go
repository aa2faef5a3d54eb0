package schema_test

// The engine on SQLite keeps the storage contract.

import (
	"path/filepath"
	"testing"

	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/schema/schematest"
)

func TestContract(t *testing.T) {
	for name, o := range map[string]schema.Options{
		"default":    {},
		"small page": {PageSize: 512, Sync: schema.SyncNormal, WriterCacheBytes: 1 << 10, ReaderCacheBytes: 1 << 10},
		"large page": {PageSize: 65536, Sync: schema.SyncNormal},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "default" {
				t.Skip("one page size is enough for a short run")
			}
			schematest.Run(t, opener(o))
		})
	}
}

func opener(o schema.Options) schematest.Open {
	return func(t *testing.T) (schema.Engine, func() schema.Engine) {
		path := filepath.Join(t.TempDir(), "contract.db")
		open := func() *schema.SQLite {
			t.Helper()
			s, err := schema.Open(path, o)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		s := open()
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return s, func() schema.Engine {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open()
			return s
		}
	}
}
