package registry

import "time"

// uplink finds out when the relay got the last deltas: acks tell how long they were held, and a flush tells its time. Nothing else has to
// be sent for a client to know how long its changes wait for a flush.
//
//	ack in a flush's packet:  its time − held
//	ack apart:                local time + Offset − held, late by what that packet was delayed
type uplink struct {
	pn      uint64 // last packet with deltas; 0: none since the last answer
	sent    time.Duration
	arrived time.Duration
	ok      bool
}

// reached tells when the last Send with deltas was, and when, on the relay's clock, the relay got what it carried. It says it once.
func (r *Registry) reached() (sent, arrived time.Duration, ok bool) {
	if sent, arrived, ok = r.uplink.sent, r.uplink.arrived, r.uplink.ok; ok {
		r.uplink = uplink{}
	}
	return sent, arrived, ok
}

// arrivedApart takes the ack of a packet.
func (r *Registry) arrivedApart(pn uint64) {
	if pn != r.uplink.pn {
		return
	}
	held, ok := r.conn.Held(pn)
	if offset, known := r.Offset(); ok && known {
		r.uplink.arrived, r.uplink.ok = r.now+offset-held, true
	}
}

// arrivedFor takes that the packet at hand is of a flush at some time of the relay.
func (r *Registry) arrivedFor(flush time.Duration) {
	if r.uplink.pn == 0 {
		return
	}
	if held, ok := r.conn.Held(r.uplink.pn); ok {
		r.uplink.arrived, r.uplink.ok = flush-held, true
	}
}
