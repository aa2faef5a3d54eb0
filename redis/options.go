package redis

import (
	"log/slog"
	"time"

	"github.com/firndb/firn/certs"
)

// Options says how a Server behaves. The zero value is ready for production.
type Options struct {
	Databases  int    // how many SELECT knows; 0: 16
	Password   string // what AUTH asks for; empty: nothing is asked
	ACLFile    string // where ACL LOAD and ACL SAVE find users; empty: nowhere
	MaxClients int    // more are turned away; 0: 10,000
	Exposed    bool   // other machines need no password either: protected-mode no
	Version    string // Firn's own version, for INFO and HELLO
	Path       string // the store's file, for CONFIG GET and INFO
	Port       int    // the TCP port, for INFO
	Bind       string // the addresses of Port, for CONFIG GET, with spaces between
	Unix       string // the path of the Unix socket, for CONFIG GET; empty: there is none
	TLSPort    int    // that of clients who speak TLS, for CONFIG GET; 0: there is none
	Durability string // always, everysec or no, for INFO and CONFIG GET
	Memory     int64  // the head's budget in bytes, for INFO and CONFIG GET
	Anonymous  bool   // versions do not say who wrote them

	// Debug says who may use DEBUG, as Redis's enable-debug-command does: no,
	// yes, or local, clients of this machine; empty: no.
	Debug string

	// TLS is what those clients are shown, for CONFIG to change; nil: nothing.
	TLS *certs.Store

	Logger *slog.Logger     // nil: nothing is logged
	Level  *slog.LevelVar   // what CONFIG SET loglevel changes; nil: nothing
	Now    func() time.Time // nil: time.Now

	// Shutdown is called, once, when a client asks to SHUTDOWN. It must not
	// block. nil: SHUTDOWN is refused.
	Shutdown func()
}

// redisVersion is the version of Redis that clients are told, because they
// choose features by it. Firn's own is in INFO as firn_version.
const redisVersion = "7.4.0"

func (o Options) withDefaults() Options {
	if o.Databases <= 0 {
		o.Databases = 16
	}
	if o.MaxClients <= 0 {
		o.MaxClients = 10_000
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	if o.Durability == "" {
		o.Durability = "always"
	}
	if o.Debug == "" {
		o.Debug = "no"
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}
