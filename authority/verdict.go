package authority

import (
	"math"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/internal/relevancy"
)

// Verdict is what a rule says of a viewer and an actor. The zero Verdict says no: a rule that forgets a case hides.
type Verdict struct{ answer relevancy.Answer }

// Hidden denies, whatever else would let the viewer know of the actor. If the viewer knows of it, it does not any more at the end of
// this tick.
func Hidden(reason string) Verdict {
	return Verdict{relevancy.Answer{Kind: relevancy.Hidden, Reason: reason}}
}

// Unresolved says that it cannot be decided yet: the actor is not shown to who does not know of it, and not taken from who does.
// After two seconds Config.OnAlarm is told.
func Unresolved(reason string) Verdict {
	return Verdict{relevancy.Answer{Kind: relevancy.Unresolved, Reason: reason}}
}

// Relevant lets the viewer know of the actor, where its reach of chunks has it. An actor that all should know of wherever they are
// is of a class without a position.
func Relevant(reason string) Verdict {
	return Verdict{relevancy.Answer{Kind: relevancy.Relevant, Reason: reason}}
}

// ByDistance lets the viewer know of the actor if one of its viewpoints is less than Rules.Distance away from it; then and
// after that for Rules.Linger. Without a Distance, or for an actor without a position, it is the relay's reach that decides.
func ByDistance(v *Viewer, a throng.Object) Verdict {
	act := v.server.actors[a]
	if act == nil || act.rules.distance <= 0 || act.rules.position == nil {
		return Verdict{relevancy.Answer{Kind: relevancy.Near, Reason: "reach"}}
	}
	at := act.rules.position(a)
	for _, from := range v.views {
		if dist := at.Sub(from); dist.Dot(dist) < act.rules.distance*act.rules.distance {
			return Verdict{relevancy.Answer{Kind: relevancy.Near, Reason: "distance"}}
		}
	}
	return Verdict{relevancy.Answer{Kind: relevancy.Far, Reason: "distance"}}
}

// Shows reports whether the verdict lets the viewer know of the actor.
func (v Verdict) Shows() bool { return v.answer.Kind.Shows() }

// Reason is what the rule gave.
func (v Verdict) Reason() string { return v.answer.Reason }

// String is kind and reason, for logs.
func (v Verdict) String() string { return v.answer.Kind.String() + ": " + v.answer.Reason }

// Viewer is a player that rules decide about.
type Viewer struct {
	// Player is who it is, the same over reconnects.
	Player throng.PlayerID

	server *Server
	n      int
	views  []throng.Vec3
}

// Is reports whether the viewer is that player. Nobody is the zero PlayerID.
func (v *Viewer) Is(p throng.PlayerID) bool { return v.Player == p && !p.IsZero() }

// Viewpoints are where it looks from, as Config.ViewpointsOf said.
func (v *Viewer) Viewpoints() []throng.Vec3 { return v.views }

// Rules decide who may know of the actors of a class. The zero Rules show them to nobody.
type Rules[T any] struct {
	// Relevant decides for one viewer and one actor, each tick; up to a million pairs are asked in a tick, more in turns. Nil: all
	// are hidden. It must not change anything.
	Relevant func(v *Viewer, a *T) Verdict

	// Owner is the player whom the actor belongs to, through the actor's own references: never who possesses it, which changes when
	// an AI takes over. Zero: not known at the moment. Nil: as OwnedBy, Ownerless and SetOwner say.
	Owner func(a *T) throng.PlayerID
	// HideFromOwner keeps the actor from the player it belongs to, before Relevant is asked: its client has a local stand-in.
	HideFromOwner bool

	// Distance is how near ByDistance wants a viewpoint to be, in units. 0: the relay's reach alone decides.
	Distance float64
	// Position is where the actor is, for Distance.
	Position func(a *T) throng.Vec3
	// Linger is how long an actor that is too far away stays. It is for distance alone.
	Linger time.Duration

	// OnBegin runs at the end of the tick in which an actor is published for the first time: its owner is known, no verdict was asked for, it
	// has no NetID yet. What needs that goes into OnSpawn of the class's hooks, which runs next.
	OnBegin func(s *Server, a *T)
}

// Rule is the Rules of one class, made by For.
type Rule struct {
	class string
	rules
}

// rules are Rules without their type.
type rules struct {
	relevant func(*Viewer, throng.Object) Verdict
	owner    func(throng.Object) throng.PlayerID
	position func(throng.Object) throng.Vec3
	begin    func(*Server, throng.Object)
	hide     bool
	distance float64
	linger   time.Duration
}

// For binds rules to a class.
func For[T any](c *throng.Class[T], r Rules[T]) Rule {
	out := Rule{class: c.Name(), rules: rules{hide: r.HideFromOwner, distance: r.Distance, linger: r.Linger}}
	if math.IsNaN(out.distance) {
		out.distance = 0
	}
	if r.Relevant != nil {
		out.relevant = func(v *Viewer, o throng.Object) Verdict { return r.Relevant(v, any(o).(*T)) }
	}
	if r.Owner != nil {
		out.owner = func(o throng.Object) throng.PlayerID { return r.Owner(any(o).(*T)) }
	}
	if r.Position != nil {
		out.position = func(o throng.Object) throng.Vec3 { return r.Position(any(o).(*T)) }
	}
	if r.OnBegin != nil {
		out.begin = func(s *Server, o throng.Object) { r.OnBegin(s, any(o).(*T)) }
	}
	return out
}
