package relay_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/relay"
)

// B-132: who asks for the drive without end is told so and closed; the driver and others stay.
func TestB132WhoAsksWithoutEndIsClosed(t *testing.T) {
	play(t, relay.Config{Settle: -1}, func(s *stage) {
		ann, bob, eve := s.client("ann", "town"), s.client("bob", "town"), s.client("eve", "town")
		s.until("in", time.Second, func() bool { return ann.reg.Welcomed && bob.reg.Welcomed && eve.reg.Welcomed })
		ann.spawn("lamp", 1, 0)
		s.until("seen", time.Second, func() bool { return eve.sees("lamp", 1) && bob.sees("lamp", 1) })
		k := eve.reg.Find(id("lamp"))
		m := wire.AppendEntity(nil, wire.MsgRequest, &wire.Entity{ID: k.ID, Inc: k.Inc})
		for i := 0; i < 3000 && eve.closed == nil && eve.over == nil; i++ {
			_ = eve.session.Queue(wire.StreamControl, m) // the window may be full
			if i%8 == 0 {
				s.run(5 * time.Millisecond)
			}
		}
		s.refusedWith(eve, wire.CloseLimit)
		asked := map[registry.Request]bool{}
		for _, q := range ann.reg.Requests {
			asked[q] = true
		}
		if len(ann.reg.Requests) != len(asked) || len(asked) != 1 {
			t.Errorf("ann is asked %d times by %d", len(ann.reg.Requests), len(asked))
		}
		ann.light("lamp", 2)
		s.until("others go on", time.Second, func() bool { return bob.sees("lamp", 2) && ann.drives("lamp") })
		if st := s.relay.Stats(); st.Replication.Floods == 0 {
			s.run(time.Second)
			if st = s.relay.Stats(); st.Replication.Floods == 0 {
				t.Errorf("none is counted: %+v", st.Replication)
			}
		}
	})
}
