package netcode

import (
	"bytes"
	"net/netip"
	"testing"
	"time"
)

var here = netip.MustParseAddrPort("10.1.1.1:5000")

func request(t testing.TB, token []byte) []byte {
	p, err := ParsePublicToken(token)
	if err != nil {
		t.Fatal(err)
	}
	return p.appendRequest(nil)
}

func TestRequestsThatAreIgnored(t *testing.T) {
	elsewhere := []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:7778")}
	for name, c := range map[string]struct {
		token minted
		edit  func([]byte) []byte
		now   time.Duration
		want  Drop
	}{
		"good":              {},
		"short":             {edit: func(b []byte) []byte { return b[:len(b)-1] }, want: DropBody},
		"long":              {edit: func(b []byte) []byte { return append(b, 0) }, want: DropBody},
		"version":           {edit: func(b []byte) []byte { b[12]--; return b }, want: DropVersion},
		"protocol":          {token: minted{proto: testProtocol + 1}, want: DropProtocol},
		"expired":           {now: 60 * time.Second, want: DropExpired},
		"last second":       {now: 59 * time.Second},
		"lives too long":    {token: minted{life: 70 * time.Second}, want: DropLife},
		"wrong key":         {token: minted{key: Key{9}}, want: DropToken},
		"expiry changed":    {edit: func(b []byte) []byte { b[22]++; return b }, want: DropToken},
		"bit in the middle": {edit: func(b []byte) []byte { b[500] ^= 1; return b }, want: DropToken},
		"another server's":  {token: minted{addrs: elsewhere}, want: DropAddress},
		"refused by caller": {token: minted{id: 13}, want: DropRefused},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, nil)
			s.config.Accept = func([]byte, int64, int64) bool { return s.token.ClientID != 13 }
			b := request(t, mint(c.token))
			if c.edit != nil {
				b = c.edit(b)
			}
			size := len(b)
			e := s.Receive(at(c.now), here, b)
			if e.Kind != Ignored || e.Drop != c.want {
				t.Errorf("dropped as %q, want %q", e.Drop, c.want)
			}
			if answers := len(s.Outgoing()); answers != map[bool]int{true: 1}[c.want == 0] {
				t.Errorf("%d answers", answers)
			}
			for _, o := range s.Outgoing() {
				if len(o.Data) > size {
					t.Errorf("answer of %d bytes to %d", len(o.Data), size)
				}
			}
		})
	}
}

func TestTokenMakesOneConnection(t *testing.T) {
	n := newNetwork(t, newServer(t, nil), 1)
	token := mint(minted{})
	first := n.join(1, token)
	n.step(100 * time.Millisecond)
	if first.State() != Connected {
		t.Fatal(first.State())
	}
	b := request(t, token)
	use := func(from netip.AddrPort, want Drop) {
		t.Helper()
		if e := n.server.Receive(at(n.now), from, bytes.Clone(b)); e.Drop != want {
			t.Errorf("dropped as %q, want %q", e.Drop, want)
		}
	}
	use(n.order[0], DropConnected)
	use(here, DropConnected) // its client id is connected
	n.server.Disconnect(n.events[0].ID)
	n.step(10 * time.Millisecond)
	use(n.order[0], DropUsed)
	use(here, DropUsed)
	n.now += 45 * time.Second
	n.events = n.server.Update(at(n.now), n.events)
	use(here, DropUsed)
	n.now += 20 * time.Second
	use(here, DropExpired)
	// A wall clock that is set back does not bring it to life.
	n.events = n.server.Update(at(n.now), n.events)
	back := at(n.now)
	back.Wall -= 10_000
	if e := n.server.Receive(back, here, bytes.Clone(b)); e.Drop != DropUsed {
		t.Errorf("after the clock was set back: dropped as %q", e.Drop)
	}
	n.now += 30 * time.Second
	n.server.Update(at(n.now), nil)
	if n.server.Tokens() != 0 {
		t.Errorf("%d tokens remembered for ever", n.server.Tokens())
	}
}

func TestUnfinishedHandshakeMayBeRepeatedFromItsAddressOnly(t *testing.T) {
	s := newServer(t, nil)
	b := request(t, mint(minted{}))
	for range 3 {
		if e := s.Receive(at(0), here, bytes.Clone(b)); e.Drop != 0 {
			t.Fatal(e.Drop)
		}
	}
	if s.Handshakes() != 1 || len(s.Outgoing()) != 3 {
		t.Errorf("%d handshakes, %d challenges", s.Handshakes(), len(s.Outgoing()))
	}
	other := netip.AddrPortFrom(here.Addr(), here.Port()+1)
	if e := s.Receive(at(0), other, bytes.Clone(b)); e.Drop != DropUsed {
		t.Errorf("dropped as %q", e.Drop)
	}
	s.Update(at(11*time.Second), nil)
	if s.Handshakes() != 0 {
		t.Error("the handshake is held for ever")
	}
	// A fresh token from the same socket takes the place of the old one.
	s.Receive(at(11*time.Second), here, bytes.Clone(b))
	s.Receive(at(11*time.Second), here, request(t, mint(minted{})))
	if s.Handshakes() != 1 || len(s.peers) != 1 {
		t.Errorf("%d handshakes", s.Handshakes())
	}
}

func TestTablesAreBounded(t *testing.T) {
	s := newServer(t, func(c *ServerConfig) {
		c.MaxHandshakes, c.MaxHandshakesPerIP, c.MaxTokens = 20, 5, 40
	})
	var drops [Drops]int
	for i := range 100 {
		from := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i % 10)}), uint16(1000+i))
		drops[s.Receive(at(0), from, request(t, mint(minted{}))).Drop]++
		s.Sent()
	}
	if s.Handshakes() != 20 || s.Tokens() != 40 || drops[DropBusy] != 20 || drops[DropTokens] != 60 {
		t.Errorf("%d handshakes, %d tokens, %d busy, %d beyond the tokens", s.Handshakes(), s.Tokens(), drops[DropBusy], drops[DropTokens])
	}
	s = newServer(t, func(c *ServerConfig) { c.MaxHandshakesPerIP = 5 })
	for i := range 20 {
		s.Receive(at(0), netip.AddrPortFrom(here.Addr(), uint16(i+1)), request(t, mint(minted{})))
	}
	if s.Handshakes() != 5 {
		t.Errorf("%d handshakes of one host", s.Handshakes())
	}
	s.Update(at(20*time.Second), nil)
	if len(s.perIP) != 0 || len(s.peers) != 0 {
		t.Error("a table keeps what is over")
	}
}

func TestPacketsThatAreIgnored(t *testing.T) {
	n := newNetwork(t, newServer(t, nil), 1)
	c := n.join(1, mint(minted{}))
	n.step(100 * time.Millisecond)
	s, from := n.server, n.order[0]
	good := bytes.Clone(c.Seal(at(n.now), buffer("hello, relay"), 16))
	try := func(name string, from netip.AddrPort, b []byte, want Drop) {
		t.Helper()
		if e := s.Receive(at(n.now), from, b); e.Drop != want || e.Kind != Ignored {
			t.Errorf("%s: %v dropped as %q, want %q", name, e.Kind, e.Drop, want)
		}
	}
	for i := range good {
		b := bytes.Clone(good)
		b[i] ^= 0x40
		if e := s.Receive(at(n.now), from, b); e.Kind != Ignored || e.Drop == 0 {
			t.Errorf("flipped byte %d: %+v", i, e)
		}
		if e := s.Receive(at(n.now), from, bytes.Clone(good[:i])); e.Kind != Ignored || e.Drop == 0 {
			t.Errorf("cut at %d: %+v", i, e)
		}
	}
	// A forged sequence far ahead must not close the window for the real ones.
	far := bytes.Clone(good)
	far[0] = kindPayload | 8<<4
	try("far ahead", from, far, DropForged)
	for name, kind := range map[string]byte{"denied": kindDenied, "challenge": kindChallenge, "7": 7} {
		try(name, from, append([]byte{kind | 1<<4}, good[1:]...), DropKind)
	}
	try("no sequence", from, append([]byte{kindPayload}, good[1:]...), DropSequence)
	try("9 bytes of sequence", from, append([]byte{kindPayload | 9<<4}, good[1:]...), DropSequence)
	try("stranger", here, bytes.Clone(good), DropUnknown)
	if e := s.Receive(at(n.now), from, bytes.Clone(good)); e.Kind != Payload || string(e.Data) != "hello, relay" {
		t.Fatalf("the good one: %+v", e)
	}
	try("replay", from, bytes.Clone(good), DropReplay)
	// Bodies of a wrong size are authentic, and ignored all the same.
	for kind, size := range map[byte]int{kindKeepAlive: 7, kindDisconnect: 1, kindPayload: 0, kindResponse: 10} {
		b := c.control(kind, append(make([]byte, 16, 64), make([]byte, size)...)[7:])
		try("body", from, bytes.Clone(b), DropBody)
	}
	if s.Sessions() != 1 {
		t.Error("the session ended")
	}
}

func TestClientSaysWhyItGaveUp(t *testing.T) {
	n := newNetwork(t, newServer(t, nil), 1)
	n.loss = 1
	stale := n.join(1, mint(minted{born: -100 * time.Second}))
	alone := n.join(2, mint(minted{}))
	short := n.join(3, mint(minted{life: time.Second}))
	n.step(6 * time.Second)
	for c, want := range map[*Client]error{stale: ErrTokenExpired, alone: ErrRequestTimeout, short: ErrTokenExpired} {
		if c.State() != Over || c.Err() != want {
			t.Errorf("client is %v: %v, want %v", c.State(), c.Err(), want)
		}
	}
	for name, b := range map[string][]byte{
		"empty":    nil,
		"long":     make([]byte, PublicTokenSize+1),
		"zero":     make([]byte, PublicTokenSize),
		"protocol": mint(minted{proto: 5}),
		"life":     mint(minted{life: -time.Second}),
	} {
		if _, err := NewClient(at(0), ClientConfig{Token: b, Protocol: testProtocol}); err != ErrInvalidToken {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestConfigSaysWhatIsWrong(t *testing.T) {
	for _, c := range []ServerConfig{{}, {Key: Key{1}, AuthorityKey: Key{1}}, {Key: Key{1}, MaxClients: MaxClients + 1}} {
		if _, err := NewServer(c); err == nil {
			t.Errorf("accepted %+v", c)
		}
	}
}
