package throng

import (
	"github.com/throng-dev/throng/internal/wire"
)

// RequestOwnership asks for the drive of an entity. Where its requests are granted by themselves it comes, in a round trip to the
// present driver and one back: OnOwner runs, Drives holds. Elsewhere the request goes to whoever drives when it arrives there, and
// Config.OnOwnershipRequest decides. Silence is the only other answer. What this client drives already is left as it is.
func (w *World) RequestOwnership(o Object) error {
	defer w.leave(w.enter("RequestOwnership"))
	b, err := w.bound("requesting", o)
	if err != nil || b.drives {
		return err
	}
	w.mu.Lock()
	w.reg.Request(b.e.c)
	w.mu.Unlock()
	return nil
}

// asked lets the game decide on what other players would like to drive, and says which of its grants came to nothing.
func (w *World) asked() {
	w.mu.Lock()
	asked, denied := w.reg.Requests, w.reg.Denials
	w.reg.Requests, w.reg.Denials = nil, nil
	w.mu.Unlock()
	for _, q := range asked {
		b, _ := q.Copy.Data.(*body)
		if b == nil || b.gone || !b.drives || w.cfg.OnOwnershipRequest == nil {
			continue // it changed hands meanwhile, or the answer is silence
		}
		from, grant := PlayerIDFrom(q.From), false
		if w.user(func() { grant = w.cfg.OnOwnershipRequest(w, b.o, from) }); grant && !b.gone && b.drives {
			w.give(b, from)
		}
	}
	for _, d := range denied {
		if b, _ := d.Copy.Data.(*body); b != nil {
			w.warn("throng: the relay refused to hand an entity over", "id", b.e.id, "class", b.hooks.class.name, "to", PlayerIDFrom(d.To),
				"reason", refusedText(d.Reason))
		}
	}
}

// Grant hands an entity that this client drives to a player who is in the world. What was written until the end of this Tick goes along;
// from then on Drives is false, until the relay refuses, which is logged, or this client gets the entity back. Granting to the present owner does nothing. A player who is not there is an error, except in a world
// whose Profile has ParkGrants: there the grant waits, this client drives on, and when nobody comes in time the host gets the entity.
func (w *World) Grant(o Object, to PlayerID) error {
	defer w.leave(w.enter("Grant"))
	return w.grantTo(o, to)
}

// GrantToOwnerOf hands an entity that this client drives to the player who owns another one.
func (w *World) GrantToOwnerOf(o, other Object) error {
	defer w.leave(w.enter("GrantToOwnerOf"))
	b := w.bodyOf(other)
	switch {
	case b == nil || b.gone:
		return w.wrap(ErrForeign, "granting %T to the owner of %T", o, other)
	case b.e.owner.IsZero():
		return w.wrap(ErrNoOwner, "granting %T to the owner of %T %v", o, other, b.e.id)
	}
	return w.grantTo(o, b.e.owner)
}

func (w *World) grantTo(o Object, to PlayerID) error {
	if to.IsZero() {
		return w.wrap(ErrNoPlayer, "granting %T to nobody", o)
	}
	if _, here := w.players[to]; !here && to != o.entity().owner && !w.profile.ParkGrants {
		return w.wrap(ErrNoPlayer, "granting %T to %v", o, to)
	}
	return w.grant(o, to)
}

// gift is an entity that leaves this client with the end of the Tick.
type gift struct {
	b  *body
	to PlayerID
}

func (w *World) give(b *body, to PlayerID) {
	for i := range w.gifts {
		if w.gifts[i].b == b {
			w.gifts[i].to = to // the last word counts
			return
		}
	}
	w.gifts = append(w.gifts, gift{b, to})
}

// handOver gives away what was granted in this Tick, with the values of its end: a write in the Tick of a grant is not lost. From here on
// this client does not drive, unless the relay says no.
func (w *World) handOver() {
	if len(w.gifts) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, g := range w.gifts {
		if g.b.gone || !g.b.drives || w.phase != Live {
			continue
		}
		c, auto := g.b.e.c, g.b.hooks.class.layout.Auto
		if g.b.e.role == RoleHost && !g.b.hooks.class.cfg.AutoDiffHosted {
			auto = 0
		}
		w.reg.Grant(c, wire.PlayerID(g.to.Bytes()), c.Mark|g.b.e.shadow.Diff(g.b.e.ptr, auto))
	}
	clear(w.gifts)
	w.gifts = w.gifts[:0]
}

// GrantToHost hands an entity that this client drives to whoever is host.
func (w *World) GrantToHost(o Object) error {
	defer w.leave(w.enter("GrantToHost"))
	if w.host.IsZero() {
		return w.wrap(ErrNoHost, "granting %T to the host", o)
	}
	return w.grant(o, PlayerID{})
}

func (w *World) grant(o Object, to PlayerID) error {
	b, err := w.bound("granting", o)
	switch {
	case err != nil:
		return err
	case !b.drives:
		return w.wrap(ErrNotDriver, "granting %T %v", o, b.e.id)
	case b.e.owner == to && !to.IsZero() || b.e.role == RoleHost && to.IsZero():
		return nil // it is so
	}
	w.give(b, to)
	return nil
}

// Override is the host's correction of an entity that somebody else drives: the values that the fields have here now replace the
// driver's, once; the driver goes on from there. At least one field is given, by its address. On what this client drives it is
// MarkDirty. Where the world is not strict, others than the host may send one too: whoever drives drops it, the others apply it.
func (w *World) Override(o Object, fields ...any) error {
	was := w.enter("Override")
	b, err := w.bound("overriding", o)
	if err == nil && b.drives {
		w.leave(was)
		return w.MarkDirty(o, fields...)
	}
	defer w.leave(was)
	if err != nil {
		return err
	}
	k := b.hooks.class
	mask := k.slotsOf(b.e.ptr, fields...) &^ w.barred(k.layout)
	switch {
	case len(fields) == 0 || mask == 0:
		return w.wrap(ErrNoField, "overriding %T %v", o, b.e.id)
	case b.e.c.Flags&wire.EntityOwnerOnly != 0 && (!w.authority || mask&^k.layout.Auth != 0):
		return w.wrap(ErrOwnerOnly, "overriding %T %v", o, b.e.id)
	case !w.isHost() && !w.authority && w.profile.Trust == TrustStrict:
		return w.wrap(ErrNotHost, "overriding %T %v", o, b.e.id)
	}
	w.mu.Lock()
	w.reg.Override(b.e.c, mask)
	w.mu.Unlock()
	return nil
}

// bound is the body of an object that the relay knows.
func (w *World) bound(doing string, o Object) (*body, error) {
	b := w.bodyOf(o)
	switch {
	case unused(o) != nil:
		return nil, w.wrap(unused(o), "%s %T", doing, o)
	case b == nil || b.gone:
		return nil, w.wrap(ErrForeign, "%s %T", doing, o)
	case w.phase != Live || !b.e.c.Bound():
		return nil, w.wrap(ErrNotLive, "%s %T %v", doing, o, b.e.id)
	}
	return b, nil
}
