package writer

// TurnAway answers the jobs that wait with err, but for those that stay, and
// whatever else waits. It is called by a job's transaction, which takes long.
func TurnAway(w *Writer, stays func(Job) bool, err error) {
	left := w.taken[:0]
	for _, j := range w.taken {
		if stays(j) {
			left = append(left, j)
		} else {
			j.Done(0, err)
		}
	}
	clear(w.taken[len(left):])
	w.taken = left
	answer(w.queue.sift(stays), err)
}
