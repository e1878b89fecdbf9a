package netcode

import (
	"encoding/binary"
	"time"
)

// Next does what time demands and returns the next control packet to send, or nil: call it until it is nil, after
// each batch of Receive and at NextUpdate. The packet is valid until the next call.
func (c *Client) Next(now Now) []byte {
	c.expireOld(now)
	if now.Mono < c.dueSend() {
		return nil
	}
	switch c.state {
	case Requesting:
		c.noteSend(now)
		return c.request
	case Responding:
		c.noteSend(now)
		return c.control(kindResponse, append(c.buf[:MaxHeader], c.response[:]...))
	case Connected:
		// The first of them confirms to the server that the client knows.
		c.noteSend(now)
		b := binary.LittleEndian.AppendUint32(c.buf[:MaxHeader], c.index)
		return c.control(kindKeepAlive, binary.LittleEndian.AppendUint32(b, c.max))
	}
	return nil
}

// NextUpdate is the monotonic time at which Next has something to do.
func (c *Client) NextUpdate() time.Duration {
	return min(c.dueSend(), c.dueExpiry())
}

// Seal seals the payload buf[at:] in place and returns the datagram, or nil unless the client is connected. at is at
// least MaxHeader; the capacity of buf has TagSize more than its length.
func (c *Client) Seal(now Now, buf []byte, at int) []byte {
	if c.state != Connected || len(buf) <= at || len(buf) > at+MaxPayload {
		return nil
	}
	c.noteSend(now)
	b := c.crypt.seal(c.send, kindPayload, c.seq, buf, at)
	c.seq++
	return b
}

// Goodbye ends the client and calls send with several copies of a disconnect, each its own packet, valid until send
// returns.
func (c *Client) Goodbye(send func([]byte)) {
	// Also while responding: the server may hold a slot already.
	if c.state == Connected || c.state == Responding {
		for range goodbyes {
			send(c.control(kindDisconnect, c.buf[:MaxHeader]))
		}
	}
	if c.state != Over {
		c.state, c.err = Over, ErrGoodbye
	}
}

func (c *Client) noteSend(now Now) {
	c.lastSend = now.Mono
	c.sent = true
}

func (c *Client) control(kind byte, b []byte) []byte {
	b = c.crypt.seal(c.send, kind, c.seq, b, MaxHeader)
	c.seq++
	return b
}

const forever = time.Duration(1<<63 - 1)

func (c *Client) dueSend() time.Duration {
	switch {
	case c.state == Over:
		return forever
	case !c.sent:
		return -forever
	case c.state == Connected:
		return c.lastSend + c.config.KeepAlive
	}
	return c.lastSend + resend
}

func (c *Client) dueExpiry() time.Duration {
	switch {
	case c.state == Requesting || c.state == Responding:
		return min(c.began+c.config.Handshake, c.expire)
	case c.state == Connected && c.timeout > 0:
		return c.lastRecv + c.timeout
	}
	return forever
}

func (c *Client) expireOld(now Now) {
	if now.Mono < c.dueExpiry() {
		return
	}
	switch c.state {
	case Requesting, Responding:
		if now.Mono >= c.expire {
			c.fail(now, ErrTokenExpired)
		} else if c.state == Requesting {
			c.giveUp(now, ErrRequestTimeout)
		} else {
			c.giveUp(now, ErrResponseTimeout)
		}
	case Connected:
		c.fail(now, ErrTimeout)
	}
}

// Skip goes on to the next address at once: for a carrier that cannot reach this one. After the last the client is
// Over.
func (c *Client) Skip(now Now) {
	if c.state == Requesting || c.state == Responding {
		c.giveUp(now, ErrRequestTimeout)
	}
}
