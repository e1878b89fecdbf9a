package udp

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkReceiveOffload asks whether the system should merge what arrives (UDP_GRO): for a relay's way in, where each of many peers sends
// one small datagram, and for a client's, where a flush is a train of one to three full datagrams (ADR 0023). It times reading alone.
func BenchmarkReceiveOffload(b *testing.B) {
	for _, merge := range []bool{false, true} {
		way := map[bool]string{false: "plain", true: "merged"}[merge]
		b.Run("peers64/"+way, func(b *testing.B) { benchPeers(b, 64, merge) })
		for _, n := range []int{1, 3} {
			b.Run(map[int]string{1: "train1/", 3: "train3/"}[n]+way, func(b *testing.B) { benchTrain(b, n, merge) })
		}
	}
}

func offloaded(b *testing.B, merge bool) (*net.UDPConn, netip.AddrPort, int) {
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	raw, err := c.SyscallConn()
	if err != nil {
		b.Fatal(err)
	}
	var fd int
	if err := raw.Control(func(f uintptr) { fd = int(f) }); err != nil {
		b.Fatal(err)
	}
	if merge {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_UDP, unix.UDP_GRO, 1); err != nil {
			b.Skip(err)
		}
	}
	return c, c.LocalAddr().(*net.UDPAddr).AddrPort(), fd
}

func benchPeers(b *testing.B, n int, merge bool) {
	c, to, _ := offloaded(b, merge)
	s, err := newSocket(c, batch, readBuffer, false)
	if err != nil {
		b.Fatal(err)
	}
	peers := make([]*net.UDPConn, n)
	for i := range peers {
		if peers[i], err = net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(to)); err != nil {
			b.Fatal(err)
		}
		defer peers[i].Close()
	}
	data := make([]byte, 60)
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		for _, p := range peers {
			if _, err := p.Write(data); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
		for got := 0; got < n; {
			k, err := s.recv(time.Now().Add(time.Second))
			if err != nil || k == 0 {
				b.Fatal(k, err)
			}
			got += k
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/datagram")
}

func benchTrain(b *testing.B, n int, merge bool) {
	const size = 1200
	c, to, fd := offloaded(b, merge)
	s, err := newSocket(c, batch, readBuffer, false)
	if err != nil {
		b.Fatal(err)
	}
	p, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(to))
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	raw, err := p.SyscallConn()
	if err != nil {
		b.Fatal(err)
	}
	if n > 1 {
		var refused error
		if err := raw.Control(func(fd uintptr) { refused = unix.SetsockoptInt(int(fd), unix.IPPROTO_UDP, unix.UDP_SEGMENT, size) }); err != nil {
			b.Fatal(err)
		}
		if refused != nil {
			b.Skip(refused)
		}
	}
	train, in, oob := make([]byte, n*size), make([]byte, 64<<10), make([]byte, 64)
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		if _, err := p.Write(train); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		for got := 0; got < n*size; {
			if merge {
				k, _, _, _, err := unix.Recvmsg(fd, in, oob, 0)
				if err != nil {
					b.Fatal(err)
				}
				got += k
				continue
			}
			k, err := s.recv(time.Now().Add(time.Second))
			if err != nil || k == 0 {
				b.Fatal(k, err)
			}
			got += k * size
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/datagram")
}
