package main

import (
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/internal/load"
)

func at(x float64) state { return state{pos: throng.Vec2{X: x}} }

const ms = time.Millisecond

func TestFreshness(t *testing.T) {
	moving := func(tr *track) {
		for i := range 5 {
			tr.push(time.Duration(i)*interval, at(float64(i)))
		}
	}
	for _, c := range []struct {
		name string
		life func(*track)
		held state
		at   time.Duration
		want bool
	}{
		{"newest while moving", moving, at(4), 590 * ms, true},
		{"newest of a driver that stalls", moving, at(4), 610 * ms, false},
		{"one behind, just", moving, at(3), 490 * ms, true},
		{"one behind, too long", moving, at(3), 510 * ms, false},
		{"two behind", moving, at(2), 450 * ms, false},
		{"as of a moment before the newest", moving, at(2), 399 * ms, true},
		{"never sent", moving, at(9), 450 * ms, false},
		{"at rest", func(tr *track) { moving(tr); tr.rest() }, at(4), time.Hour, true},
		{"at rest, one behind", func(tr *track) { moving(tr); tr.rest() }, at(3), 510 * ms, false},
		{"moving again, old one for a moment", func(tr *track) { moving(tr); tr.rest(); tr.push(5*time.Second, at(5)) }, at(4), 5090 * ms, true},
		{"moving again, old one too long", func(tr *track) { moving(tr); tr.rest(); tr.push(5*time.Second, at(5)) }, at(4), 5110 * ms, false},
		{"before it was born", func(tr *track) { tr.push(time.Second, at(1)) }, at(0), 500 * ms, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := new(track)
			c.life(tr)
			if got := tr.fresh(c.at, c.held); got != c.want {
				t.Errorf("fresh is %v", got)
			}
		})
	}
}

func TestWritten(t *testing.T) {
	tr := new(track)
	for i := range 3 * kept {
		tr.push(time.Duration(i)*interval, at(float64(i)))
	}
	if got, ok := tr.written(at(3*kept - 2)); !ok || got != (3*kept-2)*interval {
		t.Error(got, ok)
	}
	if _, ok := tr.written(at(1)); ok {
		t.Error("found a version that is no longer kept")
	}
}

func TestQuantiles(t *testing.T) {
	h := new(histogram)
	before := h.read()
	if q := before.quantiles(before, 0.5); q[0] != 0 {
		t.Error(q)
	}
	for i := range 100 {
		h.add(time.Duration(i) * ms)
	}
	h.add(time.Hour)
	if q := h.read().quantiles(before, 0.5, 0.99, 1); q[0] != 50.25 || q[1] != 99.25 || q[2] != 1000.25 {
		t.Error(q)
	}
}

// The check at the end must be able to fail.
func TestCompareFindsWhatIsWrong(t *testing.T) {
	m := newMeter(20, &load.Faults{Out: t.Output(), Prefix: "throng: "})
	a, b := newBot(m, "a", 1), newBot(m, "b", 2)
	f := new(findings)
	want := &Lantern{Pos: throng.Vec2Quantize{X: 1}, Lit: true}
	want.track = &track{owner: a}
	a.w, b.w = new(throng.World), new(throng.World)
	f.same(b, &Lantern{Pos: throng.Vec2Quantize{X: 1}, Lit: true}, want)
	if f.wrong != 1 || f.slots != 4 { // the role: in no world
		t.Fatalf("%+v", f)
	}
	f.same(b, &Lantern{Pos: throng.Vec2Quantize{X: 2}, Hue: 1, Fuel: 1}, want)
	if f.wrong != 1+5 || f.slots != 8 {
		t.Errorf("%+v", f)
	}
	f.same(b, &Walker{}, want)
	if f.wrong != 7 {
		t.Errorf("%+v", f)
	}
}
