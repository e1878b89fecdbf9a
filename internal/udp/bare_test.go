package udp

import (
	"bytes"
	"net"
	"net/netip"
	"testing"
	"time"
)

func TestBareMovesBatches(t *testing.T) {
	b, err := ListenBare("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(b.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const n = 100
	for i := range n {
		if _, err := c.Write([]byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
	}
	var from netip.AddrPort
	got := 0
	for end := time.Now().Add(10 * time.Second); got < n && time.Now().Before(end); {
		if err := b.Receive(time.Now().Add(time.Second), func(at netip.AddrPort, data []byte) {
			if from = at; len(data) != 1 || data[0] != byte(got) {
				t.Errorf("datagram %d: %v", got, data)
			}
			got++
		}); err != nil {
			t.Fatal(err)
		}
	}
	if got != n || from != c.LocalAddr().(*net.UDPAddr).AddrPort() {
		t.Fatalf("%d datagrams of %d, from %v", got, n, from)
	}
	long := bytes.Repeat([]byte{7}, 4000) // longer than a session's
	b.Add(from, []byte("short"))
	b.Add(from, long)
	if n := b.Flush(); n != 2 {
		t.Errorf("the system took %d of 2", n)
	}
	buf := make([]byte, 8000)
	for _, want := range [][]byte{[]byte("short"), long} {
		c.SetReadDeadline(time.Now().Add(10 * time.Second))
		if n, err := c.Read(buf); err != nil || !bytes.Equal(buf[:n], want) {
			t.Errorf("%d bytes, %v", n, err)
		}
	}
}
