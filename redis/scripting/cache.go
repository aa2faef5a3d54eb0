package scripting

import (
	"container/list"
	"crypto/sha1"
	"encoding/hex"
	"sync"
	"sync/atomic"

	"github.com/firndb/firn/internal/lua"
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

// maxEvaluated is how many scripts are kept that EVAL has loaded, as in Redis
// 7.4: programs that put values into the text of their scripts make a new one
// with each call.
const maxEvaluated = 500

// cache has the compiled scripts.
type cache struct {
	mu        sync.Mutex
	scripts   map[string]*Script
	evaluated *list.List // of *Script, the last used first
}

func (c *cache) init() {
	c.scripts, c.evaluated = make(map[string]*Script), list.New()
}

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

// keep adds a script. stays says that it is not to be dropped.
func (c *cache) keep(s *Script, stays bool) *Script {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.scripts[s.SHA]; old != nil {
		s = old
	} else {
		c.scripts[s.SHA] = s
		s.place = c.evaluated.PushFront(s)
	}
	if stays && s.place != nil {
		c.evaluated.Remove(s.place)
		s.place = nil
	}
	if c.evaluated.Len() > maxEvaluated {
		last := c.evaluated.Back()
		c.evaluated.Remove(last)
		delete(c.scripts, last.Value.(*Script).SHA)
	}
	return s
}

// flush drops all.
func (c *cache) flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.init()
}
