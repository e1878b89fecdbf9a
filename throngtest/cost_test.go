package throngtest_test

import (
	"fmt"
	"reflect"
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

// A proxy costs its struct and at most 600 bytes beside it at the client; the relay's note about who holds it, and what both sessions keep,
// is in the measured number too.
func TestProxyHeapBudget(t *testing.T) {
	if raced {
		t.Skip("the race detector allocates")
	}
	const count, budget = 4000, 600 + 80 // measured with go1.26 on amd64: 671, of which 615 at the client
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{Keyframe: throng.Off}), n.Join("b", throng.Config{})
		for range count {
			must(t, a.Spawn(&Thing{}))
		}
		n.Run(10 * time.Second)
		heap := func() int64 {
			n.Run(5 * time.Second)
			runtime.GC()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc)
		}
		before := heap()
		everywhere(b)
		n.Until(time.Minute, "b holds all", func() bool { return b.Stats().Entities == count })
		after := heap()
		runtime.KeepAlive(a)
		size := int64(reflect.TypeFor[Thing]().Size())
		each := (after - before) / count
		t.Logf("%d bytes a proxy, its struct of %d included", each, size)
		if each-size > budget {
			t.Errorf("a proxy takes %d bytes beside its struct, at most %d", each-size, budget)
		}
	})
}
