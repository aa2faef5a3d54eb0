package web

import "time"

// Limits of a connection and of a request. None is a guess about honest
// clients: each is some times what those need.
const (
	// maxHeaderBytes bounds a request's line and header. A query's arguments
	// are in the line, and proxies let 8 to 32 KiB through.
	maxHeaderBytes = 64 << 10

	// headerTimeout is how long a client may take to send its request's header,
	// from when it has connected or sent the first byte.
	headerTimeout = 10 * time.Second

	// idleTimeout is how long a connection is kept between two requests: longer
	// than the minute that scrapers and browsers leave between theirs.
	idleTimeout = 2 * time.Minute

	// writeTimeout is how long a client may leave what it is sent unread, when
	// the system's buffers are full: each stepBytes have so long.
	writeTimeout = 30 * time.Second
	stepBytes    = 256 << 10

	// keepAliveInterval is after how long a quiet stream says so: proxies give
	// connections up that were silent for 30 or 60 seconds.
	keepAliveInterval = 15 * time.Second

	// bookmarkMS is how long a page of the feed waits for a change, and so how
	// old a quiet stream's token gets.
	bookmarkMS = 10_000

	// pageCommits is how many commits the feed is asked for at once.
	pageCommits = 256

	// retryMS is after how long a browser comes back.
	retryMS = 1000

	// maxReplyBytes bounds a reply that becomes JSON, of which there are two
	// copies meanwhile. What is larger is for RESP, and its parts.
	maxReplyBytes = 256 << 20

	// maxWords bounds the commands and arguments of a query. Each takes a byte
	// of the header at least; but the parts of what is parsed take more.
	maxWords = 1024

	// endTimeout is how long replies may still be written while the server
	// ends. Streams end at once.
	endTimeout = 3 * time.Second

	// refusalTimeout is how long a connection that is one too many may take to
	// be told.
	refusalTimeout = 100 * time.Millisecond

	// usualConnections and usualStreams are what the options are if they are
	// not given: a browser opens six connections to a server, so either is many
	// pages.
	usualConnections = 1024
	usualStreams     = 128
)
