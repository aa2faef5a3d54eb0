package pubsub

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Monitors are the clients that are shown all commands.
type Monitors struct {
	Count atomic.Int64 // 0: nobody looks, and nothing is made up for it

	mu      sync.Mutex
	clients []Listener
}

// Add makes a client look on.
func (m *Monitors) Add(l Listener) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clients = append(m.clients, l)
	m.Count.Add(1)
}

// Remove makes a client stop looking on.
func (m *Monitors) Remove(l Listener) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clients = slices.DeleteFunc(m.clients, func(other Listener) bool { return other == l })
	m.Count.Add(-1)
}

// Show sends a line to all that look on.
func (m *Monitors) Show(line []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.clients {
		l.Push(line)
	}
}
