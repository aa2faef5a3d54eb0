// Package certs keeps what a server shows to clients over TLS, and whom it
// believes: a certificate with its key, the authorities whose clients it
// lets in, and the versions of the protocol that it speaks.
//
// [Open] reads the files that [Settings] name. [Store.Config] is what
// listeners use: each handshake takes what was read last. Files are read
// again by [Store.Reload], by [Store.Set], and by [Store.Run] when they
// change or a signal comes. What cannot be read, or does not fit together,
// replaces nothing: the old ones stay. Connections that are open stay as
// they are.
//
// The settings have Redis's names and forms. What OpenSSL has and Go does not
// is refused in words: encrypted keys, cipher strings with operators, gaps
// between versions. The package opens no socket and starts no goroutine.
package certs

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Store has what the files held when they were last read and fitted together.
// It is safe for concurrent use.
type Store struct {
	logger  *slog.Logger
	current atomic.Pointer[loaded]

	mu       sync.Mutex // held while files are read
	settings Settings   // those of current
	failed   string     // the last error that was told, so that it is told once
}

// loaded is one reading of the files. It is never changed.
type loaded struct {
	config *tls.Config
	sum    [32]byte          // of all that was read
	leaf   *x509.Certificate // the server's own
}

// Open reads the files that settings name. An error says which of them is
// wrong, and how. A nil logger logs nothing.
func Open(settings Settings, logger *slog.Logger) (*Store, error) {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	s := &Store{logger: logger}
	if err := s.Set(settings); err != nil {
		return nil, err
	}
	return s, nil
}

// Config is for a listener that speaks protocols (ALPN), or none. It follows
// the store: every handshake takes what was read last.
func (s *Store) Config(protocols ...string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, // only of what is shown before a client is known
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			config := s.current.Load().config
			if len(protocols) > 0 {
				config = config.Clone()
				config.NextProtos = protocols
			}
			return config, nil
		},
	}
}

// Settings are those that hold.
func (s *Store) Settings() Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings
}

// NotAfter is when the server's certificate expires.
func (s *Store) NotAfter() time.Time { return s.current.Load().leaf.NotAfter }

// Set reads the files of other settings, which hold from the next handshake
// on. After an error the old ones still do.
func (s *Store) Set(settings Settings) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, err := load(settings)
	if err != nil {
		return err
	}
	s.adoptLocked(settings, now)
	return nil
}

// Reload reads the files again. After an error what was read before holds.
func (s *Store) Reload() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, err := load(s.settings)
	if err != nil {
		return err
	}
	s.adoptLocked(s.settings, now)
	return nil
}

func (s *Store) adoptLocked(settings Settings, now *loaded) {
	s.settings, s.failed = settings, ""
	s.current.Store(now)
	tell := s.logger.Info
	if time.Now().After(now.leaf.NotAfter) {
		tell = s.logger.Warn // clients will refuse it, unless they are told not to
	}
	tell("certificate read", "file", settings.CertFile, "subject", now.leaf.Subject.String(), "not_after", now.leaf.NotAfter.UTC().Format(time.RFC3339))
}
