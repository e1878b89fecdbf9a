package conformance

import (
	"fmt"
	"time"

	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/shard"
	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// check is a rule that programs are held to: sent sees every packet that the relay sends, always runs after every flush of the relay, rest
// when all must have come right and says what is wrong.
type check struct {
	name   string
	sent   func(w *world, p *player, s *shard.Session, payload []byte)
	always func(w *world)
	rest   func(w *world) string
}

// checks are the rules that are looked at. One more is one line more.
var checks = []check{
	{name: "B-024 owner slots reach their owner only", sent: (*world).ownerOnly},
	{name: "R-31 nobody hears of what it may not know of", sent: (*world).wary},
	{name: "R-22 one driver at most", always: (*world).watch},
	{name: "restarts lose nothing", rest: (*world).kept},
	{name: "observers hold what the relay holds", rest: (*world).observed},
	{name: "nobody holds what the relay does not", rest: (*world).zombies},
	{name: "all know what goes with what", rest: (*world).tied},
}

// restless is how long rights may go on changing by themselves.
const restless = time.Minute

// calm ends all trouble and lets nobody do anything, until everything must be right: the Bound after the last change of rights.
// Then it is, and stays so.
func (w *world) calm() {
	if w.res.Bad != "" {
		return
	}
	w.quiet = true
	began := w.Now()
	for _, p := range w.players {
		p.cut, p.cutUp, p.cutDown, p.stalled, p.narrowUntil = 0, 0, 0, 0, 0
	}
	w.rights.last = began
	w.note("calm")
	var longest time.Duration // a timer that has run out is short again, but was waited for
	for w.res.Bad == "" {
		longest = max(longest, w.bound())
		if w.opt.Play.Hasty {
			longest = w.bound() / 8
		}
		at := w.rights.last + longest
		if w.unsettled() {
			at = max(at, w.Now()+frameTime)
		} else if w.Now() >= at {
			break
		}
		if at > began+restless+w.queue() {
			w.fail("Liveness: rights still change %v after the last operation: %s", w.Now()-began, w.restlessness())
			return
		}
		w.pass(min(at, w.Now()+10*frameTime))
	}
	w.res.Calms++
	w.res.Rests += w.Now() - began
	w.judge()
	w.pass(w.Now() + time.Second)
	w.judge()
	w.quiet = false
	w.clock = w.Now()
}

// unsettled reports whether somebody is still to come or to go.
func (w *world) unsettled() bool {
	for _, p := range w.players {
		if p.state == away || w.lingers[p.i] != nil || p.state == on && (!p.reg.EndMark || p.reg.Traveling() || p.reg.Arrived) {
			return true
		}
	}
	return w.keeps()
}

// restlessness says who is still to come or to go.
func (w *world) restlessness() string {
	who := ""
	for _, p := range w.players {
		if s := w.session(p.i); p.state == away || w.lingers[p.i] != nil || p.state == on && (!p.reg.EndMark || p.reg.Traveling() || p.reg.Arrived) {
			who += fmt.Sprintf("client %d: state %d, lingers %v, welcomed %v, end mark %v; ", p.i, p.state, w.lingers[p.i] != nil, p.reg.Welcomed, p.reg.EndMark)
			w.at(p).Each(func(e *table.Entity) {
				if s != nil {
					who += fmt.Sprintf("%x %s; ", e.ID[:4], s.Describe(e.Handle))
				}
			})
		}
	}
	return who
}

func (w *world) judge() {
	for _, c := range checks {
		if c.rest != nil && w.res.Bad == "" {
			if wrong := c.rest(w); wrong != "" {
				w.fail("Liveness: %s", wrong)
			}
		}
	}
}

func (w *world) kept() string {
	for k, inc := range w.oracle.must {
		if e := w.levels[k.level].At(k.id); e == nil || e.Inc < inc {
			return fmt.Sprintf("the restart lost %x", k.id[:4])
		}
	}
	return ""
}

// at is the level that a player is in.
func (w *world) at(p *player) *level {
	if r := w.routes[p.i]; r != nil {
		return r.at
	}
	return p.relay()
}

// in calls f for everybody who is in, until it says something.
func (w *world) in(f func(p *player, s *shard.Session) string) string {
	for _, p := range w.players {
		if s := w.session(p.i); p.state == on && s != nil {
			if wrong := f(p, s); wrong != "" {
				return fmt.Sprintf("client %d %s", p.i, wrong)
			}
		}
	}
	return ""
}

// observed: every observer in reach holds what the relay holds, the driver too.
func (w *world) observed() string {
	return w.in(func(p *player, s *shard.Session) (wrong string) {
		w.at(p).Each(func(e *table.Entity) {
			if wrong == "" {
				wrong = w.compare(p, s, e)
			}
		})
		return wrong
	})
}

// zombies: nobody holds what the relay does not.
func (w *world) zombies() string {
	return w.in(func(p *player, _ *shard.Session) (wrong string) {
		p.reg.Each(func(c *registry.Copy) {
			e := w.at(p).At(c.ID)
			placed := c.Flags&wire.EntityPlaced != 0
			switch {
			case wrong != "":
			case c.Class.Local != 0 && p.shown[c.ID] != c:
				wrong = fmt.Sprintf("has no body of %x", c.ID[:4])
			case e == nil && placed && !c.Bound() && !w.at(p).Gone(c.ID): // stands on every client, with or without a source
			case e != nil && e.Flags&wire.EntityPlaced != 0 && !c.Bound(): // out of reach
			case e == nil || e.Inc != c.Inc:
				wrong = fmt.Sprintf("holds zombie %s; relay %v, gone %v", describe(c), e != nil, w.at(p).Gone(c.ID))
			}
		})
		return wrong
	})
}

// distance is how far an entity is from what a player looks at.
func (w *world) distance(p *player, e *table.Entity) int {
	if e.Class.Position < 0 {
		return 0
	}
	least := 1 << 30
	for _, v := range p.views {
		d := int(e.Place.Chunk.X) - int(v)
		least = min(least, max(d, -d))
	}
	return least
}

func (w *world) reach(e *table.Entity) int {
	if r := int(e.Class.Reach); r > 0 {
		return min(r, w.mode.Reach)
	}
	return w.mode.Reach
}

// describe says what a client knows of a copy.
func describe(c *registry.Copy) string {
	if c == nil {
		return "no copy"
	}
	return fmt.Sprintf("%x inc %x term %x owner %x flags %x handle %d gen %d, drives %v, waits %v, pending %v, bound %v", c.ID[:4], c.Inc, c.Term, c.Owner[:1],
		c.Flags, c.Handle, c.Gen, c.Drives(), c.Waiting(), c.Pending(), c.Bound())
}

func (w *world) compare(p *player, s *shard.Session, e *table.Entity) string {
	c := p.reg.Find(e.ID)
	d := w.distance(p, e)
	drives := w.at(p).Drives(s, e)
	reach := w.reach(e)
	if !w.at(p).Shown(s, e) {
		d = reach + 2 // it is as if it were out of reach
	}
	placed := e.Flags&wire.EntityPlaced != 0
	bound := c != nil && c.Bound()
	switch {
	case drives && (c == nil || !c.Drives() || c.Term != e.Term || !bound):
		return fmt.Sprintf("should drive %x: %s", e.ID[:4], describe(c))
	case !drives && d > reach+1 && c != nil && !placed:
		return fmt.Sprintf("still holds %x out of reach", e.ID[:4])
	case !drives && d <= reach && (c == nil || c.Inc != e.Inc) && !placed && !p.full():
		return fmt.Sprintf("lacks %x handle %d inc %x: %s; %+v", e.ID[:4], e.Handle, e.Inc, s.Describe(e.Handle), p.reg.Stats())
	case c == nil || !bound && placed:
		return ""
	}
	if c.Drives() != drives {
		return fmt.Sprintf("drives %x: %v, the relay says %v", e.ID[:4], c.Drives(), drives)
	}
	if c.Owner != e.Owner || c.Term != e.Term {
		return fmt.Sprintf("has owner %x term %x of %x, the relay %x %x: %s", c.Owner[:1], c.Term, e.ID[:4], e.Owner[:1], e.Term, s.Describe(e.Handle))
	}
	w.res.Checked++
	b, _ := c.Data.(*body)
	if b == nil {
		return fmt.Sprintf("has no body of %x", e.ID[:4])
	}
	for i := range slots {
		if i == slotOwn && !drives {
			if b.val[i] != (val{}) {
				return fmt.Sprintf("holds the owner slot of %x", e.ID[:4])
			}
			continue
		}
		if i != slotPos && !drives && d > w.mode.PropertyReach && w.mode.PropertyReach < w.mode.Reach {
			continue // beyond the property reach
		}
		if w.mode.PassThrough {
			continue
		}
		w.res.Slots++
		if v := parseVal(e.Value(i), i); b.val[i] != v {
			return fmt.Sprintf("holds %v in slot %d of %x, the relay has %v (drives %v, far %d): %s", b.val[i], i, e.ID[:4], v, drives, d, s.Describe(e.Handle))
		}
	}
	return ""
}

// full reports whether a client may refuse newcomers for want of room.
func (p *player) full() bool {
	return p.w.mode.Room > 0 && p.reg.Len() >= p.w.mode.Room*15/16
}
