package throng

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/throng-dev/throng/internal/layout"
	"github.com/throng-dev/throng/internal/wire"
)

// What a trusted server may beyond what players may. The relay lets it by the right in its token; package authority is built on
// this.
//
//	AsActor, ForViewers, SetViewers ─► who may know of an entity, enforced by the relay
//	SetMember ─► groups of players
//	auth fields: written by the driver if that is an authority, else by Override

var (
	// ErrNotAuthority: only who joined with the authority right may do this.
	ErrNotAuthority = errors.New("this client is not an authority: join with a token that has the right, minted with the relay's authority key")
	// ErrViewers: a list of players that cannot be sent.
	ErrViewers = fmt.Errorf("too many players are named, or the group's name is too long: name up to %d players, or put them into a group", wire.MaxAudience)
	// ErrAuthField: a field that belongs to a trusted server was set by a player.
	ErrAuthField = errors.New("only an authority may set it: leave it zero, the authority's value arrives by itself")
)

// Viewers says who may know of an entity. The zero value is everybody.
type Viewers struct {
	// Group is the only one whose players may; empty: groups do not matter.
	Group string
	// Only says that Players may and nobody else. Else everybody but Players may.
	Only    bool
	Players []PlayerID
}

func (v *Viewers) wire() (*wire.Audience, error) {
	if len(v.Players) > wire.MaxAudience || len(v.Group) > wire.MaxName {
		return nil, ErrViewers
	}
	a := &wire.Audience{Group: v.Group, Only: v.Only, Players: make([]wire.PlayerID, len(v.Players))}
	for i, p := range v.Players {
		a.Players[i] = p.Bytes()
	}
	return a, nil
}

// IsAuthority reports whether this client is a trusted server: the relay has said so. It is another question than the role of a
// copy, see [Entity.Role].
func (w *World) IsAuthority() bool {
	w.reads("IsAuthority")
	return w.authority
}

// AsActor spawns an entity of the authority plane: others have it as simulated proxies, and no host corrects or destroys it. Only
// an authority may.
func AsActor() SpawnOption {
	return func(o *spawnOptions) { o.flags |= wire.EntityActor | wire.EntityOwnerOnly }
}

// ForViewers decides who may know of the entity from before anybody can. Only an authority may. To who may not know of it the
// relay sends nothing that names it.
func ForViewers(v Viewers) SpawnOption {
	a, err := v.wire()
	return func(o *spawnOptions) {
		if o.who = a; err != nil {
			o.who, o.flags = &wire.Audience{Only: true}, o.flags|wire.EntityActor // nobody, rather than anybody
		}
	}
}

// SetViewers decides who may know of a living entity, from the relay's next flush: who may not any more gets OnDestroy with
// OutOfReach, who now may gets OnSpawn. Only an authority may.
func (w *World) SetViewers(o Object, v Viewers) error {
	defer w.leave(w.enter("SetViewers"))
	b := w.bodyOf(o)
	a, err := v.wire()
	switch {
	case b == nil || b.gone:
		err = ErrForeign
	case !w.authority:
		err = ErrNotAuthority
	}
	if err != nil {
		return w.wrap(err, "setting the viewers of %T", o)
	}
	w.mu.Lock()
	w.reg.SetAudience(b.e.c, a)
	w.mu.Unlock()
	return nil
}

// SetMember puts a player into a group, or takes it out, whether it is in the world or not. Only an authority may. It holds while
// this authority is in the world, through reconnects.
func (w *World) SetMember(p PlayerID, group string, in bool) error {
	defer w.leave(w.enter("SetMember"))
	switch {
	case !w.authority:
		return w.wrap(ErrNotAuthority, "setting the groups of %v", p)
	case group == "" || len(group) > wire.MaxName:
		return w.wrap(ErrGroupName, "setting the groups of %v", p)
	}
	w.mu.Lock()
	w.reg.SetMember(wire.Member{Player: p.Bytes(), In: in, Name: group})
	w.mu.Unlock()
	return nil
}

// barred are the slots that this client may not send but with a spawn.
func (w *World) barred(l *layout.Layout) uint64 {
	if w.authority {
		return l.Init
	}
	return l.Init | l.Auth
}

// unforged: what a player spawns has no values in fields of the authority plane; the relay would not take them (B-001).
func (w *World) unforged(k *class, o Object) error {
	l := k.layout
	if w.authority || l.Auth == 0 {
		return nil
	}
	p := k.plan.Pointer(o)
	got, _ := k.plan.Append(nil, p, l.Auth)
	zero, _ := k.plan.Append(nil, k.plan.Pointer(k.newObject()), l.Auth)
	for m := l.Auth; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		n, z := k.wire.ValueLen(i, got), k.wire.ValueLen(i, zero)
		if string(got[:n]) != string(zero[:z]) {
			return fmt.Errorf("field %s: %w", l.Slots[i].Path, ErrAuthField)
		}
		got, zero = got[n:], zero[z:]
	}
	return nil
}

// IsAuth reports whether a field of o, given by its address, belongs to the authority plane.
func (s *Schema) IsAuth(o Object, field any) bool {
	k := s.mustClass(o)
	mask := k.slotsOf(k.plan.Pointer(o), field)
	return mask != 0 && mask&^k.layout.Auth == 0
}

// FieldName is the name of a replicated field of o, given by its address; embedded structs are not part of it.
func (s *Schema) FieldName(o Object, field any) string {
	k := s.mustClass(o)
	mask := k.slotsOf(k.plan.Pointer(o), field)
	return k.layout.Slots[bits.TrailingZeros64(mask)].Name
}
