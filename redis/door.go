package redis

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

// Denial is Refusal for a client that speaks TLS. When it connects it is let
// in or not, in silence, as if it were local; once it has shaken hands it can
// be told why it has to go.
func (srv *Server) Denial(local bool) string {
	if local || !srv.config.protected.Load() || !srv.users.Open() {
		return ""
	}
	srv.stats.rejected.Add(1)
	return deniedReply
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
