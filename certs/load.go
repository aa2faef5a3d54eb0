package certs

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// What is read of files that somebody names.
const (
	// maxFileBytes bounds one file. The bundle of all authorities that
	// browsers believe is a quarter of a megabyte.
	maxFileBytes = 4 << 20

	// maxCAFiles bounds the files of a directory of authorities. Debian's
	// directory of all has some 400.
	maxCAFiles = 4096
)

// files are the contents that settings name.
type files struct {
	cert, key   []byte
	authorities [][]byte
	names       []string // of authorities
}

// load reads the files and sees whether they fit together.
func load(s Settings) (*loaded, error) {
	config, err := s.rules()
	if err != nil {
		return nil, err
	}
	f, err := read(s)
	if err != nil {
		return nil, err
	}
	pair, err := keyPair(s, f)
	if err != nil {
		return nil, err
	}
	config.Certificates = []tls.Certificate{pair}
	if config.ClientAuth != tls.NoClientCert {
		if config.ClientCAs, err = f.pool(); err != nil {
			return nil, err
		}
	}
	return &loaded{config: config, sum: f.sum(), leaf: pair.Leaf}, nil
}

func keyPair(s Settings, f *files) (tls.Certificate, error) {
	if isEncrypted(f.key) {
		return tls.Certificate{}, fmt.Errorf("%w: key %s is encrypted: write it without a password, as openssl pkey does", ErrUnable, s.KeyFile)
	}
	pair, err := tls.X509KeyPair(f.cert, f.key)
	if err == nil {
		return pair, nil
	}
	reason := strings.TrimPrefix(err.Error(), "tls: ")
	return tls.Certificate{}, fmt.Errorf("certs: certificate %s with key %s: %s", s.CertFile, s.KeyFile, reason)
}

// isEncrypted says whether a key needs a password, in either of the two forms
// that PEM has for that.
func isEncrypted(key []byte) bool {
	for block, rest := pem.Decode(key); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "ENCRYPTED PRIVATE KEY" || strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED") {
			return true
		}
	}
	return false
}

// pool is the authorities that were read.
func (f *files) pool() (*x509.CertPool, error) {
	pool, found := x509.NewCertPool(), false
	for _, content := range f.authorities {
		found = pool.AppendCertsFromPEM(content) || found
	}
	if !found {
		return nil, fmt.Errorf("certs: no certificate of an authority in %s", strings.Join(f.names, ", "))
	}
	return pool, nil
}

// sum tells contents apart.
func (f *files) sum() [32]byte {
	h := sha256.New()
	for _, content := range append([][]byte{f.cert, f.key}, f.authorities...) {
		_ = binary.Write(h, binary.BigEndian, int64(len(content)))
		h.Write(content)
	}
	return [32]byte(h.Sum(nil))
}

// read reads all that settings name.
func read(s Settings) (*files, error) {
	f := &files{}
	var err error
	if f.cert, err = readFile(s.CertFile); err != nil {
		return nil, fmt.Errorf("certs: certificate %w", err)
	}
	if f.key, err = readFile(s.KeyFile); err != nil {
		return nil, fmt.Errorf("certs: key %w", err)
	}
	if s.Clients == "no" {
		return f, nil // nobody is asked
	}
	if s.CAFile != "" {
		if err := f.readAuthority(s.CAFile); err != nil {
			return nil, err
		}
	}
	if s.CADir != "" {
		return f, f.readDir(s.CADir)
	}
	return f, nil
}

func (f *files) readAuthority(name string) error {
	content, err := readFile(name)
	if err != nil {
		return fmt.Errorf("certs: authority %w", err)
	}
	f.authorities, f.names = append(f.authorities, content), append(f.names, name)
	return nil
}

// readDir reads the files of a directory, but those whose names begin with a
// dot: they are how files are swapped. Directories in it are left alone.
func (f *files) readDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("certs: authorities in %s: %w", dir, plain(err))
	}
	if len(entries) > maxCAFiles {
		return fmt.Errorf("certs: authorities in %s: %d files, of which %d are read at most", dir, len(entries), maxCAFiles)
	}
	f.names = append(f.names, dir)
	for _, entry := range entries {
		name := filepath.Join(dir, entry.Name())
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		content, err := readFile(name)
		if err != nil {
			return fmt.Errorf("certs: authority %w", err)
		}
		f.authorities = append(f.authorities, content)
	}
	return nil
}

// readFile reads a file that is not too large. Its errors begin with the name.
func readFile(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, plain(err))
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, plain(err))
	case len(content) > maxFileBytes:
		return nil, fmt.Errorf("%s: larger than %d bytes", name, maxFileBytes)
	}
	return content, nil
}

// plain is the part of a file's error that does not repeat its name.
func plain(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}
