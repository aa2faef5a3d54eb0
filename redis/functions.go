package redis

import "github.com/firndb/firn/redis/scripting"

// RegisterFunction makes a function written in Go one that clients call with
// FCALL, and with FCALL_RO if flags has [scripting.NoWrites]. It comes before a
// function of a library that has its name, and FUNCTION LOAD refuses such a
// library from then on. The error matches [scripting.ErrNative]. It is safe for
// concurrent use, but mostly called before the first session.
//
// fn runs on the goroutine that serves the client, and, if it may write, in the
// writer's turn: it must be quick, and is called again where a read had to wait
// for the file. Clients need the right to call FCALL and the rights to the keys
// that they name; what fn reads and writes beside these is its own affair,
// unless it uses [scripting.Invocation.Do].
func (srv *Server) RegisterFunction(name string, flags scripting.Flags, fn scripting.Native) error {
	return srv.scripts.Register(name, flags, fn)
}
