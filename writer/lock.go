package writer

// lock is a mutex that is given to who waits, in the order of their coming.
// It is a channel because it is held while a commit is waited for: who waits
// for a channel in a bubble of testing/synctest lets time go on.
type lock chan struct{}

func newLock() lock {
	l := make(lock, 1)
	l.Unlock()
	return l
}

func (l lock) Lock()   { <-l }
func (l lock) Unlock() { l <- struct{}{} }

func (l lock) TryLock() bool {
	select {
	case <-l:
		return true
	default:
		return false
	}
}
