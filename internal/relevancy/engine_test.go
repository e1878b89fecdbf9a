package relevancy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

const tick = time.Second / 30

var (
	ann = Player{1}
	bob = Player{2}
	cid = Player{3}
)

func yes(int, int) Answer { return Answer{Relevant, "always"} }

// stage drives an Engine through ticks.
type stage struct {
	*Engine
	now  time.Duration
	rule Rule
}

func (s *stage) run(n int) (changes []Change) {
	for range n {
		s.now += tick
		changes = append(changes, s.Tick(s.now, s.rule)...)
	}
	return changes
}

func (s *stage) until(t *testing.T, limit time.Duration, cond func() bool) time.Duration {
	t.Helper()
	for from := s.now; !cond(); s.run(1) {
		if s.now-from > limit {
			t.Fatalf("did not happen within %v", limit)
		}
	}
	return s.now
}

func TestB112ZeroAnswerHides(t *testing.T) {
	s := stage{Engine: New(Policy{}), rule: func(int, int) Answer { return Answer{} }}
	v, n := s.AddViewer(ann), s.AddActor(0)
	s.Publish(n)
	if c := s.run(3); len(c) != 0 || s.Allowed(v, n) {
		t.Errorf("a rule that decides nothing shows: %v", c)
	}
	if r, ok := s.Explain(v, n); !ok || r.Answer.Reason == "" || s.Stats().Mute == 0 {
		t.Errorf("I9: a no without reason: %+v, %v, %+v", r, ok, s.Stats())
	}
}

func TestB111OnlyPublishedActorsAreOffered(t *testing.T) {
	s := stage{Engine: New(Policy{}), rule: yes}
	v, n := s.AddViewer(ann), s.AddActor(time.Hour)
	if s.run(30); s.Allowed(v, n) || s.Stats().Asked != 0 {
		t.Error("an actor that is not published was asked about")
	}
	s.Publish(n)
	if c := s.run(1); len(c) != 1 || c[0] != (Change{v, n, true}) {
		t.Errorf("published: %v", c)
	}
	s.Withdraw(n)
	if c := s.run(1); len(c) != 1 || c[0] != (Change{v, n, false}) {
		t.Errorf("V39: withdrawn, in one tick: %v", c)
	}
	if r, _ := s.Explain(v, n); r.Answer.Reason != "not published" {
		t.Errorf("withdrawn: %+v", r)
	}
}

func TestB112V16DenyClosesInOneTickWhateverElseSaysYes(t *testing.T) {
	s := stage{Engine: New(Policy{}), rule: yes}
	a, b, n := s.AddViewer(ann), s.AddViewer(bob), s.AddActor(time.Hour)
	s.SetOwner(n, Player{}, true, true)
	s.Publish(n)
	s.run(30)
	if !s.Allowed(a, n) || !s.Allowed(b, n) {
		t.Fatal("an ownerless actor is not open for all")
	}
	s.SetOwner(n, ann, true, true)
	if c := s.run(1); len(c) != 1 || c[0] != (Change{a, n, false}) {
		t.Errorf("the owner was not denied within a tick: %v", c)
	}
	// V25: a change of owner is one tick for both.
	s.SetOwner(n, bob, true, true)
	c := s.run(1)
	slices.SortFunc(c, func(x, y Change) int { return x.Viewer - y.Viewer })
	if len(c) != 2 || c[0] != (Change{a, n, true}) || c[1] != (Change{b, n, false}) {
		t.Errorf("V25: from ann to bob: %v", c)
	}
	// V23: another session of the same player is denied as well; V24: who gets its number afterwards is not.
	again := s.AddViewer(bob)
	if s.run(2); s.Allowed(again, n) {
		t.Error("V23: the owner's second session may know")
	}
	s.RemoveViewer(again)
	if other := s.AddViewer(cid); other != again {
		t.Fatalf("the number %d was not used again, but %d", again, other)
	}
	if s.run(1); !s.Allowed(again, n) {
		t.Error("V24: a denial went to who has the number now")
	}
}

// P13: as long as the owner is not known, the actor is offered to nobody: there is no body to take away later.
func TestB111V5UnknownOwnerOpensNothingAndRaisesAnAlarm(t *testing.T) {
	s := stage{Engine: New(Policy{}), rule: yes}
	v, n := s.AddViewer(bob), s.AddActor(0)
	s.SetOwner(n, Player{}, false, true)
	s.Publish(n)
	var raised []time.Duration
	start := s.now + tick
	for range 30 * 5 {
		s.run(1)
		for range s.Alarms() {
			raised = append(raised, s.now-start)
		}
		if s.Allowed(v, n) {
			t.Fatal("open though the owner is unknown")
		}
	}
	if len(raised) != 1 || raised[0] < 2*time.Second || raised[0] > 2*time.Second+tick {
		t.Errorf("alarms after %v, want one after 2 s", raised)
	}
	// V6: it opens in the tick that knows.
	s.SetOwner(n, ann, true, true)
	if c := s.run(1); len(c) != 1 || !c[0].Allowed {
		t.Errorf("V6: known: %v", c)
	}
	// V7, V22: an owner that becomes unknown closes nothing, and stays denied.
	a := s.AddViewer(ann)
	s.SetOwner(n, Player{}, false, true)
	if c := s.run(30 * 20); len(c) != 0 || s.Allowed(a, n) || !s.Allowed(v, n) {
		t.Errorf("V7: unknown again: %v", c)
	}
	// A newcomer meanwhile is shown nothing.
	w := s.AddViewer(cid)
	if s.run(2); s.Allowed(w, n) {
		t.Error("opened for a newcomer though the owner is unknown")
	}
}

func TestB112FarLingersAsConfigured(t *testing.T) {
	near := true
	s := stage{Engine: New(Policy{})}
	s.rule = func(int, int) Answer {
		if near {
			return Answer{Near, "distance"}
		}
		return Answer{Far, "distance"}
	}
	v, n, hasty := s.AddViewer(ann), s.AddActor(2*time.Second), s.AddActor(0)
	s.Publish(n)
	s.Publish(hasty)
	s.run(10)
	near = false
	left := s.now
	s.run(1)
	if s.Allowed(v, hasty) {
		t.Error("an actor without linger stays")
	}
	if r, _ := s.Explain(v, n); r.After != Lingering {
		t.Errorf("an actor with linger is %v", r.After)
	}
	// V17: back in time there is no close, V44: whatever the rhythm.
	for i := range 60 {
		near = i%2 == 0
		for _, c := range s.run(30) {
			if c.Actor == n {
				t.Fatalf("V44: second %d: %v", i, c)
			}
		}
	}
	near = true
	s.run(1)
	near, left = false, s.now
	gone := s.until(t, 3*time.Second, func() bool { return !s.Allowed(v, n) })
	if d := gone - left; d < 2*time.Second-tick || d > 2*time.Second+tick {
		t.Errorf("gone after %v, the linger is 2 s", d)
	}
}

// TestB117LingerOfTheLegacyPolicy holds the distributions of the reference table against it: F2, and an answer that flips later.
func TestB117LingerOfTheLegacyPolicy(t *testing.T) {
	measure := func(timeout, before time.Duration) (min, median, max float64) {
		var all []float64
		for seed := range uint64(2000) {
			s := stage{Engine: New(Policy{Legacy: true, Timeout: timeout, Seed: seed})}
			r := rand.New(rand.NewPCG(seed, 1))
			s.now = time.Duration(r.Float64() * float64(tick))
			flip := before
			if before > 0 {
				flip += time.Duration(r.Float64() * float64(time.Second))
			}
			var opened time.Duration
			s.rule = func(int, int) Answer {
				if opened == 0 || s.now < opened+flip {
					return Answer{Relevant, "base"}
				}
				return Answer{Hidden, "tank ownership"}
			}
			v, n := s.AddViewer(ann), s.AddActor(0)
			s.Publish(n)
			s.run(1)
			opened = s.now
			from := opened + flip
			closed := s.until(t, timeout+before+7*time.Second, func() bool { return !s.Allowed(v, n) })
			all = append(all, (closed - from).Seconds())
		}
		slices.Sort(all)
		return all[0], all[len(all)/2], all[len(all)-1]
	}
	for _, c := range []struct {
		timeout, before  time.Duration
		min, median, max float64
	}{
		{5 * time.Second, 0, 5.03, 5.27, 5.53},
		{2 * time.Second, 0, 2.03, 2.27, 2.53},
		{500 * time.Millisecond, 0, 0.53, 0.77, 1.03},
		{10 * time.Second, 0, 10.03, 10.27, 10.53},
		{5 * time.Second, 20 * time.Second, 3.97, 4.64, 5.53},
		{2 * time.Second, 20 * time.Second, 0.97, 1.63, 2.52},
	} {
		min, median, max := measure(c.timeout, c.before)
		t.Logf("timeout %v, relevant for %v before: %.2f / %.2f / %.2f s, the table says %.2f / %.2f / %.2f", c.timeout, c.before, min, median, max, c.min, c.median, c.max)
		for _, d := range [][2]float64{{min, c.min}, {median, c.median}, {max, c.max}} {
			if math.Abs(d[0]-d[1]) > 0.07 {
				t.Errorf("%.3f s, the table says %.2f", d[0], d[1])
			}
		}
	}
}

// TestL3LegacyAsksOpenChannelsOnceASecond counts rules asked in 30 s.
func TestL3LegacyAsksOpenChannelsOnceASecond(t *testing.T) {
	s := stage{Engine: New(Policy{Legacy: true}), rule: yes}
	s.AddViewer(ann)
	s.Publish(s.AddActor(0))
	s.run(30 * 30)
	if n := s.Stats().Asked; n < 20 || n > 30 {
		t.Errorf("asked %d times in 30 s, want 20 to 30", n)
	}
}

func TestB115RecordsOnChangeOnly(t *testing.T) {
	s := stage{Engine: New(Policy{})}
	reason := "first"
	s.rule = func(int, int) Answer { return Answer{Relevant, reason} }
	var log []string
	s.Changed = func(r Record) {
		log = append(log, fmt.Sprintf("%v %s %v>%v", r.Answer.Kind, r.Answer.Reason, r.Before, r.After))
	}
	n := s.AddActor(0)
	s.SetOwner(n, bob, true, true)
	s.Publish(n)
	s.AddViewer(ann)
	s.run(10)
	reason = "second"
	s.run(10)
	s.SetOwner(n, ann, true, true)
	s.run(10)
	want := "[relevant first none>open relevant second open>open hidden its owner has a local stand-in open>none]"
	if fmt.Sprint(log) != want {
		t.Errorf("records %v, want %v", log, want)
	}
	if _, ok := s.Explain(5, n); ok {
		t.Error("explained a pair that is none")
	}
}

// TestB112AsksAreBounded plays a world that is too large for one tick: all pairs are asked in turn, newcomers and changed actors at once.
func TestB112AsksAreBounded(t *testing.T) {
	const actors, viewers, asks = 500, 10, 1000
	s := stage{Engine: New(Policy{Asks: asks})}
	asked := map[[2]int]int{}
	s.rule = func(v, n int) Answer { asked[[2]int{v, n}]++; return Answer{Relevant, "x"} }
	for range actors {
		s.Publish(s.AddActor(0))
	}
	for i := range viewers {
		s.AddViewer(Player{byte(i + 1)})
	}
	s.run(1)
	clear(asked)
	before := s.Stats().Asked
	s.run(actors * viewers / asks)
	if n := s.Stats().Asked - before; n != actors*viewers || len(asked) != actors*viewers {
		t.Errorf("asked %d of %d pairs %d times", len(asked), actors*viewers, n)
	}
	clear(asked)
	for _, n := range []int{0, actors / 2, actors - 1} { // whose turn it is in none of these ticks, or in one of them
		e := [2]int{0, n}
		delete(asked, e)
		s.Reconsider(n)
		if s.run(1); asked[e] == 0 {
			t.Errorf("actor %d was reconsidered, and had to wait for its turn", n)
		}
	}
	last := Player{99}
	v := s.AddViewer(last)
	s.run(1)
	for n := range actors {
		if !s.Allowed(v, n) {
			t.Fatalf("a newcomer was not asked about actor %d in its first tick", n)
		}
	}
	s.SetOwner(actors-1, last, true, true)
	if c := s.run(1); len(c) != 1 || c[0].Allowed {
		t.Errorf("a changed owner: %v", c)
	}
}

func TestReasonsAreBounded(t *testing.T) {
	s := stage{Engine: New(Policy{})}
	i := 0
	s.rule = func(int, int) Answer { i++; return Answer{Relevant, fmt.Sprint(i)} }
	v := s.AddViewer(ann)
	n := s.AddActor(0)
	s.Publish(n)
	s.run(2 * maxReasons)
	if len(s.reasons) > maxReasons {
		t.Errorf("%d reasons are kept", len(s.reasons))
	}
	if r, _ := s.Explain(v, n); r.Answer.Reason != "too many reasons" {
		t.Errorf("the reason is %q", r.Answer.Reason)
	}
}

// TestB112LikeTheModel plays random programs on the Engine and on the rules in their plainest form.
func TestB112LikeTheModel(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 9))
		type facts struct {
			published, unknown, exclude bool
			owner                       Player
		}
		const actors = 4
		var (
			now     time.Duration
			answers [4][actors]Kind
			model   [actors]facts
			open    [4][actors]bool
			players [4]Player
			in      [4]bool
		)
		e := New(Policy{})
		for n := range actors {
			e.AddActor(0)
			model[n].owner = Player{}
			e.SetOwner(n, Player{}, true, false)
		}
		for range 200 {
			n, v := r.IntN(actors), r.IntN(4)
			switch r.IntN(6) {
			case 0:
				model[n].published = r.IntN(3) > 0
				if model[n].published {
					e.Publish(n)
				} else {
					e.Withdraw(n)
				}
			case 1:
				known := r.IntN(3) > 0
				p := Player{byte(r.IntN(4))}
				model[n].unknown, model[n].exclude = !known, r.IntN(3) > 0
				if known {
					model[n].owner = p
				}
				e.SetOwner(n, p, known, model[n].exclude)
			case 2:
				if in[v] {
					e.RemoveViewer(v)
					in[v], open[v] = false, [actors]bool{}
				}
			case 3:
				if !in[v] {
					p := Player{byte(1 + r.IntN(3))}
					got := e.AddViewer(p)
					in[got], players[got] = true, p
				}
			default:
				answers[v][n] = Kind(r.IntN(5))
			}
			now += tick
			changes := e.Tick(now, func(v, n int) Answer { return Answer{answers[v][n], "r"} })
			for v := range 4 {
				for n := range actors {
					f := &model[n]
					if !in[v] {
						continue
					}
					was := open[v][n]
					switch {
					case !f.published, f.exclude && f.owner != (Player{}) && players[v] == f.owner:
						open[v][n] = false
					case f.unknown, answers[v][n] == Unresolved:
					default:
						open[v][n] = answers[v][n].Shows()
					}
					if e.Allowed(v, n) != open[v][n] {
						t.Fatalf("seed %d: viewer %d, actor %d: allowed %v", seed, v, n, !open[v][n])
					}
					if told := slices.Contains(changes, Change{v, n, open[v][n]}); told != (was != open[v][n]) {
						t.Fatalf("seed %d: viewer %d, actor %d: changed %v, told %v", seed, v, n, was != open[v][n], told)
					}
				}
			}
		}
	}
}

func TestTickAllocatesNothing(t *testing.T) {
	s := stage{Engine: New(Policy{}), rule: yes}
	for i := range 10 {
		s.AddViewer(Player{byte(i + 1)})
	}
	for range 100 {
		s.Publish(s.AddActor(0))
	}
	s.run(3)
	if n := testing.AllocsPerRun(100, func() { s.run(1) }); n != 0 {
		t.Errorf("a steady tick allocates %v times", n)
	}
}

func BenchmarkTick(b *testing.B) {
	for _, actors := range []int{5000, 50000} {
		b.Run(fmt.Sprintf("viewers=100/actors=%d", actors), func(b *testing.B) {
			s := stage{Engine: New(Policy{})}
			owners := make([]Player, actors)
			s.rule = func(v, n int) Answer {
				if owners[n] == s.viewers[v].player {
					return Answer{Hidden, "owner"}
				}
				return Answer{Relevant, "base"}
			}
			for i := range 100 {
				s.AddViewer(Player{byte(i + 1)})
			}
			for i := range actors {
				n := s.AddActor(0)
				owners[n] = Player{byte(i%100 + 1)}
				s.SetOwner(n, owners[n], true, true)
				s.Publish(n)
			}
			s.run(2)
			asked := s.Stats()
			for b.Loop() {
				s.run(1)
			}
			now := s.Stats()
			pairs := float64(now.Asked + now.Excluded - asked.Asked - asked.Excluded)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/pairs, "ns/pair")
			b.ReportMetric(pairs/float64(b.N), "pairs/tick")
		})
	}
}

// The exclusion check alone: every pair is denied before the rule.
func BenchmarkExclusion(b *testing.B) {
	s := stage{Engine: New(Policy{}), rule: yes}
	for range 100 {
		s.AddViewer(ann)
	}
	for range 5000 {
		n := s.AddActor(0)
		s.SetOwner(n, ann, true, true)
		s.Publish(n)
	}
	s.run(2)
	for b.Loop() {
		s.run(1)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/500000, "ns/pair")
}
