package throngtest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/throngtest"
	"github.com/throng-dev/throng/token"
	"github.com/throng-dev/throng/transport"
)

func joinError(t *testing.T, err error) *throng.JoinError {
	t.Helper()
	var je *throng.JoinError
	if !errors.As(err, &je) {
		t.Fatalf("%v is no JoinError", err)
	}
	return je
}

// A refused Join says what to do next (B-131, R-63).
func TestJoinErrors(t *testing.T) {
	broken := func(context.Context) ([]byte, error) { return make([]byte, transport.UserDataSize), nil }
	down := errors.New("the backend is down")
	for _, tt := range []struct {
		name  string
		cfg   func(n *throngtest.Net) throng.Config
		retry throng.Retry
		says  string
		is    error
	}{
		{"token source fails", func(*throngtest.Net) throng.Config {
			return throng.Config{TokenSource: func(context.Context) ([]byte, error) { return nil, down }}
		}, throng.RetryLater, "backend is down", down},
		{"claims that cannot be read", func(*throngtest.Net) throng.Config { return throng.Config{TokenSource: broken} }, throng.RetryFresh, "claims", nil},
		{"no rights", func(*throngtest.Net) throng.Config { return throng.Config{TokenSource: tokens("x", 0)} }, throng.RetryNever, "mint it with the player", nil},
		{"a token for another level", func(*throngtest.Net) throng.Config {
			return throng.Config{TokenSource: func(context.Context) ([]byte, error) {
				c := token.Claims{Player: [16]byte{1}, Rights: token.Player, World: relay.WorldHash("elsewhere"), Issued: time.Now()}
				return c.Append(nil), nil
			}}
		}, throng.RetryNever, "another level", nil},
		{"carrier: token used", func(n *throngtest.Net) throng.Config {
			return throng.Config{Dialer: &tap{Dialer: n.Dialer("x"), fail: transport.ErrTokenUsed}}
		}, throng.RetryFresh, "token", transport.ErrTokenUsed},
		{"carrier: full", func(n *throngtest.Net) throng.Config {
			return throng.Config{Dialer: &tap{Dialer: n.Dialer("x"), fail: transport.ErrRefused}}
		}, throng.RetryLater, "full", transport.ErrRefused},
		{"carrier: nobody answers", func(n *throngtest.Net) throng.Config {
			return throng.Config{Dialer: &tap{Dialer: n.Dialer("x"), fail: transport.ErrTimeout}}
		}, throng.RetryFresh, "answer", transport.ErrTimeout},
	} {
		t.Run(tt.name, func(t *testing.T) {
			play(t, func(t *testing.T, n *throngtest.Net) {
				w, err := throng.Join(t.Context(), n.Addr(), Game, n.Config("x", tt.cfg(n)))
				if w != nil {
					t.Error("a World came along")
				}
				je := joinError(t, err)
				if je.Retry != tt.retry || !strings.Contains(je.Error(), tt.says) || je.Addr != n.Addr() || tt.is != nil && !errors.Is(err, tt.is) {
					t.Errorf("%v, want %q, retry %v", je, tt.says, tt.retry)
				}
			})
		})
	}
}

// A relay that is full says so (B-132).
func TestJoinFullRelay(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		n.Join("a", throng.Config{})
		_, err := throng.Join(t.Context(), n.Addr(), Game, n.Config("b", throng.Config{}))
		if je := joinError(t, err); je.Retry != throng.RetryLater || !strings.Contains(je.Error(), "full") {
			t.Error(je)
		}
	}, func(c *relay.Config) { c.MaxSessions = 1 })
}

// Nobody answers at the address, or the path is dead: Join gives up.
func TestJoinTimesOut(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		began := time.Now()
		_, err := throng.Join(t.Context(), "nowhere", Game, n.Config("a", throng.Config{}))
		if je := joinError(t, err); je.Retry != throng.RetryFresh || !errors.Is(err, transport.ErrTimeout) {
			t.Error(je)
		}
		if d := time.Since(began); d > 15*time.Second {
			t.Errorf("it took %v", d)
		}
	})
}

// Join ends with its context, and leaves nothing behind: the bubble would notice a goroutine.
func TestJoinCancelled(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		began := time.Now()
		_, err := throng.Join(ctx, "nowhere", Game, n.Config("a", throng.Config{}))
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		joinError(t, err)
		gone, stop := context.WithCancel(t.Context())
		stop()
		if _, err := throng.Join(gone, n.Addr(), Game, n.Config("a", throng.Config{})); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// The context is for joining only.
func TestJoinContextHasNoEffectAfterwards(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		ctx, cancel := context.WithCancel(t.Context())
		w, err := throng.Join(ctx, n.Addr(), Game, n.Config("a", throng.Config{}))
		must(t, err)
		n.Add("a", w)
		cancel()
		n.Run(5 * time.Second)
		thing := full("x")
		must(t, w.Spawn(thing))
		b := n.Join("b", throng.Config{})
		everywhere(b)
		n.Until(time.Second, "b sees it", sees(thing, b))
		n.Partition(w, true)
		n.Run(20 * time.Second)
		n.Partition(w, false)
		thing.Text = "back"
		n.Until(20*time.Second, "it reconnects", sees(thing, b))
	})
}

// Everything wrong with a Config is said at once, before anything is dialled.
func TestJoinConfig(t *testing.T) {
	foreign := throng.NewClass[Told]("elsewhere", throng.ClassConfig{})
	_, err := throng.Join(t.Context(), "nowhere", Game, throng.Config{World: strings.Repeat("x", 129), Rate: 61, Keyframe: time.Millisecond, MaxEntities: -1,
		Hooks: []throng.Hook{{}, foreign.Bind(throng.Hooks[Told]{})}})
	for _, want := range []string{"TokenSource", "World", "Rate", "Keyframe", "MaxEntities", "Hooks[0]", "Hooks[1]"} {
		if err == nil || !strings.Contains(err.Error(), "Config."+want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
	if _, err := throng.Join(t.Context(), "nowhere", nil, throng.Config{}); err == nil {
		t.Error("Join without a schema")
	}
}

// JoinAsync returns at once and connects while it is ticked, however often that fails for now (B-050: nothing is derived
// before the player is known).
func TestJoinAsync(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var states diary
		d := &tap{Dialer: n.Dialer("a"), fail: transport.ErrTimeout}
		w, err := throng.JoinAsync(n.Addr(), Game, n.Config("a", throng.Config{Dialer: d, OnState: func(w *throng.World, s throng.ConnState) {
			states.note("%v %v", s.Phase, s.Err != nil)
		}}))
		must(t, err)
		n.Add("a", w)
		for _, opt := range [][]throng.SpawnOption{nil, {throng.AsAvatar()}} {
			if err := w.Spawn(full("x"), opt...); !errors.Is(err, throng.ErrNotLive) {
				t.Errorf("Spawn before it is live: %v", err)
			}
		}
		if _, known := w.Host(); known || !w.Self().IsZero() || w.IsHost() || w.Profile() != (throng.Profile{}) {
			t.Error("it knows more than it can")
		}
		n.Run(5 * time.Second)
		states.want(t)
		d.mu.Lock()
		if d.fail = nil; d.dials < 3 {
			t.Errorf("%d attempts", d.dials)
		}
		d.mu.Unlock()
		n.Until(20*time.Second, "it is live", func() bool { return !w.Self().IsZero() })
		states.want(t, "live false")
		must(t, w.Spawn(full("x"), throng.AsAvatar()))
	})
}

// A refusal for good ends a World that joined asynchronously: Tick returns it from then on.
func TestJoinAsyncRefused(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var states diary
		w, err := throng.JoinAsync(n.Addr(), Game, n.Config("a", throng.Config{TokenSource: tokens("a", 0), OnState: func(w *throng.World, s throng.ConnState) {
			states.note("%v %v", s.Phase, joinError(t, s.Err).Retry)
		}}))
		must(t, err)
		var final error
		for range 100 {
			n.Run(throngtest.Frame)
			if final = w.Tick(nil); final != nil {
				break
			}
		}
		joinError(t, final)
		states.want(t, "closed never")
		if again := w.Tick(nil); again != final {
			t.Errorf("then %v", again)
		}
		if err := w.Spawn(full("x")); !errors.Is(err, throng.ErrClosed) {
			t.Errorf("Spawn: %v", err)
		}
		must(t, w.Close())
		must(t, w.Close())
	})
}

// After Close nothing works any more and nothing hangs; OnState tells, without an error.
func TestClose(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var states diary
		a := n.Join("a", throng.Config{OnState: func(w *throng.World, s throng.ConnState) { states.note("%v %v", s.Phase, s.Err) }})
		b := n.Join("b", throng.Config{})
		everywhere(a, b)
		thing := full("x")
		must(t, a.Spawn(thing))
		n.Until(time.Second, "b sees it", sees(thing, b))
		n.Forget(a)
		must(t, a.Close())
		must(t, a.Close())
		ran := false
		if err := a.Tick(func() { ran = true }); !errors.Is(err, throng.ErrClosed) || ran {
			t.Errorf("Tick after Close: %v, ran %v", err, ran)
		}
		if err := a.Spawn(full("y")); !errors.Is(err, throng.ErrClosed) {
			t.Errorf("Spawn after Close: %v", err)
		}
		must(t, a.MarkDirty(thing))
		a.SetViewpoints(throng.Vec3{})
		_ = a.Destroy(thing)
		a.Post(func() { t.Error("a post ran after Close") })
		_ = a.Stats()
		_ = a.Tick(nil)
		n.Until(time.Second, "its entities leave at once", gone(thing.NetID(), b))
		states.want(t, "live <nil>", "closed <nil>")
	})
}

// Kicked is for good (B-131).
func TestKicked(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a := n.Join("a", throng.Config{})
		n.Forget(a)
		must(t, n.Server().Kick([16]byte{}, a.Self().Bytes(), "be nice"))
		var err error
		for range 30 {
			n.Run(throngtest.Frame)
			if err = a.Tick(nil); err != nil {
				break
			}
		}
		if je := joinError(t, err); je.Retry != throng.RetryNever || !strings.Contains(je.Error(), "be nice") {
			t.Error(je)
		}
	})
}

// With a Token instead of a source there is one connection (Config.Token).
func TestTokenWorksOnce(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		b, err := tokens("a", token.Player)(t.Context())
		must(t, err)
		cfg := n.Config("a", throng.Config{})
		cfg.TokenSource, cfg.Token = nil, b
		w, err := throng.Join(t.Context(), n.Addr(), Game, cfg)
		must(t, err)
		n.Restart()
		for range 200 {
			n.Run(throngtest.Frame)
			if err = w.Tick(nil); err != nil {
				break
			}
		}
		joinError(t, err)
		must(t, w.Close())
	})
}

// Config is copied by Join: the caller's slice may change afterwards.
func TestConfigIsCopied(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var right, wrong diary
		hooks := []throng.Hook{right.watch()}
		a := n.Join("a", throng.Config{Hooks: hooks})
		hooks[0] = wrong.watch()
		must(t, a.Spawn(full("x")))
		n.Run(time.Second)
		right.want(t, "spawn x local=true")
		wrong.want(t)
	})
}

// The world's profile is taken for zero settings; a rate above the world's is lowered with one line (B-020, B-074).
func TestProfile(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var log logbook
		a := n.Join("a", throng.Config{Rate: 30, Logger: log.logger()})
		want := throng.Profile{ChunkSize: 100, Reach: 2, PropertyReach: 1, MaxRate: 5, Keyframe: time.Second, Flat: true, Retain: true}
		want.Flush = a.Profile().Flush
		if got := a.Profile(); got != want {
			t.Errorf("the profile is %+v, want %+v", got, want)
		}
		if log.count("lowered") != 1 {
			t.Errorf("%d lines about the rate", log.count("lowered"))
		}
		seen := 0
		b := n.Join("b", hooks(Things.Bind(throng.Hooks[Thing]{OnRep: func(*Thing, throng.Changes) { seen++ }})))
		everywhere(b)
		thing := full("x")
		must(t, a.Spawn(thing))
		n.Step(a, func() { thing.Big++ })
		n.Run(10 * time.Second)
		if seen < 45 || seen > 52 {
			t.Errorf("%d changes in 10 s, want 50: %s", seen, fmt.Sprint(a.Profile()))
		}
	}, throngtest.World(relay.World{ChunkSize: 100, Reach: 2, PropertyReach: 1, MaxRate: 5, Keyframe: time.Second, Flat: true}))
}
