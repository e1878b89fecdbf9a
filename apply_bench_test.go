package throng

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
)

// flock is a client that holds many proxies, and what a flush brings in which all of them changed: two of them, to go back and forth.
type flock struct {
	*stage
	flush   uint32
	changes [2][][]byte // frames of each packet
}

func newFlock(t testing.TB, n int) *flock {
	const lit = 2 // the slot
	f := &flock{stage: newStage(t, Config{}), flush: 200}
	k := stageLamps.core()
	values := func(l *stageLamp, mask uint64) []byte {
		b, _ := k.plan.Append(nil, k.plan.Pointer(l), mask)
		return b
	}
	seen := k.layout.All &^ k.layout.Owner
	for h := range n {
		c := wire.NewCount(1, uint32(h+1))
		m := wire.Intro{Handle: uint32(h + 1), Gen: 1, Num: 1, ClassID: k.id, ClassHash: k.wire.Hash, ID: wire.ID{byte(h), byte(h >> 8), 1}, Inc: c, Term: c,
			Owner: wire.PlayerID{9}, Mask: seen, Values: values(&stageLamp{}, seen)}
		f.packet(session.AppendFrame(nil, wire.KindIntro, m.Append(nil, grid.Chunk{})))
		f.frame(nil)
	}
	for v := range f.changes {
		one := values(&stageLamp{Lit: v == 0}, lit)
		var frames []byte
		for h := 0; h < n; {
			var seg wire.Segment
			seg.Reset(wire.AppendChunk(nil, grid.Chunk{}, grid.Chunk{}), 1, &k.wire, grid.Chunk{})
			for ; h < n && len(seg.B) < wire.MaxSegment-24; h++ {
				seg.Begin(uint32(h+1), grid.Chunk{}, lit, wire.Sample{})
				seg.B = append(seg.B, one...)
			}
			if frames = session.AppendFrame(frames, wire.KindSegment, seg.B); len(frames) > 850 || h == n {
				f.changes[v] = append(f.changes[v], frames)
				frames = nil
			}
		}
	}
	if got := f.w.Stats().Entities; got != n {
		t.Fatalf("%d entities, want %d", got, n)
	}
	return f
}

// packet brings frames of one flush.
func (f *flock) packet(frames []byte) {
	now := f.w.now()
	head := wire.Flush{Epoch: 1, Flush: f.flush}
	b := session.AppendFrame(f.relay.Begin(now, nil), wire.KindFlush, head.Append(nil))
	b = append(b, frames...)
	f.relay.Commit(now, b, true)
	if err := f.w.sess.Receive(now, b, f.w.reg.Handler(now)); err != nil {
		f.t.Fatal(err)
	}
}

// round is a flush in which everything changes, received and applied.
func (f *flock) round(i int) {
	f.flush++
	for _, frames := range f.changes[i%2] {
		f.packet(frames)
	}
	f.frame(nil)
}

// BenchmarkApply2000 is a client that holds 2,000 proxies of which all change ten times a second: the goal is 5 ms for each second, with
// what receiving, acks and Ticks cost. 2.4 ms of processor time on a loaded machine, November 2026 (ms/s is wall time).
func BenchmarkApply2000(b *testing.B) {
	f := newFlock(b, 2000)
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		f.round(i)
		i++
	}
	if f.w.list[0].o.(*stageLamp).Lit != ((i-1)%2 == 0) {
		b.Fatal("nothing was applied")
	}
	b.ReportMetric(10*float64(b.Elapsed())/float64(time.Millisecond)/float64(b.N), "ms/s")
}

// Applying to known entities allocates nothing, however many they are.
func TestApplyDoesNotAllocate(t *testing.T) {
	f := newFlock(t, 500)
	i := 0
	for ; i < 50; i++ {
		f.round(i)
	}
	s := f.w.Stats()
	if s.Applied < 500*50 || f.w.list[7].o.(*stageLamp).Lit != ((i-1)%2 == 0) {
		t.Fatalf("%d applied of %d, %v", s.Applied, s.Records, f.w.list[7].o.(*stageLamp).Lit)
	}
	packets := float64(len(f.changes[0]))
	if n := testing.AllocsPerRun(50, func() { f.round(i); i++ }); n > 4*packets+20 { // the test's own packets
		t.Errorf("%v allocations for 500 changes in %v packets", n, packets)
	}
}
