package relay

import (
	"fmt"
	"time"

	"github.com/throng-dev/throng/internal/shard"
	"github.com/throng-dev/throng/internal/wire"
)

// Lines about dropped input: one in ten seconds of a session, ten a second of all. Whoever sends nonsense must not fill the disk, nor hide
// what others send.
const (
	dropEvery    = 10 * time.Second
	dropEveryAll = 100 * time.Millisecond
)

// upNames are what sessions send, for people.
var upNames = map[uint8]string{
	wire.MsgClass: "class", wire.MsgSpawn: "spawn", wire.MsgDestroy: "destroy", wire.MsgView: "viewpoints", wire.MsgRequest: "request",
	wire.MsgGrant: "grant", wire.MsgRelease: "release", wire.MsgOverrideUp: "override", wire.MsgAgain: "re-announcement",
	wire.MsgGone: "destruction heard of", wire.MsgNoRoom: "no room", wire.MsgGroup: "group", wire.MsgRepeat: "repeated spawn",
	wire.MsgAttach: "attachment", wire.MsgRestrict: "restriction", wire.MsgWatch: "watch", wire.MsgForgot: "forgotten", wire.MsgAudience: "audience",
	wire.MsgMember: "member", wire.MsgEventKindUp: "kind of event", wire.MsgEventUp: "event",
}

var frameNames = map[uint8]string{wire.KindDeltas: "deltas", wire.KindMotion: "motion", wire.KindEventUp: "event sent once"}

// dropped logs that input of a session came to nothing (B-120).
func (r *loop) dropped(key worldKey, o *shard.Session, d shard.Drop) {
	p := r.peers[o.To]
	if p == nil {
		return
	}
	if r.now < p.dropAt || r.now < r.dropAt {
		p.undropped++
		return
	}
	p.dropAt, r.dropAt = r.now+dropEvery, r.now+dropEveryAll
	names := upNames
	if d.Frame {
		names = frameNames
	}
	what := names[d.Kind]
	if what == "" {
		what = fmt.Sprintf("message %d", d.Kind)
	}
	why := "not allowed, or beyond a limit"
	switch {
	case d.Err != nil:
		why = d.Err.Error()
	case int(d.Reason) < len(wire.Refusals) && d.Reason != 0:
		why = wire.Refusals[d.Reason]
	}
	r.log.Warn("input of a session dropped", "what", what, "why", why, "player", hexID(p.claims.Player), "addr", p.addr,
		"world", key.level, "realm", hexID(key.realm), "not logged", p.undropped)
	p.undropped = 0
}
