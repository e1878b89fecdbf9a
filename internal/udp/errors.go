package udp

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"syscall"
)

// maxFailures is how many reads in a row may fail before the socket is given up.
const maxFailures = 100

// wsaAddrInUse is WSAEADDRINUSE: on Windows package syscall invents a number of its own for EADDRINUSE.
const wsaAddrInUse = syscall.Errno(10048)

// transient reports whether a read failed because of one datagram: mostly one sent earlier, to which the network
// answered that nobody listens there. Such an answer is easily forged, so it ends nothing; silence does.
func transient(err error) bool {
	for _, e := range [...]syscall.Errno{syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EINTR} {
		if errors.Is(err, e) {
			return true
		}
	}
	// The same on Windows: WSAECONNRESET, and WSAENETRESET for a hop count that ran out. A datagram that is too long,
	// which others cut, is an error there as well: WSAEMSGSIZE.
	var errno syscall.Errno
	return runtime.GOOS == "windows" && errors.As(err, &errno) && (errno == 10054 || errno == 10052 || errno == 10040)
}

// plainError makes of an error of package net the number of the system, as sender wants it.
func plainError(err error) error {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, net.ErrClosed) {
		return syscall.EAGAIN
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return err
}

// listenError says what to do about an address that cannot be listened on.
func listenError(addr string, err error) error {
	var errno syscall.Errno
	switch {
	case errors.Is(err, syscall.EADDRINUSE), errors.As(err, &errno) && runtime.GOOS == "windows" && errno == wsaAddrInUse:
		host, _, _ := net.SplitHostPort(addr)
		return fmt.Errorf("throng: listening on %s: port is in use: stop the other program or choose another port with %s (%w)",
			addr, net.JoinHostPort(host, "PORT"), err)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("throng: listening on %s: not allowed: ports under 1024 need privileges, choose one above (%w)", addr, err)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("throng: listening on %s: this machine has no such address: use one of its own, or :PORT for all (%w)", addr, err)
	}
	return fmt.Errorf("throng: listening on %s: %w: write it as HOST:PORT, such as 127.0.0.1:9091", addr, err)
}
