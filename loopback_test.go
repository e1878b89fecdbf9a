package throng

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/transport"
)

type stageLamp struct {
	Entity
	Pos  Vec3    `rep:"position"`
	Lit  bool    `rep:""`
	Text string  `rep:""`
	Fuel float32 `rep:"owner"`
	Push int32   `rep:"manual"`
	Beat int32   `rep:"heartbeat"`
	Name string  `rep:"init"`
}

var stageLamps = NewClass[stageLamp]("lamp", ClassConfig{})

// stage is a World and a relay that says yes, on one goroutine. In synctest, where the clock stands still meanwhile, two runs of a
// script send the same bytes.
type stage struct {
	t     testing.TB
	w     *World
	relay session.Conn
	h     uint32
	sent  [][]byte
	extra []byte // frames of the next packet
	quiet bool   // the relay neither reads nor answers
}

func (s *stage) Acked(uint64)               {}
func (s *stage) Lost(uint64)                {}
func (s *stage) Frame(uint64, byte, []byte) {}

func (s *stage) Message(_ uint64, _ int, msg []byte) {
	if msg[0] != wire.MsgSpawn {
		return
	}
	m, err := wire.ParseEntity(msg[0], msg[1:])
	if err != nil {
		s.t.Fatal(err)
	}
	s.h++
	s.say(wire.AppendEntity(nil, wire.MsgBind, &wire.Entity{ID: m.ID, Inc: 1, Term: 1, Nonce: m.Nonce, Handle: s.h, Owner: wire.PlayerID{1}, Cert: []byte("certificate-16-B")}))
}

func (s *stage) say(msg []byte) {
	if err := s.relay.Queue(wire.StreamControl, msg); err != nil {
		s.t.Fatal(err)
	}
}

// Send is that of a transport.Conn.
func (s *stage) Send(bufs [][]byte) error {
	for _, b := range bufs {
		if s.quiet {
			continue
		}
		s.sent = append(s.sent, slices.Clone(b[transport.Headroom:]))
		if err := s.relay.Receive(s.w.now(), b[transport.Headroom:], s); err != nil {
			s.t.Fatal(err)
		}
	}
	return nil
}

func (*stage) Receive(time.Time, func([]byte)) error { return io.EOF }
func (*stage) Close() error                          { return nil }

// newStage welcomes a World.
func newStage(t testing.TB, cfg Config) *stage {
	t.Helper()
	s := &stage{t: t}
	cfg.Token, cfg.World, cfg.Logger = []byte{1}, "w", slog.New(slog.DiscardHandler)
	w, err := newWorld("relay", MustSchema(stageLamps), cfg)
	if err != nil {
		t.Fatal(err)
	}
	close(w.ended) // there is no goroutine to wait for
	s.w = w
	w.reg = registry.New(registry.Config{Encode: w.encode, Zero: w.zero, Sent: w.reflect, Trace: w.tracer.sink(), World: "w", Nonce: 1})
	w.classes[stageLamps.core()] = w.reg.AddClass(&stageLamps.core().wire, stageLamps.core())
	s.relay.Init(session.Config{})
	w.news = append(w.news, connNews{conn: s})
	m := wire.Welcome{Version: 1, World: 1, Flush: 100, Player: wire.PlayerID{1}, Host: wire.PlayerID{1}, HostTerm: 1,
		Profile: wire.Profile{ChunkSize: 100, Reach: 8, PropertyReach: 1, MaxRate: 10, KeyframeMS: 2000, Flags: wire.ProfileRetain}}
	s.say(m.Append(nil))
	s.say(wire.AppendClass(nil, 1, &stageLamps.core().wire))
	s.frame(nil)
	s.frame(nil)
	if w.phase != Live {
		t.Fatal("not welcomed")
	}
	return s
}

// frame is one of the game: a tick, and what the relay says.
func (s *stage) frame(step func()) {
	s.t.Helper()
	s.w.start = s.w.start.Add(-50 * time.Millisecond) // time passes
	if err := s.w.Tick(step); err != nil {
		s.t.Fatal(err)
	}
	now := s.w.now()
	b := s.relay.AppendReliable(now, s.relay.Begin(now, nil), 1200)
	b = append(b, s.extra...)
	s.relay.Commit(now, b, len(s.extra) > 0)
	s.extra = nil
	if s.w.sess != nil {
		if err := s.w.sess.Receive(now, b, s.w.reg.Handler(now)); err != nil {
			s.t.Fatal(err)
		}
		s.w.sess.Expire(now, s.w.reg.Handler(now))
	}
}

// script is a bit of play.
func (s *stage) script() {
	l := &stageLamp{Name: "init", Text: "spawned", Push: 1}
	if err := s.w.Spawn(l, WithID(StableID("lamp"))); err != nil {
		s.t.Fatal(err)
	}
	hosted := &stageLamp{Name: "hosted"}
	if err := s.w.Place("gate", hosted); err != nil {
		s.t.Fatal(err)
	}
	for i := range 100 {
		s.frame(func() {
			switch {
			case i%7 == 3:
				l.Lit = !l.Lit
			case i%11 == 2:
				l.Text, l.Fuel = fmt.Sprint("text ", i), float32(i)
			case i == 20:
				l.Push = 2
			case i == 25:
				if err := s.w.MarkDirty(l); err != nil {
					s.t.Fatal(err)
				}
			case i == 90:
				if err := s.w.Destroy(l); err != nil {
					s.t.Fatal(err)
				}
			}
		})
	}
}

// What leaves is byte for byte the same with loopback, a trace, or none of it (B-121).
func TestSameTraffic(t *testing.T) {
	run := func(cfg Config, then func(*World)) (sent [][]byte) {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, cfg)
			if then != nil {
				then(s.w)
			}
			s.script()
			sent = s.sent
		})
		return sent
	}
	var capture bytes.Buffer
	plain := run(Config{}, nil)
	if len(plain) < 20 || !reflect.DeepEqual(plain, run(Config{}, nil)) {
		t.Fatalf("%d datagrams, or not the same twice: this test proves nothing", len(plain))
	}
	for name, got := range map[string][][]byte{
		"loopback":     run(Config{Loopback: true}, nil),
		"loopback off": run(Config{Loopback: true}, func(w *World) { w.SetLoopback(false) }),
		"trace":        run(Config{Tracer: NewTracer(&capture, TraceEntity, TraceState, TraceEvent, TraceNet)}, nil),
		"trace off":    run(Config{Tracer: NewTracer(io.Discard)}, nil),
	} {
		if !reflect.DeepEqual(plain, got) {
			t.Errorf("%s changes what is sent", name)
		}
	}
	if capture.Len() < 1000 || bytes.Contains(capture.Bytes(), []byte("certificate")) || bytes.Contains(capture.Bytes(), fmt.Appendf(nil, "%x", "certificate")) {
		t.Errorf("the trace of %d bytes is none, or holds a certificate", capture.Len())
	}
}

// A tick that sends allocates nothing more with a Tracer that is off than without one.
func TestTraceOffAddsNoAllocations(t *testing.T) {
	count := func(tracer *Tracer) float64 {
		s := newStage(t, Config{Tracer: tracer})
		l := &stageLamp{}
		s.driven(l)
		now := s.w.now()
		return testing.AllocsPerRun(200, func() { now = s.tick(now, l) })
	}
	none, off := count(nil), count(NewTracer(io.Discard))
	if off != none {
		t.Errorf("%v allocations a tick, %v without a Tracer", off, none)
	}
}

// driven spawns l, and has the relay take it.
func (s *stage) driven(l *stageLamp) {
	s.t.Helper()
	if err := s.w.Spawn(l); err != nil {
		s.t.Fatal(err)
	}
	for range 4 {
		s.frame(func() { l.Lit = !l.Lit })
	}
	if !l.c.Bound() {
		s.t.Fatal("not bound")
	}
	s.quiet = true
}

// tick is the part of a Tick that diffs and sends, with one change.
func (s *stage) tick(now time.Duration, l *stageLamp) time.Duration {
	now += 100 * time.Millisecond
	l.Lit = !l.Lit
	s.w.diff(now)
	s.w.mu.Lock()
	s.w.flush(now, true)
	s.w.sess.Expire(now+time.Minute, s.w.reg.Handler(now)) // what nobody acks must not pile up
	s.w.mu.Unlock()
	return now
}

// BenchmarkTickTraced is a replication tick of one changed entity.
func BenchmarkTickTraced(b *testing.B) {
	for name, tracer := range map[string]*Tracer{"none": nil, "off": NewTracer(io.Discard), "on": NewTracer(io.Discard, TraceEntity, TraceState, TraceNet)} {
		b.Run(name, func(b *testing.B) {
			s := newStage(b, Config{Tracer: tracer})
			l := &stageLamp{}
			s.driven(l)
			now := s.w.now()
			b.ReportAllocs()
			for b.Loop() {
				now = s.tick(now, l)
			}
		})
	}
}
