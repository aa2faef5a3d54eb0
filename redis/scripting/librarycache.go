package scripting

import (
	"container/list"
	"sync"

	"github.com/firndb/firn/redis/keyspace"
)

// What compiled libraries may take. Code is a document, so what is dropped is
// compiled again when it is called.
const (
	maxLibraries    = 1024
	maxLibraryBytes = 64 << 20
)

// libraryCache keeps compiled libraries, the last used for longest. Code at
// earlier moments is in it as well as the present one: it is known by its hash.
type libraryCache struct {
	mu    sync.Mutex
	byKey map[keyspace.CodeHash]*list.Element // of *library
	used  *list.List                          // the last used first
	bytes int
}

func (c *libraryCache) init() {
	c.byKey, c.used, c.bytes = make(map[keyspace.CodeHash]*list.Element), list.New(), 0
}

// find is the library of a hash; nil if it is not there.
func (c *libraryCache) find(hash keyspace.CodeHash) *library {
	c.mu.Lock()
	defer c.mu.Unlock()
	place := c.byKey[hash]
	if place == nil {
		return nil
	}
	c.used.MoveToFront(place)
	return place.Value.(*library)
}

// keep adds a library. The one that was added last stays, however large.
func (c *libraryCache) keep(l *library) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey[l.hash] != nil {
		return
	}
	c.byKey[l.hash] = c.used.PushFront(l)
	c.bytes += l.chunk.Bytes()
	for c.used.Len() > 1 && (c.used.Len() > maxLibraries || c.bytes > maxLibraryBytes) {
		last := c.used.Remove(c.used.Back()).(*library)
		delete(c.byKey, last.hash)
		c.bytes -= last.chunk.Bytes()
	}
}

// size is how many bytes the libraries take, about.
func (c *libraryCache) size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}
