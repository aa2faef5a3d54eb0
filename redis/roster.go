package redis

import (
	"maps"
	"slices"
	"sync"
)

// roster knows who is there, by id. It is safe for concurrent use.
type roster[T any] struct {
	mu   sync.Mutex
	byID map[int64]T
}

func (r *roster[T]) add(id int64, one T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byID == nil {
		r.byID = make(map[int64]T)
	}
	r.byID[id] = one
}

func (r *roster[T]) remove(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byID, id)
}

// find is who has an id; the zero value if nobody is there.
func (r *roster[T]) find(id int64) T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byID[id]
}

func (r *roster[T]) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.byID)
}

// all is everybody, by age.
func (r *roster[T]) all() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	ids := slices.Sorted(maps.Keys(r.byID))
	found := make([]T, len(ids))
	for i, id := range ids {
		found[i] = r.byID[id]
	}
	return found
}
