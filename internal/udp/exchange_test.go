package udp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/throng-dev/throng/transport"
)

// Two clients send 1,000 datagrams each and get every one back, over IPv4, IPv6, and both on one socket.
func TestEcho(t *testing.T) {
	for _, listen := range []string{"127.0.0.1:0", "[::1]:0", ":0", "0.0.0.0:0"} {
		t.Run(listen, func(t *testing.T) {
			both(t, func(t *testing.T, edit func(*Config), d Dialer) {
				buf := transport.NewBuffer()
				r := start(t, listen, edit, func(r *relay, id transport.ID, b []byte) {
					r.Send([]transport.Datagram{{To: id, Buf: append(buf[:transport.Headroom], b...)}})
				})
				hosts := []string{"127.0.0.1", "::1"}
				if listen == "127.0.0.1:0" || listen == "[::1]:0" {
					host := r.addrPort().Addr().String()
					hosts = []string{host, host}
				}
				errs := make(chan error)
				for _, host := range hosts {
					go func() {
						a := netip.AddrPortFrom(netip.MustParseAddr(host), r.addrPort().Port())
						c, err := d.Dial(within(t, 10*time.Second), a.String(), mint(a))
						if err != nil {
							errs <- err
							return
						}
						defer c.Close()
						errs <- echo(c, 1000)
					}()
				}
				for range hosts {
					if err := wait(t, errs); err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}

// echo keeps at most 32 datagrams on their way, so that no buffer overflows and none may be missing.
func echo(c transport.Conn, count int) error {
	seen := make([]bool, count)
	sent, got := 0, 0
	for got < count {
		var bufs [][]byte
		for ; sent < count && sent < got+32; sent++ {
			b := binary.LittleEndian.AppendUint32(transport.NewBuffer(), uint32(sent))
			bufs = append(bufs, append(b, make([]byte, sent%(transport.MaxPayload-4))...))
		}
		if err := c.Send(bufs); err != nil {
			return err
		}
		before := got
		var problem error
		err := c.Receive(time.Now().Add(10*time.Second), func(b []byte) {
			i := int(binary.LittleEndian.Uint32(b))
			if seen[i] || len(b) != 4+i%(transport.MaxPayload-4) {
				problem = fmt.Errorf("datagram %d came twice, or as %d bytes", i, len(b))
			}
			seen[i] = true
			got++
		})
		if err = errors.Join(err, problem); err != nil {
			return err
		}
		if got == before {
			return fmt.Errorf("%d of %d came", got, count)
		}
	}
	return nil
}

// A flush of equal datagrams, which leaves in segments where the system can, arrives as it was.
func TestFlush(t *testing.T) {
	both(t, func(t *testing.T, edit func(*Config), d Dialer) {
		r := start(t, "127.0.0.1:0", edit, nil)
		var conns []*Conn
		var ids []transport.ID
		for range 3 {
			conns = append(conns, dial(t, d, r))
			ids = append(ids, wait(t, r.opened))
		}
		const each = 40 // of three sizes: runs of 20, 19 and a shorter one
		r.do(func() {
			var out []transport.Datagram
			for c, id := range ids {
				for i := range each {
					b := buffer(byte(c), byte(i))
					size := 1100
					if i >= 20 {
						size = 900
					}
					if i == each-1 {
						size = 30
					}
					out = append(out, transport.Datagram{To: id, Buf: b[:transport.Headroom+size]})
				}
			}
			r.Send(out)
		})
		for c, conn := range conns {
			got := [each]bool{}
			for n := 0; n < each; {
				before := n
				if err := conn.Receive(time.Now().Add(5*time.Second), func(b []byte) {
					if int(b[0]) != c || got[b[1]] {
						t.Errorf("client %d got %d of %d", c, b[1], b[0])
					}
					got[b[1]] = true
					n++
				}); err != nil || n == before {
					t.Fatalf("client %d got %d: %v", c, n, err)
				}
			}
		}
		if s := r.Stats(); s.Lost != 0 || s.Sessions != 3 {
			t.Errorf("%+v", s)
		}
	})
}

// One goroutine waits while another sends.
func TestSendWhileReceiving(t *testing.T) {
	both(t, func(t *testing.T, edit func(*Config), d Dialer) {
		buf := transport.NewBuffer()
		r := start(t, "127.0.0.1:0", edit, func(r *relay, id transport.ID, b []byte) {
			r.Send([]transport.Datagram{{To: id, Buf: append(buf[:transport.Headroom], b...)}})
		})
		c := dial(t, d, r)
		waiting := make(chan error, 1)
		go func() {
			got := 0
			for got == 0 {
				if err := c.Receive(time.Time{}, func(b []byte) { got++ }); err != nil {
					waiting <- err
					return
				}
			}
			waiting <- nil
		}()
		for range 50 {
			if err := c.Send([][]byte{buffer(1)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := wait(t, waiting); err != nil {
			t.Error(err)
		}
		// Close ends a wait, too.
		go func() {
			var err error
			for err == nil {
				err = c.Receive(time.Time{}, func([]byte) {})
			}
			waiting <- err
		}()
		c.Close()
		if err := wait(t, waiting); !errors.Is(err, transport.ErrClosed) {
			t.Error(err)
		}
		if err := c.Send([][]byte{buffer(1)}); !errors.Is(err, transport.ErrClosed) {
			t.Errorf("Send after Close: %v", err)
		}
		if why := wait(t, r.closed); !errors.Is(why, transport.ErrClosed) {
			t.Errorf("relay: %v", why)
		}
	})
}
