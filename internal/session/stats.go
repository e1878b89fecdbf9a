package session

import "time"

// Stats counts what a session did. Bytes are payload bytes of the carrier.
type Stats struct {
	Sent, SentBytes         uint64 // packets
	Received, ReceivedBytes uint64 // packets that were used
	Acked, Lost             uint64 // packets that were committed as eliciting
	Spurious                uint64 // of the lost, those acked later
	Duplicates              uint64 // packets received again, or too old to tell
	Malformed, Violations   uint64
	Resent, Twins           uint64 // reliable pieces sent again after a loss, and ahead of one
}

// Stats returns the counts since Init.
func (c *Conn) Stats() Stats { return c.stats }

// RTT returns the smoothed round-trip time and its mean deviation, the other end's ack delay taken out. Until the
// first sample they are a guess of 100 ms and 50 ms.
func (c *Conn) RTT() (srtt, rttvar time.Duration) { return c.rtt.srtt, c.rtt.rttvar }

// Patience is how long a packet sent now would go unacked at most before it counts as lost.
func (c *Conn) Patience() time.Duration { return c.rtt.pto() << c.backoff }

// InFlight is how many eliciting packets are neither acked nor lost.
func (c *Conn) InFlight() int { return c.flying }

// LastReceived is when the last good packet arrived, 0 if none did.
func (c *Conn) LastReceived() time.Duration { return c.lastRecv }

// Unacked is how much of the reliable window is in use, in the measure of Config.Window, by all but messages of QueueHeld.
func (c *Conn) Unacked() int { return c.outbox.used - c.outbox.apart }

// Quiet is true when nothing is in flight or queued: all that was sent was acked or reported lost.
func (c *Conn) Quiet() bool { return c.flying == 0 && c.outbox.used == 0 }
