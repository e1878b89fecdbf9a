package throng

import (
	"math/bits"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
)

// Tick, in order:
//
//	posts ─► listen: connection, host, players ─► apply: values into structs, bodies made and taken ─► hooks
//	      ─► step ─► diff: values against shadows ─► send
//
// Values are written under the lock that the receiving goroutine shares; hooks and step run without it.

// happening is a hook to run.
type happening struct {
	kind    uint8
	b       *body
	changed uint64
	was     PlayerID
	d       Departure
}

const (
	spawned = iota
	changedFields
	changedOwner
	departed
)

// Tick is the one call of a game loop: it applies what arrived and runs the hooks, runs step (which may be nil), then
// compares and sends if a replication tick is due. What is written in step leaves in the same call. An error is final.
func (w *World) Tick(step func()) error {
	if !w.turn.CompareAndSwap(idle, inside) {
		panic("throng: World.Tick within another call: a World belongs to one goroutine and hooks must not tick, use Post from others")
	}
	defer w.turn.Store(idle)
	if w.final != nil {
		return w.final
	}
	w.mu.Lock()
	posts := w.posts
	w.posts = nil
	w.mu.Unlock()
	for _, fn := range posts {
		w.user(fn)
	}
	w.listen()
	if w.final != nil {
		return w.final
	}
	w.apply()
	w.happen()
	if step != nil {
		w.user(step)
	}
	w.sweep()
	now := w.now()
	tick := w.phase == Live && now >= w.nextTick
	if tick {
		if w.nextTick += w.interval; w.nextTick <= now { // after a stall one tick runs, not the backlog (B-023)
			w.nextTick = now + w.interval
		}
		w.diff(now)
	}
	w.mu.Lock()
	if w.conn != nil {
		w.flush(now, tick)
	}
	w.mu.Unlock()
	return w.final
}

// listen takes news of the connection, then of host and players.
func (w *World) listen() {
	w.mu.Lock()
	news := w.news
	w.news = nil
	w.mu.Unlock()
	for _, n := range news {
		switch {
		case n.conn != nil:
			w.mu.Lock()
			if !w.closed {
				now := w.now()
				w.conn, w.sess = n.conn, session.New(session.Config{})
				w.reg.Connect(now, w.sess)
				w.flush(now, false)
			}
			w.mu.Unlock()
		default:
			w.mu.Lock()
			w.conn = nil
			w.mu.Unlock()
			if n.last {
				w.final = n.lost
				w.state(Closed, n.lost)
			} else {
				w.log.Warn("throng: connection lost, trying again", "addr", w.addr, "err", n.lost)
				if w.phase != Connecting {
					w.state(Reconnecting, n.lost)
				}
			}
		}
	}
	w.mu.Lock()
	welcomed := w.reg.Welcomed && w.conn != nil
	if welcomed && w.phase != Live {
		w.welcome(&w.reg.Welcome)
	}
	if w.reg.Due {
		w.reg.Announce()
	}
	host := PlayerIDFrom(w.reg.Host)
	w.mu.Unlock()
	if !welcomed {
		return
	}
	w.people()
	if host != w.host || !w.hosted {
		was, known := w.host, w.hosted
		w.host, w.hosted = host, true
		if w.cfg.OnHost != nil && (known || !host.IsZero()) {
			w.user(func() { w.cfg.OnHost(w, was) })
		}
	}
	if w.phase != Live {
		w.state(Live, nil)
	}
	w.look()
}

// welcome takes what the relay says of the world. It is called under mu.
func (w *World) welcome(m *wire.Welcome) {
	w.self = PlayerIDFrom(m.Player)
	p := m.Profile
	w.profile = Profile{ChunkSize: p.ChunkSize, Reach: int(p.Reach), PropertyReach: int(p.PropertyReach), MaxRate: int(p.MaxRate),
		Keyframe: time.Duration(p.KeyframeMS) * time.Millisecond, Flat: p.Flags&wire.ProfileFlat != 0, Retain: p.Flags&wire.ProfileRetain != 0}
	rate := w.cfg.Rate
	if rate == 0 {
		rate = min(10, w.profile.MaxRate)
	}
	if rate > w.profile.MaxRate {
		w.log.Warn("throng: Config.Rate is above what the world allows: lowered", "asked", rate, "allowed", w.profile.MaxRate)
		rate = w.profile.MaxRate
	}
	w.interval = time.Second / time.Duration(rate)
	w.nextTick = w.now()
	switch {
	case w.cfg.Keyframe < 0:
		w.keyframe = 0
	case w.cfg.Keyframe > 0:
		w.keyframe = w.cfg.Keyframe
	default:
		w.keyframe = w.profile.Keyframe
	}
	w.viewed = len(w.views) == 0
}

func (w *World) state(p Phase, err error) {
	w.phase = p
	if w.cfg.OnState != nil {
		w.user(func() { w.cfg.OnState(w, ConnState{p, err}) })
	}
}

// people compares the players that the relay names with those the game was told of.
func (w *World) people() {
	var came, left []PlayerInfo
	w.mu.Lock()
	for id, p := range w.reg.Players {
		k := PlayerIDFrom(id)
		if _, ok := w.players[k]; !ok {
			came = append(came, PlayerInfo{k, p.Eligible})
		}
	}
	if len(w.players)+len(came) != len(w.reg.Players) {
		for k, p := range w.players {
			if _, ok := w.reg.Players[k.Bytes()]; !ok {
				left = append(left, p)
			}
		}
	}
	w.mu.Unlock()
	tell := w.phase == Live && w.cfg.OnPlayer != nil
	for _, p := range left {
		delete(w.players, p.ID)
		if tell {
			w.user(func() { w.cfg.OnPlayer(w, p, false) })
		}
	}
	for _, p := range came {
		w.players[p.ID] = p
		if tell {
			w.user(func() { w.cfg.OnPlayer(w, p, true) })
		}
	}
}

// apply writes what arrived into the structs and notes which hooks must run.
func (w *World) apply() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changed = w.reg.Changed(w.changed[:0])
	for _, c := range w.changed {
		w.applyCopy(c)
		if !c.Gone {
			c.Applied()
			w.reg.Release(c)
		}
	}
	clear(w.changed)
}

func (w *World) applyCopy(c *registry.Copy) {
	b, _ := c.Data.(*body)
	switch {
	case c.Gone:
		if b != nil && !b.gone {
			w.remove(b, Departure{Why: reason(c.Why), By: PlayerIDFrom(c.By), Local: b.mine})
			if c.Refused != 0 {
				w.log.Warn("throng: the relay refused an entity", "id", b.e.id, "class", b.hooks.class.name, "reason", refusedText(c.Refused))
			}
		}
		return
	case b == nil:
		k, _ := c.Class.Data.(*class)
		if k == nil {
			return // of a class this build lacks
		}
		b = w.newBody(c, k, k.newObject())
		w.write(b, c)
		w.point(b, c)
		w.events = append(w.events, happening{kind: spawned, b: b})
		return
	case b.gone:
		return
	}
	was := b.e.owner
	if changed := w.write(b, c); changed != 0 {
		w.events = append(w.events, happening{kind: changedFields, b: b, changed: changed})
	}
	w.point(b, c)
	if b.e.owner != was {
		w.events = append(w.events, happening{kind: changedOwner, b: b, was: was})
	}
	if c.Rejected != 0 {
		w.log.Warn("throng: the relay does not apply fields of an entity", "id", b.e.id, "class", b.hooks.class.name, "fields", Changes{c.Rejected, b.hooks.class, b.e.ptr}.String(), "reason", refusedText(c.RejectedReason))
		c.Rejected = 0
	}
}

// write puts staged values into the struct and returns which slots really changed.
func (w *World) write(b *body, c *registry.Copy) (changed uint64) {
	plan := b.hooks.class.plan
	if c.ZeroOwner {
		c.ZeroOwner = false
		plan.Zero(b.e.ptr, b.hooks.class.layout.Owner)
	}
	adopted := uint64(0)
	c.Staged(func(apply, mask uint64, values []byte) {
		ch, _, err := plan.Apply(b.e.ptr, mask, apply, values)
		if err != nil {
			w.log.Warn("throng: values of an entity do not decode", "id", b.e.id, "class", b.hooks.class.name, "err", err)
			return
		}
		changed |= ch
		adopted |= apply
	})
	if b.e.shadow != nil {
		b.e.shadow.Adopt(b.e.ptr, adopted)
	}
	return changed
}

// point sets who owns and drives the body.
func (w *World) point(b *body, c *registry.Copy) {
	e := b.e
	e.owner = PlayerIDFrom(c.Owner)
	switch {
	case c.Hosted():
		e.role = RoleHost
	case e.owner == w.self:
		e.role = RoleOwner
	default:
		e.role = RoleProxy
	}
	b.drives = c.Drives()
	switch {
	case b.drives && e.shadow == nil:
		e.shadow = b.hooks.class.plan.NewShadow(e.ptr)
	case !b.drives:
		e.shadow = nil
	}
	if b.drives && !b.listed {
		b.listed = true
		w.driven = append(w.driven, b)
	}
}

func (w *World) newBody(c *registry.Copy, k *class, o Object) *body {
	e := o.entity()
	b := &body{e: e, o: o, hooks: w.hooks[k], frame: w.firstFrame(c.ID)}
	e.w, e.c, e.class, e.ptr, e.id = w, c, k, k.plan.Pointer(o), NetIDFrom(c.ID)
	c.Data, c.Shown = b, true
	w.list = append(w.list, b)
	w.byID[e.id] = b
	return b
}

// remove ends a body: its hook runs with the other happenings.
func (w *World) remove(b *body, d Departure) {
	b.gone, b.drives, b.e.shadow = true, false, nil
	w.holes = true
	if w.byID[b.e.id] == b {
		delete(w.byID, b.e.id)
	}
	w.events = append(w.events, happening{kind: departed, b: b, d: d})
}

// happen runs the hooks that are due. What they cause comes after.
func (w *World) happen() {
	for i := 0; i < len(w.events); i++ {
		h := w.events[i]
		if h.b.gone && h.kind != departed || h.kind != spawned && !h.b.told {
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
		case spawned:
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
		b.until = w.now() + b.hooks.class.cfg.DestroyDelay
	}
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
		}
	}
	clear(w.list[len(keep):])
	w.list = keep
}

// diff compares what this client drives with what it sent, and marks what changed (B-020).
func (w *World) diff(now time.Duration) {
	keep := w.driven[:0]
	for _, b := range w.driven {
		if b.gone || !b.drives {
			b.listed = false
			continue
		}
		keep = append(keep, b)
		l, cfg := b.hooks.class.layout, &b.hooks.class.cfg
		auto := l.Auto
		if b.e.role == RoleHost && !cfg.AutoDiffHosted {
			auto = 0 // B-026: the host sends what it marks
		}
		mask := b.e.shadow.Diff(b.e.ptr, auto)
		if mask != 0 && cfg.NotifyDriver {
			w.user(func() { w.notify(b, mask) })
			if b.gone || !b.drives {
				continue
			}
			mask |= b.e.shadow.Diff(b.e.ptr, auto)
		}
		if w.keyframe > 0 && l.Keyframe != 0 && now >= b.frame {
			b.frame = now + w.keyframe
			mask |= l.Keyframe
		}
		w.mu.Lock()
		w.reg.Mark(b.e.c, mask|w.reg.Lost(b.e.c))
		w.mu.Unlock()
	}
	clear(w.driven[len(keep):])
	w.driven = keep
}

// firstFrame spreads keyframes by id, so that they do not all fall on one tick (B-027).
func (w *World) firstFrame(id wire.ID) time.Duration {
	if w.keyframe <= 0 {
		return 0
	}
	return w.now() + time.Duration(uint64(id[0])<<8|uint64(id[1]))*w.keyframe/65536
}

// encode is registry.Encode. It is called on the game's goroutine, under mu.
func (w *World) encode(c *registry.Copy, mask uint64, b []byte) (out []byte, sent uint64, at grid.Chunk) {
	at = c.Chunk
	bd, _ := c.Data.(*body)
	if bd == nil {
		return b, 0, at
	}
	k := bd.hooks.class
	out, refused := k.plan.Append(b, bd.e.ptr, mask)
	sent = mask
	if refused != 0 {
		sent = mask &^ refused
		out, _ = k.plan.Append(b, bd.e.ptr, sent)
		i := bits.TrailingZeros64(refused)
		w.log.Warn("throng: a field cannot be sent and stays as it was for the others", "id", bd.e.id, "class", k.name, "err", k.plan.Refusal(bd.e.ptr, i))
	}
	if x, y, z, ok := k.plan.Position(bd.e.ptr); ok {
		if k.axes == 2 {
			z = 0
		}
		if chunk, ok := w.chunk(x, y, z); ok {
			at = chunk
		}
	}
	if bd.e.shadow != nil {
		bd.e.shadow.Adopt(bd.e.ptr, sent)
	}
	return out, sent, at
}

func reason(w wire.Why) DepartReason {
	switch w {
	case wire.WhyDestroyed:
		return Destroyed
	case wire.WhyStale:
		return Stale
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
	}
	return nameOf("reason", int(r))
}
