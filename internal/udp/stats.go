package udp

import (
	"sync/atomic"

	"github.com/throng-dev/throng/internal/netcode"
)

// Stats are counters since the start, and three levels of now.
type Stats struct {
	In, Out           uint64 // datagrams
	BytesIn, BytesOut uint64 // of UDP payload
	Lost              uint64 // datagrams the system did not take
	// Dropped counts datagrams that were ignored, by reason. Reasons that did not occur are missing.
	Dropped map[string]uint64

	Sessions, Handshakes, Tokens int
}

// counters are written by the goroutines that move packets and read by any.
type counters struct {
	in, out, bytesIn, bytesOut, lost atomic.Uint64
	dropped                          [netcode.Drops]atomic.Uint64
	sessions, handshakes, tokens     atomic.Int64
}

func (c *counters) stats() Stats {
	s := Stats{
		In: c.in.Load(), Out: c.out.Load(), BytesIn: c.bytesIn.Load(), BytesOut: c.bytesOut.Load(), Lost: c.lost.Load(),
		Dropped:  map[string]uint64{},
		Sessions: int(c.sessions.Load()), Handshakes: int(c.handshakes.Load()), Tokens: int(c.tokens.Load()),
	}
	for i := range c.dropped {
		if n := c.dropped[i].Load(); n > 0 && i > 0 {
			s.Dropped[netcode.Drop(i).String()] = n
		}
	}
	return s
}

// send hands packets to a socket and counts them.
func (c *counters) send(s socket, ps []packet) {
	bytes := 0
	for i := range ps {
		bytes += len(ps[i].data)
	}
	n := s.send(ps)
	c.out.Add(uint64(n))
	c.lost.Add(uint64(len(ps) - n))
	c.bytesOut.Add(uint64(bytes))
}
