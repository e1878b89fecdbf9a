package udp

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/throng-dev/throng/internal/netcode"
	"github.com/throng-dev/throng/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var testKey = netcode.Key{1, 2, 3}

const testProtocol = 99

// mint makes a token without the public token package, which this layer does not know.
func mint(addrs ...netip.AddrPort) []byte { return mintWith(testKey, addrs...) }

func mintWith(key netcode.Key, addrs ...netip.AddrPort) []byte {
	var r [32 + 2*netcode.KeySize]byte
	rand.Read(r[:])
	private := netcode.PrivateToken{ClientID: binary.LittleEndian.Uint64(r[:]), Timeout: 17, Addrs: addrs,
		ClientToServer: netcode.Key(r[32:]), ServerToClient: netcode.Key(r[64:])}
	copy(private.UserData[:], "player one")
	now := uint64(time.Now().Unix())
	public := netcode.PublicToken{Protocol: testProtocol, Created: now, Expires: now + 60, Timeout: 17, Addrs: addrs,
		Nonce: [24]byte(r[8:]), ClientToServer: private.ClientToServer, ServerToClient: private.ServerToClient}
	private.Seal(public.Private[:0], key, testProtocol, public.Expires, public.Nonce)
	return public.Append(nil)
}

// relay polls a listener on a goroutine of its own, as a shard does, and runs hooks on it.
type relay struct {
	*Listener
	t        testing.TB
	received func(id transport.ID, payload []byte)

	mu     sync.Mutex
	opened chan transport.ID
	closed chan error
	calls  []func()
	done   chan struct{}
	peers  []transport.Peer
}

func start(t testing.TB, addr string, edit func(*Config), received func(r *relay, id transport.ID, b []byte)) *relay {
	t.Helper()
	c := Config{Key: testKey, Protocol: testProtocol}
	if edit != nil {
		edit(&c)
	}
	l, err := Listen(addr, c)
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{Listener: l, t: t, opened: make(chan transport.ID, 100), closed: make(chan error, 100), done: make(chan struct{})}
	r.received = func(id transport.ID, b []byte) {
		if received != nil {
			received(r, id, b)
		}
	}
	go func() {
		defer close(r.done)
		for {
			err := l.Poll(time.Now().Add(time.Minute), r)
			r.mu.Lock()
			calls := r.calls
			r.calls = nil
			r.mu.Unlock()
			for _, f := range calls {
				f()
			}
			if err != nil {
				if !errors.Is(err, transport.ErrClosed) {
					t.Errorf("Poll: %v", err)
				}
				return
			}
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-r.done
	})
	return r
}

// do runs f on the polling goroutine and waits for it.
func (r *relay) do(f func()) {
	done := make(chan struct{})
	r.mu.Lock()
	r.calls = append(r.calls, func() { f(); close(done) })
	r.mu.Unlock()
	r.Wake()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		r.t.Fatal("Wake did not end Poll")
	}
}

func (r *relay) Opened(id transport.ID, p transport.Peer) {
	if !strings.HasPrefix(string(p.UserData), "player one") || p.Addr == nil {
		r.t.Errorf("opened with %q from %v", p.UserData[:10], p.Addr)
	}
	p.UserData = nil
	r.peers = append(r.peers, p)
	r.opened <- id
}
func (r *relay) Received(id transport.ID, b []byte) { r.received(id, b) }
func (r *relay) Closed(id transport.ID, why error)  { r.closed <- why }

func (r *relay) addrPort() netip.AddrPort { return r.Addr().(*net.UDPAddr).AddrPort() }

func buffer(payload ...byte) []byte { return append(transport.NewBuffer(), payload...) }

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func dial(t testing.TB, d Dialer, r *relay) *Conn {
	t.Helper()
	c, err := d.Dial(within(t, 10*time.Second), r.Addr().String(), mint(r.addrPort()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.(*Conn)
}

func wait[T any](t testing.TB, c chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(10 * time.Second):
		t.Fatal("nothing came")
		panic(0)
	}
}

// both runs a test with the socket of the system and with the portable one.
func both(t *testing.T, f func(t *testing.T, edit func(*Config), d Dialer)) {
	for _, portable := range []bool{false, true} {
		t.Run(fmt.Sprint("portable ", portable), func(t *testing.T) {
			f(t, func(c *Config) { c.Portable = portable }, Dialer{Portable: portable})
		})
	}
}
