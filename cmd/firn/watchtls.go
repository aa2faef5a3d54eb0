package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"
)

// clientTLS are the files of a client that speaks TLS. The flags are those of
// redis-cli.
type clientTLS struct{ authorities, cert, key string }

func (c *clientTLS) add(f *pflag.FlagSet) {
	f.StringVar(&c.authorities, "cacert", "", "the authorities of a rediss:// server's certificate, in PEM (default: those of the system)")
	f.StringVar(&c.cert, "cert", "", "the certificate to show to a rediss:// server, in PEM")
	f.StringVar(&c.key, "key", "", "the certificate's key, in PEM, not encrypted")
}

// check refuses files that nothing is done with. wanted says that TLS is spoken.
func (c *clientTLS) check(wanted bool) error {
	switch {
	case !wanted && *c != (clientTLS{}):
		return usageError{errors.New("--cacert, --cert and --key are for rediss://")}
	case (c.cert == "") != (c.key == ""):
		return usageError{errors.New("--cert and --key belong together")}
	}
	return nil
}

// config reads the files, which may have changed since the last connection.
func (c *clientTLS) config(server string) (*tls.Config, error) {
	config := &tls.Config{ServerName: server, MinVersion: tls.VersionTLS12}
	if c.authorities != "" {
		text, err := os.ReadFile(c.authorities)
		if err != nil {
			return nil, fmt.Errorf("--cacert: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("--cacert %s: no certificate in PEM", c.authorities)
		}
	}
	if c.cert == "" {
		return config, nil
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return nil, fmt.Errorf("--cert %s, --key %s: %w", c.cert, c.key, err)
	}
	// Shown whatever authorities the server names: what it then says is to be seen.
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	return config, nil
}
