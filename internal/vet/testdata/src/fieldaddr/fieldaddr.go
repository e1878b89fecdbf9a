// Package fieldaddr names fields, right and wrong.
package fieldaddr

import "github.com/throng-dev/throng"

type Gear struct {
	Hat uint8 `rep:""`
}

type Plain struct{ N int32 }

type Glow struct{ Colour uint32 }

type Lantern struct {
	throng.Entity
	Gear
	Plain
	Lits  int32 `rep:"manual"`
	Lit   bool  `rep:""`
	Glow  Glow  `rep:""`
	flame int32
	next  *Lantern
}

var Lanterns = throng.NewClass[Lantern]("lantern", throng.ClassConfig{})

type game struct {
	a, b *Lantern
	all  []*Lantern
}

func mark(w *throng.World, e, other *Lantern, g *game, o throng.Object, i int) {
	w.MarkDirty(e, &e.Lits, &e.Lit)
	w.MarkDirty(e, &e.Gear, &e.Hat, &e.Gear.Hat, e)
	w.MarkDirty(e)
	w.MarkDirty(e, &other.Lits)        // want `&other.Lits does not point into e: pass the address of a field of the same entity, by way of e`
	w.Override(e, &e.Lits, &other.Lit) // want `&other.Lit does not point into e`
	w.MarkDirty(e, &e.next.Lit)        // want `&e.next.Lit does not point into e`
	w.MarkDirty(e.next, &e.next.Lit)
	w.MarkDirty(g.a, &g.a.Lit)
	w.MarkDirty(g.a, &g.b.Lit) // want `&g.b.Lit does not point into g.a`
	w.MarkDirty(g.all[0], &g.all[0].Lits)
	w.MarkDirty(g.all[0], &g.all[1].Lits) // want `&g.all\[1\].Lits does not point into g.all\[0\]`
	w.MarkDirty(g.all[i], &g.all[i].Lits)
	w.MarkDirty(e, e.Lits)         // want `e.Lits is a int32 where a field of e is named: pass its address, as in &e.Field`
	w.MarkDirty(e, "Lits")         // want `"Lits" is a string where a field of e is named`
	w.MarkDirty(e, &e.flame)       // want `e.flame is not replicated: give it a rep tag`
	w.MarkDirty(e, &e.Plain)       // want `e.Plain is not replicated`
	w.MarkDirty(e, &e.N)           // want `e.Plain.N is not replicated`
	w.MarkDirty(e, &e.Glow.Colour) // want `&e.Glow.Colour is inside a slot: a struct is one slot, pass &e.Glow`
	w.MarkDirty(e, &e.Glow)

	// Other names for the same entity.
	p := e
	w.MarkDirty(e, &p.Lit)
	w.MarkDirty(p, &e.Lit)
	field := &e.Lits
	w.MarkDirty(e, field)
	lit := e.Lit
	w.MarkDirty(e, &lit) // want `&lit does not point into e`
	if l, ok := o.(*Lantern); ok {
		w.MarkDirty(o, &l.Lit)
		w.MarkDirty(o, &e.Lit) // want `&e.Lit does not point into o`
	}
	switch l := o.(type) {
	case *Lantern:
		w.MarkDirty(o, &l.Lit)
		w.MarkDirty(l, &l.flame) // want `o.flame is not replicated`
	}
	w.MarkDirty(throng.Object(e), &e.Lit)
	for _, l := range g.all {
		w.MarkDirty(l, &l.Lit)
		w.MarkDirty(e, &l.Lit) // want `&l.Lit does not point into e`
	}
	for j := 0; j < 3; j++ {
		w.MarkDirty(g.all[0], &g.all[j].Lit)
	}

	// May be either: not judged.
	target := g.a
	if i > 0 {
		target = g.b
	}
	w.MarkDirty(target, &target.Lit)
	w.MarkDirty(target, &g.b.Lit)
	w.MarkDirty(find(), &e.Lit)
	w.MarkDirty(find(), e.Lit) // want `e.Lit is a bool where a field of find\(\) is named`
	fields := []any{&e.Lit}
	w.MarkDirty(e, fields...)
	var value Lantern
	w.MarkDirty(&value, &value.Lit)
}

func find() *Lantern { return nil }

func hooks(mine *Lantern) {
	Lanterns.Bind(throng.Hooks[Lantern]{
		OnRep: func(l *Lantern, c throng.Changes) {
			_ = c.Has(&l.Lit, &l.Gear, l)
			_ = c.Has(&mine.Lit) // want `&mine.Lit does not point into l`
			_ = c.Has(l.Lit)     // want `l.Lit is a bool where a field of l is named`
			_ = c.Has(&l.next)   // want `l.next is not replicated`
		},
	})
	Lanterns.OnRep(func(l *Lantern) any { return &l.Lit }, nil)
	Lanterns.OnRep(func(l *Lantern) any { return &l.Hat }, nil)
	Lanterns.OnRep(func(l *Lantern) any { return &mine.Lit }, nil) // want `&mine.Lit does not point into l`
	Lanterns.OnRep(func(*Lantern) any { return &mine.Lit }, nil)   // want `&mine.Lit is not a field of the \*fieldaddr.Lantern that the function is given: name the parameter`
	Lanterns.OnRep(func(l *Lantern) any { return l.Lit }, nil)     // want `l.Lit is a bool where a field of l is named`
	Lanterns.OnRep(func(l *Lantern) any { return &l.flame }, nil)  // want `l.flame is not replicated`
}

// Two entities: which one the changes are about is not known.
func two(a, b *Lantern, c throng.Changes) bool { return c.Has(&a.Lit) || c.Has(&b.Lit) || c.Has(a.Lit) } // want `a.Lit is a bool where a field of e is named`
