package netcode

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

func TestHandshake(t *testing.T) {
	n := newNetwork(t, newServer(t, nil), 1)
	c := n.join(1, mint(minted{}))
	n.step(50 * time.Millisecond)
	if c.State() != Connected {
		t.Fatalf("client is %v: %v", c.State(), c.Err())
	}
	if len(n.events) != 1 || n.events[0].Kind != Opened || string(n.events[0].Data[:3]) != "who" {
		t.Fatalf("events %v", n.events)
	}
	if n.events[0].Privileged || n.events[0].ID == 0 || n.events[0].From != n.order[0] {
		t.Errorf("opened as %+v", n.events[0])
	}

	var got []string
	n.payload = func(_ netip.AddrPort, b []byte) { got = append(got, string(b)) }
	id := n.events[0].ID
	n.fromServer(id, "down")
	n.fromClient(0, "up")
	n.step(20 * time.Millisecond)
	if len(got) != 1 || got[0] != "down" {
		t.Errorf("client got %q", got)
	}
	if e := n.events[len(n.events)-1]; e.Kind != Payload || e.ID != id || string(e.Data) != "up" {
		t.Errorf("server got %v", e)
	}
}

func TestHandshakeOverABadLink(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			n := newNetwork(t, newServer(t, nil), seed)
			n.loss, n.double, n.delay = 0.3, 0.3, 150*time.Millisecond
			got := map[string]int{}
			n.payload = func(a netip.AddrPort, b []byte) { got[a.String()+string(b)]++ }
			for i := range 10 {
				n.join(i, mint(minted{}))
			}
			n.step(4 * time.Second)
			for _, a := range n.order {
				if c := n.clients[a]; c.State() != Connected {
					t.Errorf("%v is %v: %v", a, c.State(), c.Err())
				}
			}
			if n.count(Opened) != 10 || n.server.Sessions() != 10 || n.server.Handshakes() != 0 {
				t.Fatalf("%d opened, %d sessions, %d handshakes", n.count(Opened), n.server.Sessions(), n.server.Handshakes())
			}
			ids := map[ID]bool{}
			for i := range 200 {
				for _, e := range n.events[:] {
					if e.Kind == Opened {
						ids[e.ID] = true
						n.fromServer(e.ID, fmt.Sprint(" d", i))
					}
				}
				for c := range 10 {
					n.fromClient(c, fmt.Sprintf("%d u%d", c, i))
				}
				n.step(10 * time.Millisecond)
			}
			n.step(time.Second)
			up := map[string]int{}
			for _, e := range n.events {
				if e.Kind == Payload {
					if !ids[e.ID] {
						t.Fatalf("payload of unknown %d", e.ID)
					}
					up[string(e.Data)]++
				}
			}
			for name, m := range map[string]map[string]int{"up": up, "down": got} {
				for p, c := range m {
					if c != 1 {
						t.Errorf("%s: %q came %d times", name, p, c)
					}
				}
				if len(m) < 1200 || len(m) > 1600 {
					t.Errorf("%s: %d of 2000 came over a link that loses 30 %%", name, len(m))
				}
			}
			if n.count(TimedOut)+n.count(Left) != 0 {
				t.Error("a session ended")
			}
		})
	}
}

// The first payloads reach a client whose confirmation was lost, because a keep-alive goes before them.
func TestPayloadBeforeConfirmation(t *testing.T) {
	s := newServer(t, nil)
	c := newClient(t, at(0), mint(minted{}))
	from := netip.MustParseAddrPort("10.0.0.1:1")
	s.Receive(at(0), from, append([]byte(nil), c.Next(at(0))...))
	c.Receive(at(0), s.Outgoing()[0].Data)
	s.Sent()
	e := s.Receive(at(0), from, append([]byte(nil), c.Next(at(0))...))
	if e.Kind != Opened {
		t.Fatal(e.Drop)
	}
	s.Sent() // the keep-alive is lost
	d, _, _ := s.Seal(at(20*time.Millisecond), e.ID, buffer("x"), 16)
	if len(s.Outgoing()) != 1 {
		t.Fatalf("%d packets go before the payload, want 1", len(s.Outgoing()))
	}
	c.Receive(at(0), s.Outgoing()[0].Data)
	if b, why := c.Receive(at(0), d); string(b) != "x" {
		t.Fatal(why)
	}
	s.Sent()
	s.Seal(at(20*time.Millisecond), e.ID, buffer("x"), 16)
	if len(s.Outgoing()) != 0 {
		t.Error("one flush has two keep-alives")
	}
}

func TestSecondAddressOfTheToken(t *testing.T) {
	n := newNetwork(t, newServer(t, nil), 1)
	c := n.join(1, mint(minted{addrs: []netip.AddrPort{netip.MustParseAddrPort("192.0.2.9:1"), serverAddr}}))
	n.step(4 * time.Second)
	if c.State() != Requesting {
		t.Fatalf("client is %v after 4 s", c.State())
	}
	n.step(1500 * time.Millisecond)
	if c.State() != Connected {
		t.Fatalf("client is %v: %v", c.State(), c.Err())
	}
}

func TestSilenceAndGoodbye(t *testing.T) {
	n := newNetwork(t, newServer(t, nil), 1)
	a, b := n.join(1, mint(minted{})), n.join(2, mint(minted{}))
	n.step(time.Second)
	if n.server.Sessions() != 2 {
		t.Fatal("not connected")
	}
	// Idle sessions live by their keep-alives, and those are few.
	before := n.sent
	n.step(60 * time.Second)
	if a.State() != Connected || n.server.Sessions() != 2 {
		t.Fatal("idle session ended")
	}
	if k := n.sent - before; k > 4*42 {
		t.Errorf("%d keep-alives in a minute of two idle sessions", k)
	}
	b.Goodbye(func(d []byte) { n.send(n.order[1], serverAddr, d) })
	n.step(10 * time.Millisecond)
	if n.count(Left) != 1 || n.server.Sessions() != 1 {
		t.Errorf("%d left, %d sessions", n.count(Left), n.server.Sessions())
	}
	// The server is silent for a: each finds out alone.
	n.loss = 1
	n.step(18 * time.Second)
	if a.State() != Over || a.Err() != ErrTimeout {
		t.Errorf("client is %v: %v", a.State(), a.Err())
	}
	if n.count(TimedOut) != 1 || n.server.Sessions() != 0 {
		t.Errorf("%d timed out, %d sessions", n.count(TimedOut), n.server.Sessions())
	}
}

func TestServerDisconnects(t *testing.T) {
	n := newNetwork(t, newServer(t, nil), 1)
	c := n.join(1, mint(minted{}))
	n.step(100 * time.Millisecond)
	id := n.events[0].ID
	n.server.Disconnect(id)
	n.loss = 0.5
	n.step(20 * time.Millisecond)
	if c.State() != Over || c.Err() != ErrLeft {
		t.Errorf("client is %v: %v", c.State(), c.Err())
	}
	if n.count(Left) != 0 {
		t.Error("Disconnect was reported")
	}
	if _, _, ok := n.server.Seal(at(n.now), id, buffer("x"), 16); ok {
		t.Error("a dead id seals")
	}
	// The slot serves again, under another id.
	n.loss = 0
	n.join(2, mint(minted{}))
	n.step(100 * time.Millisecond)
	last := n.events[len(n.events)-1]
	if last.Kind != Opened || last.ID == id || last.ID.slot() != id.slot() {
		t.Errorf("opened %v after %v", last.ID, id)
	}
}

func TestFullServerDenies(t *testing.T) {
	n := newNetwork(t, newServer(t, func(c *ServerConfig) { c.MaxClients = 1 }), 1)
	n.join(1, mint(minted{}))
	n.step(100 * time.Millisecond)
	c := n.join(2, mint(minted{}))
	n.step(100 * time.Millisecond)
	if c.State() != Over || c.Err() != ErrDenied {
		t.Errorf("client is %v: %v", c.State(), c.Err())
	}
}

func TestAuthorityKeyMarksThePeer(t *testing.T) {
	n := newNetwork(t, newServer(t, func(c *ServerConfig) { c.AuthorityKey = relayKey }), 1)
	n.join(1, mint(minted{}))
	n.step(100 * time.Millisecond)
	n.join(2, mint(minted{key: relayKey}))
	n.step(100 * time.Millisecond)
	if n.count(Opened) != 2 || n.events[0].Privileged || !n.events[1].Privileged {
		t.Errorf("events %+v", n.events)
	}
}
