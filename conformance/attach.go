package conformance

import (
	"fmt"

	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/shard"
	"github.com/throng-dev/throng/internal/table"
)

// attachOps make what a client drives go with what it holds, or by itself again. Rings are for the relay to refuse.
var attachOps = []operation{
	{name: "attach", weight: 0, when: on, // child, parent
		draw: func(g *generator, _ *world, p *player) ([]int, bool) {
			child, ok := g.one(p, driven)
			parent, _ := g.one(p, func(*registry.Copy) bool { return true })
			return []int{child, parent}, ok
		},
		run: func(w *world, p *player, o *Op) {
			child, _ := p.find(o.arg(0))
			parent, _ := p.find(o.arg(1))
			if child == nil || !child.Drives() {
				return
			}
			if parent == child || parent == nil {
				w.note("client %d detaches %x", p.i, child.ID[:4])
				parent = nil
			} else {
				w.note("client %d attaches %x to %x", p.i, child.ID[:4], parent.ID[:4])
			}
			p.reg.Attach(child, parent)
		}},
}

// tied: everybody who holds an entity knows what it goes with, if that is here too; and it is where that is.
func (w *world) tied() string {
	return w.in(func(p *player, s *shard.Session) (wrong string) {
		w.at(p).Each(func(e *table.Entity) {
			c := p.reg.Find(e.ID)
			if wrong != "" || c == nil || !c.Bound() {
				return
			}
			have, want := p.reg.Parent(c), w.at(p).Parent(e)
			switch {
			case want == nil && have != nil && have.Bound(): // what stands here without a source is waited for
				wrong = fmt.Sprintf("thinks that %x goes with %x, the relay says with nothing: %s", e.ID[:4], have.ID[:4], c.DescribeBonds())
			case want != nil && have == nil && p.reg.Find(want.ID) != nil && p.reg.Find(want.ID).Bound():
				wrong = fmt.Sprintf("thinks that %x goes with nothing, the relay says with %x: %s", e.ID[:4], want.ID[:4], c.DescribeBonds())
			case want != nil && have != nil && have.ID != want.ID:
				wrong = fmt.Sprintf("thinks that %x goes with %x, the relay says with %x", e.ID[:4], have.ID[:4], want.ID[:4])
			case want != nil && e.Place.Chunk != want.Place.Chunk:
				wrong = fmt.Sprintf("%x goes with %x and is elsewhere", e.ID[:4], want.ID[:4])
			}
		})
		return wrong
	})
}
