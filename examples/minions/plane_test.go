package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/authority"
	"github.com/throng-dev/throng/authority/minion"
	"github.com/throng-dev/throng/throngtest"
)

// theatre is the game in virtual time: server, owner and observer with 80 ms between them and the relay, and back.
type theatre struct {
	*throngtest.Net
	g     *warden
	owner *player
	other *player
	tap   *wire
}

func perform(t *testing.T, p policy, f func(t *testing.T, h *theatre)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := throngtest.New(t, schema)
		h := &theatre{Net: n, g: newWarden(p, t.Logf)}
		cfg := h.g.config(throng.Config{})
		cfg.Config = n.Config("server", cfg.Config)
		cfg.TokenSource = throngtest.Authority("server")
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		var err error
		if h.g.server, err = authority.Join(ctx, n.Addr(), schema, cfg); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { h.g.server.Close() })
		n.AddTick("server", h.g.server.World(), func(func()) error { return h.g.server.Tick(h.g.step) })
		h.tap = &wire{Dialer: n.Dialer("owner")}
		h.owner = h.enter(t, p, "owner", throng.Config{Dialer: h.tap})
		h.other = h.enter(t, p, "observer", throng.Config{})
		link := throngtest.Link{Latency: 20 * time.Millisecond}
		for _, w := range []*throng.World{h.owner.w, h.other.w, h.g.server.World()} {
			n.Shape(w, link, link)
		}
		n.Run(time.Second)
		f(t, h)
	})
}

func (h *theatre) enter(t *testing.T, p policy, name string, cfg throng.Config) *player {
	pl := newPlayer(p, name == "owner", t.Logf)
	w := h.Join(name, pl.config(cfg))
	if err := pl.joined(w); err != nil {
		t.Fatal(err)
	}
	h.Step(w, func() {
		if err := pl.step(); err != nil {
			t.Error(err)
		}
	})
	return pl
}

// F1 and F10 in the plane: one body in every frame, nothing names it, there at two seconds, and still there seven later.
func TestF10HoldsItsPointForSevenSeconds(t *testing.T) {
	p, _ := policyOf("gated")
	perform(t, p, func(t *testing.T, h *theatre) {
		h.owner.ask()
		h.Run(10 * time.Second)
		r := h.owner.result
		if r.BodiesMax != 1 || h.tap.naming.Load() != 0 || h.other.result.Proxies != 1 {
			t.Errorf("bodies %d, named %d times, the observer has %d", r.BodiesMax, h.tap.naming.Load(), h.other.result.Proxies)
		}
		if d := r.Arrival - 2*time.Second; d < -2*frame || d > 2*frame {
			t.Errorf("there after %v", r.Arrival)
		}
		if r.MaxOff > arrival {
			t.Errorf("it was %.1f off afterwards", r.MaxOff)
		}
	})
}

// F1, F2, F8 as the legacy policy has them: the duplicate lasts as long as the channel lingers, whatever holds the dummy.
func TestF8TheDuplicateFollowsTheTimeout(t *testing.T) {
	for _, timeout := range []time.Duration{500 * time.Millisecond, 2 * time.Second, 5 * time.Second, 10 * time.Second} {
		t.Run(timeout.String(), func(t *testing.T) {
			p, _ := policyOf("legacy")
			p.timeout = timeout
			perform(t, p, func(t *testing.T, h *theatre) {
				h.owner.ask()
				h.Run(timeout + 4*time.Second)
				r := h.owner.result
				if d := r.Overlap - timeout; r.BodiesMax != 2 || d < 0 || d > 650*time.Millisecond {
					t.Errorf("%d bodies for %v", r.BodiesMax, r.Overlap)
				}
				if timeout >= 5*time.Second {
					if r.BlockedAt == nil || *r.BlockedAt < 2*radius-1 || *r.BlockedAt > 2*radius+1 {
						t.Errorf("held at %v", r.BlockedAt)
					}
				}
				if r.Arrival == 0 || h.tap.naming.Load() == 0 {
					t.Errorf("there after %v, named %d times", r.Arrival, h.tap.naming.Load())
				}
			})
		})
	}
}

// V46, V48: death and damage reach the owner by the key, though no record of the actor does.
func TestV46V48TheOwnerHearsOfItsMinion(t *testing.T) {
	p, _ := policyOf("gated")
	perform(t, p, func(t *testing.T, h *theatre) {
		h.owner.ask()
		h.Run(time.Second)
		key := h.g.minion.Key
		if !h.owner.crew.Has(key) || h.owner.dummy.Role() != throng.RoleAuthority {
			t.Fatalf("the owner has no stand-in for %v", key)
		}
		h.g.book.Revoke(key, minion.Died, "")
		h.g.queue = append(h.g.queue, func() { h.g.must(h.g.server.Destroy(h.g.minion)) })
		h.Until(time.Second, "the dummy and the proxy are gone", func() bool { return h.owner.dummy == nil && h.other.result.Proxies == 0 })
		if h.tap.naming.Load() != 0 {
			t.Error("the end of the actor named it to its owner")
		}
	})
}

// B-114: nothing can be sent of a stand-in.
func TestB114AStandInIsInNoWorld(t *testing.T) {
	p, _ := policyOf("gated")
	perform(t, p, func(t *testing.T, h *theatre) {
		h.owner.ask()
		h.Run(time.Second)
		w, d := h.owner.w, h.owner.dummy
		for what, err := range map[string]error{
			"MarkDirty": w.MarkDirty(d, &d.HP), "Override": w.Override(d, &d.HP), "Destroy": w.Destroy(d), "Spawn": w.Spawn(d),
			"Grant": w.Grant(d, h.other.w.Self()), "RequestOwnership": w.RequestOwnership(d),
		} {
			if !errors.Is(err, throng.ErrStandIn) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if !d.NetID().IsZero() {
			t.Error("it has a NetID")
		}
	})
}
