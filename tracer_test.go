package throng

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/throng-dev/throng/internal/trace"
)

// gate is a writer that takes nothing until it is opened.
type gate struct {
	open chan struct{}
	b    bytes.Buffer
}

func (g *gate) Write(b []byte) (int, error) {
	<-g.open
	return g.b.Write(b)
}

// A writer that hangs holds nobody up and costs a bounded amount of memory; what was left out is said in the capture.
func TestSlowWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		tr := NewTracer(g, TraceState)
		const n = 20_000
		for range n {
			tr.take(&trace.Event{Cat: trace.State, What: trace.Delta, Class: "lamp", Fields: []string{"Lit"}, Text: strings.Repeat("x", 100)})
		}
		missed := tr.Missed()
		if missed == 0 || missed >= n || len(tr.buf) > traceRoom+trace.MaxLine {
			t.Errorf("%d missed, %d bytes wait", missed, len(tr.buf))
		}
		close(g.open)
		if err := tr.Flush(); err != nil {
			t.Fatal(err)
		}
		tr.take(&trace.Event{Cat: trace.State, What: trace.Delta})
		if err := tr.Flush(); err != nil {
			t.Fatal(err)
		}
		r, err := trace.NewReader(&g.b)
		if err != nil {
			t.Fatal(err)
		}
		deltas, gap := uint64(0), uint64(0)
		for {
			e, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			switch e.What {
			case trace.Delta:
				deltas++
			case trace.Missed:
				gap += e.N
			}
		}
		if deltas != n+1-missed || gap != missed {
			t.Errorf("%d lines and a gap of %d, %d missed", deltas, gap, missed)
		}
	})
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestBrokenWriter(t *testing.T) {
	tr := NewTracer(broken{}, TraceNet)
	tr.take(&trace.Event{Cat: trace.Net, What: trace.Join})
	if err := tr.Flush(); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	tr.take(&trace.Event{Cat: trace.Net, What: trace.Join})
	if err := tr.Flush(); !errors.Is(err, io.ErrClosedPipe) || tr.Missed() != 1 {
		t.Errorf("%v, %d missed", err, tr.Missed())
	}
}

func TestTraceGroups(t *testing.T) {
	var none *Tracer
	tr := NewTracer(io.Discard, TraceState)
	for g, name := range map[TraceGroup]string{TraceEntity: "entity", TraceState: "state", TraceEvent: "event", TraceNet: "net"} {
		if g.String() != name || none.On(g) || tr.On(g) != (g == TraceState) {
			t.Error(g, name)
		}
		tr.Set(g, true)
		if !tr.On(g) {
			t.Error(g, "is off")
		}
		tr.Set(g, false)
		if tr.On(g) {
			t.Error(g, "is on")
		}
		tr.Set(TraceState, true)
	}
	// From any goroutine.
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				tr.Set(TraceNet, true)
				tr.packet(1)
				tr.Set(TraceNet, false)
				_ = tr.Missed()
			}
		})
	}
	wg.Wait()
	if err := tr.Flush(); err != nil {
		t.Error(err)
	}
}

// Records of a logger carry the group as cat (B-123).
func TestLogTracer(t *testing.T) {
	var b bytes.Buffer
	tr := NewLogTracer(slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})), TraceState)
	tr.take(&trace.Event{Cat: trace.State, Dir: trace.In, What: trace.Delta, ID: trace.ID{0x4c}, Class: "lamp", Fields: []string{"Lit", "Fuel"}, Bytes: 5,
		Path: trace.Spatial, Drop: trace.Overtaken, Owner: trace.ID{0xaa}, N: 3, Text: "why"})
	if err := tr.Flush(); err != nil {
		t.Fatal(err)
	}
	const want = `level=INFO msg="throng: delta" cat=state dir=in id=4c000000000000000000000000000000 class=lamp fields="Lit Fuel" bytes=5 path=spatial ` +
		`drop=overtaken owner=aa000000000000000000000000000000 n=3 text=why` + "\n"
	if got := b.String(); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

// What a token source says may hold anything, and is not traced.
func TestPhaseKeepsSecrets(t *testing.T) {
	var b bytes.Buffer
	tr := NewTracer(&b, TraceNet)
	tr.phase(Reconnecting, &JoinError{Err: errors.New("GET https://example.com/?bearer=hunter2: 500"), Retry: RetryLater})
	tr.phase(Closed, &JoinError{Code: 4, Text: "no version in common", Retry: RetryNever})
	tr.phase(Closed, context.Canceled)
	if err := tr.Flush(); err != nil {
		t.Fatal(err)
	}
	if s := b.String(); strings.Contains(s, "hunter2") || !strings.Contains(s, `"text":"reconnecting, retry later"`) || !strings.Contains(s, "closed, retry never: no version in common") {
		t.Error(s)
	}
}

func TestTraceEnvironment(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace.jsonl")
	world := func(env map[string]string) (*World, string) {
		var log bytes.Buffer
		w := &World{log: slog.New(slog.NewTextHandler(&log, nil))}
		w.readEnv(func(k string) string { return env[k] })
		return w, log.String()
	}
	if w, log := world(nil); w.tracer != nil || w.loopback || log != "" {
		t.Error("an environment that says nothing does something:", log)
	}
	w, log := world(map[string]string{"THRONG_TRACE": "entity, state", "THRONG_LOOPBACK": "state"})
	if !w.tracer.On(TraceEntity) || !w.tracer.On(TraceState) || w.tracer.On(TraceNet) || w.traceFile != nil || !w.loopback || log != "" {
		t.Errorf("%+v %s", w.tracer, log)
	}
	for range 2 { // a file is appended to
		w, log = world(map[string]string{"THRONG_TRACE": "net:" + file})
		w.tracer.packet(9)
		w.endTrace()
		if log != "" || w.traceFile != nil {
			t.Error(log)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil || bytes.Count(b, []byte(`"what":"packet"`)) != 2 {
		t.Errorf("%v: %s", err, b)
	}
	for value, text := range map[string]string{"weather": "there is no group", "": "", "state:" + t.TempDir(): "is a directory"} {
		w, log := world(map[string]string{"THRONG_TRACE": value})
		if w.tracer != nil || !strings.Contains(log, text) {
			t.Errorf("%q: %s", value, log)
		}
	}
	if w, log := world(map[string]string{"THRONG_LOOPBACK": "1"}); w.loopback || !strings.Contains(log, "use state") {
		t.Error(log)
	}
	mine := NewTracer(io.Discard)
	w = &World{log: slog.New(slog.DiscardHandler), tracer: mine}
	w.readEnv(func(string) string { return "state" })
	if w.tracer != mine || mine.On(TraceState) {
		t.Error("the environment replaces Config.Tracer")
	}
}
