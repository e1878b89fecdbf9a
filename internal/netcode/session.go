package netcode

import (
	"encoding/binary"
	"net/netip"
)

// find returns the session of an ID, or nil if it is over.
func (s *Server) find(id ID) *peer {
	i := id.slot()
	if i >= len(s.slots) || s.slots[i] == nil || s.slots[i].id != id {
		return nil
	}
	return s.slots[i]
}

// Seal seals the payload buf[at:] in place for a session and returns the datagram and where it goes. It reports false
// if the session is over. at is at least MaxHeader; the capacity of buf has TagSize more than its length.
func (s *Server) Seal(now Now, id ID, buf []byte, at int) (datagram []byte, to netip.AddrPort, ok bool) {
	p := s.find(id)
	if p == nil || len(buf) <= at || len(buf) > at+MaxPayload {
		return nil, netip.AddrPort{}, false
	}
	// A client that has not heard of its session would ignore the payload: a keep-alive goes before each flush until
	// it has shown that it knows.
	if !p.confirmed && p.lastSend != now.Mono {
		s.hello(now, p)
	}
	p.lastSend = now.Mono
	datagram = s.crypt.seal(p.send, kindPayload, p.seq, buf, at)
	p.seq++
	return datagram, p.addr, true
}

// Disconnect says goodbye to a session and ends it.
func (s *Server) Disconnect(id ID) {
	p := s.find(id)
	if p == nil {
		return
	}
	for range goodbyes {
		s.say(p, kindDisconnect, s.out.body(0))
	}
	s.forget(p)
}

// hello sends a keep-alive.
func (s *Server) hello(now Now, p *peer) {
	b := s.out.body(8)
	b = binary.LittleEndian.AppendUint32(b, uint32(p.id.slot()))
	b = binary.LittleEndian.AppendUint32(b, uint32(s.config.MaxClients))
	s.say(p, kindKeepAlive, b)
	p.lastSend = now.Mono
}

func (s *Server) say(p *peer, kind byte, b []byte) {
	s.out.add(p.addr, s.crypt.seal(p.send, kind, p.seq, b, MaxHeader))
	p.seq++
}

// open gives a handshake that proved itself a slot.
func (s *Server) open(now Now, p *peer) {
	s.countHandshake(p, -1)
	var slot uint32
	if n := len(s.free); n > 0 {
		slot, s.free = s.free[n-1], s.free[:n-1]
	} else {
		slot = uint32(len(s.slots))
		s.slots = append(s.slots, nil)
	}
	s.count++
	p.id = ID(s.count<<slotBits | uint64(slot))
	s.slots[slot] = p
	s.ids[p.clientID] = struct{}{}
	s.history.claim(p.tag)
	p.lastRecv = now.Mono
	s.hello(now, p)
	s.wheel.remove(p)
	s.wheel.add(p, p.due(s.config.KeepAlive))
}

// forget ends a peer of either kind; drop does so for one that is out of the wheel already.
func (s *Server) forget(p *peer) {
	s.wheel.remove(p)
	s.drop(p)
}

func (s *Server) drop(p *peer) {
	delete(s.peers, p.addr)
	if p.id == 0 {
		s.countHandshake(p, -1)
		return
	}
	delete(s.ids, p.clientID)
	s.slots[p.id.slot()] = nil
	s.free = append(s.free, uint32(p.id.slot()))
}

func (s *Server) countHandshake(p *peer, by int) {
	s.handshakes += by
	ip := p.addr.Addr()
	if n := s.perIP[ip] + by; n > 0 {
		s.perIP[ip] = n
	} else {
		delete(s.perIP, ip)
	}
}
