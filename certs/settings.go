package certs

import (
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Settings name the files and the rules. The fields mean what Redis's
// parameters of the same names mean.
type Settings struct {
	CertFile string // tls-cert-file: PEM, the server's certificate and those between it and its authority
	KeyFile  string // tls-key-file: PEM, its key, not encrypted
	CAFile   string // tls-ca-cert-file: PEM, authorities of clients
	CADir    string // tls-ca-cert-dir: a directory of such files
	Clients  string // tls-auth-clients: yes, no or optional; empty: yes

	Protocols  string // tls-protocols: names such as "TLSv1.2 TLSv1.3"; empty: those two
	Ciphers    string // tls-ciphers: names of suites up to TLS 1.2, as OpenSSL has them, with colons between; empty: Go's choice
	NoSessions bool   // tls-session-caching no: every client shakes hands in full
}

// Errors that are told before any file is read.
var (
	errNoCert = errors.New("certs: no certificate file is named")
	errNoKey  = errors.New("certs: no key file is named")
	errNoCA   = errors.New("certs: certificates of clients need a file or a directory of authorities, or must not be asked for")
)

// ErrUnable means that Go's TLS cannot do what a setting asks for.
var ErrUnable = errors.New("certs: not possible here")

// Check says whether the settings can hold, as far as that shows without
// reading files. What OpenSSL could do matches [ErrUnable].
func (s Settings) Check() error {
	_, err := s.rules()
	return err
}

// rules is the configuration that needs no files.
func (s Settings) rules() (*tls.Config, error) {
	auth, ok := clientAuths[s.Clients]
	switch {
	case s.CertFile == "":
		return nil, errNoCert
	case s.KeyFile == "":
		return nil, errNoKey
	case !ok:
		return nil, fmt.Errorf("certs: clients %q: choose yes, no or optional", s.Clients)
	case auth != tls.NoClientCert && s.CAFile == "" && s.CADir == "":
		return nil, errNoCA
	}
	least, most, err := versions(s.Protocols)
	if err != nil {
		return nil, err
	}
	suites, err := suites(s.Ciphers)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion: least, MaxVersion: most, CipherSuites: suites, ClientAuth: auth,
		SessionTicketsDisabled: s.NoSessions,
		// Records are never cut small for the sake of a page's first lines:
		// a reply is of use only when all of it is there.
		DynamicRecordSizingDisabled: true,
	}, nil
}

var clientAuths = map[string]tls.ClientAuthType{
	"":         tls.RequireAndVerifyClientCert,
	"yes":      tls.RequireAndVerifyClientCert,
	"no":       tls.NoClientCert,
	"optional": tls.VerifyClientCertIfGiven,
}

// versionNames are in order, without gaps.
var versionNames = []string{"tlsv1", "tlsv1.1", "tlsv1.2", "tlsv1.3"}

// versions are the least and the most that a list of names allows.
func versions(names string) (least, most uint16, err error) {
	if names == "" {
		return tls.VersionTLS12, tls.VersionTLS13, nil
	}
	var chosen [4]bool
	for name := range strings.FieldsSeq(strings.ToLower(names)) {
		i := slices.Index(versionNames, name)
		if i < 0 {
			return 0, 0, fmt.Errorf("certs: protocols %q: use a combination of TLSv1, TLSv1.1, TLSv1.2 and TLSv1.3", names)
		}
		chosen[i] = true
	}
	first := slices.Index(chosen[:], true)
	if first < 0 {
		return 0, 0, fmt.Errorf("certs: protocols %q: use a combination of TLSv1, TLSv1.1, TLSv1.2 and TLSv1.3", names)
	}
	last := first
	for last < 3 && chosen[last+1] {
		last++
	}
	if slices.Contains(chosen[last+1:], true) {
		return 0, 0, fmt.Errorf("%w: protocols %q leave out one between others", ErrUnable, names)
	}
	return tls.VersionTLS10 + uint16(first), tls.VersionTLS10 + uint16(last), nil
}

// suites are the cipher suites that a list names, OpenSSL's way or by the
// names of their standard. The order means nothing: Go prefers by itself.
func suites(names string) ([]uint16, error) {
	if names == "" {
		return nil, nil
	}
	var ids []uint16
	for name := range strings.FieldsFuncSeq(names, func(r rune) bool { return r == ':' || r == ',' || r == ' ' }) {
		id, ok := opensslSuites[strings.ToUpper(name)]
		if !ok {
			id, ok = standardSuite(name)
		}
		if !ok {
			return nil, fmt.Errorf("%w: cipher %q: name suites of up to TLS 1.2, such as ECDHE-RSA-AES128-GCM-SHA256", ErrUnable, name)
		}
		ids = append(ids, id)
	}
	if ids == nil {
		return nil, fmt.Errorf("%w: ciphers %q name no suite", ErrUnable, names)
	}
	return ids, nil
}

func standardSuite(name string) (uint16, bool) {
	for _, suite := range tls.CipherSuites() {
		if suite.Name == strings.ToUpper(name) && suite.SupportedVersions[0] < tls.VersionTLS13 {
			return suite.ID, true
		}
	}
	return 0, false
}

// opensslSuites are OpenSSL's names of the suites that Go holds to be secure.
var opensslSuites = map[string]uint16{
	"ECDHE-ECDSA-AES128-SHA":        tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA,
	"ECDHE-ECDSA-AES256-SHA":        tls.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA,
	"ECDHE-RSA-AES128-SHA":          tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA,
	"ECDHE-RSA-AES256-SHA":          tls.TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA,
	"ECDHE-ECDSA-AES128-GCM-SHA256": tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
	"ECDHE-ECDSA-AES256-GCM-SHA384": tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
	"ECDHE-RSA-AES128-GCM-SHA256":   tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	"ECDHE-RSA-AES256-GCM-SHA384":   tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	"ECDHE-RSA-CHACHA20-POLY1305":   tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
	"ECDHE-ECDSA-CHACHA20-POLY1305": tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
}
