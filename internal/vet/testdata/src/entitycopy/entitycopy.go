// Package entitycopy copies entities.
package entitycopy

import (
	"fmt"
	"unsafe"

	"github.com/throng-dev/throng"
)

type Lamp struct {
	throng.Entity
	Lit bool `rep:""`
}

type room struct{ lamps [2]Lamp }

func byValue(l Lamp) {} // want `parameter copies entitycopy.Lamp with its throng.Entity, which is in no world: use a pointer`

func (l Lamp) method() {} // want `parameter copies entitycopy.Lamp`

func back(l *Lamp) Lamp {
	return *l // want `return copies entitycopy.Lamp`
}

func copies(l *Lamp, all []Lamp, named map[string]Lamp, c chan Lamp, o any) {
	a := *l                 // want `assignment copies entitycopy.Lamp with its throng.Entity, which is in no world: use a pointer`
	var b = all[0]          // want `assignment copies entitycopy.Lamp`
	e := l.Entity           // want `assignment copies throng.Entity, which is in no world: use a pointer`
	byValue(a)              // want `call copies entitycopy.Lamp`
	fmt.Println(*l)         // want `call copies entitycopy.Lamp`
	var i any = any(*l)     // want `conversion copies entitycopy.Lamp`
	i = b                   // want `assignment copies entitycopy.Lamp`
	c <- *l                 // want `send copies entitycopy.Lamp`
	d := <-c                // want `assignment copies entitycopy.Lamp`
	f, ok := o.(Lamp)       // want `assignment copies entitycopy.Lamp`
	g, ok := named["a"]     // want `assignment copies entitycopy.Lamp`
	for _, x := range all { // want `range copies entitycopy.Lamp with its throng.Entity, which is in no world: range over the index, or over pointers`
		_ = x.Lit
	}
	h := []Lamp{*l}           // want `literal copies entitycopy.Lamp`
	j := room{[2]Lamp{0: a}}  // want `literal copies entitycopy.Lamp`
	k := j                    // want `assignment copies entitycopy.room`
	copy(all, h)              // want `copy copies entitycopy.Lamp`
	all = append(all, h...)   // want `append moves entitycopy.Lamp with its throng.Entity, which leaves its world behind when the slice grows: use a slice of pointers`
	all = append(all, Lamp{}) // want `append moves entitycopy.Lamp`
	*l = Lamp{Lit: true}      // want `assignment writes over entitycopy.Lamp with its throng.Entity, whose place in the world is lost: set the fields of l one by one`
	*l = *l                   // want `assignment copies entitycopy.Lamp`
	l.Entity = throng.Entity{}
	_, _, _, _, _, _, _, _ = &e, i, &d, &f, &g, ok, &k, &h
	func(l Lamp) {}(Lamp{}) // want `parameter copies entitycopy.Lamp`
}

func fine(l *Lamp, all []Lamp, pointers []*Lamp) *Lamp {
	m := Lamp{Lit: true}
	for i := range all {
		all[i].Lit = m.Lit
	}
	for _, p := range pointers {
		p.Lit = true
	}
	pointers = append(pointers, &m, new(Lamp))
	n := &all[0]
	_, _ = len(all), unsafe.Sizeof(*l)
	_ = *l
	m.Lit, n.Lit = l.Lit, (*l).Lit
	fmt.Println(&m, l)
	all = make([]Lamp, 4)
	grown := [2]Lamp{{Lit: true}}
	_ = grown[0].Lit
	var nums []int32
	nums = append(nums, 1)
	copy(nums, nums)
	return &m
}
