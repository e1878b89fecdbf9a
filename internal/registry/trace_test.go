package registry

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/trace"
	"github.com/throng-dev/throng/internal/wire"
)

// log is a sink that keeps lines: category, direction, what, fields, path and why it was dropped.
type log struct {
	lines []string
	raw   []byte
}

func (*log) On(trace.Cat) bool { return true }

func (l *log) Take(e *trace.Event) {
	l.raw = trace.Append(l.raw, e)
	if e.Cat == trace.Net {
		return
	}
	s := fmt.Sprintf("%v %v %s", e.Cat, e.Dir, e.What)
	for _, part := range []string{e.Class, strings.Join(e.Fields, ","), e.Path, e.Text, e.Drop} {
		if part != "" {
			s += " / " + part
		}
	}
	l.lines = append(l.lines, s)
}

// want takes the lines so far.
func (l *log) want(t *testing.T, lines ...string) {
	t.Helper()
	if !slices.Equal(l.lines, lines) {
		t.Errorf("traced\n\t%s\nwant\n\t%s", strings.Join(l.lines, "\n\t"), strings.Join(lines, "\n\t"))
	}
	l.lines = nil
}

// traced is a game in a world that has welcomed it, with every event kept.
type traced struct {
	*game
	*log
	lamp  *Class
	flush uint32
	cert  []byte
}

func newTraced(t *testing.T, limit int) *traced {
	g := &traced{game: newGame(t, limit), log: &log{}, flush: 100, cert: []byte("certificate-16-B")}
	g.r.tr = newTracer(g.log)
	c := lampClass()
	for i, name := range []string{"Pos", "Lit", "Text", "Fuel"} {
		c.Slots[i].Name = name
	}
	g.lamp = g.r.AddClass(c, nil)
	g.connect()
	w := wire.Welcome{Version: 1, World: 1, Flush: 100, Player: wire.PlayerID{0xa0}, Profile: wire.Profile{ChunkSize: 1, MaxRate: 10}}
	g.message(w.Append(nil))
	g.message(wire.AppendClass(nil, 5, c))
	return g
}

func (g *traced) message(b []byte) {
	_ = g.relay.Queue(wire.StreamControl, b)
	g.packet(nil)
}

// frame is a frame of the next flush, or of the flush that was said.
func (g *traced) frame(kind byte, body []byte) {
	g.flush++
	g.frameAt(1, g.flush, kind, body)
}

func (g *traced) frameAt(epoch uint8, flush uint32, kind byte, body []byte) {
	head := wire.Flush{Epoch: epoch, Flush: flush, Base: grid.Chunk{}}
	g.now += 10 * time.Millisecond
	g.packet(session.AppendFrame(session.AppendFrame(nil, wire.KindFlush, head.Append(nil)), kind, body))
}

func (g *traced) intro(id byte, handle uint32, inc uint32) []byte {
	m := wire.Intro{Handle: handle, Gen: 1, Num: 5, ClassID: g.lamp.ID, ClassHash: g.lamp.Hash, ID: wire.ID{id}, Inc: wire.NewCount(3, inc), Term: wire.NewCount(3, inc),
		Owner: wire.PlayerID{0xb0}, Mask: 3, Values: make([]byte, 13)}
	return m.Append(nil, grid.Chunk{})
}

func (g *traced) record(num, handle uint32) []byte {
	var s wire.Segment
	s.Reset(wire.AppendChunk(nil, grid.Chunk{}, grid.Chunk{}), num, &g.lamp.Class, grid.Chunk{})
	s.Begin(handle, grid.Chunk{}, 2, wire.Sample{})
	return append(s.B, 1)
}

// B-122: whatever is dropped leaves a line that says why, and counts under that reason.
func TestEveryDropIsTold(t *testing.T) {
	g := newTraced(t, 2)
	g.lines = nil
	st := func() Stats { return g.r.Stats() }
	drop := func(name string, counter func(Stats) uint64, line string, do func()) {
		t.Helper()
		before := counter(st())
		do()
		if got := counter(st()) - before; got != 1 {
			t.Errorf("%s: counted %d times", name, got)
		}
		if line != "" {
			line = "state in delta / " + line
		}
		if !slices.Contains(g.lines, line) {
			t.Errorf("%s: no line %q in\n\t%s", name, line, strings.Join(g.lines, "\n\t"))
		}
		g.lines = nil
	}
	g.frame(wire.KindIntro, g.intro(1, 7, 1))
	g.want(t, "entity in spawn / lamp", "state in delta / lamp / Pos,Lit / baseline")
	g.frame(wire.KindSegment, g.record(5, 7))
	g.want(t, "state in delta / lamp / Lit / spatial")

	drop("overtaken", func(s Stats) uint64 { return s.Overtaken }, "lamp / Lit / spatial / overtaken", func() { g.frameAt(1, 50, wire.KindSegment, g.record(5, 7)) })
	drop("handle", func(s Stats) uint64 { return s.Unknown }, "lamp / Lit / unknown handle", func() { g.frame(wire.KindSegment, g.record(5, 99)) })
	drop("class", func(s Stats) uint64 { return s.Unknown }, "unknown class", func() { g.frame(wire.KindSegment, g.record(6, 7)) })
	drop("epoch", func(s Stats) uint64 { return s.WrongEpoch }, "wrong epoch", func() { g.frameAt(2, g.flush, wire.KindSegment, g.record(5, 7)) })
	drop("malformed frame", func(s Stats) uint64 { return s.Malformed }, "malformed", func() { g.frame(wire.KindSegment, []byte{0}) })
	drop("malformed message", func(s Stats) uint64 { return s.Malformed }, "malformed", func() { g.message([]byte{wire.MsgBind, 1}) })
	drop("older incarnation", func(s Stats) uint64 { return s.Stale }, "lamp / Pos,Lit / baseline / stale", func() { g.frame(wire.KindIntro, g.intro(1, 7, 0)) })
	drop("void", func(s Stats) uint64 { return s.Void }, "void", func() {
		g.r.handles.slot(7).fence = 1 << 40
		g.frame(wire.KindSegment, g.record(5, 7))
		g.r.handles.slot(7).fence = 0
	})
	g.frame(wire.KindIntro, g.intro(2, 8, 1))
	g.lines = nil
	drop("no room", func(s Stats) uint64 { return s.NoRoom }, "lamp / Pos,Lit / no room", func() { g.frame(wire.KindIntro, g.intro(3, 9, 1)) })
	depart := wire.Depart{Handle: 8, ID: wire.ID{2}, Inc: wire.NewCount(3, 1), Why: wire.WhyDestroyed, By: wire.PlayerID{0xb0}, Cert: g.cert}
	g.frame(wire.KindDepart, depart.Append(nil))
	g.want(t, "entity in departure / lamp / destroyed")
	drop("dead", func(s Stats) uint64 { return s.Dead }, "lamp / Pos,Lit / dead", func() { g.frame(wire.KindIntro, g.intro(2, 8, 1)) })

	// What this client drives.
	assign := wire.Entity{ID: wire.ID{1}, Inc: wire.NewCount(3, 1), Term: wire.NewCount(3, 2), Class: 5, ClassID: g.lamp.ID, ClassHash: g.lamp.Hash, Handle: 7, Gen: 1,
		Owner: wire.PlayerID{0xa0}, Cert: g.cert, Mask: 2, Values: []byte{1}}
	g.message(wire.AppendEntity(nil, wire.MsgAssign, &assign))
	g.want(t, "entity in assign / lamp / Lit / baseline")
	drop("echo", func(s Stats) uint64 { return s.Echo }, "lamp / Lit / spatial / echo", func() { g.frame(wire.KindSegment, g.record(5, 7)) })
	drop("baseline of what is driven", func(s Stats) uint64 { return s.Stale }, "lamp / Pos,Lit / baseline / stale", func() { g.frame(wire.KindIntro, g.intro(1, 7, 1)) })
	override := wire.Entity{ID: wire.ID{1}, Inc: assign.Inc, Term: assign.Term, N: 1, Version: g.flush, Mask: 2, Values: []byte{0}}
	g.message(wire.AppendEntity(nil, wire.MsgOverride, &override))
	g.want(t, "state in delta / lamp / Lit / override")
	drop("old override", func(s Stats) uint64 { return s.Stale }, "stale", func() { g.message(wire.AppendEntity(nil, wire.MsgOverride, &override)) })
	before := st().Rejected
	g.message(wire.AppendEntity(nil, wire.MsgRejected, &wire.Entity{ID: wire.ID{1}, Inc: assign.Inc, Reason: wire.RefusedOverdone, Mask: 2}))
	if st().Rejected != before+1 {
		t.Error("a rejection is not counted")
	}
	g.want(t, "state in rejected / lamp / Lit / overridden / refused by relay")
	g.message(wire.AppendEntity(nil, wire.MsgRevoke, &wire.Entity{ID: wire.ID{1}, Inc: assign.Inc, Term: assign.Term}))
	g.want(t, "entity in revoke / lamp")
	drop("waiting", func(s Stats) uint64 { return s.Waiting }, "lamp / Lit / spatial / waiting", func() { g.frame(wire.KindSegment, g.record(5, 7)) })
	g.tick()
	g.want(t, "entity out release / lamp / Pos,Lit,Text,Fuel / baseline")

	// Classes of other builds.
	for num, id := range map[uint32]uint32{20: 77, 21: g.lamp.ID} {
		m := wire.Intro{Handle: num, Gen: 1, Num: num, ClassID: id, ClassHash: 9, ID: wire.ID{byte(num)}, Inc: 1, Term: 1, Mask: 1, Values: []byte{1}}
		c := &wire.Class{ID: id, Hash: 9, Name: fmt.Sprint("other", num), Slots: []wire.Slot{{Width: 1, Name: "X"}}}
		g.message(wire.AppendClass(nil, num, c))
		want, other := "foreign class", uint64(0)
		if num == 21 {
			want, other = "layout differs", 1
		}
		before := st().OtherLayout
		g.r.cfg.MaxEntities = 10
		g.r.makeRoom()
		g.lines = nil
		drop(want, func(s Stats) uint64 { return s.Foreign }, c.Name+" / X / baseline / "+want, func() { g.frame(wire.KindIntro, m.Append(nil, grid.Chunk{})) })
		if st().OtherLayout-before != other {
			t.Error(want, "counts as another layout:", st().OtherLayout-before)
		}
	}
	for name, secret := range map[string][]byte{"raw": g.cert, "hex": fmt.Appendf(nil, "%x", g.cert), "base64": []byte("Y2VydGlmaWNhdGUt")} {
		if bytes.Contains(g.raw, secret) {
			t.Errorf("the trace holds a certificate, %s", name)
		}
	}
}

// What this client drives goes out with a line each, which says by which path.
func TestSentIsTold(t *testing.T) {
	g := newTraced(t, 10)
	c := g.r.Spawn(wire.ID{1}, g.lamp, wire.PlayerID{0xa0}, 0, func(*Copy) {})
	g.send(false)
	g.want(t, "entity out spawn / lamp / Pos,Lit,Text,Fuel / baseline")
	if c.Sent != 12+1+3+4 {
		t.Errorf("%d bytes sent", c.Sent)
	}
	g.message(wire.AppendEntity(nil, wire.MsgBind, &wire.Entity{ID: wire.ID{1}, Inc: 1, Term: 1, Nonce: c.nonce, Handle: 4, Owner: wire.PlayerID{0xa0}, Cert: g.cert}))
	g.want(t, "entity in bind / lamp")
	g.r.Mark(c, 2)
	g.send(true)
	g.r.Mark(c, 8)
	g.send(true)
	c.Keyframe = true
	g.r.Mark(c, 3)
	g.send(true)
	g.want(t, "state out delta / lamp / Lit / spatial", "state out delta / lamp / Fuel / owner", "state out delta / lamp / Pos,Lit / keyframe")
	if c.Sent != 13 {
		t.Errorf("%d bytes sent", c.Sent)
	}
	g.r.Request(c)
	g.r.Grant(c, wire.PlayerID{0xb0}, 0)
	g.r.Override(c, 2)
	g.want(t, "entity out request / lamp", "entity out grant / lamp", "entity out release / lamp / Pos,Lit,Text,Fuel / baseline", "state out delta / lamp / Lit / override")
	g.connect()
	w := wire.Welcome{Version: 1, World: 1, Flush: 100, Player: wire.PlayerID{0xa0}, Host: wire.PlayerID{0xa0}, Profile: wire.Profile{ChunkSize: 1, MaxRate: 10}}
	g.message(w.Append(nil))
	g.r.Announce()
	g.want(t, "entity in host", "entity out repeat / lamp / Pos,Lit,Text,Fuel / baseline")
	g.r.Destroy(c, wire.PlayerID{0xa0})
	g.want(t, "entity out destroy / lamp")
	if bytes.Contains(g.raw, g.cert) || bytes.Contains(g.raw, fmt.Appendf(nil, "%x", g.cert)) {
		t.Error("the trace holds a certificate")
	}
}

// A lost packet is told, with what it carried.
func TestLossIsTold(t *testing.T) {
	g := newTraced(t, 10)
	c := g.r.Spawn(wire.ID{1}, g.lamp, wire.PlayerID{0xa0}, 0, func(*Copy) {})
	g.r.lostPacket(9)
	g.r.sent.refs = append(g.r.sent.refs, sentRef{c: c, term: c.Term, mask: 2})
	g.r.sent.commit(10)
	g.lines = nil
	g.r.lostPacket(10)
	g.want(t, "state out delta / lamp / Lit / spatial / lost")
}

// An observer takes the values of every class.
func TestObserverAppliesEveryClass(t *testing.T) {
	g := newTraced(t, 10)
	g.r.cfg.Observer = true
	g.message(wire.AppendClass(nil, 20, &wire.Class{ID: 77, Hash: 9, Name: "other", Slots: []wire.Slot{{Width: 1, Name: "X"}}}))
	m := wire.Intro{Handle: 3, Gen: 1, Num: 20, ClassID: 77, ClassHash: 9, ID: wire.ID{3}, Inc: 1, Term: 1, Mask: 1, Values: []byte{1}}
	g.lines = nil
	g.frame(wire.KindIntro, m.Append(nil, grid.Chunk{}))
	g.want(t, "entity in spawn / other", "state in delta / other / X / baseline")
	if n := g.r.Stats().Foreign; n != 0 || g.r.changed != nil && g.r.Find(wire.ID{3}).wait != nil {
		t.Errorf("%d foreign, or values are kept", n)
	}
}

// A mirror takes what is reflected, sends nothing and counts nowhere.
func TestMirror(t *testing.T) {
	g := newTraced(t, 10)
	m := g.r.Mirror(wire.ID{9}, g.lamp)
	before, sent := g.r.Stats(), g.conn.Unacked()
	g.r.Reflect(m, 2, []byte{1}, Timing{})
	g.r.Reflect(m, 2, []byte{0}, Timing{})
	if got := g.r.Changed(nil); len(got) != 1 || got[0] != m || m.Drives() || m.Bound() || len(m.wait.list) != 2 {
		t.Errorf("%v, %d records", got, len(m.wait.list))
	}
	g.r.Destroy(m, wire.PlayerID{})
	g.r.Request(m)
	g.r.Grant(m, wire.PlayerID{1}, 0)
	g.r.Override(m, 2)
	g.r.Release(m)
	if g.r.Stats() != before || g.conn.Unacked() != sent || g.r.Len() != 0 || g.r.Find(wire.ID{9}) != nil {
		t.Error("the relay hears of a mirror")
	}
}

// off is a sink with every group off.
type off struct{}

func (off) On(trace.Cat) bool   { return false }
func (off) Take(e *trace.Event) { panic("it is off") }

func TestTraceOffDoesNotAllocate(t *testing.T) {
	for _, sink := range []trace.Sink{nil, off{}} {
		g := newTraced(t, 10)
		g.r.tr = newTracer(sink)
		g.frame(wire.KindIntro, g.intro(1, 7, 1))
		c := g.r.Find(wire.ID{1})
		values := []byte{1}
		ver := uint32(1000)
		if n := testing.AllocsPerRun(100, func() {
			ver++
			g.r.merge(c, ver, 2, values)
			g.r.merge(c, 1, 2, values)
			c.Applied()
			g.r.tr.drop(trace.Void, wire.ID{}, 1, nil, 0, 0)
			g.r.traceMessage(trace.Out, []byte{wire.MsgHost, 0})
		}); n != 0 {
			t.Errorf("%T: %v allocations", sink, n)
		}
	}
}

// all is a sink with every group on that forgets.
type all struct{}

func (all) On(trace.Cat) bool { return true }
func (all) Take(*trace.Event) {}

// BenchmarkMerge is a delta that arrives, with no tracer, with one that is off, with one that is on.
func BenchmarkMerge(b *testing.B) {
	for name, sink := range map[string]trace.Sink{"none": nil, "off": off{}, "on": all{}} {
		b.Run(name, func(b *testing.B) {
			r := New(Config{Trace: sink})
			k := r.AddClass(lampClass(), nil)
			c := &Copy{Class: k}
			values, ver := []byte{1}, uint32(0)
			b.ReportAllocs()
			for b.Loop() {
				ver++
				r.merge(c, ver, 2, values)
				c.Applied()
			}
		})
	}
}
