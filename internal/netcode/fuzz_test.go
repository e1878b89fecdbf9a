package netcode

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/crypto/chacha20poly1305"
)

// seed adds the golden vectors and a real request.
func seed(f *testing.F) {
	for _, v := range vectors(f) {
		f.Add(v.data)
	}
	f.Add(request(f, mint(minted{})))
}

// FuzzServerReceive throws a datagram at a server from a stranger, from a handshake and from a session.
func FuzzServerReceive(f *testing.F) {
	seed(f)
	n := newNetwork(f, newServer(f, nil), 1)
	n.join(1, mint(minted{}))
	n.step(100 * time.Millisecond)
	n.server.Receive(at(n.now), here, request(f, mint(minted{})))
	n.server.Sent()
	stranger := netip.AddrPortFrom(here.Addr(), 9)
	f.Fuzz(func(t *testing.T, b []byte) {
		s := n.server
		for _, from := range []netip.AddrPort{stranger, here, n.order[0]} {
			e := s.Receive(at(n.now), from, bytes.Clone(b))
			if e.Kind != Ignored {
				t.Errorf("forged: %+v", e)
			}
			for _, o := range s.Outgoing() {
				if len(o.Data) > len(b) {
					t.Errorf("answer of %d bytes to %d", len(o.Data), len(b))
				}
			}
			s.Sent()
		}
		if s.Sessions() != 1 || len(s.peers) > 3 || s.Tokens() > 3 {
			t.Errorf("%d sessions, %d peers, %d tokens", s.Sessions(), len(s.peers), s.Tokens())
		}
	})
}

// FuzzClientReceive throws a datagram at a client in each of its states.
func FuzzClientReceive(f *testing.F) {
	seed(f)
	n := newNetwork(f, newServer(f, nil), 1)
	connected := n.join(1, mint(minted{}))
	n.step(100 * time.Millisecond)
	requesting := newClient(f, at(n.now), mint(minted{}))
	responding := newClient(f, at(n.now), mint(minted{}))
	responding.enter(at(n.now), Responding)
	f.Fuzz(func(t *testing.T, b []byte) {
		for want, c := range map[State]*Client{Requesting: requesting, Responding: responding, Connected: connected} {
			if payload, why := c.Receive(at(n.now), bytes.Clone(b)); payload != nil || why == 0 || c.State() != want {
				t.Errorf("%v took %x as %q, is %v", want, b, payload, c.State())
			}
		}
	})
}

// FuzzOpenPacket seals what it is given, and changes a byte of it.
func FuzzOpenPacket(f *testing.F) {
	for _, v := range vectors(f) {
		f.Add(byte(kindPayload), uint64(300), 20, v.data)
	}
	key := vectorKey()
	aead := must(chacha20poly1305.New(key[:]))
	c := newCrypt(vectorProtocol)
	f.Fuzz(func(t *testing.T, kind byte, seq uint64, flip int, body []byte) {
		c.open(aead, fromServer|fromClient, nil, bytes.Clone(body))
		if kind == kindRequest || kind >= kinds || !fits(kind, len(body)) {
			return
		}
		buf := append(make([]byte, 16, 16+len(body)+TagSize), body...)
		packet := c.seal(aead, kind, seq, buf, 16)
		if len(packet) > len(body)+MaxHeader+TagSize {
			t.Errorf("packet of %d bytes for a body of %d", len(packet), len(body))
		}
		forged := bytes.Clone(packet)
		gotKind, got, why := c.open(aead, fromServer|fromClient, &window{}, packet)
		if why != 0 || gotKind != kind || !bytes.Equal(got, body) {
			t.Errorf("opened %d %x: %v", gotKind, got, why)
		}
		forged[uint(flip)%uint(len(forged))] ^= 1 << (seq % 8)
		if _, _, why := c.open(aead, fromServer|fromClient, &window{}, forged); why == 0 {
			t.Error("forged packet opened")
		}
	})
}

// FuzzParseTokens: what parses is what Append writes, but for the bytes that mean nothing.
func FuzzParseTokens(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := ParsePublicToken(b); err == nil {
			again, err := ParsePublicToken(p.Append(nil))
			if err != nil || !bytes.Equal(again.Append(nil), p.Append(nil)) {
				t.Errorf("public: %v", err)
			}
		}
		var p, again PrivateToken
		if p.Parse(b[:min(len(b), privatePlain)]) == nil {
			if err := again.Parse(p.Append(nil)); err != nil || !bytes.Equal(again.Append(nil), p.Append(nil)) {
				t.Errorf("private: %v", err)
			}
		}
	})
}
