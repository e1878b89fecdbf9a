package load

import (
	"github.com/throng-dev/throng/internal/udp"
	"golang.org/x/sys/unix"
)

// readiness tells which of many sockets have something to read, by one call for all: to ask each of some thousand sinks' sockets in
// every frame would cost more than to read them.
type readiness struct {
	fd     int
	flags  []bool // by seat
	events []unix.EpollEvent
	err    error // then every socket counts as ready
}

func newReadiness() *readiness {
	r := &readiness{events: make([]unix.EpollEvent, 1024)}
	r.fd, r.err = unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	return r
}

// add looks after the socket of a seat.
func (r *readiness) add(seat int, c *udp.Conn) {
	for len(r.flags) <= seat {
		r.flags = append(r.flags, false)
	}
	if r.err != nil {
		return
	}
	err := c.Control(func(fd uintptr) {
		r.err = unix.EpollCtl(r.fd, unix.EPOLL_CTL_ADD, int(fd), &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(seat)})
	})
	if err != nil && r.err == nil {
		r.err = err
	}
}

// take reports whether a socket has got something since take was last called for it: then it is to be read until there is no more.
func (r *readiness) take(seat int) bool {
	is := r.flags[seat] || r.err != nil
	if is {
		r.flags[seat] = false
	}
	return is
}

// look asks which sockets have got something since it was last called.
func (r *readiness) look() {
	if r.err != nil {
		return
	}
	for {
		n, err := unix.EpollWait(r.fd, r.events, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			r.err = err
			return
		}
		for _, e := range r.events[:max(n, 0)] {
			r.flags[e.Fd] = true
		}
		if n < len(r.events) {
			return
		}
		// More may be ready than fit: the next call begins with the others.
		r.events = append(r.events, make([]unix.EpollEvent, len(r.events))...)
		return
	}
}

func (r *readiness) close() {
	if r.fd > 0 {
		unix.Close(r.fd)
	}
}
