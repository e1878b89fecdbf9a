package relay

import (
	"errors"
	"net"
	"time"

	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/shard"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/token"
	"github.com/throng-dev/throng/transport"
)

// A peer's packets go one way: Received → allowance → session.Conn → peer.Message, Frame, Acked, Lost → shard.Session. The
// first message is a Hello, which is ours (hello.go); all behind it, in the same packet already, is the world's.

// maxMalformed is how many packets of a peer may not parse. They were sealed by the peer itself, so no network damaged them.
const maxMalformed = 16

type peer struct {
	conn   session.Conn
	loop   *loop
	id     transport.ID
	order  uint64 // of its opening, among all
	addr   net.Addr
	claims *token.Claims // apart: with them a peer would take the next size of memory
	since  time.Duration // when it opened

	// Of a peer that entered.
	entered bool
	epoch   uint8 // of the world, +1 per travel
	world   *world
	member  *member
	sess    *shard.Session
	fence   uint64 // packets before this number are of the world before
	travels allowance

	messages, bytes allowance
	malformed       int
	dropAt          time.Duration // when the next line about its dropped input may be written
	undropped       int           // drops not logged since the last that was

	// Of a peer that must end: set inside the handler, done when the packet is.
	text string
	code wire.CloseCode // 0: it need not

	// Of a peer that is told goodbye.
	over      bool
	gone      bool // the carrier knows it no more
	told      int
	goodbyeAt time.Duration
}

// Opened is part of transport.Sink.
func (r *loop) Opened(id transport.ID, t transport.Peer) {
	now := r.clock()
	r.opened++
	p := &peer{loop: r, id: id, order: r.opened, addr: t.Addr, since: now}
	p.conn.Init(session.Config{})
	claims, err := token.ParseClaims(t.UserData)
	if !t.Privileged || !r.cfg.authorityFrom(t.Addr) {
		claims.Rights &^= token.Authority
	}
	p.claims = &claims
	full := len(r.peers) >= r.cfg.MaxSessions
	r.peers[id] = p
	switch {
	case r.closing:
		r.end(p, wire.CloseShutdown, "the relay stops")
	case err != nil:
		r.end(p, wire.CloseClaims, err.Error())
	case full:
		r.end(p, wire.CloseFull, "the relay is full")
	default:
		r.waiting = append(r.waiting, p)
	}
}

// Received is part of transport.Sink.
func (r *loop) Received(id transport.ID, payload []byte) {
	p := r.peers[id]
	if p == nil || p.over {
		return
	}
	now := r.clock()
	r.counts.in++
	r.counts.bytesIn += uint64(len(payload))
	if !p.trusted() && !p.bytes.take(now, len(payload), r.cfg.ByteRate) {
		r.end(p, wire.CloseLimit, "you send more bytes than the relay allows")
		return
	}
	p.count()
	if p.sess != nil {
		p.world.shard.Advance(now) // what the packet begins, counts from now
	}
	err := p.conn.Receive(now, payload, p)
	if p.sess != nil {
		p.world.shard.Received(now, p.sess)
	}
	if err != nil {
		p.failed(err)
	}
	if p.code != 0 {
		r.end(p, p.code, p.text)
	}
}

// failed decides what an error of the session layer means.
func (p *peer) failed(err error) {
	var bye *session.CloseError
	switch {
	case errors.As(err, &bye):
		p.loop.forget(p)
		p.loop.listener.Disconnect(p.id)
	case !errors.Is(err, session.ErrMalformed):
		p.fail(wire.CloseProtocol, err.Error())
	case p.malformed < maxMalformed:
		p.malformed++
	default:
		p.fail(wire.CloseProtocol, "too many malformed packets")
	}
}

// Closed is part of transport.Sink.
func (r *loop) Closed(id transport.ID, why error) {
	if p := r.peers[id]; p != nil {
		r.clock()
		r.log.Debug("connection closed", "player", hexID(p.claims.Player), "why", why)
		r.forget(p)
	}
}

// forget ends a peer that nothing can be told any more.
func (r *loop) forget(p *peer) {
	r.leave(p)
	p.over, p.gone = true, true
	delete(r.peers, p.id)
}

// fail says that the peer must end when the packet at hand is done.
func (p *peer) fail(code wire.CloseCode, text string) {
	if p.code == 0 {
		p.code, p.text = code, text
	}
}

// count takes note of a packet or a message.
func (p *peer) count() {
	if !p.trusted() && !p.messages.take(p.loop.now, 1, p.loop.cfg.MessageRate) {
		p.fail(wire.CloseLimit, "you send more messages than the relay allows")
	}
}

// trusted is true for an authority: the bounds of players are not for it.
func (p *peer) trusted() bool { return p.claims.Rights.Has(token.Authority) }

// Message is part of session.Handler.
func (p *peer) Message(stamp uint64, stream int, msg []byte) {
	p.count()
	switch {
	case p.code != 0:
	case p.sess != nil && stream == wire.StreamControl && len(msg) > 0 && msg[0] == wire.MsgTravel:
		p.loop.travel(p, stamp, msg[1:])
	case p.sess != nil:
		if stamp < p.fence && stream != wire.StreamControl {
			p.loop.counts.oldEpoch++ // an event names its world: its sender is told that it left too late
		}
		p.sess.Message(stamp, stream, msg)
	case stream != wire.StreamControl:
	case len(msg) == 0 || msg[0] != wire.MsgHello:
		p.fail(wire.CloseProtocol, "the first message must be a Hello")
	default:
		p.loop.hello(p, msg[1:])
	}
}

// Frame is part of session.Handler.
func (p *peer) Frame(pn uint64, kind byte, body []byte) {
	switch {
	case p.sess == nil:
	case pn < p.fence:
		p.loop.counts.oldEpoch++
	default:
		p.sess.Frame(pn, kind, body)
	}
}

// Acked is part of session.Handler.
func (p *peer) Acked(pn uint64) {
	if p.sess != nil {
		p.sess.Acked(pn)
	}
}

// Lost is part of session.Handler.
func (p *peer) Lost(pn uint64) {
	if p.sess != nil {
		p.sess.Lost(pn)
	}
}

// allowance holds a session to a rate, over limitOver. The zero value is full.
type allowance struct {
	used float64
	at   time.Duration
}

const limitOver = 5 * time.Second

// take reports whether n more fit a rate per second; a rate below zero has no bound.
func (a *allowance) take(now time.Duration, n, rate int) bool {
	if rate < 0 {
		return true
	}
	a.used = max(0, a.used-(now-a.at).Seconds()*float64(rate)) + float64(n)
	a.at = now
	return a.used <= limitOver.Seconds()*float64(rate)
}
