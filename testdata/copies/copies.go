// Package copies is what go vet must report: TestMisuse compares its reports with the comments.
package copies

import "github.com/throng-dev/throng"

type Lamp struct {
	throng.Entity
	Lit bool `rep:""`
}

func byValue(l Lamp) { // want "passes lock by value"
	_ = l.Lit
}

func copies(l *Lamp, all []Lamp) {
	c := *l                 // want "assignment copies lock value"
	byValue(all[0])         // want "call of byValue copies lock value"
	for _, l := range all { // want "range var l copies lock"
		_ = l.Lit
	}
	e := l.Entity // want "assignment copies lock value"
	_, _ = &c, &e
}

func fine(all []Lamp) *Lamp {
	l := Lamp{Lit: true}
	for i := range all {
		all[i].Lit = l.Lit
	}
	*(&l) = Lamp{}
	return &l
}
