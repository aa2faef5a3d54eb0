package scripting

// functionSet is what the functions of a server share, beside their documents.
type functionSet struct {
	engine    *Engine
	libraries libraryCache
	natives   natives
}

// functionsOf is the set of an engine, which knows nothing of functions.
func functionsOf(e *Engine) *functionSet {
	if set, ok := e.functions.Load().(*functionSet); ok {
		return set
	}
	set := &functionSet{engine: e}
	set.libraries.init()
	e.functions.CompareAndSwap(nil, set)
	return e.functions.Load().(*functionSet)
}

// loadedIn is the libraries of a run's state.
func loadedIn(r *Run) *loadedSet {
	set, ok := r.functions.(*loadedSet)
	if !ok {
		set = new(loadedSet)
		r.functions = set
	}
	return set
}
