package relay_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/relay"
)

// TestEveryStartIssuesHigherTerms is R-24: a relay that follows the one before at once issues higher terms than that did in the world which it
// began last, however short it ran.
func TestEveryStartIssuesHigherTerms(t *testing.T) {
	cfg := relay.Config{Settle: -1}
	play(t, cfg, func(s *stage) {
		was := uint32(0)
		for i, ran := range []time.Duration{0, 0, 130 * time.Millisecond, 0, time.Second, 0, 70 * time.Millisecond} {
			s.run(ran) // the world begins with its first session
			c := s.client("ann", "town")
			s.until("in", time.Second, func() bool { return c.reg.Welcomed })
			if i > 0 && int32(c.reg.Welcome.Start-was) <= 0 {
				t.Errorf("start %d has number %d, behind %d", i, c.reg.Welcome.Start, was)
			}
			was = c.reg.Welcome.Start
			c.conn.Close()
			s.clients = nil
			s.stop()
			s.serve(cfg)
		}
	})
}
