package udp

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/throng-dev/throng/transport"
)

// count is a sink that keeps nothing.
type count struct {
	id  transport.ID
	got int
}

func (c *count) Opened(id transport.ID, _ transport.Peer) { c.id = id }
func (c *count) Received(transport.ID, []byte)            { c.got++ }
func (c *count) Closed(transport.ID, error)               {}

// pair is a listener and a client without goroutines: the test plays both.
func pair(t testing.TB, portable bool) (*Listener, *count, *Conn) {
	l, err := Listen("127.0.0.1:0", Config{Key: testKey, Protocol: testProtocol, Portable: portable})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s := &count{}
	done := make(chan *Conn)
	go func() {
		a := l.Addr().(*net.UDPAddr).AddrPort()
		c, err := Dialer{Portable: portable}.Dial(t.Context(), "", mint(a))
		if err != nil {
			t.Error(err)
			close(done)
			return
		}
		done <- c.(*Conn)
	}()
	for {
		if err := l.Poll(time.Now().Add(5*time.Millisecond), s); err != nil {
			t.Fatal(err)
		}
		select {
		case c := <-done:
			if c == nil {
				t.FailNow()
			}
			t.Cleanup(func() { c.Close() })
			// The keep-alive that confirms the session is still on its way.
			if err := l.Poll(time.Now().Add(5*time.Millisecond), s); err != nil {
				t.Fatal(err)
			}
			return l, s, c
		default:
		}
	}
}

func TestPacketsAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, portable := range []bool{false, true} {
		l, s, c := pair(t, portable)
		out := make([]transport.Datagram, 6)
		up := make([][]byte, 6)
		for i := range out {
			out[i] = transport.Datagram{To: s.id, Buf: transport.NewBuffer()[:transport.Headroom+500]}
			up[i] = transport.NewBuffer()[:transport.Headroom+100]
		}
		got := 0
		f := func([]byte) { got++ }
		round := func() {
			soon := time.Now().Add(5 * time.Second)
			l.Send(out)
			for got = 0; got < len(out); {
				if err := c.Receive(soon, f); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.Send(up); err != nil {
				t.Fatal(err)
			}
			for s.got = 0; s.got < len(up); {
				if err := l.Poll(soon, s); err != nil {
					t.Fatal(err)
				}
			}
		}
		if n := testing.AllocsPerRun(200, round); n != 0 {
			t.Errorf("portable %v: %v allocations for 12 packets there and back", portable, n)
		}
	}
}

// BenchmarkFlush is what the relay pays to seal and send a flush: 48 datagrams of 1,200 bytes to 48/k clients, k to
// each. The sockets of the clients overflow, since nobody reads; that costs the sender about the same.
func BenchmarkFlush(b *testing.B) {
	for _, k := range []int{1, 3, 8} {
		b.Run(fmt.Sprint(k, " each"), func(b *testing.B) {
			r := start(b, "127.0.0.1:0", nil, nil)
			var out []transport.Datagram
			for range 48 / k {
				dial(b, Dialer{}, r)
				id := wait(b, r.opened)
				for range k {
					out = append(out, transport.Datagram{To: id, Buf: transport.NewBuffer()[:transport.Headroom+1200]})
				}
			}
			b.ReportAllocs()
			r.do(func() {
				for b.Loop() {
					r.Send(out)
				}
			})
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(out)), "ns/datagram")
		})
	}
}

// BenchmarkEcho is one datagram of 100 bytes to the relay and back, without batches to speak of.
func BenchmarkEcho(b *testing.B) {
	for _, portable := range []bool{false, true} {
		name := "system"
		if portable {
			name = "portable"
		}
		b.Run(name, func(b *testing.B) {
			l, s, c := pair(b, portable)
			up := [][]byte{transport.NewBuffer()[:transport.Headroom+100]}
			down := []transport.Datagram{{To: s.id, Buf: transport.NewBuffer()[:transport.Headroom+100]}}
			got := 0
			f := func([]byte) { got++ }
			b.ReportAllocs()
			for b.Loop() {
				soon := time.Now().Add(time.Second)
				c.Send(up)
				for s.got = 0; s.got == 0; {
					l.Poll(soon, s)
				}
				l.Send(down)
				for got = 0; got == 0; {
					c.Receive(soon, f)
				}
			}
		})
	}
}

// BenchmarkReceive is what the relay pays for a datagram of 24 bytes, batches of 32 waiting in the socket.
func BenchmarkReceive(b *testing.B) {
	l, s, c := pair(b, false)
	up := make([][]byte, 32)
	for i := range up {
		up[i] = transport.NewBuffer()[:transport.Headroom+24]
	}
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		c.Send(up)
		s.got = 0
		b.StartTimer()
		for soon := time.Now().Add(time.Second); s.got < len(up); {
			l.Poll(soon, s)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(up)), "ns/datagram")
}
