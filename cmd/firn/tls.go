package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/firndb/firn/certs"
)

// tlsFlags are the flags about TLS. Those about certificates have the names
// that the same settings have in Redis.
type tlsFlags struct {
	listen  []string
	files   certs.Settings
	clients choiceValue
	store   *certs.Store // once they are read; nil: nobody speaks TLS
}

func (s *tlsFlags) add(f *pflag.FlagSet) {
	s.clients = choiceValue{"yes", []string{"yes", "no", "optional"}}
	f.StringSliceVar(&s.listen, "tls-listen", nil, "TCP addresses whose clients speak TLS; may be given more than once")
	f.StringVar(&s.files.CertFile, "tls-cert-file", "", "the server's certificate, in PEM; read again when it changes, and on SIGHUP")
	f.StringVar(&s.files.KeyFile, "tls-key-file", "", "the certificate's key, in PEM, not encrypted")
	f.StringVar(&s.files.CAFile, "tls-ca-cert-file", "", "the authorities of clients' certificates, in PEM")
	f.StringVar(&s.files.CADir, "tls-ca-cert-dir", "", "a directory of such files")
	f.Var(&s.clients, "tls-auth-clients", "whether clients need a certificate: yes, no, or optional, where one that is shown must be good")
	f.StringVar(&s.files.Protocols, "tls-protocols", "", "versions that are spoken (default \"TLSv1.2 TLSv1.3\")")
	f.StringVar(&s.files.Ciphers, "tls-ciphers", "", "cipher suites up to TLS 1.2, such as ECDHE-RSA-AES128-GCM-SHA256:... (default Go's choice)")
}

// settings are those of the certificates.
func (s *tlsFlags) settings() certs.Settings {
	c := s.files
	c.Clients = s.clients.text
	return c
}

// check refuses what cannot hold. wanted says that somebody speaks TLS.
func (s *tlsFlags) check(wanted bool) error {
	for _, address := range s.listen {
		if err := checkAddress(address); err != nil {
			return usageError{fmt.Errorf("--tls-listen %s: %w", address, err)}
		}
	}
	if !wanted {
		if s.files != (certs.Settings{}) {
			return usageError{errors.New("--tls-cert-file and its kind: nobody speaks TLS; give --tls-listen")}
		}
		return nil
	}
	switch {
	case s.files.CertFile == "":
		return usageError{errors.New("--tls-cert-file: TLS needs a certificate")}
	case s.files.KeyFile == "":
		return usageError{errors.New("--tls-key-file: TLS needs the certificate's key")}
	case s.clients.text != "no" && s.files.CAFile == "" && s.files.CADir == "":
		return usageError{errors.New("--tls-ca-cert-file or --tls-ca-cert-dir: clients' certificates are asked for; --tls-auth-clients no lets in who has none")}
	}
	if err := s.settings().Check(); err != nil {
		return usageError{plainCerts(err)}
	}
	return nil
}

// open reads the certificates, if anybody speaks TLS, and returns what the
// clients of listen are shown.
func (s *tlsFlags) open(wanted bool, logger *slog.Logger) (*tls.Config, error) {
	if !wanted {
		return nil, nil
	}
	store, err := certs.Open(s.settings(), logger)
	if err != nil {
		return nil, fmt.Errorf("cannot speak TLS: %w", plainCerts(err))
	}
	s.store = store
	return store.Config(), nil
}

// plainCerts is an error without the name of the package.
func plainCerts(err error) error { return errors.New(strings.TrimPrefix(err.Error(), "certs: ")) }

// followCerts has certificates read again on SIGHUP, and when they change.
func followCerts(ctx context.Context, store *certs.Store) error {
	hup := make(chan os.Signal, 1) // one that comes while files are read is not lost
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	return store.Run(ctx, hup)
}
