package authority

import (
	"fmt"
	"io"
	"log/slog"
	"testing"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/token"
)

type mote struct {
	throng.Entity
	Pos  throng.Vec3Quantize10 `rep:"position"`
	HP   int32                 `rep:"auth"`
	Mode uint8                 `rep:""`

	owner throng.PlayerID
}

var motes = throng.NewClass[mote]("mote", throng.ClassConfig{})

// BenchmarkTick is a tick of a Server with 100 viewers: all verdicts, and the deltas of actors of which 2 % changed. The goal is 33 ms
// for 5,000 actors.
func BenchmarkTick(b *testing.B) {
	for _, actors := range []int{5000, 50000} {
		b.Run(fmt.Sprintf("viewers=100/actors=%d", actors), func(b *testing.B) {
			quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
			rules := For(motes, Rules[mote]{Owner: func(m *mote) throng.PlayerID { return m.owner }, HideFromOwner: true,
				Relevant: func(v *Viewer, m *mote) Verdict { return ByDistance(v, m) }})
			s, err := Embed(b.Context(), relay.Config{Key: token.Key{1}, Logger: quiet, Default: relay.World{MaxEntities: 1 << 17}}, "127.0.0.1:0", [16]byte{}, throng.MustSchema(motes),
				Config{Config: throng.Config{World: "bench", Logger: quiet, MaxEntities: 1 << 17}, Rules: []Rule{rules}})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			player := func(i int) throng.PlayerID { return throng.PlayerIDFrom([16]byte{1, byte(i), byte(i >> 8)}) }
			for i := range 100 {
				s.player(throng.PlayerInfo{ID: player(i)}, true)
			}
			all := make([]*mote, actors)
			for i := range all {
				all[i] = &mote{Pos: throng.Vec3Quantize10{X: float64(i % 200), Y: float64(i / 200)}, owner: player(i % 100)}
				if err := s.Spawn(all[i]); err != nil {
					b.Fatal(err)
				}
				if err := s.Publish(all[i]); err != nil {
					b.Fatal(err)
				}
			}
			tick := func(step func()) {
				if err := s.Tick(step); err != nil {
					b.Fatal(err)
				}
			}
			for range 30 {
				tick(nil)
			}
			next := 0
			for b.Loop() {
				tick(func() {
					for range actors / 50 {
						next = (next + 1) % actors
						all[next].HP++
						all[next].Pos.X += 0.1
					}
				})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e6, "ms/tick")
			b.ReportMetric(0, "ns/op")
		})
	}
}
