package scripting

// Cached is how many scripts the cache has, and about how many bytes their code
// takes.
func (e *Engine) Cached() (scripts, bytes int) {
	e.cache.mu.Lock()
	defer e.cache.mu.Unlock()
	for _, s := range e.cache.scripts {
		bytes += len(s.Source) + s.chunk.Bytes()
	}
	return len(e.cache.scripts), bytes
}

// FunctionBytes is about how many bytes the compiled code of libraries takes.
func (e *Engine) FunctionBytes() int { return functionsOf(e).libraries.size() }
