package throng

import (
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

var switchNames = []string{"trace.entity", "trace.state", "trace.event", "trace.net", "loopback.state", "loopback.event", "tracker.backlog", "track.self", "updates.batch"}

func onSwitches(w *World) (names, on []string) {
	for _, s := range w.Switches() {
		if names = append(names, s.Name); s.On {
			on = append(on, s.Name)
		}
	}
	return names, on
}

// Switches in code (B-123).
func TestSwitches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := NewTracer(io.Discard, TraceNet)
		w := newStage(t, Config{Tracer: tr}).w
		names, on := onSwitches(w)
		if !slices.Equal(names, switchNames) || !slices.Equal(on, []string{"trace.net", "tracker.backlog"}) {
			t.Errorf("%q, of which %q are on", names, on)
		}
		for _, name := range names {
			for _, want := range []bool{false, true} {
				if err := w.SetSwitch(name, want); err != nil {
					t.Error(err)
				}
				if _, on := onSwitches(w); slices.Contains(on, name) != want {
					t.Errorf("%s is not %v: %q", name, want, on)
				}
			}
		}
		if !w.loopback || !w.echoing || !tr.On(TraceEntity) || !tr.On(TraceState) || !tr.On(TraceEvent) || !tr.On(TraceNet) {
			t.Error("a switch sets something else than it shows")
		}
		err := w.SetSwitch("trace.stat", true)
		if err == nil || !strings.HasSuffix(err.Error(), "use one of "+strings.Join(switchNames, ", ")) {
			t.Errorf("an unknown name: %v", err)
		}
		// Other goroutines post. A post may set them, as a hook may.
		w.Post(func() { err = w.SetSwitch("loopback.state", false) })
		if terr := w.Tick(nil); terr != nil || err != nil || w.loopback {
			t.Error("from a post:", terr, err, w.loopback)
		}
	})
}

func TestTraceSwitchesNeedTracer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStage(t, Config{}).w
		for _, name := range switchNames[:4] {
			err := w.SetSwitch(name, true)
			if err == nil || !strings.Contains(err.Error(), "Config.Tracer") || !strings.Contains(err.Error(), "THRONG_TRACE") {
				t.Errorf("%s: %v", name, err)
			}
			if err := w.SetSwitch(name, false); err != nil {
				t.Error(err)
			}
		}
		if w.tracer != nil {
			t.Error("a tracer was made")
		}
		if err := w.SetSwitch("loopback.state", true); err != nil {
			t.Error(err)
		}
		if _, on := onSwitches(w); !slices.Equal(on, []string{"loopback.state", "tracker.backlog"}) {
			t.Errorf("on: %q", on)
		}
	})
}
