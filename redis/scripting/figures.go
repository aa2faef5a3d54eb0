package scripting

// Cached is how many scripts the cache has, and about how many bytes they take,
// and how many were dropped.
func (e *Engine) Cached() (scripts, bytes int, evicted int64) {
	e.cache.mu.Lock()
	defer e.cache.mu.Unlock()
	return len(e.cache.scripts), e.cache.bytes, e.cache.evicted.Load()
}

// FunctionBytes is about how many bytes the compiled code of libraries takes.
func (e *Engine) FunctionBytes() int { return functionsOf(e).libraries.size() }
