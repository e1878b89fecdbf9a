package conformance

import (
	"time"

	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/wire"
)

// operation is one thing that a client may do, or that may happen to it. draw chooses arguments among what there is to act on, run acts on
// what the arguments name, if it is there. Arguments are made smaller, towards 0, when a failing program is.
type operation struct {
	name   string
	weight int
	when   state // of the client
	draw   func(g *generator, w *world, p *player) (args []int, ok bool)
	run    func(w *world, p *player, o *Op)
}

// ops is the table of operations. One more is one line more, here or in a table of its own file that is joined here.
var ops []operation

func init() { // not an initialiser: programs name operations, operations make programs
	ops = append(ops, entityOps...)
	ops = append(ops, sessionOps...)
	ops = append(ops, pathOps...)
	ops = append(ops, audienceOps...)
	ops = append(ops, travelOps...)
	ops = append(ops, attachOps...)
	ops = append(ops, placeOps...)
}

func opOf(name string) *operation {
	for i := range ops {
		if ops[i].name == name {
			return &ops[i]
		}
	}
	return nil
}

// do runs an operation, inside the tick of a client that is in.
func (w *world) do(o *Op) {
	p, op := w.players[o.Who], opOf(o.Name)
	if w.res.Bad != "" || p.state != op.when {
		return
	}
	if p.state == on {
		p.apply()
	}
	op.run(w, p, o)
}

// Names of entities in arguments: the n-th spawned, the avatar of a seat, one of the two places that are everybody's.
const (
	refAvatar = 1000
	refPlaced = 2000
)

func idOfRef(ref int) wire.ID {
	switch {
	case ref >= refPlaced:
		return wire.ID{0xbb, byte(ref - refPlaced), 3}
	case ref >= refAvatar:
		return wire.ID{0xaa, byte(ref - refAvatar), 2}
	}
	return wire.ID{byte(ref), byte(ref >> 8), 1}
}

func refOfID(id wire.ID) int {
	switch id[2] {
	case 3:
		return refPlaced + int(id[1])
	case 2:
		return refAvatar + int(id[1])
	}
	return int(id[0]) | int(id[1])<<8
}

// find is the copy of an entity that has a body.
func (p *player) find(ref int) (*registry.Copy, *body) {
	c := p.reg.Find(idOfRef(ref))
	if c == nil {
		return nil, nil
	}
	d, _ := c.Data.(*body)
	if d == nil {
		return nil, nil
	}
	return c, d
}

// one draws an entity among those a client holds a body of and that may be; 0: none.
func (g *generator) one(p *player, may func(c *registry.Copy) bool) (ref int, ok bool) {
	var all []int
	p.reg.Each(func(c *registry.Copy) {
		if c.Data != nil && may(c) {
			all = append(all, refOfID(c.ID))
		}
	})
	if len(all) == 0 {
		return 0, false
	}
	return all[g.rng.IntN(len(all))], true
}

func driven(c *registry.Copy) bool { return c.Drives() }
func others(c *registry.Copy) bool { return !c.Drives() }

// val is a value that was never there before.
func (w *world) val(chunk int) val {
	w.writes++
	return val{w.writes, uint32(chunk)}
}

// write puts a new value into a slot of a body; size is the chunk of a position, the length of a long value. Who may know it, if it is an
// owner's, is whoever wrote it.
func (w *world) write(p *player, d *body, slot, size int) val {
	v := w.val(0)
	switch slot {
	case slotPos:
		v.C = uint32(max(0, min(chunks-1, size)))
	case slotOwn:
		w.mayKnow(v.W, p.i)
	case slotLong:
		if size >= least {
			v.C = uint32(min(size, 16<<10))
			w.writesApart = true
		}
	}
	d.val[slot] = v
	return v
}

// longer adds to the arguments of a write how long the value is, if argument at names the slot for that.
func (g *generator) longer(w *world, args []int, at int) []int {
	if args[at] != slotLong {
		return args
	}
	return append(args[:at+1], g.long(w, 3))
}

var entityOps = []operation{
	{name: "set", weight: 32, when: on,
		draw: func(g *generator, w *world, p *player) ([]int, bool) {
			ref, ok := g.one(p, driven)
			return g.longer(w, []int{ref, 1 + g.rng.IntN(slots-1)}, 1), ok
		},
		run: func(w *world, p *player, o *Op) {
			if c, d := p.find(o.arg(0)); c != nil && c.Drives() && o.arg(1) > 0 && o.arg(1) < slots {
				v := w.write(p, d, o.arg(1), o.arg(2))
				w.note("client %d writes %x slot %d = %d", p.i, c.ID[:4], o.arg(1), v.W)
			}
		}},
	{name: "move", weight: 12, when: on,
		draw: func(g *generator, _ *world, p *player) ([]int, bool) {
			ref, ok := g.one(p, driven)
			if !ok {
				return nil, false
			}
			_, d := p.find(ref)
			chunk := int(d.val[slotPos].C) + g.rng.IntN(3) - 1
			if g.rng.IntN(6) == 0 {
				chunk = g.rng.IntN(chunks)
			}
			return []int{ref, max(0, min(chunks-1, chunk))}, true
		},
		run: func(w *world, p *player, o *Op) {
			if c, d := p.find(o.arg(0)); c != nil && c.Drives() {
				v := w.write(p, d, slotPos, o.arg(1))
				w.note("client %d moves %x to %d = %d", p.i, c.ID[:4], v.C, v.W)
			}
		}},
	{name: "mark", weight: 4, when: on, // B-025: sent even if unchanged
		draw: func(g *generator, _ *world, p *player) ([]int, bool) {
			ref, ok := g.one(p, driven)
			return []int{ref, g.rng.IntN(slots)}, ok
		},
		run: func(w *world, p *player, o *Op) {
			if c, d := p.find(o.arg(0)); c != nil && c.Drives() && o.arg(1) < slots {
				d.marks |= 1 << o.arg(1)
				w.note("client %d marks %x slot %d", p.i, c.ID[:4], o.arg(1))
			}
		}},
	{name: "spawn", weight: 9, when: on, draw: drawSpawn, run: runSpawn},
	{name: "avatar", weight: 0, when: on, run: runSpawn, // the same id again and again
		draw: func(_ *generator, _ *world, p *player) ([]int, bool) {
			ref := refAvatar + p.i
			return []int{ref, spawnAvatar, 0}, p.reg.Find(idOfRef(ref)) == nil
		}},
	{name: "destroy", weight: 4, when: on, // by driver or host
		draw: func(g *generator, w *world, p *player) ([]int, bool) {
			host := p.relay().Host() == p.id
			ref, ok := g.one(p, func(c *registry.Copy) bool { return host || c.Drives() })
			return []int{ref}, ok
		},
		run: func(w *world, p *player, o *Op) {
			c, _ := p.find(o.arg(0))
			if c == nil || !c.Drives() && p.relay().Host() != p.id {
				return
			}
			w.note("client %d destroys %x", p.i, c.ID[:4])
			delete(w.oracle.must, mustKey{p.here, c.ID})
			p.reg.Destroy(c, p.id)
			p.apply()
		}},
	{name: "request", weight: 9, when: on,
		draw: func(g *generator, _ *world, p *player) ([]int, bool) {
			ref, ok := g.one(p, others)
			return []int{ref}, ok
		},
		run: func(w *world, p *player, o *Op) {
			if c, _ := p.find(o.arg(0)); c != nil && !c.Drives() {
				w.note("client %d requests %x", p.i, c.ID[:4])
				p.reg.Request(c)
			}
		}},
	{name: "grant", weight: 4, when: on, // to a seat, or to the host
		draw: func(g *generator, w *world, p *player) ([]int, bool) {
			ref, ok := g.one(p, driven)
			return []int{ref, g.rng.IntN(len(w.players) + 1)}, ok
		},
		run: func(w *world, p *player, o *Op) {
			c, _ := p.find(o.arg(0))
			if c == nil || !c.Drives() || !c.Bound() {
				return
			}
			var to wire.PlayerID
			if n := o.arg(1); n > 0 && n <= len(w.players) {
				to = w.players[n-1].id
			}
			w.note("client %d grants %x to %x", p.i, c.ID[:4], to[:1])
			p.give(c, to)
		}},
	{name: "override", weight: 10, when: on, // by the host
		draw: func(g *generator, w *world, p *player) ([]int, bool) {
			if p.relay().Host() != p.id {
				return nil, false
			}
			ref, ok := g.one(p, others)
			return g.longer(w, []int{ref, g.rng.IntN(slots), g.rng.IntN(chunks)}, 1), ok
		},
		run: func(w *world, p *player, o *Op) {
			c, d := p.find(o.arg(0))
			i := o.arg(1)
			if c == nil || c.Drives() || p.relay().Host() != p.id || !c.Bound() || i >= slots {
				return
			}
			had := d.val[i]
			v := w.write(p, d, i, o.arg(2))
			w.note("client %d overrides %x slot %d = %v", p.i, c.ID[:4], i, v)
			p.reg.Override(c, 1<<i)
			d.val[i] = had // it arrives like everybody's
		}},
	{name: "look", weight: 12, when: on,
		draw: func(g *generator, _ *world, p *player) ([]int, bool) {
			v := max(0, min(chunks-1, int(p.views[0])+g.rng.IntN(3)-1))
			if g.rng.IntN(8) == 0 {
				return []int{v, g.rng.IntN(chunks)}, true
			}
			return []int{v}, true
		},
		run: func(w *world, p *player, o *Op) {
			views := make([]uint32, 0, 2)
			for _, a := range o.Args {
				views = append(views, uint32(a))
			}
			if len(views) > 0 {
				p.look(views...)
				w.note("client %d looks at %d", p.i, views)
			}
		}},
}

// What a spawn makes, beside plain ones.
const (
	spawnPlain = iota
	spawnAvatar
	spawnHosted
	spawnToHost
	spawnPlaced
	spawnLocked // nobody is granted it without being asked
	spawnKinds
)

// drawSpawn: name, kind, class.
func drawSpawn(g *generator, w *world, p *player) ([]int, bool) {
	most := 9
	if w.mode.Entities > 0 {
		most = w.mode.Entities + 1 // one is refused
	}
	if p.relay().Entities() >= most {
		return nil, false
	}
	kind, class := g.rng.IntN(spawnKinds+1)%spawnKinds, 0
	switch g.rng.IntN(10) {
	case 0:
		class = 1
	case 1, 2:
		class = 2
	case 3, 4:
		class = 3
	}
	ref := w.named + 1
	switch kind {
	case spawnAvatar:
		ref, class = refAvatar+p.i, 0
	case spawnPlaced: // the same name is of one class for all
		ref = refPlaced + g.rng.IntN(2)
		class = ref - refPlaced
	}
	return []int{ref, kind, class, g.long(w, 6)}, p.reg.Find(idOfRef(ref)) == nil
}

func runSpawn(w *world, p *player, o *Op) {
	id, class := idOfRef(o.arg(0)), o.arg(2)
	if p.reg.Find(id) != nil || class >= len(p.classes) {
		return
	}
	if o.arg(0) < refAvatar {
		w.named = max(w.named, o.arg(0))
	}
	flags := uint16(wire.EntityAutoGrant)
	owner := p.id
	switch o.arg(1) {
	case spawnHosted:
		flags, owner = flags|wire.EntityHosted, wire.PlayerID{}
	case spawnToHost:
		flags |= wire.EntityToHost
	case spawnPlaced:
		flags, owner = flags|wire.EntityHosted|wire.EntityPlaced, wire.PlayerID{}
	case spawnLocked:
		flags = 0
	}
	d := new(body)
	for i := range slots {
		size := int(p.views[0])
		if i == slotLong {
			size = o.arg(3)
		}
		w.write(p, d, i, size)
	}
	d.shadow = d.val
	w.note("client %d spawns %x in %d flags %x class %d, writes %d to %d", p.i, id[:4], p.views[0], flags, class, d.val[0].W, d.val[slots-1].W)
	p.told[id] = true
	p.shown[id] = p.reg.Spawn(id, p.classes[class], owner, flags, func(c *registry.Copy) { c.Data = d })
}

var sessionOps = []operation{
	{name: "join", weight: 30, when: off,
		draw: func(g *generator, _ *world, _ *player) ([]int, bool) { return nil, g.rng.IntN(3) == 0 },
		run:  func(w *world, p *player, _ *Op) { w.join(p) }},
	{name: "leave", weight: 3, when: on, draw: noArgs,
		run: func(w *world, p *player, _ *Op) {
			w.note("client %d leaves", p.i)
			w.oracle.must = nil
			w.part(p)
			p.state = off
			p.fresh()
		}},
	{name: "crash", weight: 1, when: on, // the program dies; the relay notices after so many ms
		draw: within(200, 9000),
		run: func(w *world, p *player, o *Op) {
			w.note("client %d crashes", p.i)
			w.oracle.must = nil
			w.lose(p, ms(o.arg(0)))
			p.state = off
			p.fresh()
		}},
	{name: "reconnect", weight: 2, when: on, // the session is lost at both ends; the game goes on with another, ms later
		draw: within(20, 2000),
		run: func(w *world, p *player, o *Op) {
			w.note("client %d loses its session for %d ms", p.i, o.arg(0))
			w.oracle.must = nil
			w.part(p)
			w.comeBack(p, ms(o.arg(0)))
		}},
	{name: "replace", weight: 1, when: on, // the same at one end: the relay learns of it from the new session
		draw: within(20, 2000),
		run: func(w *world, p *player, o *Op) {
			w.note("client %d drops its session, another in %d ms", p.i, o.arg(0))
			w.oracle.must = nil
			w.lose(p, 17*time.Second)
			w.comeBack(p, ms(o.arg(0)))
		}},
	{name: "stall", weight: 2, when: on, // the game does not tick
		draw: within(100, 3000),
		run: func(w *world, p *player, o *Op) {
			p.stalled = w.Now() + ms(o.arg(0))
			w.note("client %d stalls until %v", p.i, p.stalled)
		}},
	{name: "restart", weight: 0, when: on, // of the relay
		draw: func(_ *generator, w *world, _ *player) ([]int, bool) { return nil, w.restarts < w.mode.Restarts },
		run:  func(w *world, _ *player, _ *Op) { w.restart() }},
	{name: "wait", weight: 0, when: on, draw: noArgs, run: func(*world, *player, *Op) {}},
	{name: "calm", weight: 1, when: on, draw: noArgs,
		run: func(w *world, _ *player, _ *Op) { w.calm() }},
}

var pathOps = []operation{
	{name: "cut", weight: 2, when: on, draw: drawCut,
		run: func(w *world, p *player, o *Op) {
			p.cut = w.Now() + ms(o.arg(0))
			w.note("client %d cut until %v", p.i, p.cut)
		}},
	{name: "cutup", weight: 1, when: on, draw: drawCut,
		run: func(w *world, p *player, o *Op) {
			p.cutUp = w.Now() + ms(o.arg(0))
			w.note("client %d is not heard until %v", p.i, p.cutUp)
		}},
	{name: "cutdown", weight: 1, when: on, draw: drawCut,
		run: func(w *world, p *player, o *Op) {
			p.cutDown = w.Now() + ms(o.arg(0))
			w.note("client %d hears nothing until %v", p.i, p.cutDown)
		}},
	{name: "heal", weight: 1, when: on, draw: noArgs,
		run: func(w *world, p *player, _ *Op) {
			p.cut, p.cutUp, p.cutDown, p.narrowUntil = 0, 0, 0, 0
			w.note("client %d heals", p.i)
		}},
	{name: "narrow", weight: 1, when: on, // large datagrams vanish
		draw: func(g *generator, _ *world, _ *player) ([]int, bool) {
			return []int{[]int{600, 1050}[g.rng.IntN(2)], 500 + g.rng.IntN(3000)}, true
		},
		run: func(w *world, p *player, o *Op) {
			p.narrow, p.narrowUntil = max(o.arg(0), 576), w.Now()+ms(o.arg(1))
			w.note("client %d loses datagrams above %d until %v", p.i, p.narrow, p.narrowUntil)
		}},
}

func noArgs(*generator, *world, *player) ([]int, bool) { return nil, true }

// within draws one argument between two.
func within(lo, hi int) func(*generator, *world, *player) ([]int, bool) {
	return func(g *generator, _ *world, _ *player) ([]int, bool) { return []int{lo + g.rng.IntN(hi-lo)}, true }
}

// drawCut: one in four lasts past the silence clock.
func drawCut(g *generator, _ *world, _ *player) ([]int, bool) {
	d := 300 + g.rng.IntN(2000)
	if g.rng.IntN(4) == 0 {
		d += 5000
	}
	return []int{d}, true
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }
