package main

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/throng-dev/throng"
)

const frame = time.Second / 60

// held walks a dummy from its start towards the formation point beside an obstacle, for d, and returns where it stands.
func held(o disc, d time.Duration) throng.Vec2 {
	b := disc{throng.Vec2{X: dummyFrom}, radius, 2}
	for range int(d / frame) {
		b.at = walk(b, formation, frame.Seconds(), []disc{o})
	}
	return b.at
}

func off(at throng.Vec2) float64 { return at.Sub(formation).Len() }

// F1, F3, F4, F5: how far from its point the dummy is held follows from the proxy's footprint.
func TestF3F4F5HoldDistances(t *testing.T) {
	for _, c := range []struct {
		name   string
		dx, dy float64 // of the proxy, from the point, beyond it and aside
		r      float64
		want   float64
	}{
		{"F1 on the point", 0, 0, 34, 68},
		{"F3 beyond it by 17", 17, 0, 34, 51},
		{"F3 beyond it by 34", 34, 0, 34, 34},
		{"F3 beyond it by 68", 68, 0, 34, 0},
		{"F4 aside by 34", 0, 34, 34, 58.9},
		{"F4 aside by 60", 0, 60, 34, 32},
		{"F4 aside by 68", 0, 68, 34, 0},
		{"F5 radius 17", 0, 0, 17, 51},
		{"F5 radius 0", 0, 0, 0, 34},
	} {
		at := held(disc{formation.Add(throng.Vec2{X: c.dx, Y: c.dy}), c.r, 1}, 5*time.Second)
		if got := off(at); math.Abs(got-c.want) > 0.1 {
			t.Errorf("%s: held at %.1f, want %.1f", c.name, got, c.want)
		}
	}
	if at := held(disc{}, 2*time.Second+frame); off(at) > arrival {
		t.Errorf("unobstructed it is %.1f away after two seconds", off(at))
	}
	// It reaches contact in (600 − 68) / 300 s.
	if at := held(disc{formation, 34, 1}, 1773*time.Millisecond+frame); math.Abs(off(at)-68) > 0.1 {
		t.Errorf("after 1.773 s it is %.1f away", off(at))
	}
}

// F6: a dummy that is overlapped is pushed out by no more than a step allows, and comes back when the other is gone.
func TestF6SpawnOnTop(t *testing.T) {
	b := disc{formation, radius, 2}
	o := disc{formation, radius, 1}
	for i := range 60 {
		was := b.at
		b.at = walk(b, formation, frame.Seconds(), []disc{o})
		if d := b.at.Sub(was).Len(); d > maxPush+speed*frame.Seconds() {
			t.Fatalf("frame %d: moved %.1f at once", i, d)
		}
	}
	if math.Abs(off(b.at)-68) > 0.1 {
		t.Errorf("pushed out to %.1f", off(b.at))
	}
	n := 0
	for off(b.at) > arrival {
		b.at = walk(b, formation, frame.Seconds(), nil)
		n++
	}
	if back := time.Duration(n) * frame; back > 260*time.Millisecond {
		t.Errorf("back after %v, want 0.227 s", back)
	}
}

// F7: as the proxy gives way the dummy follows, 68 to 34 to 0.
func TestF7ThreePhases(t *testing.T) {
	b := disc{throng.Vec2{X: dummyFrom}, radius, 2}
	var plateaus []string
	for _, others := range [][]disc{{{formation, 34, 1}}, {{formation.Add(throng.Vec2{X: 34}), 34, 1}}, nil} {
		for range 180 {
			b.at = walk(b, formation, frame.Seconds(), others)
		}
		plateaus = append(plateaus, fmt.Sprintf("%.0f", off(b.at)))
	}
	if fmt.Sprint(plateaus) != "[68 34 0]" {
		t.Errorf("plateaus %v", plateaus)
	}
}

// V54: minions that have slots of their own all arrive, and do not touch.
func TestV54SlotsAreFarEnoughApart(t *testing.T) {
	places := slots(formation, 12)
	bodies := make([]disc, len(places))
	for i := range bodies { // in front of their places, far apart
		bodies[i] = disc{places[i].Sub(throng.Vec2{X: 3000 - float64(i%4)*200}), radius, uint64(i)}
	}
	for range 60 * 15 {
		for i := range bodies {
			var others []disc
			for j, o := range bodies {
				if i != j {
					others = append(others, o)
				}
			}
			bodies[i].at = walk(bodies[i], places[i], frame.Seconds(), others)
		}
	}
	for i, b := range bodies {
		if d := b.at.Sub(places[i]).Len(); d > arrival {
			t.Errorf("minion %d is %.1f from its place", i, d)
		}
		for j, o := range bodies[:i] {
			if d := b.at.Sub(o.at).Len(); d < 2*radius {
				t.Errorf("minions %d and %d are %.1f apart", i, j, d)
			}
		}
	}
}
