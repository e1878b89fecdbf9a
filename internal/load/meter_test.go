package load

import (
	"testing"
	"time"

	"github.com/throng-dev/throng"
)

const ms = time.Millisecond

// pairOf is an observer and an entity that stand in one chunk, from the beginning.
func pairOf(m *meter) (s *seat, t *track) {
	s = m.seat()
	s.avatar = m.born(throng.StableID("me"), throng.PlayerID{}, State{}, 0)
	return s, m.born(throng.StableID("it"), throng.PlayerID{}, State{}, 0)
}

func TestHeldIsTheOldestPartOfWhatIsHeld(t *testing.T) {
	m := newMeter(1)
	_, tr := pairOf(m)
	for i := 1; i <= 600; i++ {
		m.sent(tr, State{X: int16(i / 2), Yaw: uint8(6 * i), Anim: uint8(i)}, time.Duration(i)*100*ms)
	}
	for _, c := range []struct {
		s    State
		want int
	}{
		{State{X: 300, Yaw: 600 * 6 % 256, Anim: 600 % 256}, 600},
		{State{X: 299, Yaw: 598 * 6 % 256, Anim: 598 % 256}, 598},
		{State{X: 298, Yaw: 600 * 6 % 256, Anim: 600 % 256}, 597},        // the place was lost
		{State{X: 300, Yaw: 1, Anim: 600 % 256}, -1},                     // nobody sent that
		{State{X: 999, Yaw: 600 * 6 % 256, Anim: 600 % 256}, -1},         // nor that
		{State{X: 172, Yaw: 345 * 6 % 256, Anim: uint8(345 - 256)}, 345}, // 255 behind
	} {
		if got := tr.held(c.s); got != c.want {
			t.Errorf("%+v is version %d, want %d", c.s, got, c.want)
		}
	}
}

func TestReachIsAnIntervalOfTime(t *testing.T) {
	m := newMeter(1)
	s, tr := pairOf(m)
	walk := func(at time.Duration, x int16) { m.sent(tr, State{X: x}, at) }
	walk(100*ms, 50)  // the next chunk
	walk(200*ms, 100) // out of reach
	walk(300*ms, 40)  // back
	walk(400*ms, 20)
	if since, ok := reachSince(s.avatar, tr, 450*ms); !ok || since != 300*ms {
		t.Errorf("%v %v", since, ok)
	}
	if _, ok := reachSince(s.avatar, tr, 250*ms); ok {
		t.Error("in reach while it was not")
	}
	if since, ok := reachSince(s.avatar, tr, 150*ms); !ok || since != 0 {
		t.Errorf("%v %v", since, ok)
	}
	got := reaches(s.avatar, tr, 50*ms, 500*ms)
	if len(got) != 2 || got[0] != [2]time.Duration{50 * ms, 200 * ms} || got[1] != [2]time.Duration{300 * ms, 500 * ms} {
		t.Errorf("%v", got)
	}
}

func TestDeliveredLeavesMergedVersionsOut(t *testing.T) {
	m := newMeter(1)
	s, tr := pairOf(m)
	m.begin()
	m.from = 1 // virtual time from here on
	p := s.spawned(tr.id, State{})
	for i := 1; i <= 10; i++ {
		v := State{Anim: uint8(i)}
		m.sent(tr, v, time.Duration(i)*100*ms)
		if i%5 != 0 { // every fifth is overtaken on the way
			s.changed(p, v)
		}
	}
	m.to = 1100 * ms
	// Version 1 is within an interval of the beginning.
	if held, written := m.deliveredTo(s, tr); held != 7 || written != 9 {
		t.Errorf("%d of %d", held, written)
	}
	if m.updates != 8 {
		t.Errorf("%d updates", m.updates)
	}
}

func TestFreshnessIsOfTheMoment(t *testing.T) {
	m := newMeter(1)
	s, tr := pairOf(m)
	p := s.spawned(tr.id, State{})
	look := func(at time.Duration) (time.Duration, bool, bool) { return s.look(tr, at) }
	if age, fresh, ok := look(200 * ms); !ok || !fresh || age != 200*ms {
		t.Errorf("%v %v %v", age, fresh, ok)
	}
	if _, fresh, ok := look(201 * ms); !ok || fresh {
		t.Error("201 ms is fresh")
	}
	tr.resting = true
	if _, fresh, _ := look(time.Minute); !fresh {
		t.Error("the newest version of what rests is stale")
	}
	m.sent(tr, State{Anim: 1}, 300*ms) // which ends the rest
	if _, fresh, _ := look(350 * ms); fresh {
		t.Error("350 ms is fresh")
	}
	p.departed(s)
	if _, fresh, ok := look(400 * ms); !ok || fresh {
		t.Error("what is missing is not stale")
	}
	m.sent(tr, State{X: 500, Anim: 2}, 400*ms)
	if _, _, ok := look(450 * ms); ok {
		t.Error("what is out of reach was judged")
	}
	m.sent(tr, State{Anim: 3}, 500*ms)
	if _, _, ok := look(600 * ms); ok {
		t.Error("what came within reach just now was judged")
	}
}

func TestSecondSpawnIsADuplicate(t *testing.T) {
	m := newMeter(1)
	s, tr := pairOf(m)
	s.spawned(tr.id, State{}).departed(s)
	s.spawned(tr.id, State{})
	if m.duplicates != 0 {
		t.Error("a spawn after a destroy is none")
	}
	s.spawned(tr.id, State{})
	if m.duplicates != 1 {
		t.Errorf("%d duplicates", m.duplicates)
	}
}

func TestValuesThatNobodySentAreStrange(t *testing.T) {
	m := newMeter(1)
	s, tr := pairOf(m)
	s.changed(s.spawned(tr.id, State{}), State{X: 3, Anim: 1})
	if m.strange != 1 || m.updates != 0 {
		t.Errorf("%d strange, %d updates", m.strange, m.updates)
	}
}

func TestQuantiles(t *testing.T) {
	h := new(histogram)
	if h.spread() != (Spread{}) {
		t.Error("nothing has quantiles")
	}
	for i := range 100 {
		h.add(time.Duration(i) * ms)
	}
	h.add(time.Hour)
	if s := h.spread(); s.P50 < 49 || s.P50 > 51 || s.P99 < 98 || s.P99 > 100.2 {
		t.Errorf("%+v", s)
	}
	if q := h.quantile(1); q < 3000 {
		t.Errorf("an hour is %v ms", q)
	}
}

func TestNeighboursAreTheNearest(t *testing.T) {
	m := newMeter(1)
	s, _ := pairOf(m)
	for i := range 30 {
		m.born(throng.StableID(string(rune('a'+i))), throng.PlayerID{}, State{X: int16(i), Y: 1}, 0)
	}
	for range 500 {
		if n := m.neighbour(s.avatar); n == s.avatar || n.last().X > 19 {
			t.Fatalf("%+v is not among the nearest", n.last())
		}
	}
	if got := m.visible(s.avatar); got != 31 {
		t.Errorf("%d visible", got)
	}
}

// The square of the hotspot is where everybody is in reach of everybody.
func TestEverybodyInTheSpotIsInReach(t *testing.T) {
	m := newMeter(1)
	for range 2000 {
		a := stateAt(somewhere(m.rng, spot), 0, 0)
		b := stateAt(somewhere(m.rng, spot), 0, 0)
		if a.Cell().Far(b.Cell()) > Reach {
			t.Fatalf("%+v and %+v are out of reach", a, b)
		}
	}
}
