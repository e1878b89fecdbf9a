package session

import (
	"encoding/binary"
	"time"
)

// Receive takes one payload of the carrier. A packet is checked whole before any of it is used; one received before is
// dropped without an error. Then its acks are settled, then its frames are handed over in order.
//
// It returns ErrMalformed, ErrProtocol or a *CloseError. After the last two the session is over.
func (c *Conn) Receive(now time.Duration, payload []byte, h Handler) error {
	c.enter()
	defer c.leave()
	if len(payload) < headerSize || payload[2]&^flagAcks != 0 {
		return c.reject(ErrMalformed)
	}
	pn := expand(binary.LittleEndian.Uint16(payload), c.window.top)
	if pn == 0 {
		return c.reject(ErrMalformed)
	}
	if c.window.has(pn) {
		c.stats.Duplicates++
		return nil
	}
	var a ackBlock
	frames := payload[headerSize:]
	if payload[2]&flagAcks != 0 {
		n, err := a.parse(frames, c.next-1)
		if err == nil && a.largest() >= c.next {
			err = ErrProtocol // acks what was never sent
		}
		if err != nil {
			return c.reject(err)
		}
		frames = frames[n:]
	}
	t, err := c.check(frames)
	if err != nil {
		return c.reject(err)
	}

	c.stats.Received++
	c.stats.ReceivedBytes += uint64(len(payload))
	c.lastRecv = now
	if pn > c.window.top {
		c.acks.topAt = now
	}
	c.losses.arrives(now, pn, &c.window)
	c.window.add(pn)
	c.losses.in = c.window.missing() >= lossyFrom
	if t.eliciting {
		c.acks.received(now, c.ackWait(now, t.prompt))
	}
	if a.n > 0 {
		c.settle(now, &a, h)
	}
	return c.dispatch(pn, frames, h)
}

func (c *Conn) reject(err error) error {
	if err == ErrProtocol {
		c.stats.Violations++
	} else {
		c.stats.Malformed++
	}
	return err
}

// traits is what a packet's frames ask of its receiver.
type traits struct {
	eliciting bool // wants an ack
	prompt    bool // within 10 ms
}

// check walks all frames of a packet: it counts whole or not at all, since it will be acked whole.
func (c *Conn) check(b []byte) (t traits, err error) {
	for len(b) > 0 {
		kind, body, rest, ok := nextFrame(b)
		if !ok {
			return t, ErrMalformed
		}
		switch kind {
		case kindPiece:
			p, ok := parsePiece(body)
			if !ok {
				return t, ErrMalformed
			}
			if !c.inbox.plausible(&p, &c.cfg) {
				return t, ErrProtocol
			}
			t.prompt = true
		case kindPing:
			t.prompt = true
		case kindClose:
			if len(body) < 2 || len(body) > 2+MaxCloseText {
				return t, ErrMalformed
			}
		}
		t.eliciting = true
		b = rest
	}
	return t, nil
}

// dispatch hands the frames of a checked packet over. A goodbye takes effect after them.
func (c *Conn) dispatch(pn uint64, b []byte, h Handler) (err error) {
	for len(b) > 0 {
		kind, body, rest, _ := nextFrame(b)
		switch {
		case kind >= FirstKind:
			h.Frame(pn, kind, body)
		case kind == kindPiece:
			p, _ := parsePiece(body)
			if err := c.inbox.take(pn, &p, &c.cfg, h); err != nil {
				return c.reject(err)
			}
		case kind == kindClose:
			err = &CloseError{Code: binary.LittleEndian.Uint16(body), Text: string(body[2:])}
		}
		b = rest
	}
	return err
}
