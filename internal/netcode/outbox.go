package netcode

import (
	"net/netip"
	"slices"
)

// Datagram is one packet on its way out that the server made itself: a reply, a keep-alive, a goodbye.
type Datagram struct {
	To   netip.AddrPort
	Data []byte
}

// outbox collects such packets in one block of memory until the carrier has sent them.
type outbox struct {
	list  []Datagram
	block []byte
}

// body returns a buffer with room for a header at its front and for n bytes and a tag behind, to be sealed in place.
func (o *outbox) body(n int) []byte {
	need := MaxHeader + n + TagSize
	// A full block is left to the datagrams that lie in it, and to the collector after them.
	o.block = slices.Grow(o.block, need)
	start := len(o.block)
	o.block = o.block[:start+need]
	return o.block[start : start+MaxHeader : start+need]
}

func (o *outbox) add(to netip.AddrPort, packet []byte) {
	o.list = append(o.list, Datagram{To: to, Data: packet})
}

func (o *outbox) clear() {
	// After a burst, such as the goodbyes of a full server, the memory goes.
	if cap(o.list) > 4096 {
		*o = outbox{}
		return
	}
	clear(o.list)
	o.list, o.block = o.list[:0], o.block[:0]
}
