package conformance

import (
	"encoding/binary"
	"fmt"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/shard"
	"github.com/throng-dev/throng/internal/wire"
)

// Events in programs. Every event has a number of its own; the relay is watched to know whom it gives one to, the clients to know who
// hears it. Of reliable ones none is lost and none heard twice, those of one sender about one entity keep their order, and who
// hears one holds what its sender had written before.

func init() {
	ops = append(ops, eventOps...)
	checks = append(checks, check{name: "R-53 events reach whom they are for", rest: (*world).unsaid})
}

// words are the events of a run.
type words struct {
	said []saying
	last map[lineKey]int // newest heard, by line
	left map[leftKey]int // how often a sender was told that it had left the world of an event
}

// saying is one event.
type saying struct {
	from, joined int   // seat of the sender, and which of its sessions
	trip         uint8 // which of the worlds of that session
	epoch        uint64
	level        int
	reliable     bool
	to           wire.To
	id           wire.ID
	drives       bool
	vals         [slots]val // of the entity at the call, if the sender drives it
	routed       bool
	given        []*shard.Session
	heard        []int // seats
}

type leftKey struct {
	seat, joined int
	id           wire.ID
}

type lineKey struct {
	seat, joined, from, fromJoined int
	id                             wire.ID
}

// speech is the only kind of event.
func speech() wire.EventKind { return wire.EventKind{ID: 5, Hash: 55, Name: "speech"} }

func speechOf(p *player) *registry.EventKind { return p.ext["speech"].(*registry.EventKind) }

func (p *player) speak() {
	p.ext["speech"], p.ext["met"] = p.reg.AddEvent(speech(), nil), map[wire.ID]bool{}
}

// meet notes whom a packet that arrived introduces.
func (p *player) meet(packet []byte) {
	met := p.ext["met"].(map[wire.ID]bool)
	var base grid.Chunk
	frames(packet, func(kind byte, body []byte) {
		if f, err := wire.ParseFlush(body, 0); kind == wire.KindFlush && err == nil {
			base = f.Base
		}
		if m, err := wire.ParseIntro(body, base); kind == wire.KindIntro && err == nil {
			met[m.ID] = true
		}
	})
}

// eventOps say something, to somebody, perhaps about an entity, reliably or once.
var eventOps = []operation{
	{name: "event", weight: 6, when: on,
		draw: func(g *generator, w *world, p *player) ([]int, bool) {
			ref, ok := g.one(p, func(*registry.Copy) bool { return true })
			to := g.rng.IntN(5)
			if !ok || to != wire.ToReach && to != wire.ToOwner && g.rng.IntN(3) == 0 {
				return []int{wire.ToWorld, -1, g.rng.IntN(4)}, true
			}
			return []int{to, ref, g.rng.IntN(4)}, true
		},
		run: func(w *world, p *player, o *Op) { w.say(p, wire.To(o.arg(0)), o.arg(1), o.arg(2) > 0) }},
}

// say sends an event.
func (w *world) say(p *player, to wire.To, ref int, reliable bool) {
	s := saying{from: p.i, joined: p.joined, trip: p.reg.Welcome.World, epoch: w.epoch, level: p.here, reliable: reliable, to: to}
	var c *registry.Copy
	changed := uint64(0)
	if ref >= 0 {
		copy, d := p.find(ref)
		if d == nil {
			return
		}
		c, s.id = copy, copy.ID
		if s.drives = c.Drives(); s.drives {
			s.vals, changed = d.val, d.marks
			for i := range slots {
				if d.val[i] != d.shadow[i] {
					changed |= 1 << i
				}
			}
		}
	}
	who := w.players[(p.i+1)%len(w.players)].id
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(w.words.said)))
	sent, err := p.reg.Event(w.Now(), speechOf(p), to, who, c, changed, reliable, b)
	if err != nil {
		return
	}
	if c != nil && c.Mark>>slotLong&1 != 0 { // it travels apart, and could not leave before the event
		s.vals[slotLong] = val{}
	}
	if s.drives {
		d := c.Data.(*body)
		for i := range slots {
			if sent>>i&1 != 0 {
				d.shadow[i] = d.val[i]
				d.marks &^= 1 << i
			}
		}
	}
	w.note("client %d says %d to %d about %x, reliably %v", p.i, len(w.words.said), to, s.id[:4], reliable)
	w.words.said = append(w.words.said, s)
}

// given is told what the relay makes of an event: whom it is for, or that it is for nobody.
func (w *world) given(to *shard.Session, payload []byte) {
	s := &w.words.said[binary.LittleEndian.Uint32(payload)]
	if s.routed = true; to != nil {
		s.given = append(s.given, to)
	}
}

// hear takes the events that a client may have now.
func (p *player) hear() {
	w := p.w
	met := p.ext["met"].(map[wire.ID]bool)
	p.reg.Each(func(c *registry.Copy) { met[c.ID] = true })
	for _, u := range p.reg.Undelivered {
		if u.Reason == wire.UndeliveredEpoch {
			if w.words.left == nil {
				w.words.left = map[leftKey]int{}
			}
			w.words.left[leftKey{p.i, p.joined, u.ID}]++
		}
	}
	p.reg.Undelivered = nil
	for _, h := range p.reg.Heard(w.Now(), func(c *registry.Copy) bool { return false }, nil) {
		n := int(binary.LittleEndian.Uint32(h.Payload))
		s := &w.words.said[n]
		w.note("client %d hears %d about %x", p.i, n, h.ID[:4])
		if s.epoch != w.epoch || s.level != p.here {
			w.fail("R-03: client %d hears event %d of another world", p.i, n)
		}
		if h.From != w.players[s.from].id {
			w.fail("P30: client %d hears event %d of client %d from %x", p.i, n, s.from, h.From[:2])
		}
		key := p.i<<16 | p.joined
		for _, x := range s.heard {
			if x == key {
				w.fail("client %d hears event %d twice", p.i, n)
			}
		}
		s.heard = append(s.heard, key)
		if !s.reliable {
			continue
		}
		line := lineKey{p.i, p.joined, s.from, s.joined, s.id}
		if w.words.last == nil {
			w.words.last = map[lineKey]int{}
		}
		if last, ok := w.words.last[line]; ok && last > n {
			w.fail("R-53: client %d hears event %d after %d", p.i, n, last)
		}
		w.words.last[line] = n
		if h.About == wire.AboutHeld && h.Copy == nil && !h.Ended && !p.told[h.ID] && !met[h.ID] {
			w.fail("R-51: client %d hears event %d before it was introduced to %x", p.i, n, h.ID[:4])
		}
		w.sawAll(p, h, s, n)
	}
}

// sawAll is R-52: who hears an event holds what its sender had written of the entity.
func (w *world) sawAll(p *player, h *registry.Heard, s *saying, n int) {
	if h.Copy == nil || h.Copy.Drives() || h.About != wire.AboutHeld || !s.drives || w.mode.PassThrough || p.reg.EventStats().EventsImpatient > 0 {
		return
	}
	d, _ := h.Copy.Data.(*body)
	if d == nil || h.Copy.Handle == 0 { // a placed body whose entity left: values of that life do not come any more
		return
	}
	for i := range slots {
		if i == slotOwn || h.Copy.Class.Motion>>i&1 != 0 || i != slotPos && w.mode.PropertyReach < w.mode.Reach || s.vals[i] == (val{}) || s.vals[i] == d.val[i] {
			continue
		}
		a, ok := w.oracle.acc[accKey{p.here, h.ID, h.Copy.Inc, i, s.vals[i].W}]
		if !ok || a.epoch != w.epoch {
			continue // the relay did not take it: somebody else drove, or an override was later
		}
		if b, ok := w.oracle.acc[accKey{p.here, h.ID, h.Copy.Inc, i, d.val[i].W}]; !ok || b.last < a.first {
			w.fail("R-52: client %d hears event %d and holds %d in slot %d of %x, its sender had written %d", p.i, n, d.val[i].W, i, h.ID[:4], s.vals[i].W)
		}
	}
}

// unsaid: what was said reliably reached whom the relay gave it to, and the relay, unless a session ended. Of what did not, for its sender
// went on to another world before, the sender was told.
func (w *world) unsaid() string {
	lost := map[leftKey]int{}
	for n := range w.words.said {
		s := &w.words.said[n]
		if !s.reliable || s.epoch != w.epoch {
			continue
		}
		if from := w.players[s.from]; !s.routed && from.state == on && from.joined == s.joined {
			k := leftKey{s.from, s.joined, s.id}
			if lost[k]++; from.reg.Welcome.World == s.trip || lost[k] > w.words.left[k] {
				return fmt.Sprintf("event %d of client %d did not reach the relay", n, s.from)
			}
		}
		for _, to := range s.given {
			for _, p := range w.players {
				if p.state != on || w.session(p.i) != to || p.reg.Overrun {
					continue
				}
				found := false
				for _, x := range s.heard {
					found = found || x == p.i<<16|p.joined
				}
				if !found {
					return fmt.Sprintf("client %d did not hear event %d about %x: %d wait at the relay, there %s", p.i, n, s.id[:4], to.Unheard(), waiting(p))
				}
			}
		}
	}
	return ""
}

// waiting tells what events wait for at a client.
func waiting(p *player) (text string) {
	for _, h := range p.reg.Unheard() {
		text += fmt.Sprintf("[%d about %x slots %b vers %d", binary.LittleEndian.Uint32(h.Payload), h.ID[:4], h.Slots, h.Vers)
		if c := p.reg.Find(h.ID); c != nil {
			for i := range slots {
				v, ok := c.Version(i)
				text += fmt.Sprintf(" %d,%v", v, ok)
			}
			text += fmt.Sprintf(" drives %v waiting %v", c.Drives(), c.Waiting())
		}
		text += "]"
	}
	return text
}
