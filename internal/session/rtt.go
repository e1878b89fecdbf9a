package session

import "time"

const (
	guessedRTT = 100 * time.Millisecond

	// maxSample keeps a peer that acks late on purpose from stretching our probe timer without end.
	maxSample = 4 * time.Second

	ptoMargin  = 25 * time.Millisecond // an ack may wait that long; ours waits ackWithin
	ptoSlack   = 4 * time.Millisecond  // what timers of both ends are late by
	maxMargin  = 10 * ptoMargin
	maxBackoff = 2 // doublings: at most 4×
)

// rtt estimates the round trip as TCP does (RFC 6298): means with gains 1/8 and 1/4.
type rtt struct {
	srtt, rttvar time.Duration
	learnt       time.Duration // what the other end takes to ack, where that is longer than it should be
	held         uint8         // how long it held acks back lately, in ackDelayUnit
	hurry        bool          // the path loses packets: the timer is as short as it can be
	sampled      bool
}

func (r *rtt) init() { r.srtt, r.rttvar = guessedRTT, guessedRTT/2 }

// sample takes the time from a packet's send to its ack, and how long the other end says it held the ack back.
func (r *rtt) sample(took time.Duration, delay uint8) {
	held := time.Duration(delay) * ackDelayUnit
	if delay == maxAckDelay || held > took || took < 0 {
		return // held for longer than the block can say, or a lie
	}
	took = min(took-held, maxSample)
	if !r.sampled {
		r.srtt, r.rttvar, r.sampled = took, took/2, true
		return
	}
	r.rttvar += ((r.srtt - took).Abs() - r.rttvar) / 4
	r.srtt += (took - r.srtt) / 8
}

// late learns from the ack of a packet that the timer had given up. An end that acks later than it should, because its timers are
// coarse or its machine is busy, would on a fast path have every packet reported lost: samples do not show it, since it says how
// long it held the ack back.
func (r *rtt) late(took time.Duration) {
	need := took - r.srtt - r.spread()
	r.learnt = min(max(r.learnt, need+need/4), maxMargin)
}

// onTime forgets slowly what late has learned.
func (r *rtt) onTime() { r.learnt -= r.learnt / 64 }

// holds takes how long the other end says it held an ack back; of what it held longest something stays for a while.
func (r *rtt) holds(delay uint8) {
	r.held = max(delay, r.held-(r.held+15)/16)
}

// spread is how much longer than srtt a round trip may take.
func (r *rtt) spread() time.Duration {
	if r.hurry {
		return 2 * r.rttvar
	}
	return 4 * r.rttvar
}

// pto is how long a packet may go unacked before it counts as lost: srtt + 4·rttvar + 25 ms. On a path that loses packets it is
// srtt + 2·rttvar and what the other end needs to ack.
func (r *rtt) pto() time.Duration {
	margin := ptoMargin
	if r.hurry {
		margin = min(margin, time.Duration(r.held)*ackDelayUnit+ptoSlack)
	}
	return r.srtt + r.spread() + max(margin, r.learnt)
}
