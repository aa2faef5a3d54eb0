package redis

import (
	"net/netip"
	"strings"

	"github.com/firndb/firn/resp"
)

// Refusal is what a client that connects is told when it is turned away;
// empty: it is let in. local says that it is on this machine. Drivers ask
// before they make a session, send the text, and close the connection.
func (srv *Server) Refusal(local bool) string {
	text := ""
	switch {
	case srv.clients.count() >= int(srv.config.maxClients.Load()):
		text = fullReply
	case !local && srv.config.protected.Load() && srv.users.Open():
		text = deniedReply
	}
	if text != "" {
		srv.stats.rejected.Add(1)
	}
	return text
}

const fullReply = "-ERR max number of clients reached\r\n"

// deniedReply begins as Redis's does, because clients look for it, and names
// the ways out that there are here.
const deniedReply = "-DENIED Redis is running in protected mode because protected mode is enabled and no password is set " +
	"for the default user. In this mode connections are only accepted from the loopback interface. " +
	"If you want to connect from external computers to Redis you may adopt one of the following solutions: " +
	"1) Just disable protected mode sending the command 'CONFIG SET protected-mode no' from the loopback interface " +
	"by connecting to Redis from the same host the server is running, however MAKE SURE Redis is not publicly accessible " +
	"from internet if you do so. " +
	"2) Restart the server with the '--protected-mode no' option. " +
	"3) Set up an authentication password for the default user, with FIRN_REQUIREPASS or 'CONFIG SET requirepass'. " +
	"NOTE: You only need to do one of the above things in order for the server to start accepting connections from the outside.\r\n"

// errDebug refuses DEBUG, in Redis's words.
const errDebug = resp.Error("ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", you can run it " +
	"from a local connection, otherwise you need to set this option in the configuration file, and then restart the server.")

// mayDebug says whether the client may use DEBUG at all, before anything is
// asked about its rights.
func (s *Session) mayDebug() bool {
	return s.srv.opts.Debug == "yes" || s.srv.opts.Debug == "local" && s.local()
}

// local says whether the client is on this machine.
func (s *Session) local() bool {
	if peer, err := netip.ParseAddrPort(s.peer); err == nil {
		return peer.Addr().Unmap().IsLoopback()
	}
	return strings.HasPrefix(s.peer, "/") // a Unix socket
}

// protectedText is whether protected mode is on, as CONFIG GET shows it.
func protectedText(srv *Server) string { return yesNo(srv.config.protected.Load()) }

func setProtected(srv *Server, value string) error {
	value, err := checkKept("yesno", value)
	if err == nil {
		srv.config.protected.Store(value == "yes")
	}
	return err
}
