package conformance

import (
	"testing"

	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/shard"
)

// TestShrink: a failing program becomes a short one that fails too, plays again from its text, and holds nothing to spare.
func TestShrink(t *testing.T) {
	for _, f := range []struct {
		name, mode string
		opt        Options
		most       int // operations left
	}{
		{"guest forgotten", "one lane", Options{Relay: shard.Faults{GuestForgotten: true}}, 10},
		{"echo applied", "one lane", Options{Client: registry.Faults{EchoApplied: true}}, 16},
		{"no end mark", "restarts", Options{Client: registry.Faults{NoEndMark: true}}, 10},
	} {
		t.Run(f.name, func(t *testing.T) {
			var p *Program
			for seed := uint64(1); ; seed++ {
				var res Result
				if p, res = Generate(seed, f.mode, f.opt); res.Bad != "" {
					break
				}
			}
			small, res := Shrink(p, f.opt, 0)
			t.Logf("%d operations became %d: %s\n%s", len(p.Ops), len(small.Ops), res.Bad, small)
			if len(small.Ops) > f.most {
				t.Errorf("%d operations are left", len(small.Ops))
			}
			q, err := Parse(small.String())
			if err != nil {
				t.Fatal(err)
			}
			if again := Play(q, f.opt); again.Bad != res.Bad || res.Bad == "" {
				t.Errorf("from its text: %q, not %q", again.Bad, res.Bad)
			}
			if sound := Play(q, Options{}); sound.Bad != "" {
				t.Errorf("without the fault: %s", sound.Bad)
			}
			s := shrinker{best: small}
			for i := range small.Ops {
				p := s.without(i, 1, true)
				if Play(p, f.opt).Bad != "" {
					t.Errorf("it fails without operation %d, %v", i, small.Ops[i])
				}
			}
		})
	}
}

// TestParse: what is no program is refused with the line.
func TestParse(t *testing.T) {
	for name, text := range map[string]string{
		"no seat":       "mode one lane\nseed 1\n",
		"mode":          "mode none\nseat 0 lan\n",
		"link":          "seat 0 string and cans\n",
		"operation":     "seat 0 lan\n+1 0 dance\n",
		"seat of op":    "seat 0 lan\n+1 1 join\n",
		"negative wait": "seat 0 lan\n+-1 0 join\n",
		"no number":     "seat 0 lan\n+1 0 look x\n",
		"word":          "seat 0 lan\nplay\n",
	} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
