// Package keepchanges keeps Changes beyond their hook.
package keepchanges

import (
	"slices"

	"github.com/throng-dev/throng"
)

type Lamp struct {
	throng.Entity
	Lit bool `rep:""`
	got throng.Changes
}

var (
	last  throng.Changes
	all   []throng.Changes
	later func()
)

type note struct{ c throng.Changes }

func bad(w *throng.World, out chan throng.Changes, byName map[string]throng.Changes) throng.Hooks[Lamp] {
	var outer throng.Changes
	_ = outer
	return throng.Hooks[Lamp]{OnRep: func(l *Lamp, c throng.Changes) {
		l.got = c            // want `c is stored in l.got: throng.Changes are for the hook they are given to, ask Has now, or keep the Names`
		last = c             // want `c is stored in last`
		outer = c            // want `c is stored in outer`
		all = append(all, c) // want `c is appended to all`
		byName["a"] = c      // want `c is stored in byName\["a"\]`
		out <- c             // want `c is sent away`
		n := note{c}         // want `c is stored in a keepchanges.note`
		m := &note{c: c}     // want `c is stored in a keepchanges.note`
		_, _ = n, m
		go show(c) // want `c is given to a goroutine`
		go func() {
			_ = c.Has(&l.Lit) // want `c is captured by a goroutine`
		}()
		w.Post(func() {
			_ = c.Has(&l.Lit) // want `c is captured by a function that Post runs later`
		})
		later = func() {
			_ = c.Has(&l.Lit) // want `c is captured by a function that is stored`
		}
	}}
}

func returned(c throng.Changes) func() bool {
	return func() bool { return c.Has() } // want `c is captured by a function that is returned`
}

func show(c throng.Changes) {}

func fine(l *Lamp, c throng.Changes) {
	d := c
	show(d)
	show(throng.Changes{})
	names := slices.Collect(c.Names())
	lit := c.Has(&l.Lit)
	go func() { _, _ = names, lit }()
	slices.ContainsFunc(names, func(string) bool { return c.Has(&l.Lit) })
	defer func() { _ = c.Has(&l.Lit) }()
	last = throng.Changes{}
	f := func() bool { return c.Has(&l.Lit) }
	_ = f()
}
