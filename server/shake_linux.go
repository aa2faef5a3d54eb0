package server

// shakeHands has a new client and the server agree on keys, beside the loop:
// it takes the time of a thousand commands, and the client's. Meanwhile the
// connection waits.
func (l *loop) shakeHands(c *conn) {
	c.shaking = true
	l.wait(c)
	go func() {
		c.wire.shake()
		l.tell(func(m *mailbox) { m.ready = append(m.ready, c) })
	}()
}

// letIn makes a client of one that has shaken hands. false means that it
// could not, and is gone.
func (l *loop) letIn(c *conn) bool {
	c.shaking = false
	w := c.wire
	w.file = nil
	if w.err != nil {
		logHandshake(l.server.opts.Logger, w.peer, w.err)
		l.close(c)
		return false
	}
	if text := l.server.redis.Denial(w.near); text != "" {
		w.write([]byte(text))
		l.close(c)
		return false
	}
	if err := l.watchClient(c.fd); err != nil {
		l.server.opts.Logger.Warn("client refused", "client", w.peer, "error", err)
		l.close(c)
		return false
	}
	c.readable = true // its first command may have come with the end of the handshake
	return true
}
