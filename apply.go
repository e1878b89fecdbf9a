package throng

import (
	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/trace"
	"github.com/throng-dev/throng/internal/wire"
)

// What arrived becomes bodies, values and happenings, under the lock; then the happenings run the game's hooks, without it:
//
//	registry.Changed ─► applyCopy ─► write, point, newBody, remove ─► events ─► happen ─► hooks

// happening is a hook to run.
type happening struct {
	kind    uint8
	b       *body
	changed uint64
	was     PlayerID
	d       Departure
	id      NetID // of what has no body
	err     error
}

const (
	spawned = iota
	changedFields
	changedOwner
	departed
	leftUnseen // something left that has no body here
	met        // a change of it came, and its spawn has not
	spoke      // its spawn came after all
	loadFail
	selfSeen // the echo of something driven here
	selfLost
)

// apply writes what arrived into the structs and notes which hooks must run. It does nothing and reports false if the host
// changed since listen: OnHost comes before the drive (B-081).
func (w *World) apply() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.welcomed() && (w.phase != Live && w.phase != Traveling || w.reg.Arrived || PlayerIDFrom(w.reg.Host) != w.host) {
		return false
	}
	w.batch = turnBatch
	w.settleLoads()
	w.applyReflections()
	w.changed = w.reg.Changed(w.changed[:0])
	for _, c := range w.changed {
		w.applyCopy(c)
		if !c.Gone {
			w.reg.Release(c)
		}
	}
	clear(w.changed)
	w.parted()
	w.fullNow()
	w.startLoads()
	w.heard = w.reg.Heard(w.now(), w.absent, w.heard)
	return true
}

// applyCopy brings the body of a copy up to date. What waits for a copy that has none yet goes on waiting.
func (w *World) applyCopy(c *registry.Copy) {
	b, _ := c.Data.(*body)
	switch {
	case c.Gone:
		by, refused := c.Ended()
		d := Departure{Why: reason(c.Why), By: PlayerIDFrom(by), Refused: registerError(refused)}
		switch l, _ := c.Data.(*loading); {
		case l != nil:
			w.endLoad(l)
			w.unheld(c.ID, d)
		case b == nil:
			w.unheld(c.ID, d)
		case !b.gone:
			d.Local = b.mine && d.Why == Destroyed && (d.By == w.self || d.By.IsZero())
			w.remove(b, d)
			if refused != 0 {
				w.warn("throng: the relay refused an entity", "id", b.e.id, "class", b.hooks.class.name, "reason", refusedText(refused))
			}
		}
		return
	case b == nil:
		k, _ := c.Class.Data.(*class)
		if k == nil {
			return // of a class this build lacks
		}
		if w.noProxies() && !c.Drives() {
			c.Applied()
			return
		}
		if !c.Spoken() && !c.Drives() && !(k.cfg.Mode == Dynamic && c.Met()) {
			return // until its spawn is repeated (B-053)
		}
		l, _ := c.Data.(*loading)
		if l == nil && w.batch > 0 && len(w.turns) == 0 && !w.hooks[k].loads() {
			w.batch--
			w.appear(c, k)
			return
		}
		if l == nil {
			l = w.load(c, k)
		}
		if l.state == loadDone {
			w.takeTurn(l)
		}
		return
	case b.gone:
		c.Applied()
		return
	}
	was := b.e.owner
	if w.noProperties() && !c.Drives() {
		c.Applied() // B-032
	}
	if changed := w.write(b, c); b.unspoken && (c.Spoken() || c.Drives()) {
		b.unspoken = false
		w.events = append(w.events, happening{kind: spoke, b: b})
	} else if changed != 0 {
		w.events = append(w.events, happening{kind: changedFields, b: b, changed: changed})
	}
	c.Applied()
	w.point(b, c)
	if b.drives && c.Echoed() && !b.echoes {
		b.echoes = true
		w.events = append(w.events, happening{kind: selfSeen, b: b})
	}
	if b.e.owner != was {
		w.events = append(w.events, happening{kind: changedOwner, b: b, was: was})
	}
	if t := c.Ails; t != nil {
		w.ails(b, t)
	}
	w.denied(b, c)
}

// ails tells of what went wrong with an entity.
func (w *World) ails(b *body, t *registry.Ails) {
	if t.Spared != 0 {
		if b.mine {
			w.warn("throng: the relay refused to destroy an entity", "id", b.e.id, "class", b.hooks.class.name, "reason", refusedText(t.Spared))
		}
		b.mine, t.Spared = false, 0
	}
	if t.Uninvited != 0 {
		w.warn("throng: somebody who may not wrote to an entity that this client drives: dropped", "id", b.e.id, "class", b.hooks.class.name,
			"fields", Changes{t.Uninvited, b.hooks.class, b.e.ptr}.String(), "player", PlayerIDFrom(t.By))
		t.Uninvited = 0
	}
	if t.RejectedEnds {
		if b.drive != nil {
			b.drive.rejected, b.drive.why = 0, 0
		}
		t.RejectedEnds = false
	}
	if t.Rejected != 0 {
		w.warn("throng: the relay does not apply fields of an entity", "id", b.e.id, "class", b.hooks.class.name, "fields", Changes{t.Rejected, b.hooks.class, b.e.ptr}.String(), "reason", refusedText(t.RejectedReason))
		d := b.driving()
		d.rejected, d.why, t.Rejected = t.Rejected, t.RejectedReason, 0
	}
}

// zero clears the fields that are somebody else's now, of a copy that has a body (B-024).
func (w *World) zero(c *registry.Copy) {
	if b, _ := c.Data.(*body); b != nil && !b.gone && c.ZeroOwner {
		c.ZeroOwner = false
		b.hooks.class.plan.Zero(b.e.ptr, b.hooks.class.layout.Owner)
	}
}

// write puts staged values into the struct and returns which slots really changed.
func (w *World) write(b *body, c *registry.Copy) (changed uint64) {
	plan := b.hooks.class.plan
	w.zero(c)
	adopted := uint64(0)
	own := uint64(0)
	if b.placed {
		own = b.hooks.class.layout.Init
	}
	moves, whole := b.hooks.class.streams()
	c.Staged(func(apply, mask uint64, values []byte) {
		apply &^= own
		fields, value := mask, values
		if whole && mask&moves != 0 { // the last: it is not the entity's own memory
			fields &^= moves
			n := c.Class.ValuesLen(fields, values)
			values, value = values[:n], values[n:]
		}
		ch, _, err := plan.Apply(b.e.ptr, fields, apply&fields, values)
		if err == nil && apply&moves != 0 {
			if err = w.sample(b, value, c.Timing()); !c.Drives() {
				ch &^= moves // what is drawn changes all the time
			}
		}
		if err != nil {
			w.undecoded++
			w.tracer.undecoded(b, apply, len(values))
			w.warn("throng: values of an entity do not decode", "id", b.e.id, "class", b.hooks.class.name, "err", err)
			return
		}
		changed |= ch
		adopted |= apply & fields
	})
	if b.e.shadow != nil {
		b.e.shadow.Adopt(b.e.ptr, adopted)
	}
	if b.drive != nil && b.drive.seen != nil {
		b.drive.seen.Adopt(b.e.ptr, adopted)
	}
	return changed
}

// mayHost reports whether this client may begin to drive a copy that the relay gave it. After a silence it can hear at once that it was
// host and was given an entity, and that another is host by now: what drives then is not told to it by name (B-081, R-26).
func (w *World) mayHost(c *registry.Copy) bool {
	return !c.Hosted() || c.Flags&wire.EntityActor != 0 || !w.hosted || w.isHost()
}

// hostNow makes a new host drive what the relay has given it already. It is called under mu.
func (w *World) hostNow() {
	for _, b := range w.list {
		if !b.gone && !b.drives && b.e.role == RoleHost && b.e.c.Drives() {
			w.point(b, b.e.c)
		}
	}
}

// point sets who owns and drives the body.
func (w *World) point(b *body, c *registry.Copy) {
	e := b.e
	e.owner = PlayerIDFrom(c.Owner)
	switch {
	case c.Flags&wire.EntityActor != 0 && w.authority:
		e.role = RoleAuthority
	case c.Flags&wire.EntityActor != 0 && c.Drives():
		e.role = RoleAutonomousProxy
	case c.Flags&wire.EntityActor != 0:
		e.role = RoleSimulatedProxy
	case c.Hosted():
		e.role = RoleHost
	case e.owner == w.self:
		e.role = RoleOwner
	default:
		e.role = RoleProxy
	}
	if b.drives = c.Drives() && (b.drives || w.mayHost(c)); b.drives {
		w.landMotion(b)
	}
	switch {
	case b.drives && e.shadow == nil:
		e.shadow = b.hooks.class.plan.NewShadow(e.ptr)
	case !b.drives:
		e.shadow, b.echoes = nil, false
		if b.drive != nil {
			w.endMirror(b, Departure{Why: OutOfReach})
			b.drive.stream, b.drive.seen = nil, nil
		}
	}
	if b.drives && b.hooks.class.cfg.NotifyDriver && b.driving().seen == nil {
		b.drive.seen = b.hooks.class.plan.NewShadow(e.ptr)
	}
	if b.drives && !b.listed {
		b.listed = true
		w.driven = append(w.driven, b)
	}
}

func (w *World) newBody(c *registry.Copy, k *class, o Object) *body {
	e := o.entity()
	b := &body{e: e, c: c, o: o, hooks: w.hooks[k], frame: w.firstFrame(c.ID), until: -k.cfg.DestroyDelay}
	e.w, e.c, e.class, e.ptr, e.id = w, c, k, k.plan.Pointer(o), NetIDFrom(c.ID)
	c.Data, c.Shown = b, true
	w.list = append(w.list, b)
	w.byID.Put(b)
	w.tracer.body(trace.Register, b, "")
	return b
}

// remove ends a body: its hook runs with the other happenings.
func (w *World) remove(b *body, d Departure) {
	w.endMirror(b, d)
	w.tracer.body(trace.Unregister, b, d.Why.String())
	b.gone, b.drives, b.e.shadow = true, false, nil
	w.holes = true
	w.byID.Delete(b)
	w.events = append(w.events, happening{kind: departed, b: b, d: d})
}

// happen runs the hooks that are due. What they cause comes after.
func (w *World) happen() {
	for i := 0; i < len(w.events); i++ {
		h := w.events[i]
		if h.b == nil {
			w.user(func() { w.runUnseen(&h) })
			continue
		}
		if h.kind == departed && !h.b.told {
			w.user(func() { w.left(h.b.e.id, h.d) }) // nobody was told that it came
			continue
		}
		if h.b.gone && h.kind != departed || h.kind != spawned && h.kind != met && !h.b.told {
			continue // a hook ended it before it was told of
		}
		h.b.told = true
		w.user(func() { w.run1(&h) })
	}
	clear(w.events)
	w.events = w.events[:0]
}

func (w *World) run1(h *happening) {
	b := h.b
	for _, k := range b.hooks.hooks {
		switch h.kind {
		case spawned, spoke:
			if k.onSpawn != nil {
				k.onSpawn(w, b.o, false)
			}
		case changedOwner:
			if k.onOwner != nil {
				k.onOwner(w, b.o, h.was)
			}
		case departed:
			if k.onDestroy != nil {
				k.onDestroy(w, b.o, h.d)
			}
		}
	}
	switch h.kind {
	case changedFields:
		w.notify(b, h.changed)
	case departed:
		b.until = w.now() - b.until
	}
	w.runConfig(h)
}

// notify runs OnRep, for the whole delta first and then field by field (B-015).
func (w *World) notify(b *body, changed uint64) {
	for _, k := range b.hooks.hooks {
		if k.onRep != nil {
			k.onRep(b.o, Changes{changed, b.hooks.class, b.e.ptr})
		}
	}
	for _, k := range b.hooks.hooks {
		if k.onSlots != nil && k.slots&changed != 0 {
			k.onSlots(b.o)
		}
	}
}

// sweep takes bodies that are gone out of the list, after their delay.
func (w *World) sweep() {
	if !w.holes {
		return
	}
	now := w.now()
	w.holes = false
	keep := w.list[:0]
	for _, b := range w.list {
		switch {
		case !b.gone:
			keep = append(keep, b)
		case b.until > now:
			keep = append(keep, b)
			w.holes = true
		default:
			b.e.w, b.e.c, b.e.role = nil, nil, RoleNone
			if b.made && b.hooks.class.cfg.Pool > 0 {
				w.retired = append(w.retired, b)
			}
		}
	}
	clear(w.list[len(keep):])
	w.list = keep
	for _, b := range w.retired { // now: Reset may spawn
		w.retire(b)
	}
	clear(w.retired)
	w.retired = w.retired[:0]
}

func reason(w wire.Why) DepartReason {
	switch w {
	case wire.WhyDestroyed:
		return Destroyed
	case wire.WhyStale:
		return Stale
	case registry.WhyTraveled:
		return Traveled
	case wire.WhyReleased:
		return SessionReleased
	}
	return OutOfReach
}

func refusedText(r uint8) string {
	switch r {
	case wire.RefusedIDHeld:
		return "a live entity has that id"
	case wire.RefusedInvalid:
		return "a value or the class is not what was announced"
	case wire.RefusedDead:
		return "it was destroyed"
	case wire.RefusedLimit:
		return "the session or the world is full"
	case wire.RefusedNoHost:
		return "the world has no host"
	case wire.RefusedRights:
		return "this client may not"
	case wire.RefusedNotDriver:
		return "another client drives it"
	case wire.RefusedAbsent:
		return "that player is not in the world"
	}
	return nameOf("reason", int(r))
}
