package relay

import (
	"errors"
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/shard"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/transport"
)

// Nobody acks a goodbye, so it is sent three times, apart from one another because losses come in runs; then the carrier says
// its own, which has no reason in it.
const (
	goodbyeTimes = 3
	goodbyeEvery = 50 * time.Millisecond
)

// end takes a peer out of its world and begins to tell it goodbye. It must not run inside the peer's own handler: use fail.
func (r *loop) end(p *peer, code wire.CloseCode, text string) {
	if p.over {
		return
	}
	if !p.entered {
		m := wire.Refuse{Code: uint16(code), Text: text}
		_ = p.conn.Queue(wire.StreamControl, m.Append(nil)) // an empty window has room
	}
	r.leave(p)
	p.over, p.code, p.text, p.goodbyeAt = true, code, text, r.now
	r.leaving = append(r.leaving, p)
	r.counts.refused[code]++
	r.warn(p)
}

// fell ends a session that its world cannot go on with.
func (r *loop) fell(p *peer, o *shard.Session) {
	code, why := o.Code(), o.Err().Error()
	if code == wire.CloseBehind {
		why = "you do not take what the relay must tell you: " + why
	}
	r.end(p, code, why)
}

// warn logs at most one ending a second: whoever provokes them must not fill the disk.
func (r *loop) warn(p *peer) {
	switch {
	case p.code == wire.CloseShutdown:
	case r.now < r.warnAt:
		r.unwarned++
	default:
		r.warnAt = r.now + time.Second
		r.log.Warn("session refused or ended", "code", p.code, "why", p.text, "player", hexID(p.claims.Player), "addr", p.addr, "not logged", r.unwarned)
		r.unwarned = 0
	}
}

// goodbyes sends those that are due.
func (r *loop) goodbyes(now time.Duration) {
	if len(r.leaving) == 0 {
		return
	}
	var out []transport.Datagram
	r.leaving = slices.DeleteFunc(r.leaving, func(p *peer) bool {
		switch {
		case p.gone:
			return true
		case now < p.goodbyeAt:
			return false
		case p.told == goodbyeTimes:
			r.forget(p)
			r.listener.Disconnect(p.id)
			return true
		}
		p.told++
		p.goodbyeAt = now + goodbyeEvery
		out = append(out, transport.Datagram{To: p.id, Buf: p.goodbye(now)})
		return false
	})
	if len(out) > 0 {
		r.send(out)
	}
}

// goodbye builds a packet with the reason, and with the answer to a refused Hello.
func (p *peer) goodbye(now time.Duration) []byte {
	b := p.conn.Begin(now, transport.NewBuffer())
	if !p.entered {
		b = p.conn.AppendReliable(now, b, transport.MaxPayload-session.FrameSize(2+session.MaxCloseText))
	}
	b = session.AppendClose(b, uint16(p.code), p.text)
	p.conn.Commit(now, b, false)
	return b
}

// ErrNoPlayer is returned by Kick for somebody who is not there.
var ErrNoPlayer = errors.New("throng: no session of that player in that realm: it has left, or the ids are wrong")

// Kick ends the session of a player, who is told why in at most 200 bytes and does not come back by itself. The backend
// keeps it out for longer, by minting no token.
func (s *Server) Kick(realm, player [16]byte, why string) error {
	found := false
	err := s.Do(func() {
		if m := s.loop.members[memberKey{realm, player}]; m != nil && m.peer != nil {
			found = true
			s.loop.end(m.peer, wire.CloseKicked, why)
		}
	})
	if err == nil && !found {
		err = ErrNoPlayer
	}
	return err
}
