package conformance

import (
	"flag"
	"strings"
	"testing"
	"time"
)

var (
	programs = flag.Int("programs", 0, "random programs to play in each mode; 0: 300, or 40 with the race detector, which finds nothing here")
	first    = flag.Uint64("seed", 1, "first seed")
	only     = flag.String("mode", "", "play this mode only")
	tracing  = flag.Bool("tell", false, "tell of a failing kept program what every client takes and sends")
)

// TestPrograms is: no loss, double or reordering of packets loses a write, leaves a zombie or makes two drivers.
func TestPrograms(t *testing.T) {
	if *programs == 0 {
		if *programs = 300; raced { // one goroutine
			*programs = 40
		}
	}
	for _, m := range Modes() {
		if *only != "" && m.Name != *only {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			var sum Result
			for seed := *first; seed < *first+uint64(*programs); seed++ {
				p, res := Generate(seed, m.Name, Options{})
				if res.Bad != "" {
					report(t, seed, p, res)
				}
				sum.Checked += res.Checked
				sum.Slots += res.Slots
				sum.Calms += res.Calms
				sum.Rests += res.Rests
			}
			if sum.Checked == 0 || sum.Slots == 0 && !m.PassThrough {
				t.Fatal("no program left anything to compare")
			}
			t.Logf("%d programs, %d calms of %v on average, %d pairs and %d slots compared", *programs, sum.Calms, sum.Rests/time.Duration(max(1, sum.Calms)), sum.Checked, sum.Slots)
		})
	}
}

// report makes a failing program small and shows it, as text that can be kept in testdata.
func report(t *testing.T, seed uint64, p *Program, res Result) {
	t.Helper()
	t.Errorf("mode %q seed %d: %s", p.Mode, seed, res.Bad)
	small, res := Shrink(p, Options{}, 0)
	t.Logf("a small one, to keep as testdata/NAME.program:\n# %s\n%s", res.Bad, small)
	t.Fatalf("what happened in it:\n%s", strings.Join(Play(small, Options{Log: true}).Log, "\n"))
}

// TestSeedsRepeat: a failure must play again exactly, drawn anew or from its text.
func TestSeedsRepeat(t *testing.T) {
	for _, m := range Modes() {
		for seed := uint64(1); seed < 10; seed++ {
			p, a := Generate(seed, m.Name, Options{Log: true})
			_, b := Generate(seed, m.Name, Options{Log: true})
			q, err := Parse(p.String())
			if err != nil {
				t.Fatal(err)
			}
			c := Play(q, Options{Log: true})
			if !same(a, b) || !same(a, c) {
				t.Fatalf("%s, seed %d: %d packets, then %d, from text %d\n%+v\n%+v\n%+v", m.Name, seed, a.Packets, b.Packets, c.Packets, a.Stats, b.Stats, c.Stats)
			}
		}
	}
}

func same(a, b Result) bool {
	return a.Packets == b.Packets && a.Stats == b.Stats && strings.Join(a.Log, "\n") == strings.Join(b.Log, "\n")
}
