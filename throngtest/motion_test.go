package throngtest_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// Walker moves by a motion struct, Glider by its position.
type Walker struct {
	throng.Entity
	Armed bool `rep:""`

	pose    Pose
	applied int
}

// Pose is what a Walker streams.
type Pose struct {
	Pos  throng.Vec2 `rep:"position"`
	Turn throng.Rotator
	Gait uint8
}

type Glider struct {
	throng.Entity
	Pos  throng.Vec3 `rep:"position"`
	Name string      `rep:"init"`
}

var (
	Walkers = throng.NewClass[Walker]("walker", throng.ClassConfig{Mode: throng.Dynamic})
	Gliders = throng.NewClass[Glider]("glider", throng.ClassConfig{Mode: throng.Dynamic})

	MotionSchema = throng.MustSchema(
		throng.Motion(Walkers, func(w *Walker) Pose { return w.pose }, func(w *Walker, p Pose) { w.pose = p; w.applied++ }), Gliders)
)

// walk is where somebody is who strolls about, every 10 ms: straight on, around bends, standing now and then. Whoever walks has weight: speed
// changes by 2.5 units a second in a second, the turn by half a radian. The same seed is the same walk.
type walk []throng.Vec2

const walkEvery = 0.01

func newWalk(seed uint64, length float64) (w walk) {
	r := rand.New(rand.NewPCG(seed, 1))
	var at throng.Vec2
	head, speed, turn := r.Float64()*2*math.Pi, 0.0, 0.0
	aim, bend, until := 0.0, 0.0, 0.0
	toward := func(v *float64, to, most float64) { *v += max(-most, min(most, to-*v)) }
	for t := 0.0; t < length; t += walkEvery {
		if t >= until {
			until = t + 1 + 3*r.Float64()
			aim, bend = 3+2*r.Float64(), []float64{0, 0.3, -0.3, 0.2, -0.2}[r.IntN(5)]
			if r.IntN(5) == 0 {
				aim = 0
			}
		}
		w = append(w, at)
		toward(&speed, aim, 2.5*walkEvery)
		toward(&turn, bend, 0.5*walkEvery)
		head += turn * walkEvery
		at = at.Add(throng.Vec2{X: math.Cos(head), Y: math.Sin(head)}.Scale(speed * walkEvery))
	}
	return w
}

func (w walk) at(t float64) throng.Vec2 {
	i, f := math.Modf(max(t, 0) / walkEvery)
	n := min(int(i), len(w)-2)
	return w[n].Lerp(w[n+1], f)
}

// smoothness is how a walk was drawn.
type smoothness struct {
	rms    float64       // of drawn(t) − true(t − delay(t)), in steps
	back   float64       // the farthest that a draw went against the way, in steps
	delay  time.Duration // mean, of what is drawn behind what is
	draws  int
	left   int // draws where more than one sample in a row did not come
	resets uint64
}

const walkStep = 0.4 // units: 100 ms at 4 units a second

// smooth plays a walk at 10 Hz, the driver's way through one pair of links and the observer's through another.
func smooth(t *testing.T, seed uint64, driver, observer throngtest.Link) (s smoothness) {
	type draw struct {
		t, delay float64 // s; delay of what is drawn by the relay's clock
		behind   float64 // of what is drawn while it moves
		at       throng.Vec2
		whole    bool
	}
	var draws []draw
	w := newWalk(seed, 270)
	synctest.Test(t, func(t *testing.T) {
		n := throngtest.New(t, MotionSchema)
		type sample struct {
			at    float64
			still bool
		}
		var came []sample
		a := n.Join("a", throng.Config{})
		b := n.Join("b", throng.Config{OnUpdates: func(_ *throng.World, batch []throng.Update) {
			for _, u := range batch {
				came = append(came, sample{u.Time.Seconds(), u.Still})
			}
		}})
		everywhere(a, b)
		n.Shape(a, driver, driver)
		n.Shape(b, observer, observer)
		n.Run(2 * time.Second)
		walker := &Walker{}
		must(t, a.Spawn(walker))
		start := time.Now()
		seconds := func() float64 { return time.Since(start).Seconds() }
		n.Step(a, func() { walker.pose.Pos = w.at(seconds()) })
		n.Step(b, func() {
			o, ok := b.Find(walker.NetID())
			if !ok || seconds() < 200 { // until the clocks have forgotten that the links were perfect
				return
			}
			now, _ := b.RelayTime()
			m := b.Explain(o).Motion
			d := draw{t: seconds(), delay: (now - m.Drawn).Seconds(), behind: m.Delay.Seconds(), at: o.(*Walker).pose.Pos, whole: true}
			for i := len(came) - 1; i > 0 && came[i].at > m.Drawn.Seconds(); i-- {
				if !came[i-1].still && came[i].at-came[i-1].at > 0.25 {
					d.whole = came[i-1].at > m.Drawn.Seconds()
				}
			}
			if last := came[len(came)-1]; last.at < m.Drawn.Seconds() && !last.still {
				d.whole = false // drawn beyond what came
			}
			draws = append(draws, d)
		})
		n.Run(265 * time.Second)
		if b.Stats().Motion.Jumps != 0 {
			t.Errorf("%+v", b.Stats().Motion)
		}
	})
	// What the clocks are off by, which is the same all the time and which nobody can see, belongs to the delay.
	measure := func(off float64) (rms float64, n int) {
		for _, d := range draws {
			if d.whole {
				e := d.at.Sub(w.at(d.t-d.delay-off)).Len() / walkStep
				rms += e * e
				n++
			}
		}
		return math.Sqrt(rms / float64(n)), n
	}
	best := 0.0
	s.rms = math.Inf(1)
	for off := -0.1; off < 0.2; off += 0.0005 {
		if rms, n := measure(off); rms < s.rms {
			s.rms, s.draws, best = rms, n, off
		}
	}
	s.left = len(draws) - s.draws
	sum := 0.0
	for i, d := range draws {
		sum += d.behind + best
		if i == 0 {
			continue
		}
		now := d.t - d.delay - best
		way := w.at(now + 0.02).Sub(w.at(now - 0.02))
		if l := way.Len(); l > 0.001 {
			s.back = max(s.back, -d.at.Sub(draws[i-1].at).Dot(way.Scale(1/l))/walkStep)
		}
	}
	s.delay = time.Duration(sum / float64(len(draws)) * float64(time.Second))
	return s
}

// Drawn by the samples that come through 80 ± 30 ms with 5 % loss, a walk is the walk, a little later: never back, and smooth wherever one of two
// samples arrived.
//
// P67: with two samples interpolation paused and jumped.
func TestP67AWalkIsDrawnSmoothly(t *testing.T) {
	hard := throngtest.Link{Latency: 80 * time.Millisecond, Jitter: 30 * time.Millisecond, Loss: 0.05}
	for name, tt := range map[string]struct {
		driver, observer throngtest.Link
		rms, back        float64       // in steps; rms and delay of all walks together
		delay            time.Duration // of one: a frame more
	}{
		"LAN":  {throngtest.LAN, throngtest.LAN, 0.01, 0.01, 250 * time.Millisecond},
		"down": {throngtest.LAN, hard, 0.01, 0.01, 300 * time.Millisecond},
		// Twice as long a way, and twice the loss: the delay still makes up for one lost sample, of most.
		"up and down": {hard, hard, 0.03, 0.10, 400 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			const walks = 20
			sum, behind := 0.0, time.Duration(0)
			for seed := range uint64(walks) {
				s := smooth(t, seed, tt.driver, tt.observer)
				t.Logf("walk %d: off by %.2f %% of a step (RMS of %d draws, %d left out), back by at most %.2f %%, %v behind on average", seed, 100*s.rms, s.draws, s.left, 100*s.back, s.delay.Round(time.Millisecond))
				behind += s.delay / walks
				if sum += s.rms * s.rms; s.back > tt.back || s.delay > tt.delay+throngtest.Frame || s.left > s.draws/8 {
					t.Errorf("walk %d is not smooth", seed)
				}
			}
			if rms := math.Sqrt(sum / walks); rms > tt.rms || behind > tt.delay {
				t.Errorf("off by %.2f %% of a step and %v behind, want %.2f %% and %v at most", 100*rms, behind, 100*tt.rms, tt.delay)
			}
		})
	}
}
