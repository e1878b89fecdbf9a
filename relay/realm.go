package relay

import (
	"encoding/hex"
	"time"

	"github.com/throng-dev/throng/internal/wire"
)

// A realm is the players that travel through worlds together; it exists by its members. Seniority in it decides who is host
// (B-080): it is given at a player's first session, holds through all worlds of the realm, and survives keepSenior without
// a session, so that neither travel nor a reconnect costs it.

// keepSenior is above the 17 s that a session lives in silence, and above what a client takes to come back after that.
const keepSenior = 30 * time.Second

type memberKey struct {
	realm  [16]byte
	player wire.PlayerID
}

type member struct {
	senior uint64
	peer   *peer         // its live session; nil: none
	until  time.Duration // when seniority ends, without a session
}

func (p *peer) memberKey() memberKey { return memberKey{p.claims.Realm, p.claims.Player} }

// member finds a player in its realm, or adds it as the most junior.
func (r *loop) member(key memberKey) *member {
	m := r.members[key]
	if m == nil {
		r.seniors++
		m = &member{senior: r.seniors}
		r.members[key] = m
	}
	return m
}

func (m *member) left(now time.Duration) {
	m.peer, m.until = nil, now+keepSenior
}

func (r *loop) forgetMembers(now time.Duration) {
	for key, m := range r.members {
		if m.peer == nil && now >= m.until {
			delete(r.members, key)
		}
	}
}

func hexID(id [16]byte) string { return hex.EncodeToString(id[:]) }
