package server

import "sync"

// workers run what may wait for the file, so that no loop has to. The queue
// is bounded by the number of connections: each has one place in it at most.
type workers struct {
	mu    sync.Mutex
	some  sync.Cond
	queue []func()
	ended bool
	wg    sync.WaitGroup
}

// startWorkers starts n goroutines; end stops them.
func startWorkers(n int) *workers {
	w := &workers{}
	w.some.L = &w.mu
	for range n {
		w.wg.Go(w.run)
	}
	return w
}

func (w *workers) do(job func()) {
	w.mu.Lock()
	w.queue = append(w.queue, job)
	w.mu.Unlock()
	w.some.Signal()
}

// end waits until the queue is empty and the workers are gone.
func (w *workers) end() {
	w.mu.Lock()
	w.ended = true
	w.mu.Unlock()
	w.some.Broadcast()
	w.wg.Wait()
}

func (w *workers) run() {
	for {
		w.mu.Lock()
		for len(w.queue) == 0 && !w.ended {
			w.some.Wait()
		}
		if len(w.queue) == 0 {
			w.mu.Unlock()
			return
		}
		job := w.queue[0]
		w.queue[0] = nil
		w.queue = w.queue[1:]
		w.mu.Unlock()
		job()
	}
}
