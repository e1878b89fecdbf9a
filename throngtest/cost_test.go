package throngtest_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// allocs returns how often the code of clients allocated since the process started, by the function of ours that did, as far
// as runtime.MemProfileRate was 1. The carrier and the relay, which run in the same process, do not count.
func allocs() map[string]int64 {
	for range 3 { // a profile is up to two collections old
		runtime.GC()
	}
	records := make([]runtime.MemProfileRecord, 1<<16)
	n, _ := runtime.MemProfile(records, true)
	out := map[string]int64{}
	for _, r := range records[:min(n, len(records))] {
		who, client := "", false
		frames := runtime.CallersFrames(r.Stack())
		for more := true; more; {
			var f runtime.Frame
			f, more = frames.Next()
			at, ours := strings.CutPrefix(f.Function, "github.com/throng-dev/throng")
			if !ours {
				continue
			}
			if who == "" {
				who = fmt.Sprint(at, ":", f.Line)
			}
			client = client || strings.HasPrefix(at, ".(*World).")
		}
		if client && !strings.HasPrefix(who, "/internal/memnet") && !strings.HasPrefix(who, "/throngtest") {
			out[who] += r.AllocObjects
		}
	}
	return out
}

// A client whose world is in steady state allocates next to nothing: neither for receiving, applying and hooks, nor for
// comparing, encoding and sending.
func TestSteadyClientsDoNotAllocate(t *testing.T) {
	if raced {
		t.Skip("the race detector allocates")
	}
	rate := runtime.MemProfileRate
	runtime.MemProfileRate = 1
	defer func() { runtime.MemProfileRate = rate }()
	play(t, func(t *testing.T, n *throngtest.Net) {
		const clients, each = 4, 25
		reps := 0
		for i := range clients {
			w := n.Join(fmt.Sprint(i), throng.Config{Hooks: []throng.Hook{
				Things.Bind(throng.Hooks[Thing]{OnRep: func(e *Thing, c throng.Changes) {
					if c.Has(&e.Big) {
						reps++
					}
				}}),
				Things.OnRep(func(e *Thing) any { return &e.Pos }, func(*Thing) {}),
			}})
			everywhere(w)
			var mine []*Thing
			for range each {
				thing := full("x")
				must(t, w.Spawn(thing))
				mine = append(mine, thing)
			}
			n.Step(w, func() {
				for _, thing := range mine {
					thing.Pos.X++
					thing.Big++
					thing.Lit = !thing.Lit
				}
			})
		}
		n.Run(20 * time.Second)
		before := allocs()
		seen := reps
		const d = 60 * time.Second
		n.Run(d)
		if reps-seen < clients*(clients-1)*each*int(d/time.Second)*9 {
			t.Errorf("only %d changes arrived", reps-seen)
		}
		after, total := allocs(), int64(0)
		for who, count := range after {
			if count -= before[who]; count > 0 {
				total += count
				t.Logf("%6d %s", count, who)
			}
		}
		frames := clients * int64(d/throngtest.Frame)
		t.Logf("%d allocations in %d ticks of the clients, %d changes applied", total, frames, reps-seen)
		if total*50 > frames {
			t.Errorf("%d allocations in %d ticks: at most one in 50", total, frames)
		}
	})
}
