package shard

import (
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/wire"
)

// A sender pays for what its events cost: the relay stores no more of a session's events than its credit, however slow the
// recipients, and takes no more in a second than the rate, however fast the sender (B-132).

// eventBurst is how long a session may send at several times the rate. Clients stay below by a second's worth: what is sent evenly may
// arrive together.
const eventBurst = 5 * time.Second

// maxUntold bounds what a session may still have to be told: one that keeps to its credit never has more under way in four worlds that it
// passed through.
const maxUntold = 4 * wire.EventCredit / wire.EventOverhead

// settle notes that an event of a session has reached all that it will reach.
func (o *Session) settle(cost uint64) {
	if o == nil || cost == 0 || !o.open {
		return
	}
	v := &o.events
	if v.settled += cost; v.settled-v.toldSettled >= wire.EventCredit/4 {
		v.state = true
		o.shard.urgent = true
		o.call()
	}
}

// undeliver notes what the sender must be told.
func (o *Session) undeliver(m *wire.EventUp, reason uint8) {
	v := &o.events
	if len(v.undelivered) < maxUntold {
		v.undelivered = append(v.undelivered, wire.Undelivered{Kind: m.Kind, Reason: reason, ID: m.ID})
	}
	v.state = true
	o.shard.urgent = true
	o.call()
}

// tellEvents says what a session may send, and what came of what it sent.
func (o *Session) tellEvents() {
	v := &o.events
	if !v.state || o.closing != nil || len(o.backlog) > 0 {
		return
	}
	s := o.shard
	told := v.undelivered[:min(len(v.undelivered), wire.MaxEventTold)]
	m := wire.EventState{Settled: v.settled, Credit: wire.EventCredit, Largest: uint32(s.cfg.EventSize), Rate: uint32(max(s.cfg.EventRate, 0)), Told: told}
	v.toldSettled = v.settled
	o.queue(m.Append(nil))
	v.undelivered = slices.Delete(v.undelivered, 0, len(told))
	if v.state = len(v.undelivered) > 0; v.state { // the rest in the next flush
		s.urgent = true
	}
}

// Inherit takes over what the session before this one, in another world and on the same connection, was not told of its events when it
// left. Those that still waited there for what they stand behind end with that world.
func (o *Session) Inherit(before *Session) {
	v := &o.events
	v.undelivered = append(v.undelivered, before.events.undelivered...)
	if v.undelivered = v.undelivered[:min(len(v.undelivered), maxUntold)]; len(v.undelivered) > 0 {
		v.state = true
		o.shard.urgent = true
		o.call()
	}
	before.events.undelivered = nil
}

// mayEvent holds a session to its rate. One that sends above it on the streams knows better, and ends; what is sent once is dropped
// first.
func (o *Session) mayEvent(reliable bool) bool {
	s, v := o.shard, &o.events
	if s.cfg.EventRate < 0 {
		return true
	}
	rate := float64(s.cfg.EventRate)
	v.used = max(0, v.used-(s.now-v.usedAt).Seconds()*rate) + 1
	v.usedAt = s.now
	most := rate * eventBurst.Seconds()
	if v.used <= most {
		return true
	}
	s.stats.EventsFlooded++
	if reliable || v.used > 2*most {
		o.end(errFlood)
	}
	return false
}

// mayAddKind counts a kind of event that is new to the world against a player, or refuses it.
func (s *Shard) mayAddKind(p wire.PlayerID, bytes int) bool {
	h := s.share(p)
	ok := h.Kinds < shareKinds && h.Bytes+bytes <= shareBytes
	if ok {
		h.Kinds++
		h.Bytes += bytes
	} else if h.Empty() {
		delete(s.shares, p)
	}
	return ok
}
