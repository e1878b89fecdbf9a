package session

// Messages that leave as fast as their owner feeds them, and that it may take back:
//
//	QueueHeld ─► pieces that are not due ─► Feed, as a budget allows ─► due, like all others
//	                                   └─► Withdraw ─► what is not acked leaves empty, and the message is handed over to nobody

// QueueHeld is Queue for a message that leaves piece by piece, as Feed allows. tag is not 0: Withdraw takes back what has it.
func (c *Conn) QueueHeld(stream int, tag uint32, msg []byte) error {
	if tag == 0 {
		panic("throng: session: QueueHeld with tag 0")
	}
	return c.queue(stream, msg, c.next, tag)
}

// hold counts a message that is about to be queued.
func (o *outbox) hold(cost, pieces int) {
	o.apart += cost
	if o.held == 0 {
		o.heldLo = o.pieces.end()
	}
	o.held += pieces
}

// Holding reports whether pieces wait to be fed.
func (c *Conn) Holding() bool { return c.outbox.held > 0 }

// Feed makes held pieces due, oldest first, until they take n bytes of packets or more.
func (c *Conn) Feed(n int) {
	o := &c.outbox
	i := max(o.heldLo, o.pieces.first())
	for ; o.held > 0 && n > 0; i++ {
		if q := o.pieces.at(i); q.held {
			n -= q.frameSize()
			o.unhold(i, q)
		}
	}
	o.heldLo = i
}

func (o *outbox) unhold(i uint64, q *queued) {
	q.held = false
	o.held--
	o.again(i, q)
}

// Withdraw takes back the messages of a stream with a tag, 0 for any: no byte of them leaves from now on, neither for the first time nor again.
// One that arrived whole before is none that could be taken back.
func (c *Conn) Withdraw(stream int, tag uint32) {
	o := &c.outbox
	if o.apart == 0 {
		return
	}
	for i, end := o.pieces.first(), o.pieces.end(); i < end; i++ {
		q := o.pieces.at(i)
		if q.acked || q.tag == 0 || tag != 0 && q.tag != tag || int(q.stream) != stream {
			continue
		}
		q.void = true
		if q.held {
			o.unhold(i, q)
		}
	}
}

// Settled is how many messages of a stream were acked whole, with all that was queued before them in any stream: what Queued said after
// one was queued is at most Settled when it has arrived.
func (c *Conn) Settled(stream int) uint32 {
	if stream < len(c.outbox.done) {
		return c.outbox.done[stream]
	}
	return 0
}
