package minion

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/throng-dev/throng"
)

// V49: for an hour dummy and actor walk to the same points, each past walls that the other does not have. The dummy is never farther from
// where its actor was last seen than the law allows: beyond two radii for no longer than it takes to notice, beyond ten not at all.
func TestV49DriftIsBoundedForAnHour(t *testing.T) {
	const (
		radius = 34.0
		step   = 50 * time.Millisecond
		speed  = 300.0
		rtt    = 80 * time.Millisecond
	)
	r := rand.New(rand.NewPCG(4, 9))
	b, c := NewBook(BookConfig{}), newClient(ann)
	b.Present(ann, true)
	k := b.Reserve(ann, 1)
	if err := b.Grant(k, throng.NewID(), at(0), 1); err != nil {
		t.Fatal(err)
	}
	deliver(0, b, c)
	type mail struct {
		due time.Duration
		msg any
	}
	var (
		post          []mail
		actor, goal   float64
		wallA, wallD  = math.Inf(1), math.Inf(1) // nobody walks past its own
		far           time.Duration              // beyond two radii since
		mended, clock time.Duration
		longest       time.Duration
		worst         float64
		softly, apart int
		dummyGoal     func() float64
		towards       = math.NaN() // a soft correction is walked, not jumped
	)
	dummyGoal = func() float64 {
		if !math.IsNaN(towards) {
			return towards
		}
		return goal
	}
	c.cfg.Correct = func(k Key, p Pose, soft bool) {
		if soft {
			softly++
			towards, mended = p.At.X, clock
			return
		}
		c.bodies[k] = p
		mended, wallD = clock, math.Inf(1) // it is on the other side now
	}
	walk := func(from, to, wall float64) float64 {
		d := math.Max(-speed*step.Seconds(), math.Min(speed*step.Seconds(), to-from))
		return math.Min(from+d, wall)
	}
	for now := time.Duration(0); now < time.Hour; now += step {
		clock = now
		if r.IntN(100) == 0 {
			goal = r.Float64() * 2000
		}
		if r.IntN(150) == 0 { // walls come and go, of one side at a time
			wallA, wallD = math.Inf(1), math.Inf(1)
			switch r.IntN(3) {
			case 0:
				wallA = actor + r.Float64()*300
			case 1:
				wallD = c.bodies[k].At.X + r.Float64()*300
			}
		}
		actor = walk(actor, goal, wallA)
		dummy := c.bodies[k].At.X
		moved := walk(dummy, dummyGoal(), wallD)
		if math.Abs(moved-dummyGoal()) < 1 {
			towards = math.NaN()
		}
		c.bodies[k] = at(moved)
		b.Place(now, k, at(actor))
		for _, o := range b.Out() {
			post = append(post, mail{now + rtt/2, o.Msg})
		}
		for len(post) > 0 && post[0].due <= now {
			if r.IntN(10) > 0 { // hints may be lost
				c.Receive(now, post[0].msg)
			}
			post = post[1:]
		}
		c.Tick(now)
		d := c.held[k.slot()]
		drift := math.Abs(c.bodies[k].At.X - d.actor.At.X)
		worst = math.Max(worst, drift)
		if drift > softDrift*radius {
			apart++
			if far == 0 {
				far = now
			}
			if math.IsNaN(towards) { // nothing is done about it
				longest = max(longest, now-max(far, mended))
			}
		} else {
			far = 0
		}
	}
	t.Logf("%d soft corrections, %d at once, apart in %.1f %% of the time, for %v at most without a correction, at most %.0f", softly, c.Stats().Snapped,
		100*float64(apart)/float64(time.Hour/step), longest, worst)
	if softly == 0 || apart == 0 {
		t.Error("they never drifted: nothing was tried")
	}
	if worst > snapDrift*radius+speed*step.Seconds() {
		t.Errorf("%.0f apart, ten radii are %.0f", worst, snapDrift*radius)
	}
	if longest > 2*driftTime+HintEvery {
		t.Errorf("beyond two radii for %v without a correction", longest)
	}
}
