package throng

import (
	"fmt"
	"math/bits"
	"reflect"
	"time"

	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/wire"
)

// SpawnOption changes how [World.Spawn] and [World.Place] put an entity into the world.
type SpawnOption func(*spawnOptions)

type spawnOptions struct {
	flags  uint16
	id     NetID
	named  bool // by WithID
	who    *wire.Audience
	quiet  bool
	grant  *bool
	host   *HostOverride
	group  string
	parent Object
	delay  time.Duration // of the body; negative: the class's
}

// AsAvatar makes the entity the player's avatar: its id follows from the player's, there is one at most, and this client looks
// at the world from where it is. If there is one, of the same class, the new struct takes its place: the one before leaves
// here with Replaced, the other clients keep their body and get the fields that differ, but for init fields.
func AsAvatar() SpawnOption {
	return func(o *spawnOptions) { o.flags |= wire.EntityAvatar }
}

// OwnedByHost gives the entity to whoever is host, from the start.
func OwnedByHost() SpawnOption {
	return func(o *spawnOptions) { o.flags |= wire.EntityHosted }
}

// WithID spawns under an id that the game chose, instead of a random one; see [NewID] and [StableID].
func WithID(id NetID) SpawnOption {
	return func(o *spawnOptions) { o.id, o.named = id, true }
}

// WithoutHeartbeat keeps the heartbeat fields of this entity from being repeated.
func WithoutHeartbeat() SpawnOption {
	return func(o *spawnOptions) { o.quiet = true }
}

// WithAutoGrant says for this entity what ClassConfig.AutoGrant says for its class. It holds for as long as the entity lives, whoever
// owns it.
func WithAutoGrant(on bool) SpawnOption {
	return func(o *spawnOptions) { o.grant = &on }
}

// WithHostOverride says for this entity what ClassConfig.HostOverride says for its class. It holds for as long as the entity lives,
// whoever owns it.
func WithHostOverride(h HostOverride) SpawnOption {
	return func(o *spawnOptions) { o.host = &h }
}

// WithDestroyDelay lets this client's body of the entity outlive OnDestroy by d, instead of by what the class says. 0 is not at all.
func WithDestroyDelay(d time.Duration) SpawnOption {
	return func(o *spawnOptions) { o.delay = max(d, 0) }
}

// Claimed gives a placed entity to the first client that places it, instead of to the host. It is for Place only.
func Claimed() SpawnOption {
	return func(o *spawnOptions) { o.flags |= wire.EntityClaim }
}

// Spawn puts e into the world. This client drives it, its player owns it, and everybody in reach gets one with the same
// values; OnSpawn runs here before Spawn returns. The fields may be set before, or in OnSpawn.
//
// A struct is one entity: to spawn it again while it is in a world is ErrSpawned. If the call names the id it has, with WithID or AsAvatar,
// it is what was asked for already: nil, and nothing happens. The same goes for Place with its name.
func (w *World) Spawn(e Object, opts ...SpawnOption) error {
	defer w.leave(w.enter("Spawn"))
	o := spawnOptions{delay: -1}
	for _, f := range opts {
		f(&o)
	}
	switch {
	case o.flags&wire.EntityClaim != 0:
		return fmt.Errorf("throng: spawning %T: Claimed is for Place: spawned entities are owned by who spawned them", e)
	case o.flags&wire.EntityAvatar != 0 && o.flags&wire.EntityHosted != 0:
		return fmt.Errorf("throng: spawning %T: AsAvatar and OwnedByHost: an avatar belongs to its player", e)
	case o.flags&wire.EntityAvatar != 0 && !o.id.IsZero():
		return fmt.Errorf("throng: spawning %T: AsAvatar and WithID: the id of an avatar follows from the player", e)
	case o.flags&wire.EntityAvatar != 0:
		o.id = w.self.AvatarID()
	case o.named && o.id.IsZero():
		return w.wrap(ErrInvalidID, "spawning %T", e)
	case o.id.IsZero():
		o.id = NewID()
	}
	return w.add("spawning", e, &o)
}

// Place gives e, which every client makes by itself, as part of a level, one identity for all: the id follows from name. The
// host drives it. A client that comes later, or finds that the entity was changed, gets one OnRep with the differences; its
// init fields stay as it set them.
func (w *World) Place(name string, e Object, opts ...SpawnOption) error {
	defer w.leave(w.enter("Place"))
	o := spawnOptions{delay: -1}
	for _, f := range opts {
		f(&o)
	}
	if o.flags&^wire.EntityClaim != 0 || !o.id.IsZero() || o.group != "" || o.who != nil || o.parent != nil {
		return fmt.Errorf("throng: placing %q: AsAvatar, OwnedByHost, InGroup, AttachedTo and WithID can not be used with Place: its id follows from the name, and the host drives it, or with Claimed whoever comes first", name)
	}
	o.id = StableID(name)
	if o.flags |= wire.EntityPlaced; o.flags&wire.EntityClaim == 0 {
		o.flags |= wire.EntityHosted
	}
	return w.add(fmt.Sprintf("placing %q as", name), e, &o)
}

// again reports that the entity stands already as it is to be added (B-056): under the id that the call names, by its name, WithID or
// AsAvatar, and by this player, unless it is a placed one. A call that names no id asks for another entity, which takes another struct.
func (o *spawnOptions) again(w *World, e Object) bool {
	b := w.bodyOf(e)
	switch {
	case b == nil || b.gone || w.phase == Closed || o.id != b.e.id || o.flags&wire.EntityRespawn != 0:
		return false
	case !o.named && o.flags&(wire.EntityAvatar|wire.EntityPlaced) == 0:
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	placed := b.e.c.Flags&wire.EntityPlaced != 0
	return placed == (o.flags&wire.EntityPlaced != 0) && (placed || b.e.owner == w.self)
}

func (w *World) add(doing string, o Object, opt *spawnOptions) error {
	fail := func(err error) error { return w.wrap(err, "%s %T", doing, o) }
	if v := reflect.ValueOf(o); !v.IsValid() || v.IsNil() {
		return fail(ErrNil)
	}
	e := o.entity()
	k := w.schema.classOf(o)
	switch {
	case k == nil:
		return fail(ErrClass)
	case opt.again(w, o):
		return nil
	case e.w != nil:
		return fail(ErrSpawned)
	case unused(o) != nil:
		return fail(unused(o))
	case w.phase == Closed:
		return fail(ErrClosed)
	case w.self.IsZero() || w.phase == Traveling:
		return fail(ErrNotLive)
	case opt.flags&wire.EntityAvatar != 0 && w.byID.Find(opt.id.Bytes()) != nil:
		if err := w.takeOver(w.byID.Find(opt.id.Bytes()), k, o); err != nil {
			return fail(err)
		}
		return nil
	case w.byID.Find(opt.id.Bytes()) != nil:
		return fail(ErrIDHeld)
	case opt.flags&wire.EntityHosted != 0 && opt.flags&wire.EntityPlaced == 0 && w.host.IsZero():
		return fail(ErrNoHost)
	}
	flags := opt.flags &^ wire.EntityClaim
	override, grant := k.cfg.HostOverride, k.cfg.AutoGrant
	if opt.host != nil {
		override = *opt.host
	}
	if opt.grant != nil {
		grant = *opt.grant
	}
	if override == OwnerOnly {
		flags |= wire.EntityOwnerOnly
	}
	if grant {
		flags |= wire.EntityAutoGrant
	}
	if k.cfg.OnOwnerGone == ToHost {
		flags |= wire.EntityToHost
	}
	if k.cfg.Audience == OwnerAlone {
		flags |= wire.EntityOwnerAlone
	}
	if opt.flags&wire.EntityActor != 0 && !w.authority || opt.who != nil && !w.authority {
		return fail(ErrNotAuthority)
	}
	if err := k.announceable(o); err != nil {
		return fail(err)
	}
	if err := w.unforged(k, o); err != nil {
		return fail(err)
	}
	var owner wire.PlayerID
	if flags&wire.EntityHosted == 0 {
		owner = w.self.Bytes()
	}
	var b *body
	w.mu.Lock()
	if w.reg.Find(opt.id.Bytes()) != nil {
		w.mu.Unlock()
		return fail(ErrIDHeld)
	}
	if opt.parent != nil {
		if p := w.bodyOf(opt.parent); p == nil || p.gone || !w.mayAttach(k, nil, p) {
			w.mu.Unlock()
			return fail(fmt.Errorf("attached to %T: %w", opt.parent, ErrAttach))
		}
	}
	if !w.mayKeepTo(opt.group) {
		w.mu.Unlock()
		return fail(fmt.Errorf("group %q: %w", opt.group, ErrNotInGroup))
	}
	switch gone := w.reg.Destroyed(opt.id.Bytes()); {
	case flags&wire.EntityRespawn != 0 && !gone:
		w.mu.Unlock()
		return fail(ErrNotGone)
	case flags&wire.EntityRespawn != 0:
	case flags&wire.EntityPlaced != 0 && gone:
		w.reg.Want(opt.id.Bytes(), w.classes[k])
		w.mu.Unlock()
		return fail(ErrGone)
	}
	w.reg.Spawn(opt.id.Bytes(), w.classes[k], owner, flags, func(c *registry.Copy) {
		b = w.newBody(c, k, o)
		b.quiet = opt.quiet
		c.Tell(opt.who)
		w.bindTo(c, opt)
		if opt.delay >= 0 {
			b.until = -opt.delay
		}
		b.told, b.placed = true, flags&wire.EntityPlaced != 0
		w.point(b, c)
	})
	w.mu.Unlock()
	w.hello(b)
	return nil
}

// hello runs OnSpawn of a body that was spawned here.
func (w *World) hello(b *body) {
	w.user(func() {
		for _, h := range b.hooks.hooks {
			if h.onSpawn != nil {
				h.onSpawn(w, b.o, true)
			}
		}
		if w.cfg.OnRegistered != nil {
			w.cfg.OnRegistered(w, b.o)
		}
	})
}

// announceable returns why an object cannot be announced as it is: an error at the call, where the caller can do something
// about it.
func (c *class) announceable(o Object) error {
	p := c.plan.Pointer(o)
	values, refused := c.plan.Append(nil, p, c.layout.All)
	if refused != 0 {
		return c.plan.Refusal(p, bits.TrailingZeros64(refused))
	}
	if ch := c.open(); ch != nil {
		var err error
		if values, _, _, err = ch.capture(values, o); err != nil {
			return err
		}
	}
	if over := c.over(c.wire.All, values, wire.MaxValues); over != 0 {
		return fmt.Errorf("%w (field %s, all values are %d bytes)", c.tooLong(bits.TrailingZeros64(over)), c.pathOf(bits.TrailingZeros64(over)), len(values))
	}
	return nil
}

// takeOver makes o the body of an avatar that lives (B-050): the struct before leaves, the others keep their body and get
// what differs.
func (w *World) takeOver(old *body, k *class, o Object) error {
	c := old.e.c
	switch {
	case old.hooks.class != k:
		return fmt.Errorf("%w: this player's avatar is a %s: destroy it first", ErrIDHeld, old.hooks.class.name)
	case !old.drives:
		return fmt.Errorf("%w: this player's avatar is driven elsewhere", ErrNotDriver)
	}
	if err := k.announceable(o); err != nil {
		return err
	}
	sent, stream := old.e.shadow, old.driving().stream
	w.end(old, Departure{Why: Replaced, By: w.self, Local: true})
	w.mu.Lock()
	b := w.newBody(c, k, o)
	b.told, b.e.shadow = true, sent
	b.driving().stream = stream
	w.point(b, c)
	w.mu.Unlock()
	w.hello(b)
	return nil
}

// end takes a body out and runs its hook, if it was ever told of, at once.
func (w *World) end(b *body, d Departure) {
	w.remove(b, d)
	w.events = w.events[:len(w.events)-1] // its hook runs now
	if b.told {
		w.user(func() { w.run1(&happening{kind: departed, b: b, d: d}) })
	}
}

// Destroy takes an entity out of the world, for everybody. Its driver may, and the host unless the class is OwnerOnly; in a world that
// is not strict everybody may, see [Trust]. Where this client drives it,
// OnDestroy runs before Destroy returns; else when the relay has agreed. A second Destroy does nothing.
func (w *World) Destroy(o Object) error {
	defer w.leave(w.enter("Destroy"))
	b := w.bodyOf(o)
	switch {
	case unused(o) != nil:
		return w.wrap(unused(o), "destroying %T", o)
	case o.entity().w == nil || b == nil && o.entity().w == w || b != nil && b.gone:
		return nil
	case b == nil:
		return w.wrap(ErrForeign, "destroying %T", o)
	case !w.mayDestroy(b):
		return w.wrap(ErrNotDriver, "destroying %T %v", o, b.e.id)
	}
	b.mine = true
	w.mu.Lock()
	w.reg.Destroy(b.e.c, w.self.Bytes())
	here := b.e.c.Gone
	w.mu.Unlock()
	if !here {
		return nil
	}
	w.end(b, Departure{Why: Destroyed, By: w.self, Local: true})
	return nil
}

// mayDestroy: the driver may; so may who spawned b, before the relay has said who drives it; so may the host, but what is only
// the owner's; and anybody where the world does not mind (B-054).
func (w *World) mayDestroy(b *body) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := b.e.c
	switch {
	case b.drives:
		return true
	case c.Mirrors():
		return false
	case c.Inc == 0 && c.Flags&wire.EntityPlaced == 0:
		return true
	}
	return w.authority && c.Bound() || w.isHost() && c.Flags&wire.EntityOwnerOnly == 0 || w.profile.Trust != TrustStrict && c.Bound() && c.Flags&wire.EntityActor == 0
}

// MarkDirty makes fields leave with the next replication tick, changed or not: those that are manual, and any field of a
// host-owned entity that this client drives as host. Without fields it marks all manual ones. Fields that leave by
// themselves are ignored, and so is what is in no world: it is sent whole when it is spawned. A field is given by its address, as in
// w.MarkDirty(e, &e.Lits).
func (w *World) MarkDirty(o Object, fields ...any) error {
	defer w.leave(w.enter("MarkDirty"))
	b := w.bodyOf(o)
	if err := unused(o); err != nil {
		return w.wrap(err, "marking %T", o)
	}
	if b == nil || b.gone || w.noProperties() {
		return nil
	}
	if !b.drives {
		return w.wrap(ErrNotDriver, "marking %T %v", o, b.e.id)
	}
	l := b.hooks.class.layout
	may := l.Manual
	if b.e.role == RoleHost && !b.hooks.class.cfg.AutoDiffHosted {
		may = l.All &^ w.barred(l)
	}
	mask := may
	if len(fields) > 0 {
		mask = may & b.hooks.class.slotsOf(b.e.ptr, fields...)
	}
	w.mu.Lock()
	w.reg.Mark(b.e.c, mask)
	w.mu.Unlock()
	return nil
}
