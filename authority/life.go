package authority

import (
	"fmt"

	"github.com/throng-dev/throng"
)

// Spawn takes an actor that was constructed, its exposed fields set, and stages it: nobody is told of it. With OwnedBy or
// Ownerless it is published as well; without, Publish does that later. The order of a life is fixed: fields set, constructed,
// possessed, published, begun, decided.
func (s *Server) Spawn(o throng.Object, opts ...Option) error {
	var opt options
	for _, f := range opts {
		f(&opt)
	}
	class := s.schema.ClassName(o)
	fail := func(err error) error { return fmt.Errorf("throng: spawning %T: %w", o, err) }
	r := s.rules[class]
	switch {
	case class == "":
		return fail(throng.ErrClass)
	case s.actors[o] != nil:
		return &LifeError{"spawn", fmt.Sprintf("%T", o), s.actors[o].life, "an actor is spawned once: make another struct"}
	case r == nil:
		return fail(ErrNoRules)
	case opt.owned && opt.ownerless:
		return fail(fmt.Errorf("OwnedBy and Ownerless: say one"))
	case opt.name != "" && s.keeper == nil:
		return fail(errNoStore)
	case opt.name != "" && !s.schema.Persists(o):
		return fail(errNothingPersists)
	}
	a := &actor{o: o, class: class, rules: r, life: Staged, n: s.engine.AddActor(r.linger), denied: map[throng.PlayerID]bool{}, opts: opt.spawn, name: opt.name}
	for len(s.byN) <= a.n {
		s.byN = append(s.byN, nil)
	}
	s.byN[a.n] = a
	s.actors[o] = a
	if s.cfg.OnLife != nil {
		s.cfg.OnLife(s, o, Constructed, Staged)
	}
	if opt.name != "" {
		if err := s.keeper.load(a); err != nil {
			s.forget(a, Gone)
			return fail(err)
		}
	}
	if opt.owned || opt.ownerless {
		if err := s.publish(a, &opt); err != nil {
			s.forget(a, Gone)
			return err
		}
	}
	return nil
}

// Publish offers a staged or withdrawn actor to viewers, from the end of this tick. Its owner must be known by then: by OwnedBy, by
// the rule's Owner, or from before; or it must be Ownerless.
func (s *Server) Publish(o throng.Object, opts ...Option) error {
	a := s.actors[o]
	if a == nil {
		return &LifeError{"publish", fmt.Sprintf("%T", o), Constructed, "Spawn it first"}
	}
	var opt options
	for _, f := range opts {
		f(&opt)
	}
	return s.publish(a, &opt)
}

func (s *Server) publish(a *actor, opt *options) error {
	if a.life != Staged && a.life != Withdrawn {
		return &LifeError{"publish", fmt.Sprintf("%T", a.o), a.life, "only staged and withdrawn actors are published"}
	}
	switch {
	case opt.owned && opt.owner.IsZero():
		return fmt.Errorf("throng: publishing %T: OwnedBy nobody: %w", a.o, ErrPublishBeforeOwner)
	case opt.owned:
		a.owner, a.known, a.how, a.ownerless = opt.owner, true, "exposed", false
	case opt.ownerless:
		a.owner, a.known, a.how, a.ownerless = throng.PlayerID{}, true, "ownerless", true
	case a.rules.owner != nil:
		s.resolve(a)
	}
	if !a.known {
		return fmt.Errorf("throng: publishing %T: %w", a.o, ErrPublishBeforeOwner)
	}
	if a.wants = a.loading; a.wants {
		return nil // when it is loaded
	}
	s.engine.SetOwner(a.n, a.owner.Bytes(), true, a.rules.hide && !a.noStandIn && !a.ownerless)
	s.engine.Publish(a.n)
	s.move(a, Published)
	for _, v := range s.viewers { // until the rules let them
		a.denied[v.Player] = true
	}
	s.touch(a)
	return nil
}

// SetOwner gives an actor to another player. Who is kept from it by that changes with this tick, for both of them at once.
func (s *Server) SetOwner(o throng.Object, p throng.PlayerID) error {
	a := s.actors[o]
	switch {
	case a == nil:
		return &LifeError{"change of owner", fmt.Sprintf("%T", o), Constructed, "Spawn it first"}
	case a.rules.owner != nil:
		return fmt.Errorf("throng: change of owner of %T: the rule's Owner says whose it is: change what that looks at", o)
	}
	a.owner, a.known, a.how, a.ownerless = p, !p.IsZero(), "exposed", false
	s.engine.SetOwner(a.n, p.Bytes(), a.known, a.rules.hide && !a.noStandIn)
	return nil
}

// SetStandIn says whether the owner of an actor has a local stand-in for it. Only then HideFromOwner keeps the actor from it. It is
// so until this says otherwise.
func (s *Server) SetStandIn(o throng.Object, has bool) error {
	a := s.actors[o]
	if a == nil {
		return &LifeError{"stand-in", fmt.Sprintf("%T", o), Constructed, "Spawn it first"}
	}
	a.noStandIn = !has
	s.engine.SetOwner(a.n, a.owner.Bytes(), a.known, a.rules.hide && has && !a.ownerless)
	return nil
}

// Possess lets a controller drive a pawn, nil: nobody. It says who moves the pawn, and nothing about whom it belongs to: it
// neither publishes, nor changes who may know of it.
func (s *Server) Possess(controller, pawn throng.Object) error {
	a := s.actors[pawn]
	if a == nil {
		return &LifeError{"possession", fmt.Sprintf("%T", pawn), Constructed, "Spawn it first"}
	}
	a.direct = controller
	return nil
}

// Controller is who possesses an actor; nil: nobody.
func (s *Server) Controller(pawn throng.Object) throng.Object {
	if a := s.actors[pawn]; a != nil {
		return a.direct
	}
	return nil
}

// Withdraw takes a published actor from all viewers with this tick. It may be published again.
func (s *Server) Withdraw(o throng.Object) error {
	a := s.actors[o]
	switch {
	case a == nil:
		return &LifeError{"withdrawal", fmt.Sprintf("%T", o), Constructed, "Spawn it first"}
	case a.life == Staged && a.wants:
		a.wants = false
		return nil
	case a.life != Published:
		return &LifeError{"withdrawal", fmt.Sprintf("%T", o), a.life, "only published actors are withdrawn"}
	}
	s.engine.Withdraw(a.n)
	s.move(a, Withdrawn)
	s.touch(a)
	return nil
}

// Destroy ends an actor, for everybody. What is Persistent of it stays in the store. A second Destroy does nothing.
func (s *Server) Destroy(o throng.Object) error {
	a := s.actors[o]
	if a == nil {
		return s.world.Destroy(o) // of the view plane, or gone
	}
	if s.keeper != nil && a.key != "" {
		s.keeper.release(a)
	}
	s.forget(a, Gone)
	return s.world.Destroy(o) // nil if it was never announced
}

// Life is how far an actor has come.
func (s *Server) Life(o throng.Object) Life {
	if a := s.actors[o]; a != nil {
		return a.life
	}
	return Constructed
}

// Reconsider asks the rules about an actor in this tick, however many others wait.
func (s *Server) Reconsider(o throng.Object) {
	if a := s.actors[o]; a != nil {
		s.engine.Reconsider(a.n)
	}
}

func (s *Server) move(a *actor, to Life) {
	was := a.life
	a.life = to
	if s.cfg.OnLife != nil {
		s.cfg.OnLife(s, a.o, was, to)
	}
}

func (s *Server) forget(a *actor, to Life) {
	s.move(a, to)
	s.engine.RemoveActor(a.n)
	s.byN[a.n] = nil
	delete(s.actors, a.o)
}
