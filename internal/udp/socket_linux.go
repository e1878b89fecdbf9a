package udp

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The socket of Linux: recvmmsg and sendmmsg on the descriptor of a net.UDPConn, which waits in Go's own poller.
//
//	recv   fill(fd): recvmmsg → in[i], whose address and bytes lie in names[i] and block
//	send   sender.send → spans → out[k] with an address, iovecs to the packets, and a control message with the cut
//
// This is the one file of the package that needs unsafe: the layouts are the kernel's. They come from x/sys/unix, which
// has them for every architecture, 32-bit ones too.

// mmsghdr is struct mmsghdr: the compiler pads its end as C does.
type mmsghdr struct {
	hdr unix.Msghdr
	n   uint32
}

// name has room for either kind of address.
type name [unix.SizeofSockaddrInet6]byte

// control has room for one control message with a u16 in it, aligned for its header.
type control struct {
	hdr  unix.Cmsghdr
	data [8]byte
}

type linuxSocket struct {
	conn  *net.UDPConn
	raw   syscall.RawConn
	v6    bool
	woken atomic.Bool

	// receiving goroutine
	in      []mmsghdr
	inIovs  []unix.Iovec
	inNames []name
	block   []byte
	got     int
	gotErr  error
	dirty   int // messages at the front whose length of the address the last call wrote
	zones   map[uint32]string
	drain   func(fd uintptr)
	wait    func(fd uintptr) bool

	// sending goroutine
	sender   sender
	out      []mmsghdr
	outIovs  []unix.Iovec
	outNames []name
	controls []control
	used     int // iovecs
	outN     int
	took     int
	tookErr  error
	flush    func(fd uintptr)
}

// newSocket takes over an open connection. Up to size datagrams are moved by one call.
func newSocket(conn *net.UDPConn, size int, buffer int, portable bool) (socket, error) {
	if portable {
		return newPortable(conn, size, buffer), nil
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &linuxSocket{
		conn: conn, raw: raw,
		in: make([]mmsghdr, size), inIovs: make([]unix.Iovec, size), inNames: make([]name, size),
		block: make([]byte, size*slot),
		out:   make([]mmsghdr, size), outNames: make([]name, size), controls: make([]control, size),
		outIovs: make([]unix.Iovec, min(size*maxSegments, burst)),
	}
	segmented := false
	err = raw.Control(func(fd uintptr) {
		domain, _ := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_DOMAIN)
		s.v6 = domain == unix.AF_INET6
		_, err := unix.GetsockoptInt(int(fd), unix.IPPROTO_UDP, unix.UDP_SEGMENT)
		segmented = err == nil
		// The first goes beyond the limit of the system, if this process may; the second up to it.
		if unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, buffer) != nil {
			_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, buffer)
		}
		if unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, buffer) != nil {
			_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF, buffer)
		}
	})
	if err != nil {
		return nil, err
	}
	for i := range s.in {
		s.inIovs[i].Base = &s.block[i*slot]
		s.inIovs[i].SetLen(slot)
		s.in[i].hdr.Iov = &s.inIovs[i]
		s.in[i].hdr.SetIovlen(1)
		s.in[i].hdr.Name = &s.inNames[i][0]
		s.in[i].hdr.Namelen = uint32(len(name{}))
	}
	// Made once: a closure made in the call would be an allocation for each.
	s.drain = func(fd uintptr) { s.fill(fd) }
	s.wait = func(fd uintptr) bool { s.fill(fd); return s.gotErr != syscall.EAGAIN }
	s.flush = func(fd uintptr) {
		s.took, s.tookErr = mmsg(unix.SYS_SENDMMSG, fd, s.out[:s.outN])
	}
	s.sender = newSender(segmented, size, s.write)
	return s, nil
}

// mmsg calls the kernel without a word to Go's scheduler: with one, each call of a relay that had been waiting wakes the runtime's
// monitor, a thread that then looks every 20 µs for calls that block, and takes a third of the time. These do not block. A full batch
// takes up to a millisecond, for which a collector that wants to stop the world waits.
func mmsg(trap uintptr, fd uintptr, msgs []mmsghdr) (int, error) {
	n, _, errno := unix.RawSyscall6(trap, fd, uintptr(unsafe.Pointer(&msgs[0])), uintptr(len(msgs)), unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

func (s *linuxSocket) fill(fd uintptr) {
	for i := range s.in[:s.dirty] {
		s.in[i].hdr.Namelen = uint32(len(name{}))
	}
	s.dirty = 0
	for {
		s.got, s.gotErr = mmsg(unix.SYS_RECVMMSG, fd, s.in)
		s.dirty = s.got
		if s.gotErr != syscall.EINTR {
			return
		}
	}
}

func (s *linuxSocket) recv(until time.Time) (int, error) {
	s.got, s.gotErr = 0, nil
	if until.IsZero() {
		if err := s.raw.Control(s.drain); err != nil {
			return 0, err
		}
	} else {
		// First the deadline, then the question: a wake between the two is seen, one after them ends the wait.
		if err := s.conn.SetReadDeadline(until); err != nil {
			return 0, err
		}
		if s.woken.Swap(false) {
			return 0, nil
		}
		if err := s.raw.Read(s.wait); err != nil {
			s.woken.Store(false)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				err = nil
			}
			return 0, err
		}
	}
	if s.gotErr == syscall.EAGAIN {
		return 0, nil
	}
	return s.got, s.gotErr
}

func (s *linuxSocket) datagram(i int) (netip.AddrPort, []byte) {
	b := s.block[i*slot:][:s.in[i].n]
	n := &s.inNames[i]
	port := binary.BigEndian.Uint16(n[2:])
	if binary.NativeEndian.Uint16(n[:]) == unix.AF_INET {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(n[4:8])), port), b
	}
	ip := netip.AddrFrom16([16]byte(n[8:24])).Unmap()
	if scope := binary.NativeEndian.Uint32(n[24:]); scope != 0 && ip.Is6() {
		ip = ip.WithZone(s.zone(scope))
	}
	return netip.AddrPortFrom(ip, port), b
}

// zone names an interface by its number. There are as many as links of this machine, so they are kept.
func (s *linuxSocket) zone(scope uint32) string {
	z, ok := s.zones[scope]
	if !ok {
		if s.zones == nil {
			s.zones = make(map[uint32]string)
		}
		z = strconv.FormatUint(uint64(scope), 10)
		s.zones[scope] = z
	}
	return z
}

func (s *linuxSocket) send(ps []packet) int { return s.sender.send(ps) }

// write makes messages of spans and hands them over.
func (s *linuxSocket) write(ps []packet, spans []span) (int, error) {
	s.outN, s.used = 0, 0
	for _, sp := range spans {
		if s.used+sp.count > len(s.outIovs) {
			break // the rest comes with the next call
		}
		s.message(ps[sp.first:][:sp.count], sp.segment)
	}
	s.took, s.tookErr = 0, nil
	if err := s.raw.Control(s.flush); err != nil {
		s.tookErr = syscall.EAGAIN // closed: nothing more can go
	}
	// The buffers are the caller's again.
	for i := range s.outIovs[:s.used] {
		s.outIovs[i].Base = nil
	}
	return s.took, s.tookErr
}

func (s *linuxSocket) message(ps []packet, segment int) {
	h := &s.out[s.outN].hdr
	*h = unix.Msghdr{Iov: &s.outIovs[s.used]}
	h.SetIovlen(len(ps))
	for _, p := range ps {
		s.outIovs[s.used].Base = &p.data[0]
		s.outIovs[s.used].SetLen(len(p.data))
		s.used++
	}
	if ps[0].to.IsValid() {
		n := &s.outNames[s.outN]
		h.Name = &n[0]
		h.Namelen = n.set(ps[0].to, s.v6)
	}
	if segment > 0 {
		c := &s.controls[s.outN]
		c.cut(uint16(segment))
		h.Control = (*byte)(unsafe.Pointer(c))
		h.SetControllen(unix.CmsgSpace(2))
	}
	s.outN++
}

// cut writes the control message that tells the kernel the size of the segments.
func (c *control) cut(size uint16) {
	c.hdr.Level = unix.IPPROTO_UDP
	c.hdr.Type = unix.UDP_SEGMENT
	c.hdr.SetLen(unix.CmsgLen(2))
	binary.NativeEndian.PutUint16(c.data[:], size)
}

// set writes an address as the socket's family wants it and returns its length.
func (n *name) set(a netip.AddrPort, v6 bool) uint32 {
	*n = name{}
	binary.BigEndian.PutUint16(n[2:], a.Port())
	if !v6 {
		binary.NativeEndian.PutUint16(n[:], unix.AF_INET)
		ip := a.Addr().Unmap()
		if ip.Is4() {
			q := ip.As4()
			copy(n[4:], q[:])
		}
		return unix.SizeofSockaddrInet4
	}
	binary.NativeEndian.PutUint16(n[:], unix.AF_INET6)
	q := a.Addr().As16()
	copy(n[8:], q[:])
	if z := a.Addr().Zone(); z != "" {
		scope, err := strconv.ParseUint(z, 10, 32)
		if err != nil {
			if i, err := net.InterfaceByName(z); err == nil {
				scope = uint64(i.Index)
			}
		}
		binary.NativeEndian.PutUint32(n[24:], uint32(scope))
	}
	return unix.SizeofSockaddrInet6
}

func (s *linuxSocket) wake() {
	s.woken.Store(true)
	_ = s.conn.SetReadDeadline(time.Unix(1, 0))
}

func (s *linuxSocket) control(f func(fd uintptr)) error { return s.raw.Control(f) }

func (s *linuxSocket) close() error { return s.conn.Close() }
