package relay_test

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/udp"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/token"
	"github.com/throng-dev/throng/transport"
)

// From a minted token to a welcome and a goodbye, over a real socket.
func TestUDP(t *testing.T) {
	key := token.NewKey()
	srv, err := relay.New(relay.Config{Key: key, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	l, err := srv.ListenUDP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()

	addr := l.Addr().(*net.UDPAddr).AddrPort()
	tok, err := token.Mint(key, token.ProtocolID, []netip.AddrPort{addr}, token.Claims{Player: [16]byte{1}, World: relay.WorldHash("town")}, 0)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := udp.Dialer{}.Dial(t.Context(), addr.String(), tok)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	reg, end := registry.New(registry.Config{World: "town"}), session.New(session.Config{})
	start := time.Now()
	now := func() time.Duration { return time.Since(start) }
	reg.Connect(now(), end)

	var closed error
	for !reg.Welcomed || closed == nil {
		if now() > 10*time.Second {
			t.Fatalf("welcomed %v, closed %v", reg.Welcomed, closed)
		}
		if out := reg.Send(now(), false, transport.MaxPayload, transport.Headroom, transport.NewBuffer, nil); len(out) > 0 {
			conn.Send(out)
		}
		if err := conn.Receive(time.Now().Add(20*time.Millisecond), func(b []byte) {
			if err := end.Receive(now(), b, reg.Handler(now())); err != nil {
				closed = err
			}
		}); err != nil && closed == nil {
			t.Fatal(err)
		}
		if reg.Welcomed && closed == nil {
			go srv.Close()
		}
	}
	if !strings.Contains(closed.Error(), "the relay stops") {
		t.Error(closed)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestListenUDPNeedsAKey(t *testing.T) {
	srv, err := relay.New(relay.Config{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	if l, err := srv.ListenUDP("127.0.0.1:0"); l != nil || err == nil || !strings.Contains(err.Error(), "Config.Key is zero") {
		t.Error(l, err)
	}
	keyed, _ := relay.New(relay.Config{Key: token.NewKey(), Logger: quiet})
	if l, err := keyed.ListenUDP("nowhere:x"); l != nil || err == nil {
		t.Error(l, err)
	}
}
