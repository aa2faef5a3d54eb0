package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// replyLimit bounds the wait for one reply. The slowest is a checkpoint or a
// merge of everything on a busy machine.
const replyLimit = time.Minute

// maxReplyBytes bounds what a reply may announce: INFO is the largest that is
// asked for, at some kilobytes.
const maxReplyBytes = 1 << 20

// errorReply is an error that the server answered with.
type errorReply string

func (e errorReply) Error() string { return string(e) }

// client is one connection. It is used by one goroutine.
type client struct {
	conn net.Conn
	in   *bufio.Reader
	out  *bufio.Writer
}

// dial connects. The caller closes the client.
func dial(addr string) (*client, error) {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return nil, err
	}
	return &client{conn, bufio.NewReaderSize(conn, 64<<10), bufio.NewWriterSize(conn, 64<<10)}, nil
}

func (c *client) close() { _ = c.conn.Close() }

// do sends one command and returns its reply: a string, an int64, nil, or a
// slice of those. An error reply is an error of type errorReply, and the
// connection can still be used after it.
func (c *client) do(args ...string) (any, error) {
	c.send(args...)
	if err := c.out.Flush(); err != nil {
		return nil, fmt.Errorf("send %s: %w", args[0], err)
	}
	return c.receive()
}

// send queues one command. An error shows at the next flush.
func (c *client) send(args ...string) {
	fmt.Fprintf(c.out, "*%d\r\n", len(args))
	for _, arg := range args {
		fmt.Fprintf(c.out, "$%d\r\n", len(arg))
		_, _ = c.out.WriteString(arg)
		_, _ = c.out.WriteString("\r\n")
	}
}

// receive reads one reply in RESP2.
func (c *client) receive() (any, error) {
	if err := c.conn.SetReadDeadline(time.Now().Add(replyLimit)); err != nil {
		return nil, err
	}
	line, err := c.in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	if len(line) < 3 {
		return nil, fmt.Errorf("reply %q is no RESP", line)
	}
	body := line[1 : len(line)-2]
	switch line[0] {
	case '+':
		return body, nil
	case '-':
		return nil, errorReply(body)
	case ':':
		return strconv.ParseInt(body, 10, 64)
	case '$':
		return c.bulk(body)
	case '*':
		return c.array(body)
	}
	return nil, fmt.Errorf("reply %q is no RESP2", line)
}

// announced reads a length; -1 stands for a null.
func announced(body string) (int, error) {
	n, err := strconv.Atoi(body)
	if err != nil || n < -1 || n > maxReplyBytes {
		return 0, fmt.Errorf("a reply announces length %q", body)
	}
	return n, nil
}

func (c *client) bulk(body string) (any, error) {
	n, err := announced(body)
	if err != nil || n < 0 {
		return nil, err
	}
	text := make([]byte, n+2)
	if _, err := io.ReadFull(c.in, text); err != nil {
		return nil, err
	}
	return string(text[:n]), nil
}

func (c *client) array(body string) (any, error) {
	n, err := announced(body)
	if err != nil || n < 0 {
		return nil, err
	}
	var items []any
	for range n {
		item, err := c.receive()
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

// loadWindow is how many commands load sends before it reads their replies:
// enough to hide the round trip, few enough that both sides' socket buffers
// hold them.
const loadWindow = 1000

// load sends the commands 0 to n-1 in windows. It returns the first error
// reply, if there was one. after, if not nil, is called behind each window
// with the number of commands done, when the connection has nothing under way.
func (c *client) load(n int, command func(i int) []string, after func(done int) error) error {
	for sent := 0; sent < n; {
		window := min(loadWindow, n-sent)
		for i := range window {
			c.send(command(sent + i)...)
		}
		if err := c.out.Flush(); err != nil {
			return fmt.Errorf("load after %d: %w", sent, err)
		}
		for i := range window {
			if _, err := c.receive(); err != nil {
				return fmt.Errorf("load %q: %w", command(sent + i)[0], err)
			}
		}
		sent += window
		if after == nil {
			continue
		}
		if err := after(sent); err != nil {
			return fmt.Errorf("load after %d: %w", sent, err)
		}
	}
	return nil
}

// unsupported reports whether err is a server's answer that it does not know
// the command.
func unsupported(err error) bool {
	reply, ok := errors.AsType[errorReply](err)
	return ok && len(reply) >= 11 && reply[:11] == "ERR unknown"
}
