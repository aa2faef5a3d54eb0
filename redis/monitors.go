package redis

import (
	"slices"
	"sync"
	"sync/atomic"
)

// monitors are the clients that are shown all commands.
type monitors struct {
	count atomic.Int64 // 0: nobody looks, and nothing is made up for it

	mu      sync.Mutex
	clients []listener
}

func (m *monitors) add(l listener) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clients = append(m.clients, l)
	m.count.Add(1)
}

// remove makes a client stop looking on.
func (m *monitors) remove(l listener) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clients = slices.DeleteFunc(m.clients, func(other listener) bool { return other == l })
	m.count.Add(-1)
}

// show sends a line to all that look on.
func (m *monitors) show(line []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.clients {
		l.Push(line)
	}
}
