package impair_test

import (
	"encoding/binary"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/impair"
)

// echo answers every datagram with itself.
func echo(t *testing.T) netip.AddrPort {
	c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	c.SetReadBuffer(4 << 20)
	t.Cleanup(func() { c.Close() })
	go func() {
		b := make([]byte, 2048)
		for {
			n, from, err := c.ReadFromUDPAddrPort(b)
			if err != nil {
				return
			}
			c.WriteToUDPAddrPort(b[:n], from)
		}
	}()
	return c.LocalAddr().(*net.UDPAddr).AddrPort()
}

// tripped sends numbered datagrams, and returns the numbers of the answers in their order, with how long each took.
func tripped(t *testing.T, cfg impair.Config, n int) (got []int, took []time.Duration, st impair.Stats) {
	t.Helper()
	p, err := impair.Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(p.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetReadBuffer(4 << 20)
	sent := make([]time.Time, n)
	for i := range n {
		sent[i] = time.Now()
		c.Write(binary.BigEndian.AppendUint32(nil, uint32(i)))
	}
	b := make([]byte, 64)
	for len(got) < n {
		c.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
		if _, err := c.Read(b); err != nil {
			break
		}
		i := int(binary.BigEndian.Uint32(b))
		got, took = append(got, i), append(took, time.Since(sent[i]))
	}
	return got, took, p.Stats()
}

func TestWithoutImpairmentAllArrivesInOrder(t *testing.T) {
	got, _, st := tripped(t, impair.Config{To: echo(t)}, 300)
	for i, n := range got {
		if i != n {
			t.Fatalf("answer %d is to datagram %d", i, n)
		}
	}
	if len(got) != 300 || st.Lost != 0 || st.Overflowed != 0 || st.Forwarded != 600 {
		t.Errorf("%d answers, %+v", len(got), st)
	}
}

func TestLossIsAShareEachWay(t *testing.T) {
	got, _, st := tripped(t, impair.Config{To: echo(t), Loss: 0.2, Seed: 1}, 1000)
	if len(got) < 540 || len(got) > 740 { // 0.8² of 1,000
		t.Errorf("%d answers", len(got))
	}
	if st.Overflowed != 0 || st.Lost < 260 || st.Lost > 460 {
		t.Errorf("%+v", st)
	}
}

func TestDelayHoldsEachWayAndJitterReorders(t *testing.T) {
	got, took, _ := tripped(t, impair.Config{To: echo(t), Delay: 20 * time.Millisecond, Jitter: 10 * time.Millisecond, Seed: 1}, 200)
	if len(got) != 200 {
		t.Fatalf("%d answers", len(got))
	}
	turned := false
	for i, d := range took {
		if d < 20*time.Millisecond {
			t.Errorf("answer %d took %v: at least 10 ms each way", i, d)
		}
		turned = turned || i > 0 && got[i] < got[i-1]
	}
	if !turned {
		t.Error("nothing was reordered")
	}
}

func TestClientsKeepAddressesOfTheirOwn(t *testing.T) {
	p, err := impair.Listen(impair.Config{To: echo(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for i := range byte(20) {
		c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(p.Addr()))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.Write([]byte{i})
		b := make([]byte, 8)
		c.SetReadDeadline(time.Now().Add(10 * time.Second))
		if n, err := c.Read(b); err != nil || n != 1 || b[0] != i {
			t.Errorf("client %d got %v, %v", i, b[:n], err)
		}
	}
}

func TestMistakes(t *testing.T) {
	for want, cfg := range map[string]impair.Config{
		"only loopback": {To: netip.MustParseAddrPort("192.0.2.1:1")},
		"use a share":   {To: netip.MustParseAddrPort("127.0.0.1:1"), Loss: 2},
		"jitter up to":  {To: netip.MustParseAddrPort("127.0.0.1:1"), Jitter: time.Second},
	} {
		if p, err := impair.Listen(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v", p, err)
		}
	}
}
