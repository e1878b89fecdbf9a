package main

import (
	"context"
	"encoding/json"
	"math"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// outcome is what the program prints.
type outcome struct {
	Policy    string   `json:"policy"`
	BodiesMax int      `json:"owner_bodies_max"`
	Overlap   float64  `json:"owner_overlap_s"`
	BlockedAt *float64 `json:"blocked_at"`
	Arrival   *float64 `json:"arrival_s"`
	Proxies   int      `json:"observer_proxies"`
	Naming    int64    `json:"owner_messages_naming_actor"`
}

// TestB117PoliciesAsProcesses runs the program once for each policy, all at once, and holds what it prints against the document: the
// gate and the rule together are right, either alone is not.
func TestB117PoliciesAsProcesses(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "minions")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	is := func(t *testing.T, what string, got *float64, want, within float64) {
		t.Helper()
		if got == nil || math.Abs(*got-want) > within {
			t.Errorf("%s is %s, want %.2f ± %.2f", what, show(got), want, within)
		}
	}
	some := func(t *testing.T, what string, got *float64) {
		t.Helper()
		if got == nil {
			t.Errorf("there is no %s", what)
		}
	}
	none := func(t *testing.T, what string, got *float64) {
		t.Helper()
		if got != nil {
			t.Errorf("%s is %.2f, want none", what, *got)
		}
	}
	// Exact times are for virtual time, see plane_test.go: here a machine that does other things too makes all of them longer.
	for _, c := range []struct {
		policy  string
		bodies  int
		proxies int
		named   bool
		check   func(t *testing.T, o outcome)
	}{
		{"gated", 1, 1, false, func(t *testing.T, o outcome) {
			none(t, "blocked at", o.BlockedAt)
			some(t, "arrival", o.Arrival)
			is(t, "overlap", &o.Overlap, 0, 0)
		}},
		{"legacy", 2, 1, true, func(t *testing.T, o outcome) {
			is(t, "blocked at", o.BlockedAt, 2*radius, 1)
			some(t, "arrival", o.Arrival)
			if o.Overlap < 4.5 || o.Arrival != nil && *o.Arrival < o.Overlap {
				t.Errorf("overlap is %.2f s, arrival %s: the document says about five, and that the dummy is held for as long", o.Overlap, show(o.Arrival))
			}
		}},
		{"rule-only", 2, 1, true, func(t *testing.T, o outcome) {
			some(t, "arrival", o.Arrival)
		}},
		{"gate-only", 2, 1, true, func(t *testing.T, o outcome) {
			is(t, "blocked at", o.BlockedAt, 2*radius, 1)
			none(t, "arrival", o.Arrival)
		}},
		{"never", 1, 0, false, func(t *testing.T, o outcome) { some(t, "arrival", o.Arrival) }},
		{"direct-owner", 2, 1, true, func(t *testing.T, o outcome) {
			is(t, "blocked at", o.BlockedAt, 2*radius, 1)
			none(t, "arrival", o.Arrival)
		}},
	} {
		t.Run(c.policy, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			limit := "4s" // for who never arrives
			if c.policy == "legacy" {
				limit = "20s"
			}
			cmd := exec.CommandContext(ctx, bin, "-json", "-policy", c.policy, "-limit", limit, "-hold", "200ms")
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			var o outcome
			if err := json.Unmarshal(out, &o); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			t.Logf("%s", out)
			if o.Policy != c.policy || o.BodiesMax != c.bodies || o.Proxies != c.proxies || (o.Naming > 0) != c.named {
				t.Errorf("printed %s", out)
			}
			c.check(t, o)
		})
	}
}

func show(f *float64) string {
	if f == nil {
		return "none"
	}
	b, _ := json.Marshal(*f)
	return string(b)
}
