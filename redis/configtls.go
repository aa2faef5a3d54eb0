package redis

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/firndb/firn/certs"
	"github.com/firndb/firn/resp"
)

// What is shown over TLS is set by many parameters that only make sense
// together. So CONFIG SET notes them all, and then has the files read once;
// what does not fit is refused, and everything stays as it was. Where nobody
// speaks TLS the parameters are only kept.

// tlsTexts are the parameters that certificates follow.
var tlsTexts = []struct {
	name, form, otherwise string
	field                 func(*certs.Settings) *string
}{
	{"tls-cert-file", "text", "", func(c *certs.Settings) *string { return &c.CertFile }},
	{"tls-key-file", "text", "", func(c *certs.Settings) *string { return &c.KeyFile }},
	{"tls-ca-cert-file", "text", "", func(c *certs.Settings) *string { return &c.CAFile }},
	{"tls-ca-cert-dir", "text", "", func(c *certs.Settings) *string { return &c.CADir }},
	{"tls-auth-clients", "no|yes|optional", "yes", func(c *certs.Settings) *string { return &c.Clients }},
	{"tls-protocols", "text", "", func(c *certs.Settings) *string { return &c.Protocols }},
	{"tls-ciphers", "text", "", func(c *certs.Settings) *string { return &c.Ciphers }},
}

const sessionCaching = "tls-session-caching"

// tlsParameters are those about TLS that mean something here, and those that
// Go's TLS has no choice about.
func tlsParameters() []parameter {
	all := []parameter{
		onlyThis("tls-ciphersuites", "", "argument must be empty: the cipher suites of TLS 1.3 cannot be chosen"),
		onlyThis("tls-prefer-server-ciphers", "yes", "argument must be yes: the order of cipher suites is the server's"),
		onlyThis("tls-key-file-pass", "", "argument must be empty: the key's file must not be encrypted"),
		onlyThis("tls-dh-params-file", "", "argument must be empty: keys are agreed on over elliptic curves"),
	}
	for _, text := range tlsTexts {
		all = append(all, keptParameter(text.name+" "+text.form+" "+text.otherwise))
	}
	all = append(all, keptParameter(sessionCaching+" yesno yes"))
	for i := range all {
		if all[i].set != nil {
			all[i].together = setCertificates
		}
	}
	return append(all, listening("tls-port", "number:0:65535", func(srv *Server) string { return strconv.Itoa(srv.opts.TLSPort) }))
}

// onlyThis is a parameter with one value, and why it can have no other.
func onlyThis(name, value, why string) parameter {
	return parameter{
		name: name,
		get:  func(*Server) string { return value },
		set: func(_ *Server, text string) error {
			if strings.ToLower(text) != value {
				return resp.Error(why)
			}
			return nil
		},
	}
}

// keepCertificates has CONFIG GET show what the server began with.
func keepCertificates(srv *Server) {
	if srv.opts.TLS == nil {
		return
	}
	settings := srv.opts.TLS.Settings()
	for _, text := range tlsTexts {
		if value := *text.field(&settings); value != "" {
			srv.config.keep(text.name, value)
		}
	}
	srv.config.keep(sessionCaching, yesNo(!settings.NoSessions))
}

// setCertificates makes what is noted hold. It reads files.
func setCertificates(srv *Server) error {
	if srv.opts.TLS == nil {
		return nil
	}
	settings := certs.Settings{NoSessions: srv.config.kept(sessionCaching, "yes") == "no"}
	for _, text := range tlsTexts {
		*text.field(&settings) = srv.config.kept(text.name, text.otherwise)
	}
	err := srv.opts.TLS.Set(settings)
	switch {
	case errors.Is(err, certs.ErrUnable):
		return resp.Error(err.Error())
	case err != nil:
		srv.opts.Logger.Warn("TLS settings refused: the old ones stay", "error", err)
		return resp.Error("Unable to update TLS configuration. Check server logs.")
	}
	return nil
}

// readsCertificates says whether CONFIG SET makes the server read files of
// certificates, which the loops must not wait for.
func readsCertificates(args [][]byte) bool {
	for i := 0; i < len(args); i += 2 {
		if len(args[i]) >= 4 && bytes.EqualFold(args[i][:4], []byte("tls-")) {
			return true
		}
	}
	return false
}
