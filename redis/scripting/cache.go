package scripting

import (
	"container/list"
	"crypto/sha1"
	"encoding/hex"
	"sync"
	"sync/atomic"

	"github.com/firndb/firn/internal/lua"
	"github.com/firndb/firn/resp"
)

// Script is a compiled script.
type Script struct {
	SHA    string // in hex
	Source string
	Flags  Flags
	chunk  *lua.Chunk
	reason string      // what history says of what it wrote
	seen   atomic.Bool // it has run, or was loaded: history names it

	place *list.Element // among those that EVAL has loaded; nil: it stays
}

// Bounds of the cache.
const (
	// maxEvaluated is how many scripts are kept that EVAL has loaded, as in Redis
	// 7.4: programs that put values into the text of their scripts make a new one
	// with each call.
	maxEvaluated = 500

	// maxEvaluatedBytes is what those may take.
	maxEvaluatedBytes = 16 << 20

	// maxCacheBytes is what all may take, with those that SCRIPT LOAD has loaded,
	// which stay until SCRIPT FLUSH.
	maxCacheBytes = 256 << 20
)

// errCacheFull refuses SCRIPT LOAD.
const errCacheFull = resp.Error("ERR the script cache is full: SCRIPT FLUSH empties it")

// cache has the compiled scripts.
type cache struct {
	mu        sync.Mutex
	scripts   map[string]*Script
	evaluated *list.List // of *Script, the last used first
	bytes     int        // of all
	fleeting  int        // of those in evaluated
	evicted   atomic.Int64
}

func (c *cache) init() {
	c.scripts, c.evaluated, c.bytes, c.fleeting = make(map[string]*Script), list.New(), 0, 0
}

// size is about what a script takes.
func (s *Script) size() int { return len(s.Source) + s.chunk.Bytes() }

// shaHexBytes is how long a script's name is.
const shaHexBytes = 2 * sha1.Size

// shaOf is the name of a script.
func shaOf(dst *[shaHexBytes]byte, source []byte) []byte {
	sum := sha1.Sum(source)
	hex.Encode(dst[:], sum[:])
	return dst[:]
}

// find is the script of a name; nil if there is none.
func (c *cache) find(sha []byte) *Script {
	if len(sha) != shaHexBytes {
		return nil
	}
	var lower [shaHexBytes]byte
	for i, b := range sha {
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		lower[i] = b
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.scripts[string(lower[:])]
	if s != nil && s.place != nil {
		c.evaluated.MoveToFront(s.place)
	}
	return s
}

// keep adds a script. stays says that it is not to be dropped. It is false if
// there is no room for one that stays; any other is not kept then.
func (c *cache) keep(s *Script, stays bool) (kept *Script, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.scripts[s.SHA]
	if old == nil {
		if size := s.size(); c.bytes-c.fleeting+size > maxCacheBytes || !stays && size > maxEvaluatedBytes {
			return s, !stays
		}
		c.add(s)
		old = s
	}
	if stays && old.place != nil {
		c.evaluated.Remove(old.place)
		old.place = nil
		c.fleeting -= old.size()
	}
	for c.evaluated.Len() > maxEvaluated || c.fleeting > maxEvaluatedBytes {
		c.evict()
	}
	return old, true
}

// add adds a script that may be dropped.
func (c *cache) add(s *Script) {
	c.scripts[s.SHA] = s
	s.place = c.evaluated.PushFront(s)
	c.bytes += s.size()
	c.fleeting += s.size()
}

// evict drops the script that was not used for longest.
func (c *cache) evict() {
	last := c.evaluated.Remove(c.evaluated.Back()).(*Script)
	delete(c.scripts, last.SHA)
	c.bytes -= last.size()
	c.fleeting -= last.size()
	c.evicted.Add(1)
}

// flush drops all.
func (c *cache) flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.init()
}
