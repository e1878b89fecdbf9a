package motion

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func lerp(pose, from, to *float64, t float64) { *pose = Lerp(*from, *to, t) }

// mover is a Track of one number under test.
type mover struct {
	Track[float64]
	stats Stats
}

// take is a sample that comes late ms after its capture.
func (m *mover) take(at int64, late, v float64, still bool) bool {
	return m.Push(Arrival{Now: float64(at) + late, At: at, Timed: true, Still: still}, v, nil, &m.stats)
}

func (m *mover) draw(now, dt float64) float64 {
	m.Draw(now, dt, lerp, &m.stats)
	return *m.Pose()
}

// B-061: between two samples, what is between them; at rest, where it rests; beyond the newest, 0.2 s on and no farther.
func TestB061Draws(t *testing.T) {
	var m mover
	for i := range int64(10) {
		m.take(1000+100*i, 0, float64(i), false)
	}
	if d := m.Pace.Delay(); d != 200 {
		t.Fatalf("drawn %v ms ago", d)
	}
	for _, tt := range []struct{ now, want float64 }{{1950, 7.5}, {2000, 8}, {2100, 9}, {2150, 9.5}, {2300, 11}, {2400, 11}, {9000, 11}} {
		if got := m.draw(tt.now, 0); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("at %v: %v, want %v", tt.now, got, tt.want)
		}
	}
	if m.stats.Extrapolated != 4 {
		t.Errorf("%+v", m.stats)
	}
}

// At rest nothing is drawn beyond, and what goes on begins an interval before its first sample: not when the rest began.
func TestB061RestsAndGoesOn(t *testing.T) {
	var m mover
	for i := range int64(10) {
		m.take(1000+100*i, 0, float64(i), false)
	}
	m.take(2000, 0, 9, true)
	for now := 2000.0; now < 5000; now += 20 {
		if got := m.draw(now, 20); got > 9 {
			t.Fatalf("beyond: %v at %v", got, now)
		}
	}
	if d := m.Draw(5000, 20, lerp, &m.stats); d.More {
		t.Error("it rests, and there is more to draw")
	}
	m.take(5000, 0, 10, false)
	m.take(5100, 0, 11, false)
	for _, tt := range []struct{ now, want float64 }{{5050, 9}, {5100, 9}, {5150, 9.5}, {5200, 10}, {5250, 10.5}} {
		if got := m.draw(tt.now, 50); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("at %v: %v, want %v", tt.now, got, tt.want)
		}
	}
}

// P64: the ring holds what is drawn from, 4 samples at first, 32 at most.
func TestP64RingIsBounded(t *testing.T) {
	var m mover
	for i := range int64(1000) {
		m.take(1000+10*i, 0, float64(i), false)
		if n := len(m.buf); n > maxRing || m.Len() > n {
			t.Fatalf("%d samples in %d", m.Len(), n)
		}
		for j := 1; j < m.Len(); j++ {
			if m.Track.Ring.At(j).At <= m.Track.Ring.At(j-1).At {
				t.Fatal("not in order")
			}
		}
	}
	if len(m.buf) != maxRing { // nobody drew: all were needed
		t.Errorf("%d", len(m.buf))
	}
	var calm mover
	for i := range int64(100) {
		calm.take(1000+100*i, 0, float64(i), false)
		calm.draw(float64(1000+100*i), 100)
	}
	if len(calm.buf) > 8 {
		t.Errorf("%d places for a thing of which 4 samples are drawn from", len(calm.buf))
	}
}

// P67: what is older than the newest, or the same, is ignored.
func TestP67OldSamplesAreIgnored(t *testing.T) {
	var m mover
	m.take(1000, 0, 1, false)
	m.take(1100, 0, 2, false)
	if m.take(1100, 0, 9, false) || m.take(1050, 60, 9, false) || m.stats.Old != 2 || m.Len() != 2 || m.Newest().V != 2 {
		t.Errorf("%+v, %d samples", m.stats, m.Len())
	}
}

// A relay that starts anew has another clock: the track begins anew, and draws what comes.
func TestTimelineBeginsAnew(t *testing.T) {
	var m mover
	for i := range int64(10) {
		m.take(1e6+100*i, 0, float64(i), false)
		m.draw(1e6+float64(100*i), 100)
	}
	for i := range int64(10) {
		m.take(500+100*i, 0, float64(100+i), false)
		m.draw(500+float64(100*i), 100)
	}
	if got := m.draw(1400, 0); m.stats.Resets != 1 || math.Abs(got-107) > 1e-6 {
		t.Errorf("%v, %+v", got, m.stats)
	}
}

// B-061: a jump is not drawn: one that the driver tells of, and one that is too far.
func TestB061Jumps(t *testing.T) {
	for name, jump := range map[string]func(m *mover, at int64, v float64){
		"told": func(m *mover, at int64, v float64) {
			m.Push(Arrival{Now: float64(at), At: at, Timed: true, Cut: true}, v, nil, &m.stats)
		},
		"far": func(m *mover, at int64, v float64) {
			far := func(from, to *float64, _ float64) bool { return math.Abs(*to-*from) > 50 }
			m.Push(Arrival{Now: float64(at), At: at, Timed: true}, v, far, &m.stats)
		},
	} {
		var m mover
		for i := range int64(10) {
			m.take(1000+100*i, 0, float64(i), false)
		}
		jump(&m, 2000, 1000)
		for now := 2100.0; now < 2400; now++ {
			if got := m.draw(now, 1); got > 9 && got < 1000 {
				t.Fatalf("%s: %v on the way", name, got)
			}
		}
		if m.stats.Jumps != 1 || *m.Pose() != 1000 {
			t.Errorf("%s: %+v, ends at %v", name, m.stats, *m.Pose())
		}
	}
}

// the delay changes by 5 % of the time at most, what is drawn never goes back, and 95 % of what comes is there in time.
func TestR41DelayMovesSlowly(t *testing.T) {
	var m mover
	r := rand.New(rand.NewPCG(1, 2))
	type coming struct {
		at   int64
		when float64
	}
	var way []coming
	last := 0.0
	delay, drawn, beyond := 0.0, 0.0, 0
	for now := 0.0; now < 120_000; now += 16 {
		if at := int64(now) / 100 * 100; len(way) == 0 || at > way[len(way)-1].at {
			late := 20 + 10*r.Float64()
			if now > 60_000 {
				late = 80 + 120*r.Float64()
			}
			last = max(last, float64(at)+late)
			way = append(way, coming{at, last})
		}
		for len(way) > 1 && way[0].when <= now {
			m.take(way[0].at, now-float64(way[0].at), float64(way[0].at), false)
			way = way[1:]
		}
		before := m.stats.Extrapolated
		m.draw(now, 16)
		at, ok := m.DrawnAt()
		if !ok {
			continue
		}
		if d := m.Pace.Delay(); now > 2000 {
			if math.Abs(d-delay) > 0.05*16+1e-3 { // a float32
				t.Fatalf("delay %v → %v at %v", delay, d, now)
			}
			if at < drawn || *m.Pose() > at+1e-3 || *m.Pose() < at-1e-3 {
				t.Fatalf("at %v: time %v → %v, pose %v", now, drawn, at, *m.Pose())
			}
			if now > 70_000 && m.stats.Extrapolated > before {
				beyond++
			}
		}
		delay, drawn = m.Pace.Delay(), at
	}
	t.Logf("drawn %.0f ms ago in the end, %d of %d draws beyond the newest sample", delay, beyond, 50_000/16)
	if delay < 250 || delay > 420 || beyond > 50_000/16/20 {
		t.Fail()
	}
}

// P68: the estimate follows steps both ways and drift, and one stamp does not count for ever.
func TestP68ClockRecovers(t *testing.T) {
	const every = 50 * time.Millisecond
	for name, tt := range map[string]struct {
		relay  func(now time.Duration) time.Duration
		within time.Duration // after the change at a minute
	}{
		"steady":        {func(now time.Duration) time.Duration { return now + time.Hour }, 0},
		"step forward":  {stepAt(time.Minute, 10*time.Second), 2 * time.Second},
		"step back":     {stepAt(time.Minute, -10*time.Second), 3 * time.Second},
		"small step":    {stepAt(time.Minute, -100*time.Millisecond), 20 * time.Second},
		"drift 500 ppm": {func(now time.Duration) time.Duration { return now + now/2000 }, 0},
		"drift back":    {func(now time.Duration) time.Duration { return now - now/2000 }, 0},
		"one too early": {func(now time.Duration) time.Duration {
			if now == time.Minute {
				return now + 200*time.Millisecond
			}
			return now
		}, 20 * time.Second},
	} {
		r := rand.New(rand.NewPCG(3, 4))
		var f Filter
		var c Clock
		worst := 0.0
		for now := time.Duration(0); now < 3*time.Minute; now += every {
			late := time.Duration(r.Float64() * 40 * float64(time.Millisecond))
			f.Sample(now, tt.relay(now)-late)
			offset, _ := f.Offset()
			c.Follow(now, offset)
			got, _ := c.Now(now)
			if now > 20*time.Second && (now < time.Minute || now > time.Minute+tt.within) {
				worst = max(worst, math.Abs(got-ms(tt.relay(now))))
			}
		}
		t.Logf("%s: off by at most %.1f ms", name, worst)
		if worst > 12 {
			t.Errorf("%s: off by %.1f ms", name, worst)
		}
	}
}

func stepAt(at, by time.Duration) func(time.Duration) time.Duration {
	return func(now time.Duration) time.Duration {
		if now >= at {
			return now + by
		}
		return now
	}
}

// The angles and rotations that are blended go the shorter way, and arrive.
func TestBlends(t *testing.T) {
	for _, tt := range []struct{ a, b, t, want float64 }{
		{350, 10, 0.5, 0}, {10, 350, 0.5, 0}, {0, 90, 0.5, 45}, {-90, 90, 0, 270}, {-10, 10, 1, 10}, {720, 30, 0.5, 15}, {350, 10, 1.5, 20}, {10, 350, 2, 330},
	} {
		if got := Angle(tt.a, tt.b, tt.t); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("Angle(%v, %v, %v) = %v, want %v", tt.a, tt.b, tt.t, got, tt.want)
		}
	}
	about := func(deg float64) [4]float64 { // around z
		s, c := math.Sincos(deg / 2 * math.Pi / 180)
		return [4]float64{0, 0, s, c}
	}
	for _, tt := range []struct{ a, b, t, want float64 }{{0, 90, 0.5, 45}, {0, 90, 1.5, 135}, {350, 10, 0.5, 0}, {0, 0.01, 0.5, 0.005}, {0, 180, 0.25, 45}} {
		for _, sign := range []float64{1, -1} {
			b := about(tt.b)
			for i := range b {
				b[i] *= sign
			}
			got, want := Slerp(about(tt.a), b, tt.t), about(tt.want)
			dot, length := 0.0, 0.0
			for i := range got {
				dot += got[i] * want[i]
				length += got[i] * got[i]
			}
			if math.Abs(math.Abs(dot)-1) > 1e-6 && tt.b != 180 || math.Abs(length-1) > 1e-9 {
				t.Errorf("Slerp(%v, %v, %v) with sign %v = %v, want %v", tt.a, tt.b, tt.t, sign, got, want)
			}
		}
	}
	if d := Direction([3]float64{1, 0, 0}, [3]float64{0, 1, 0}, 0.5); math.Abs(d[0]-math.Sqrt2/2) > 1e-9 || math.Abs(d[1]-math.Sqrt2/2) > 1e-9 {
		t.Error(d)
	}
	if d := Direction([3]float64{1, 0, 0}, [3]float64{-1, 0, 0}, 0.5); d != ([3]float64{-1, 0, 0}) {
		t.Error(d)
	}
}

// FuzzTrack: whatever samples come, in whatever order, a ring stays in order and in its bounds, time does not go back but by a reset, and what
// is drawn is a number.
func FuzzTrack(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	f.Add([]byte{0xff, 0, 0xff, 0, 0xff, 0})
	f.Fuzz(func(t *testing.T, script []byte) {
		var m mover
		now, at := 1e6, int64(1e6)
		for len(script) >= 3 {
			op, a, b := script[0], script[1], script[2]
			script = script[3:]
			switch op % 4 {
			case 0, 1:
				at += int64(a) - 20
				m.Push(Arrival{Now: now, At: at, Timed: op&8 == 0, Cut: op&16 != 0, Still: op&32 != 0}, float64(b), func(from, to *float64, _ float64) bool { return *to-*from > 200 }, &m.stats)
			case 2:
				dt := float64(a) * float64(b)
				now += dt
				m.draw(now, dt)
			case 3:
				at += (int64(a) - 128) * int64(b) * 50
			}
			if m.Len() > maxRing || math.IsNaN(*m.Pose()) || math.IsInf(*m.Pose(), 0) {
				t.Fatalf("%d samples, pose %v", m.Len(), *m.Pose())
			}
			for i := 1; i < m.Len(); i++ {
				if m.Track.Ring.At(i).At <= m.Track.Ring.At(i-1).At {
					t.Fatal("not in order")
				}
			}
			if d := m.Pace.Delay(); m.Len() > 0 && (d < 0 || d > MaxDelay || math.IsNaN(d)) {
				t.Fatalf("delay %v", d)
			}
		}
	})
}

// In steady state nothing is allocated.
func TestDrawingDoesNotAllocate(t *testing.T) {
	var m mover
	at := int64(0)
	step := func() {
		at += 100
		m.take(at, 30, float64(at), false)
		for i := range 6 {
			m.draw(float64(at)+30+16*float64(i), 16)
		}
	}
	for range 100 {
		step()
	}
	if n := testing.AllocsPerRun(100, step); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
