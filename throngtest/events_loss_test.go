package throngtest_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/throngtest"
)

// stamped says when it was sent.
type stamped struct {
	N    int32
	Sent time.Duration
}

var (
	Stamps      = throng.NewEvent[stamped]("stamp", throng.EventConfig{Reliable: true, OthersOnly: true})
	StampSchema = throng.MustSchema(Things, Stamps)
)

// TestR50ReliableEventsAreQuick: where each client loses a tenth of its packets each way and has a round trip of 50 ms, of 100,000 events none is lost or
// doubled, their order holds, and 99 of 100 take at most 200 ms, the frames of both games included (P99).
func TestR50ReliableEventsAreQuick(t *testing.T) {
	total := int32(100_000)
	if raced {
		total = 10_000
	}
	synctest.Test(t, func(t *testing.T) {
		n := throngtest.New(t, StampSchema, throngtest.World(relay.World{EventRate: -1}))
		began := time.Now()
		worlds, next, heard := [2]*throng.World{}, [2]int32{}, [2]int32{}
		var took []time.Duration
		for i, name := range []string{"a", "b"} {
			worlds[i] = n.Join(name, hooks(Stamps.Handle(func(_ throng.EventInfo, s stamped) {
				if s.N != heard[i] {
					t.Fatalf("%s hears %d, and %d should come", name, s.N, heard[i])
				}
				heard[i]++
				took = append(took, time.Since(began)-s.Sent)
			})))
			link := throngtest.Link{Latency: 25 * time.Millisecond, Loss: 0.1}
			n.Shape(worlds[i], link, link)
		}
		for next[0] < total/2 || next[1] < total/2 {
			for i, w := range worlds {
				for range 4 {
					if next[i] < total/2 && Stamps.ToWorld(w, stamped{next[i], time.Since(began)}) == nil {
						next[i]++
					}
				}
			}
			n.Run(throngtest.Frame)
		}
		n.Until(5*time.Second, "all are heard", func() bool { return heard == next })
		slices.Sort(took)
		p99 := took[len(took)*99/100]
		t.Logf("%d events in %v: median %v, p99 %v, most %v", len(took), time.Since(began), took[len(took)/2], p99, took[len(took)-1])
		if p99 > 200*time.Millisecond {
			t.Errorf("p99 is %v", p99)
		}
	})
}
