package relay

import (
	"fmt"
	"time"

	"github.com/throng-dev/throng/internal/shard"
	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// Trust is what a world does with writes by those who may not: corrections by a player that is not host or of what only its owner
// writes, destructions by somebody who does not drive.
type Trust uint8

// The modes.
const (
	TrustStrict  Trust = iota // the relay drops them, and tells the sender
	TrustObserve              // they pass, and the relay logs what TrustStrict would drop: for finding out before switching it on
	TrustAll                  // they pass, and clients decide: proxies apply them, the owner does not; forging is possible
)

var trustNames = [...]string{TrustStrict: "strict", TrustObserve: "observe", TrustAll: "trust"}

func (t Trust) String() string {
	if int(t) < len(trustNames) {
		return trustNames[t]
	}
	return fmt.Sprintf("Trust(%d)", uint8(t))
}

// UnmarshalText reads a mode by its name: strict, observe or trust.
func (t *Trust) UnmarshalText(b []byte) error {
	for i, name := range trustNames {
		if name == string(b) {
			*t = Trust(i)
			return nil
		}
	}
	return fmt.Errorf("throng: %q is no mode of trust: use strict, observe or trust", b)
}

func (t Trust) flags() uint8 {
	switch t {
	case TrustStrict:
		return wire.ProfileStrict
	case TrustObserve:
		return wire.ProfileObserve
	}
	return 0
}

// tolerated logs, at most once a second, what an observing world let pass.
func (r *loop) tolerated(key worldKey, o *shard.Session, e *table.Entity, what string) {
	if r.now < r.passAt {
		r.unpassed++
		return
	}
	r.passAt = r.now + time.Second
	r.log.Warn("a strict world would drop this", "what", what, "player", hexID(o.Player), "id", hexID(e.ID), "class", e.Class.Name,
		"world", key.level, "realm", hexID(key.realm), "not logged", r.unpassed)
	r.unpassed = 0
}
