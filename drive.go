package throng

import (
	"github.com/throng-dev/throng/internal/wire"
)

// RequestOwnership asks for the drive of an entity. Where its class has AutoGrant it comes, in a round trip to the present driver
// and one back: OnOwner runs, Drives holds. Elsewhere nothing happens: that is the answer. What this client drives already is
// left as it is.
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

// Grant hands an entity that this client drives to a player who is in the world. What was written until then goes along.
func (w *World) Grant(o Object, to PlayerID) error {
	defer w.leave(w.enter("Grant"))
	if to.IsZero() {
		return w.wrap(ErrNoPlayer, "granting %T to nobody", o)
	}
	if _, here := w.players[to]; !here {
		return w.wrap(ErrNoPlayer, "granting %T to %v", o, to)
	}
	return w.grant(o, to)
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
	w.mu.Lock()
	w.reg.Grant(b.e.c, wire.PlayerID(to.Bytes()))
	w.mu.Unlock()
	return nil
}

// Override is the host's correction of an entity that somebody else drives: the values that the fields have here now replace the
// driver's, once; the driver goes on from there. At least one field is given, by its address. On what this client drives it is
// MarkDirty.
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
	mask := k.slotsOf(b.e.ptr, fields...) &^ (k.layout.Init | k.layout.Auth)
	switch {
	case len(fields) == 0 || mask == 0:
		return w.wrap(ErrNoField, "overriding %T %v", o, b.e.id)
	case b.e.c.Flags&wire.EntityOwnerOnly != 0:
		return w.wrap(ErrOwnerOnly, "overriding %T %v", o, b.e.id)
	case !w.isHost():
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
	case pooled(o):
		return nil, w.wrap(ErrPooled, "%s %T", doing, o)
	case b == nil || b.gone:
		return nil, w.wrap(ErrForeign, "%s %T", doing, o)
	case w.phase != Live || !b.e.c.Bound():
		return nil, w.wrap(ErrNotLive, "%s %T %v", doing, o, b.e.id)
	}
	return b, nil
}
