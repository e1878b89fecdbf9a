package registry

import "time"

// lead finds out when the relay got the last deltas: acks tell how long they were held, and a flush tells its time. Nothing else has to
// be sent for a client to know how long its changes wait for a flush.
//
//	ack in a flush's packet:  its time − held
//	ack apart:                local time + Offset − held, late by what that packet was delayed
type lead struct {
	pn      uint64 // last packet with deltas; 0: none since the last answer
	sent    time.Duration
	arrived time.Duration
	ok      bool
}

// Reached tells when the last Send with deltas was, and when, on the relay's clock, the relay got what it carried. It says it once.
func (r *Registry) Reached() (sent, arrived time.Duration, ok bool) {
	if sent, arrived, ok = r.lead.sent, r.lead.arrived, r.lead.ok; ok {
		r.lead = lead{}
	}
	return sent, arrived, ok
}

// arrivedApart takes the ack of a packet.
func (r *Registry) arrivedApart(pn uint64) {
	if pn != r.lead.pn {
		return
	}
	held, ok := r.conn.Held(pn)
	if offset, known := r.Offset(); ok && known {
		r.lead.arrived, r.lead.ok = r.now+offset-held, true
	}
}

// arrivedFor takes that the packet at hand is of a flush at some time of the relay.
func (r *Registry) arrivedFor(flush time.Duration) {
	if r.lead.pn == 0 {
		return
	}
	if held, ok := r.conn.Held(r.lead.pn); ok {
		r.lead.arrived, r.lead.ok = flush-held, true
	}
}
