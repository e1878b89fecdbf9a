package netcode

import (
	"encoding/binary"
	"net/netip"
	"time"

	"golang.org/x/crypto/chacha20poly1305"
)

// handshakeLife is how long the keys of a handshake are held. Responses come ten a second, so who has not managed in
// this time has gone.
const handshakeLife = 10 * time.Second

// request makes the checks of the standard in its order, Throng's own among them, and answers with a challenge
// or a denial, both smaller than the request. Every failure is silence.
func (s *Server) request(now Now, from netip.AddrPort, b []byte) Drop {
	if len(b) != requestSize {
		return DropBody
	}
	sealed := b[requestSize-PrivateTokenSize:]
	b = b[1:]
	if string(b[:len(version)]) != version {
		return DropVersion
	}
	b = b[len(version):]
	if binary.LittleEndian.Uint64(b) != s.config.Protocol {
		return DropProtocol
	}
	expires := binary.LittleEndian.Uint64(b[8:])
	if int64(expires) < 0 || int64(expires) <= now.unix() {
		return DropExpired
	}
	life := time.Duration(min(int64(expires)-now.unix(), 1<<31)) * time.Second
	if s.config.MaxLife > 0 && life > s.config.MaxLife+skew {
		return DropLife
	}
	copy(s.nonce[:], b[16:])
	authority, ok := s.unseal(expires, sealed)
	if !ok || s.token.Parse(s.plain[:]) != nil {
		return DropToken
	}
	if len(s.own) > 0 && !s.listed() {
		return DropAddress
	}
	if s.config.Accept != nil && !s.config.Accept(s.token.UserData[:], int64(expires), now.Wall) {
		return DropRefused
	}
	old := s.peers[from]
	if old != nil && old.id != 0 {
		return DropConnected
	}
	if _, ok := s.ids[s.token.ClientID]; ok {
		return DropConnected
	}
	t := tag(sealed[PrivateTokenSize-TagSize:])
	if why := s.history.admit(t, from, now, life); why != 0 {
		return why
	}
	if len(s.ids) >= s.config.MaxClients {
		s.deny(from)
		return 0
	}
	p := old
	if p == nil || p.tag != t {
		if old != nil {
			s.forget(old) // the same socket tries again with a fresh token
		}
		if p = s.begin(now, from, t, authority); p == nil {
			return DropBusy
		}
	}
	s.opened = Challenge{ClientID: p.clientID, UserData: s.token.UserData}
	body := s.challenge.append(s.out.body(8+challengeSize), &s.opened)
	s.out.add(from, s.crypt.seal(p.send, kindChallenge, s.early, body, MaxHeader))
	s.early++
	return 0
}

// unseal opens a private token with either key into s.plain. Not in place: a failed attempt destroys its target.
func (s *Server) unseal(expires uint64, sealed []byte) (authority, ok bool) {
	s.ad = append(s.ad[:0], version...)
	s.ad = binary.LittleEndian.AppendUint64(s.ad, s.config.Protocol)
	s.ad = binary.LittleEndian.AppendUint64(s.ad, expires)
	for i, key := range s.keys {
		if key == nil {
			continue
		}
		if _, err := key.Open(s.plain[:0], s.nonce[:], sealed, s.ad); err == nil {
			return i == 1, true
		}
	}
	return false, false
}

func (s *Server) listed() bool {
	for _, a := range s.token.Addrs {
		if _, ok := s.own[a]; ok {
			return true
		}
	}
	return false
}

func (s *Server) begin(now Now, from netip.AddrPort, t tag, authority bool) *peer {
	if s.handshakes >= s.config.MaxHandshakes || s.perIP[from.Addr()] >= s.config.MaxHandshakesPerIP {
		return nil
	}
	p := &peer{
		addr:       from,
		clientID:   s.token.ClientID,
		tag:        t,
		privileged: authority,
		send:       must(chacha20poly1305.New(s.token.ServerToClient[:])),
		recv:       must(chacha20poly1305.New(s.token.ClientToServer[:])),
		lastRecv:   now.Mono,
		timeout:    handshakeLife,
	}
	// "Never" is for development; a server's memory cannot afford it.
	want := time.Duration(s.token.Timeout) * time.Second
	p.session = s.config.Timeout
	if want > 0 {
		p.session = min(p.session, want)
	}
	p.timeout = min(p.timeout, p.session)
	s.peers[from] = p
	s.countHandshake(p, +1)
	s.wheel.add(p, p.due(s.config.KeepAlive))
	return p
}

// deny answers a good request to a full server.
func (s *Server) deny(to netip.AddrPort) {
	aead := must(chacha20poly1305.New(s.token.ServerToClient[:]))
	s.out.add(to, s.crypt.seal(aead, kindDenied, s.early, s.out.body(0), MaxHeader))
	s.early++
}

// response turns a handshake into a session: the address has answered, so it is not a forged sender.
func (s *Server) response(now Now, p *peer, b []byte) Event {
	kind, body, why := s.crypt.open(p.recv, fromClient, nil, b)
	if why != 0 {
		return Event{Drop: why}
	}
	if kind != kindResponse {
		return Event{Drop: DropState}
	}
	if !s.challenge.open(&s.opened, body) || s.opened.ClientID != p.clientID {
		return Event{Drop: DropForged}
	}
	if _, ok := s.ids[p.clientID]; ok {
		return Event{Drop: DropConnected}
	}
	if len(s.ids) >= s.config.MaxClients {
		s.out.add(p.addr, s.crypt.seal(p.send, kindDenied, s.early, s.out.body(0), MaxHeader))
		s.early++
		return Event{}
	}
	p.timeout = p.session
	s.open(now, p)
	return Event{Kind: Opened, ID: p.id, From: p.addr, Privileged: p.privileged, Data: s.opened.UserData[:]}
}
