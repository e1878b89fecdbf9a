package throngtest_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/throngtest"
)

var awful = throngtest.Link{Latency: 30 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.3, Reorder: 0.2}

// TestR51NoEventBeforeItsEntity: what is said in the step of the spawn is heard after OnSpawn, under any loss; if the entity was destroyed in that step
// too, it is heard with the reason.
func TestR51NoEventBeforeItsEntity(t *testing.T) {
	talk(t, func(t *testing.T, n *throngtest.Net) {
		spawned, heard, gone := map[throng.NetID]bool{}, map[throng.NetID]int{}, 0
		a := n.Join("a", hooks())
		b := n.Join("b", hooks(
			Things.Bind(throng.Hooks[Thing]{OnSpawn: func(_ *throng.World, e *Thing, _ bool) { spawned[e.NetID()] = true }}),
			Calls.Handle(func(i throng.EventInfo, v Say) {
				heard[i.ID]++
				switch {
				case v.N == 0 && (i.Entity == nil || !spawned[i.ID]):
					t.Errorf("heard with %v, %v, spawned here: %v", i.Entity, i.Gone, spawned[i.ID])
				case i.Entity == nil && i.Gone == throng.Destroyed:
					gone++
				case i.Entity == nil:
					t.Errorf("it is not here, because of %v", i.Gone)
				}
			})))
		everywhere(a, b)
		n.Shape(a, awful, awful)
		n.Shape(b, awful, awful)
		n.Run(time.Second)
		for k := range int32(100) {
			e := full("x")
			must(t, a.Spawn(e))
			must(t, Calls.ToReach(a, e, Say{N: k % 2}))
			if k%2 == 1 {
				must(t, a.Destroy(e))
			}
			n.Run(30 * time.Millisecond)
		}
		n.Run(10 * time.Second)
		if gone == 0 {
			t.Error("no event outlived its entity")
		}
		for id, times := range heard {
			if times != 1 {
				t.Errorf("%v: heard %d times", id, times)
			}
		}
		if len(heard) < 50 {
			t.Errorf("%d events were heard", len(heard))
		}
	})
}

// TestR52WhatWasWrittenIsSeen: who hears an event sees what its sender had written, or had seen, at the call; the host's corrections as well.
func TestR52WhatWasWrittenIsSeen(t *testing.T) {
	talk(t, func(t *testing.T, n *throngtest.Net) {
		var count int
		watcher := func(min func(e *Thing, v Say) bool) throng.Hook {
			return Calls.Handle(func(i throng.EventInfo, v Say) {
				if e, _ := i.Entity.(*Thing); !i.Local && e != nil {
					if count++; !min(e, v) {
						t.Errorf("%d is heard where %d, pushed %d, is seen", v.N, e.Big, e.Push)
					}
				}
			})
		}
		saw := func(e *Thing, v Say) bool { return e.Big >= int64(v.N) }
		host := n.Join("host", hooks(watcher(saw)))
		a, c := n.Join("a", hooks(watcher(func(e *Thing, v Say) bool { return v.Text == "" || e.Push >= v.N }))), n.Join("c", hooks(watcher(saw)))
		everywhere(host, a, c)
		e := full("x")
		must(t, a.Spawn(e))
		n.Until(time.Second, "all see it", sees(e, host, c))
		n.Shape(a, awful, awful)
		n.Shape(host, awful, awful)
		n.Shape(c, awful, awful)
		theirs := find[Thing](host, e.NetID())
		for k := int32(1); k <= 200; k++ {
			e.Big = int64(k)
			must(t, Calls.ToReach(a, e, Say{N: k}))
			if k%3 == 0 {
				must(t, Calls.ToWorld(host, Say{N: int32(theirs.Big)}, theirs)) // what it sees now, c must see
			}
			if k%5 == 0 {
				theirs.Push = k
				must(t, host.Override(theirs, &theirs.Push))
				must(t, Calls.ToOwner(host, theirs, Say{N: k, Text: "pushed"}))
			}
			n.Run(25 * time.Millisecond)
		}
		n.Run(10 * time.Second)
		if count < 400 {
			t.Errorf("%d events were heard", count)
		}
		if s := c.Stats(); s.EventsImpatient > 0 {
			t.Errorf("%d events lost patience", s.EventsImpatient)
		}
	})
}

// TestR53SlowRecipientsCostTheSender: who floods one that takes nothing is told at the call; others send on, nothing is lost, and all goes on when
// the path is mended.
func TestR53SlowRecipientsCostTheSender(t *testing.T) {
	talk(t, func(t *testing.T, n *throngtest.Net) {
		heard := map[string]int{}
		ear := func(name string) throng.Config {
			return hooks(Calls.Handle(func(i throng.EventInfo, v Say) {
				if i.From == throngtest.Player("a") {
					if heard[name]++; int(v.N) != heard[name] {
						t.Fatalf("%s hears %d as the %d.", name, v.N, heard[name])
					}
				} else if !i.Local {
					heard[name+" others"]++
				}
			}))
		}
		a, b, c := n.Join("a", hooks()), n.Join("b", ear("b")), n.Join("c", ear("c"))
		n.Run(time.Second)
		n.Partition(c, true)
		sent, refused := 0, false
		for range 100 {
			switch err := Calls.ToWorld(a, Say{N: int32(sent + 1), Text: strings.Repeat("x", 15<<10)}); {
			case err == nil:
				sent++
			case errors.Is(err, throng.ErrBackpressure):
				refused = true
			default:
				t.Fatal(err)
			}
			n.Run(30 * time.Millisecond)
		}
		if !refused || sent < 15 || sent > 60 {
			t.Errorf("%d were taken of 100, refused %v", sent, refused)
		}
		must(t, Calls.ToWorld(b, Say{Text: "mine"})) // its credit is its own
		n.Until(3*time.Second, "b hears all", func() bool { return heard["b"] == sent })
		n.Partition(c, false)
		n.Until(12*time.Second, "c hears all", func() bool { return heard["c"] == sent && heard["c others"] == 1 })
		must(t, Calls.ToWorld(a, Say{N: int32(sent + 1)}))
		n.Until(time.Second, "it goes on", func() bool { return heard["c"] == sent+1 })
	})
}

// TestB132HonestClientsKeepTheRate: a client that asks for more than the relay allows is refused at the call, and its session lives.
func TestB132HonestClientsKeepTheRate(t *testing.T) {
	talk(t, func(t *testing.T, n *throngtest.Net) {
		var eb ear
		a, b := n.Join("a", hooks()), n.Join("b", eb.hooks())
		_ = b
		n.Run(time.Second)
		taken := 0
		for range 600 {
			if Whisps.ToWorld(a, 1) == nil {
				taken++
			}
			n.Run(throngtest.Frame)
		}
		if taken < 130 || taken > 160 {
			t.Errorf("%d in 10 s at 10 a second", taken)
		}
		n.Until(time.Second, "all are heard", func() bool { return len(eb.lines) == taken })
	}, throngtest.World(relay.World{EventRate: 10}))
}

// TestLoopbackOfEvents: what is sent is heard once more, and what is sent because of that is not (B-121).
func TestLoopbackOfEvents(t *testing.T) {
	talk(t, func(t *testing.T, n *throngtest.Net) {
		var d diary
		a := n.Join("a", hooks(Calls.Handle(func(i throng.EventInfo, v Say) {
			d.note("%d local=%v loopback=%v here=%v", v.N, i.Local, i.Loopback, i.Entity != nil)
			if v.N < 3 {
				must(t, Calls.ToReach(i.World, i.Entity, Say{N: v.N + 2}))
			}
		})))
		e := full("x")
		must(t, a.Spawn(e))
		n.Run(time.Second)
		must(t, a.SetSwitch("loopback.event", true))
		must(t, Calls.ToReach(a, e, Say{N: 1}))
		n.Run(time.Second)
		d.want(t, "1 local=true loopback=false here=true", "3 local=true loopback=false here=true",
			"1 local=false loopback=true here=true", "3 local=true loopback=false here=true", "3 local=false loopback=true here=true")
	})
}

// TestTraceOfEvents: one line for each event sent, heard or dropped (B-120); and a kind that this build has with another payload is not heard.
func TestTraceOfEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := throngtest.New(t, Talk)
		var out bytes.Buffer
		tr := throng.NewTracer(&out, throng.TraceEvent)
		var log logbook
		other := throng.NewEvent[int8]("call", throng.EventConfig{Reliable: true})
		cfg := n.Config("b", throng.Config{Tracer: tr, Logger: log.logger(), Hooks: []throng.Hook{other.Handle(func(throng.EventInfo, int8) { t.Error("heard") }), Bare.Handle(func(throng.EventInfo, struct{}) {})}})
		b, err := throng.Join(t.Context(), n.Addr(), throng.MustSchema(Things, other, Bare), cfg)
		must(t, err)
		n.Add("b", b)
		a := n.Join("a", hooks())
		n.Run(time.Second)
		must(t, Calls.ToWorld(a, Say{}))
		must(t, Bare.ToWorld(a, struct{}{}))
		must(t, Bare.ToPlayer(b, throngtest.Player("a"), struct{}{}))
		n.Run(time.Second)
		must(t, tr.Flush())
		for _, want := range []string{`"dir":"in","what":"event","class":"call"`, `"drop":"foreign class"`, `"dir":"in","what":"event","class":"bare"`, `"dir":"out","what":"event","class":"bare","path":"player"`} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no line has %s:\n%s", want, out.String())
			}
		}
		if log.count("another payload") != 1 || b.Stats().EventsForeign != 1 {
			t.Errorf("%d foreign; the log:\n%s", b.Stats().EventsForeign, log.text())
		}
	})
}
