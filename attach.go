package throng

import (
	"errors"

	"github.com/throng-dev/throng/internal/registry"
)

// ErrAttach: the two cannot be attached.
var ErrAttach = errors.New("it cannot be attached to that: both must have a position, and nothing may be attached to itself, by way of others either")

// Attach makes child go with parent: a rider with a horse, a turret with a tank. From then on child is in the chunk of its parent, wherever
// its own position says it is, so that its position field is free to be relative to the parent; it is seen by whom the parent is seen,
// as far, and by those only whom the parent's group admits too. Whoever draws it asks Parent for where that is.
//
// This client must drive child, and know of parent, which anybody may drive. When parent is destroyed child stays, attached to nothing: its
// driver then writes where it is. At most eight may be attached one to another, and 256 to one. The relay may refuse, with a line in the log.
func (w *World) Attach(child, parent Object) error {
	defer w.leave(w.enter("Attach"))
	c, p := w.bodyOf(child), w.bodyOf(parent)
	switch {
	case c == nil || c.gone:
		return w.wrap(ErrForeign, "attaching %T", child)
	case p == nil || p.gone:
		return w.wrap(ErrForeign, "attaching %T to %T", child, parent)
	case !c.drives:
		return w.wrap(ErrNotDriver, "attaching %T %v", child, c.e.id)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.mayAttach(c.hooks.class, c.e.c, p) {
		return w.wrap(ErrAttach, "attaching %T %v to %T %v", child, c.e.id, parent, p.e.id)
	}
	w.reg.Attach(c.e.c, p.e.c)
	return nil
}

// mayAttach is called under mu. child is nil if it is not spawned yet.
func (w *World) mayAttach(k *class, child *registry.Copy, p *body) bool {
	if k.axes == 0 || p.hooks.class.axes == 0 {
		return false
	}
	for c := p.e.c; c != nil; c = w.reg.Parent(c) {
		if c == child {
			return false
		}
	}
	return true
}

// Detach makes child go with nothing: its position field counts again.
func (w *World) Detach(child Object) error {
	defer w.leave(w.enter("Detach"))
	c := w.bodyOf(child)
	switch {
	case c == nil || c.gone:
		return w.wrap(ErrForeign, "detaching %T", child)
	case !c.drives:
		return w.wrap(ErrNotDriver, "detaching %T %v", child, c.e.id)
	}
	w.mu.Lock()
	w.reg.Attach(c.e.c, nil)
	w.mu.Unlock()
	return nil
}

// Parent is what an entity is attached to, here. It is false if it is attached to nothing, or if what it is attached to is not here, or not yet.
func (w *World) Parent(child Object) (Object, bool) {
	w.reads("Parent")
	c := w.bodyOf(child)
	if c == nil || c.gone {
		return nil, false
	}
	w.mu.Lock()
	p := w.reg.Parent(c.e.c)
	w.mu.Unlock()
	if p == nil {
		return nil, false
	}
	b, _ := p.Data.(*body)
	if b == nil || b.gone {
		return nil, false
	}
	return b.o, true
}

// AttachedTo spawns the entity attached to parent; see [World.Attach]. Nobody sees it elsewhere first.
func AttachedTo(parent Object) SpawnOption {
	return func(o *spawnOptions) { o.parent = parent }
}

// bindTo gives a copy that is about to be announced its group and its parent. It is called under mu.
func (w *World) bindTo(c *registry.Copy, opt *spawnOptions) {
	var parent *registry.Copy
	if opt.parent != nil {
		parent = w.bodyOf(opt.parent).e.c
	}
	c.Promise(opt.group, parent)
}

// denied tells of what the relay does not do that was asked of it for an entity.
func (w *World) denied(b *body, c *registry.Copy) {
	group, attach := c.Denied()
	if group != 0 {
		w.warn("throng: the relay does not keep an entity to a group", "id", b.e.id, "class", b.hooks.class.name, "reason", refusedText(group))
	}
	if attach != 0 {
		w.warn("throng: the relay does not attach an entity", "id", b.e.id, "class", b.hooks.class.name, "reason", refusedText(attach))
	}
}
