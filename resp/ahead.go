package resp

// command is one that Peek has read.
type command struct {
	args  [][]byte
	start int // its first byte, in the buffer
}

// Peek shows the commands that the next calls of Next return, as far as they
// have arrived, and at most so many. What holds of Next's arguments holds of
// these. There is nothing to see of a client that has not authenticated, and
// whose next command depends on the one before.
func (r *Reader) Peek(most int, see func(args [][]byte)) {
	if r.guest || r.page == nil {
		return
	}
	if len(r.ahead) == 0 {
		r.ahead = r.page.ahead[:0]
	}
	for i := 0; i < most; i++ {
		if i == len(r.ahead) {
			start := r.start
			args, ok, err := r.read()
			if !ok || err != nil {
				break
			}
			r.ahead = append(r.ahead, command{args, start})
		}
		see(r.ahead[i].args)
	}
}

// unread undoes Peek, as far as Next has not returned what it has read.
func (r *Reader) unread() {
	if len(r.ahead) == 0 {
		return
	}
	r.start = r.ahead[0].start
	r.pos, r.scan = r.start, r.start
	r.left, r.need, r.places = 0, 0, r.places[:0]
	r.err, r.ahead = nil, nil // an error comes again
}
