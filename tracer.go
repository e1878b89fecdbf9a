package throng

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng/internal/trace"
)

// A Tracer hears of what happens under several locks and must hold up none of them:
//
//	registry, World ─► take: a line into buf, if there is room ─► drain (a goroutine while there is something) ─► the writer

// TraceGroup is a group of trace lines. Each is switched on and off by itself.
type TraceGroup uint8

// The groups.
const (
	TraceEntity TraceGroup = TraceGroup(trace.Entity) // who exists, who drives, who is host
	TraceState  TraceGroup = TraceGroup(trace.State)  // every delta sent, received or dropped, with the reason
	TraceEvent  TraceGroup = TraceGroup(trace.Events) // events
	TraceNet    TraceGroup = TraceGroup(trace.Net)    // connection, players, packets and their loss
)

// String returns entity, state, event or net.
func (g TraceGroup) String() string { return trace.Cat(g).String() }

// traceRoom is how many bytes of lines wait for a slow writer: about 5,000 lines.
const traceRoom = 1 << 20

// Tracer writes down what a World does, one line an event, for people who wonder why something is not where it should be. `throng
// trace show` prints what it wrote, `throng trace diff` compares what two clients wrote.
//
// A line names fields and never holds their values, nor a token, a key or a certificate: it can be given away. A writer that
// is slow holds nobody up: lines that find no room are left out and counted.
//
// A Tracer is for one World, unless the lines of several may mingle. Its methods may be called from any goroutine.
type Tracer struct {
	w     io.Writer
	start time.Time

	groups atomic.Uint32 // bit set

	mu     sync.Mutex
	idle   sync.Cond // busy became false
	buf    []byte    // lines that wait
	spare  []byte    // lines being written
	busy   bool      // drain runs
	gap    uint64    // lines left out since the last one
	missed uint64
	err    error
}

// NewTracer returns a Tracer that writes a capture to out, with the given groups on. Writes come one at a time from a goroutine
// of its own, whole lines each.
func NewTracer(out io.Writer, groups ...TraceGroup) *Tracer {
	t := newTracer(out, groups)
	t.buf = trace.AppendHeader(t.buf, &trace.Header{Version: trace.Version, Start: t.start, By: "throng-go"})
	return t
}

// NewLogTracer returns a Tracer whose lines are records of a logger, at level info. They carry their group as cat.
func NewLogTracer(l *slog.Logger, groups ...TraceGroup) *Tracer {
	return newTracer(&recorder{l}, groups)
}

func newTracer(out io.Writer, groups []TraceGroup) *Tracer {
	t := &Tracer{w: out, start: time.Now()}
	t.idle.L = &t.mu
	for _, g := range groups {
		t.Set(g, true)
	}
	return t
}

// Set switches a group on or off.
func (t *Tracer) Set(g TraceGroup, on bool) {
	if on {
		t.groups.Or(1 << g)
	} else {
		t.groups.And(^(uint32(1) << g))
	}
}

// On reports whether a group is on. A nil Tracer has none.
func (t *Tracer) On(g TraceGroup) bool { return t != nil && t.groups.Load()>>g&1 != 0 }

// Missed is how many lines were left out because the writer was slow, or had failed.
func (t *Tracer) Missed() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.missed
}

// Flush waits until the writer has taken all lines so far, and returns its first error. It is for the end of a program.
func (t *Tracer) Flush() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wake()
	for t.busy {
		t.idle.Wait()
	}
	return t.err
}

// take writes a line. It is quick.
func (t *Tracer) take(e *trace.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.Time = time.Since(t.start)
	if len(t.buf) > traceRoom || t.err != nil {
		t.gap++
		t.missed++
		return
	}
	if t.gap > 0 {
		t.buf = trace.Append(t.buf, &trace.Event{Time: e.Time, Cat: trace.Net, What: trace.Missed, N: t.gap})
		t.gap = 0
	}
	t.buf = trace.Append(t.buf, e)
	t.wake()
}

// wake starts drain. It is called under mu.
func (t *Tracer) wake() {
	if !t.busy && len(t.buf) > 0 && t.err == nil {
		t.busy = true
		go t.drain()
	}
}

// drain writes until there is nothing left.
func (t *Tracer) drain() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.buf) > 0 && t.err == nil {
		t.buf, t.spare = t.spare[:0], t.buf
		t.mu.Unlock()
		_, err := t.w.Write(t.spare)
		t.mu.Lock()
		t.err = err
	}
	t.busy = false
	t.idle.Broadcast()
}

// sink is a Tracer for the packages below.
type sink struct{ t *Tracer }

func (s sink) On(c trace.Cat) bool { return s.t.On(TraceGroup(c)) }
func (s sink) Take(e *trace.Event) { s.t.take(e) }

// sink is what a registry is given: nothing if there is no Tracer.
func (t *Tracer) sink() trace.Sink {
	if t == nil {
		return nil
	}
	return sink{t}
}

// body tells of a body that came or went.
func (t *Tracer) body(what string, b *body, text string) {
	if t.On(TraceEntity) {
		t.take(&trace.Event{Cat: trace.Entity, What: what, ID: b.e.id.Bytes(), Class: b.hooks.class.name, Owner: b.e.owner.Bytes(), Text: text})
	}
}

// packets tells of payloads that were handed to the carrier.
func (t *Tracer) packets(out [][]byte, headroom int) {
	if t.On(TraceNet) {
		for _, b := range out {
			t.take(&trace.Event{Cat: trace.Net, Dir: trace.Out, What: trace.Packet, Bytes: len(b) - headroom})
		}
	}
}

// packet tells of one that came.
func (t *Tracer) packet(size int) {
	if t.On(TraceNet) {
		t.take(&trace.Event{Cat: trace.Net, Dir: trace.In, What: trace.Packet, Bytes: size})
	}
}

// phase tells how the connection is. What a token source said is left out: it may hold anything.
func (t *Tracer) phase(p Phase, err error) {
	if !t.On(TraceNet) {
		return
	}
	e := trace.Event{Cat: trace.Net, What: trace.Phase, Text: p.String()}
	if je, ok := err.(*JoinError); ok {
		e.N = uint64(max(je.Code, 0))
		if e.Text += ", retry " + je.Retry.String(); je.Err == nil {
			e.Text += ": " + je.Text
		}
	}
	t.take(&e)
}

// undecoded tells of values that arrived and are none.
func (t *Tracer) undecoded(b *body, mask uint64, size int) {
	if t.On(TraceState) {
		e := trace.Event{Cat: trace.State, Dir: trace.In, What: trace.Delta, ID: b.e.id.Bytes(), Class: b.hooks.class.name, Bytes: size, Drop: trace.Undecoded}
		for name := range (Changes{mask, b.hooks.class, b.e.ptr}).Names() {
			e.Fields = append(e.Fields, name)
		}
		t.take(&e)
	}
}

// undecodedEvent tells of a payload that is none.
func (t *Tracer) undecodedEvent(ev *event, info *EventInfo, size int) {
	if t.On(TraceEvent) {
		t.take(&trace.Event{Cat: trace.Events, Dir: trace.In, What: trace.EventLine, ID: info.ID.Bytes(), Class: ev.name, Owner: info.From.Bytes(), Bytes: size, Drop: trace.Undecoded})
	}
}

// recorder makes records of a logger of the lines written to it.
type recorder struct{ l *slog.Logger }

func (r *recorder) Write(b []byte) (int, error) {
	for line := range strings.Lines(string(b)) {
		e, h, err := trace.Parse([]byte(line))
		if err != nil || h != nil {
			continue
		}
		attrs := []slog.Attr{slog.String("cat", e.Cat.String())}
		add := func(key, value string) {
			if value != "" {
				attrs = append(attrs, slog.String(key, value))
			}
		}
		add("dir", e.Dir.String())
		if e.ID != (trace.ID{}) {
			add("id", NetIDFrom(e.ID).String())
		}
		add("class", e.Class)
		add("fields", strings.Join(e.Fields, " "))
		if e.Bytes > 0 {
			attrs = append(attrs, slog.Int("bytes", e.Bytes))
		}
		add("path", e.Path)
		add("drop", e.Drop)
		if e.Owner != (trace.ID{}) {
			add("owner", PlayerIDFrom(e.Owner).String())
		}
		if e.N > 0 {
			attrs = append(attrs, slog.Uint64("n", e.N))
		}
		add("text", e.Text)
		r.l.LogAttrs(context.Background(), slog.LevelInfo, "throng: "+e.What, attrs...)
	}
	return len(b), nil
}

// Environment variables that Join reads, so that a program can be looked into that was built without a thought of it.
const (
	envTrace    = "THRONG_TRACE"    // groups with commas between, then perhaps a colon and a file: entity,state:trace.jsonl
	envLoopback = "THRONG_LOOPBACK" // state, event
)

// tracerFromEnv makes the Tracer that THRONG_TRACE asks for, nil if it asks for none. It returns the file to close in the end, if there
// is one.
func tracerFromEnv(value string, l *slog.Logger) (*Tracer, io.Closer, error) {
	if value == "" {
		return nil, nil, nil
	}
	words, path, named := strings.Cut(value, ":")
	var groups []TraceGroup
	for word := range strings.SplitSeq(words, ",") {
		c, ok := trace.ParseCat(strings.TrimSpace(word))
		if !ok {
			return nil, nil, fmt.Errorf("throng: %s=%s: there is no group %q: use entity, state, event, net with commas between, then perhaps : and a file",
				envTrace, value, word)
		}
		groups = append(groups, TraceGroup(c))
	}
	if !named {
		return NewLogTracer(l, groups...), nil, nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, nil, fmt.Errorf("throng: %s=%s: %w", envTrace, value, err)
	}
	return NewTracer(f, groups...), f, nil
}

// readEnv sets what the environment asks for and Config does not say. What cannot be had is logged: looking into a program must
// not break it.
func (w *World) readEnv(env func(string) string) {
	if w.tracer == nil {
		t, f, err := tracerFromEnv(env(envTrace), w.log)
		if err != nil {
			w.log.Error("throng: no trace", "err", err)
		}
		w.tracer, w.traceFile = t, f
	}
	for v := range strings.SplitSeq(env(envLoopback), ",") {
		switch strings.TrimSpace(v) {
		case "":
		case "state":
			w.loopback = true
		case "event":
			w.echoing = true
		default:
			w.log.Error("throng: no loopback", "err", fmt.Errorf("throng: %s=%s: use state, event, or both with a comma between", envLoopback, v))
		}
	}
}

// traceWait is how long Close lets a slow file take the last lines.
const traceWait = time.Second

// endTrace writes what waits, if the Tracer is the World's own.
func (w *World) endTrace() {
	if w.traceFile == nil {
		return
	}
	f, t := w.traceFile, w.tracer
	w.traceFile = nil
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = t.Flush() // there is nobody left to tell
		_ = f.Close()
	}()
	select {
	case <-done:
	case <-time.After(traceWait):
	}
}
