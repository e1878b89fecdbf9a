package udp

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/throng-dev/throng/transport"
)

// A run for one client leaves as one message; when the system refuses to cut it, it leaves all the same.
func TestSegmentsAndWithout(t *testing.T) {
	l, s, c := pair(t, false)
	linux := l.socket.(*linuxSocket)
	if !linux.sender.segmented {
		t.Skip("this kernel has no UDP_SEGMENT")
	}
	messages := 0
	refuse := error(nil)
	real := linux.sender.write
	linux.sender.write = func(ps []packet, spans []span) (int, error) {
		if refuse != nil && spans[0].segment > 0 {
			return 0, refuse
		}
		n, err := real(ps, spans)
		messages += n
		return n, err
	}
	flush := func(want int) {
		t.Helper()
		messages = 0
		var out []transport.Datagram
		for i := range 6 {
			out = append(out, transport.Datagram{To: s.id, Buf: buffer(byte(i), 1, 2, 3)})
		}
		l.Send(out)
		if messages != want {
			t.Errorf("%d messages, want %d", messages, want)
		}
		next := byte(0)
		for soon := time.Now().Add(5 * time.Second); next < 6; {
			if err := c.Receive(soon, func(b []byte) {
				if !bytes.Equal(b, []byte{next, 1, 2, 3}) {
					t.Errorf("got %x as number %d", b, next)
				}
				next++
			}); err != nil || time.Now().After(soon) {
				t.Fatalf("%d came: %v", next, err)
			}
		}
	}
	flush(1)
	refuse = syscall.EINVAL
	flush(6)
	refuse = nil
	flush(1)
	refuse = syscall.EIO
	flush(6)
	refuse = nil
	flush(6)
}

func TestAddressesOnTheWayToTheKernel(t *testing.T) {
	s := &linuxSocket{in: make([]mmsghdr, 1), inNames: make([]name, 1), block: make([]byte, slot)}
	for text, v4 := range map[string]bool{
		"127.0.0.1:7777": true, "203.0.113.7:1": true, "[2001:db8::7]:65535": false, "[fe80::1%3]:9": false, "[::1]:2": false,
	} {
		a := netip.MustParseAddrPort(text)
		for _, v6 := range []bool{false, true} {
			if !v6 && !v4 {
				continue
			}
			n := s.inNames[0].set(a, v6)
			if v6 && n != unix.SizeofSockaddrInet6 || !v6 && n != unix.SizeofSockaddrInet4 {
				t.Errorf("%v: %d bytes", a, n)
			}
			if got, _ := s.datagram(0); got != a {
				t.Errorf("%v became %v", a, got)
			}
		}
	}
}

func TestControlMessageLayout(t *testing.T) {
	var c control
	c.cut(1200)
	if c.hdr.Level != unix.IPPROTO_UDP || c.hdr.Type != unix.UDP_SEGMENT || int(c.hdr.Len) != unix.CmsgLen(2) {
		t.Errorf("header %+v", c.hdr)
	}
	if got := binary.NativeEndian.Uint16(c.data[:]); got != 1200 {
		t.Errorf("1200 is written as %d", got)
	}
	if room := unix.CmsgSpace(0) + len(c.data); unix.CmsgSpace(2) > room {
		t.Errorf("a message of %d bytes in %d", unix.CmsgSpace(2), room)
	}
}
