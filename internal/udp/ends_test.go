package udp

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/netcode"
	"github.com/throng-dev/throng/transport"
)

func TestDisconnect(t *testing.T) {
	both(t, func(t *testing.T, edit func(*Config), d Dialer) {
		r := start(t, "127.0.0.1:0", edit, nil)
		c := dial(t, d, r)
		id := wait(t, r.opened)
		r.do(func() { r.Disconnect(id) })
		var err error
		for err == nil {
			err = c.Receive(time.Now().Add(5*time.Second), func([]byte) {})
		}
		if !errors.Is(err, transport.ErrClosed) {
			t.Error(err)
		}
		select {
		case why := <-r.closed:
			t.Errorf("Disconnect was reported: %v", why)
		default:
		}
	})
}

func TestSilence(t *testing.T) {
	both(t, func(t *testing.T, edit func(*Config), d Dialer) {
		r := start(t, "127.0.0.1:0", func(c *Config) { edit(c); c.Timeout = 300 * time.Millisecond; c.KeepAlive = time.Minute }, nil)
		d.Timeout, d.KeepAlive = 500*time.Millisecond, time.Minute
		c := dial(t, d, r)
		wait(t, r.opened)
		if why := wait(t, r.closed); !errors.Is(why, transport.ErrTimeout) {
			t.Errorf("relay: %v", why)
		}
		var err error
		for err == nil {
			err = c.Receive(time.Time{}, func([]byte) {})
		}
		if !errors.Is(err, transport.ErrTimeout) {
			t.Errorf("client: %v", err)
		}
	})
}

// Keep-alives hold a session longer than its timeout, while both ends only wait.
func TestIdleSessionLives(t *testing.T) {
	r := start(t, "127.0.0.1:0", func(c *Config) { c.Timeout = 600 * time.Millisecond; c.KeepAlive = 100 * time.Millisecond }, nil)
	c := dial(t, Dialer{Timeout: 600 * time.Millisecond, KeepAlive: 100 * time.Millisecond}, r)
	if err := c.Receive(time.Now().Add(1500*time.Millisecond), func([]byte) {}); err != nil {
		t.Error(err)
	}
	if s := r.Stats(); s.Sessions != 1 {
		t.Errorf("%+v", s)
	}
}

func TestDialSaysWhy(t *testing.T) {
	both(t, func(t *testing.T, edit func(*Config), d Dialer) {
		r := start(t, "127.0.0.1:0", func(c *Config) { edit(c); c.MaxClients = 1 }, nil)
		d.Handshake = 300 * time.Millisecond
		try := func(name, addr string, token []byte, d Dialer, want error, text string) {
			t.Helper()
			c, err := d.Dial(within(t, 5*time.Second), addr, token)
			if c != nil {
				t.Errorf("%s: a connection", name)
				c.Close()
			}
			if !errors.Is(err, want) || !strings.HasPrefix(err.Error(), "throng: dialing ") || !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v", name, err)
			}
		}
		a := r.addrPort()
		spent := mint(a)
		first, err := d.Dial(within(t, 5*time.Second), "", spent)
		if err != nil {
			t.Fatal(err)
		}
		try("full", "", mint(a), d, transport.ErrRefused, "full")
		first.Close()
		wait(t, r.closed)
		try("token used", "", spent, d, transport.ErrTimeout, "does not answer")
		try("another key", "", mintWith(netcode.Key{9}, a), d, transport.ErrTimeout, "firewall")
		try("no token", a.String(), nil, d, transport.ErrTokenUsed, "fresh")
		try("another protocol", a.String(), mint(a), Dialer{Protocol: 5}, transport.ErrTokenUsed, "fresh")
		var format *net.AddrError
		_, err = d.Dial(t.Context(), "localhost", mint(a))
		if !errors.As(err, &format) || !strings.Contains(err.Error(), "HOST:PORT") {
			t.Errorf("no port: %v", err)
		}
		// A port nobody listens on; the system says so, and the dialer believes only silence.
		dead, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
		if err != nil {
			t.Fatal(err)
		}
		nobody := dead.LocalAddr().(*net.UDPAddr).AddrPort()
		dead.Close()
		try("nobody", nobody.String(), mint(nobody), d, transport.ErrTimeout, "firewall")

		// The second address of a token serves when the first is dead, and names are looked up.
		c, err := d.Dial(within(t, 5*time.Second), "", mint(nobody, a))
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		wait(t, r.closed)
	})
}

func TestDialEndsWithItsContext(t *testing.T) {
	both(t, func(t *testing.T, _ func(*Config), d Dialer) {
		silent, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
		if err != nil {
			t.Fatal(err)
		}
		defer silent.Close()
		a := silent.LocalAddr().(*net.UDPAddr).AddrPort()
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		_, err = d.Dial(ctx, "", mint(a))
		if !errors.Is(err, transport.ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		go func() {
			silent.Read(make([]byte, 2000))
			cancel()
		}()
		if _, err = d.Dial(ctx, "", mint(a)); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestListenSaysWhatToDo(t *testing.T) {
	r := start(t, "127.0.0.1:0", nil, nil)
	_, err := Listen(r.Addr().String(), Config{Key: testKey})
	want := "throng: listening on " + r.Addr().String() + ": port is in use: stop the other program or choose another port with 127.0.0.1:PORT"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	for addr, want := range map[string]string{"127.0.0.1": "HOST:PORT", "192.0.2.1:0": "no such address", "127.0.0.1:0": "Key is zero"} {
		if _, err := Listen(addr, Config{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", addr, err, want)
		}
	}
}

// Garbage is counted by reason, and leaves nothing behind.
func TestGarbageFlood(t *testing.T) {
	both(t, func(t *testing.T, edit func(*Config), d Dialer) {
		r := start(t, "127.0.0.1:0", edit, nil)
		c := dial(t, d, r)
		wait(t, r.opened)
		from, err := net.DialUDP("udp", nil, r.Addr().(*net.UDPAddr))
		if err != nil {
			t.Fatal(err)
		}
		defer from.Close()
		forged, err := netcode.ParsePublicToken(mintWith(netcode.Key{9}, r.addrPort()))
		if err != nil {
			t.Fatal(err)
		}
		client, err := netcode.NewClient(netcode.Now{}, netcode.ClientConfig{Token: forged.Append(nil), Protocol: testProtocol})
		if err != nil {
			t.Fatal(err)
		}
		request := client.Next(netcode.Now{})
		garbage := [][]byte{{}, {1}, make([]byte, 18), make([]byte, 1400), request}
		flood := func(rounds int) {
			for range rounds {
				for _, b := range garbage {
					from.Write(b)
				}
				// Let the relay read, so that the kernel drops none.
				r.do(func() {})
			}
		}
		heap := func() uint64 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		flood(200)
		before := heap()
		flood(2000)
		if grown := int64(heap()) - int64(before); grown > 256<<10 {
			t.Errorf("the heap grew by %d bytes", grown)
		}
		s := r.Stats()
		if s.Sessions != 1 || s.Handshakes != 0 || s.Tokens != 1 {
			t.Errorf("%+v", s)
		}
		if s.Dropped["token forged"] < 2000 || s.Dropped["short"] < 4000 || s.Dropped["body"] < 2000 {
			t.Errorf("%v", s.Dropped)
		}
		from.SetReadDeadline(time.Now())
		if n, _ := from.Read(make([]byte, 2000)); n > 0 {
			t.Error("garbage was answered")
		}
		if err := c.Send([][]byte{buffer(1)}); err != nil {
			t.Error(err)
		}
	})
}
