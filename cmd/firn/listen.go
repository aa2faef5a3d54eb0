package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/firndb/firn/server"
)

// checkAddresses refuses what can be no address, before anything is opened.
func (s *settings) checkAddresses() error {
	if len(s.listen) == 0 && s.unix == "" && len(s.tls.listen) == 0 {
		return usageError{errors.New("--listen, --unix, --tls-listen: give one address at least")}
	}
	for _, address := range s.listen {
		if err := checkAddress(address); err != nil {
			return usageError{fmt.Errorf("--listen %s: %w", address, err)}
		}
	}
	return nil
}

func checkAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return errors.New("not an address such as 127.0.0.1:6379 or [::1]:6379")
	}
	if host == "" {
		return fmt.Errorf("a host is missing: write 127.0.0.1:%s for this machine alone, or 0.0.0.0:%s for all its addresses", port, port)
	}
	if _, err := net.LookupPort("tcp", port); err != nil || port == "" {
		return fmt.Errorf("%q is not a port: choose 0 to 65535", port)
	}
	return nil
}

// cannotListen says what is wrong with an address, and the way out.
func (s *settings) cannotListen(err error) error {
	bind, ok := errors.AsType[*server.BindError](err)
	if !ok {
		return err
	}
	taken := errors.Is(err, syscall.EADDRINUSE)
	switch {
	case taken && bind.Address == s.unix:
		err = errors.New("the path is taken: choose another with --unix")
	case taken && slices.Contains(s.web.listen, bind.Address) && !slices.Contains(s.listen, bind.Address):
		err = errors.New("the port is taken: choose another with --http")
	case taken && slices.Contains(s.web.secure, bind.Address):
		err = errors.New("the port is taken: choose another with --https")
	case taken && slices.Contains(s.tls.listen, bind.Address):
		err = errors.New("the port is taken: choose another with --tls-listen")
	case taken:
		err = errors.New("the port is taken: choose another with --listen")
	default:
		err = systemError(bind.Err)
	}
	return fmt.Errorf("cannot listen on %s: %w", bind.Address, err)
}

// systemError is the part of a network error that does not repeat what was
// tried.
func systemError(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	if call, ok := errors.AsType[*os.SyscallError](err); ok {
		err = call.Err
	}
	return err
}

// isLoopback says whether only this machine can reach an address.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func firstPort(listen []string) int {
	for _, address := range listen {
		if _, port, err := net.SplitHostPort(address); err == nil {
			if n, err := net.LookupPort("tcp", port); err == nil {
				return n
			}
		}
	}
	return 0
}

// hosts are the hosts of addresses, as Redis's bind has them.
func hosts(listen []string) string {
	var all []string
	for _, address := range listen {
		host, _, err := net.SplitHostPort(address)
		switch {
		case err != nil:
			continue
		case host == "":
			host = "*"
		}
		if !slices.Contains(all, host) {
			all = append(all, host)
		}
	}
	return strings.Join(all, " ")
}

func addresses(all []net.Addr) string {
	texts := make([]string, len(all))
	for i, a := range all {
		texts[i] = a.String()
	}
	return strings.Join(texts, ",")
}
