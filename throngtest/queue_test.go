package throngtest_test

import (
	"slices"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/throngtest"
)

// P76: what an observer's budget does not bear waits as "changed since", not as bytes: however long it lasts, no value that arrives is older
// than one turn of the budget, and when the writing ends the newest is there in that time. A queue would hold a minute of it by then.
func TestP76NothingQueuesUp(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		everywhere(b)
		var things []*Thing
		for range 100 {
			things = append(things, full("x"))
			must(t, a.Spawn(things[len(things)-1]))
		}
		n.Until(20*time.Second, "b sees all", sees(things[99], b))
		n.Run(10 * time.Second)
		began := time.Now()
		writing := true
		n.Step(a, func() {
			for _, x := range things {
				if writing {
					x.Big = int64(time.Since(began))
				}
			}
		})
		n.Run(20 * time.Second)
		var ages []time.Duration
		for range 200 {
			n.Run(50 * time.Millisecond)
			for _, x := range things {
				ages = append(ages, time.Since(began)-time.Duration(find[Thing](b, x.NetID()).Big))
			}
		}
		st := n.Server().Stats().Replication
		slices.Sort(ages)
		p99, worst := ages[len(ages)*99/100], ages[len(ages)-1]
		writing = false
		quiet := time.Now()
		n.Until(2*time.Second, "b has the newest of all", func() bool {
			return !slices.ContainsFunc(things, func(x *Thing) bool { return find[Thing](b, x.NetID()).Big != x.Big })
		})
		t.Logf("ages: p50 %v, p99 %v, worst %v; all is there %v after the last write; %d chunks held back", ages[len(ages)/2], p99, worst,
			time.Since(quiet), st.Held)
		if st.Held == 0 {
			t.Error("the budget bears all: nothing was shown")
		}
		if p99 > 2*time.Second || worst > 3*time.Second {
			t.Errorf("values of %v ago, the worst of %v", p99, worst)
		}
	}, throngtest.World(relay.World{Budget: 3 << 10}))
}
