// Package misuse is what the compiler must refuse: TestMisuse compares its reports with the comments.
package misuse

import "github.com/throng-dev/throng"

type Lamp struct {
	throng.Entity
	Lit bool `rep:""`
}

type Stone struct{ Weight int32 }

type forged struct{}

func (forged) entity() *throng.Entity { return nil }

var Lamps = throng.NewClass[Lamp]("lamp", throng.ClassConfig{})

var (
	_ = throng.NewClass[Stone]("stone", throng.ClassConfig{}) // want "missing method embedThrongEntity"
	_ = throng.NewClass[*Lamp]("lamp", throng.ClassConfig{})  // want "does not satisfy"
	_ = throng.NewClass[int32]("int", throng.ClassConfig{})   // want "does not satisfy"

	_ throng.Object = Lamp{}   // want "method embedThrongEntity has pointer receiver"
	_ throng.Object = &Stone{} // want "missing method embedThrongEntity"
	_ throng.Object = forged{} // want "missing method embedThrongEntity"
	_ throng.Item   = forged{} // want "missing method addTo"
	_ throng.Object = &Lamp{}

	_ = Lamps.Bind(throng.Hooks[Stone]{})                                     // want "cannot use"
	_ = throng.Hooks[Lamp]{OnRep: func(Lamp, throng.Changes) {}}              // want "cannot use"
	_ = Lamps.OnRep(func(s *Stone) any { return &s.Weight }, func(*Stone) {}) // want "cannot use" "cannot use"
	_ = Lamps.OnRep(func(l *Lamp) any { return &l.Glow }, func(*Lamp) {})     // want "undefined"
	_ = throng.ClassConfig{OnOwnerGone: throng.OwnerOnly}                     // want "cannot use"
	_ = Lamps.OnRep(func(l *Lamp) any { return &l.Lit }, func(*Lamp) {})
)
