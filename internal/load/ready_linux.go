package load

import (
	"github.com/throng-dev/throng/internal/udp"
	"golang.org/x/sys/unix"
)

// readiness tells which of many sockets have something to read, by one call for all: to ask each of some thousand sinks' sockets in
// every frame would cost more than to read them.
type readiness struct {
	fd     int
	sinks  map[int32]*sink
	events []unix.EpollEvent
	err    error // then every socket counts as ready
}

func newReadiness() *readiness {
	r := &readiness{sinks: map[int32]*sink{}, events: make([]unix.EpollEvent, 1024)}
	r.fd, r.err = unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	return r
}

// add looks after the socket of a sink.
func (r *readiness) add(k *sink, c *udp.Conn) {
	if r.err != nil {
		return
	}
	err := c.Control(func(fd uintptr) {
		r.err = unix.EpollCtl(r.fd, unix.EPOLL_CTL_ADD, int(fd), &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(fd)})
		r.sinks[int32(fd)] = k
	})
	if err != nil && r.err == nil {
		r.err = err
	}
}

// look marks the sinks whose sockets have got something since it was last called. A sink that is marked reads until there is no more.
func (r *readiness) look() {
	if r.err != nil {
		for _, k := range r.sinks {
			k.ready = true
		}
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
			if k := r.sinks[e.Fd]; k != nil {
				k.ready = true
			}
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
