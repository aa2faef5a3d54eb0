package command

// ReadsKeys says whether a command is a function of one snapshot, and so runs
// under AT.
func (e *Entry) ReadsKeys() bool {
	return e.Flags&(Writes|Local|OnWorker|NoQueue) == 0
}
