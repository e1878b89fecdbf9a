package throng

import (
	"fmt"
	"strings"

	"github.com/throng-dev/throng/internal/trace"
)

// Switch is something that looks into a World, or helps to, and that is switched on and off while the program runs. Its name is
// what and, behind a dot, of what: trace.state.
type Switch struct {
	Name string
	On   bool
}

// switching is how one of them is read and set. Those that need a Tracer are set only if there is one.
type switching struct {
	name   string
	traces bool
	on     func(w *World) bool
	set    func(w *World, on bool)
}

var switchings = []switching{
	traceSwitch(TraceEntity), traceSwitch(TraceState), traceSwitch(TraceEvent), traceSwitch(TraceNet),
	{name: "loopback.state", on: func(w *World) bool { return w.loopback }, set: (*World).SetLoopback},
	{name: "loopback.event", on: func(w *World) bool { return w.echoing }, set: (*World).SetEventLoopback},
	{name: "tracker.backlog", on: func(w *World) bool { return !w.newest }, set: (*World).setBacklog},
	{name: "track.self", on: (*World).tracksSelf, set: (*World).setTrackSelf},
	{name: "updates.batch", on: func(w *World) bool { return w.batching }, set: (*World).SetUpdates},
}

func traceSwitch(g TraceGroup) switching {
	return switching{"trace." + trace.Cat(g).String(), true,
		func(w *World) bool { return w.tracer.On(g) },
		func(w *World, on bool) { w.tracer.Set(g, on) }}
}

// Switches are all switches of this World, with how they are now:
//
//	trace.entity, trace.state, trace.event, trace.net   the groups of its Tracer; see TraceGroup
//	loopback.state                                      mirrors of what this client drives; see Config.Loopback
//	loopback.event                                      what this client sends is heard here; see World.SetEventLoopback
//	tracker.backlog                                     changes wait each for itself for a game that does not tick, up to 8,192; off: only the newest of each field
//	track.self                                          OnAppeared and OnTimedOut for what this client drives; see Config.TrackSelf
//	updates.batch                                       Config.OnUpdates
func (w *World) Switches() []Switch {
	w.reads("Switches")
	var all []Switch
	for _, s := range switchings {
		all = append(all, Switch{s.name, s.on(w)})
	}
	return all
}

// SetSwitch sets a switch by its name, for consoles and pages; see Switches. A group of the trace needs a Tracer, which a World has
// from its beginning or never has: without one there is an error.
func (w *World) SetSwitch(name string, on bool) error {
	w.reads("SetSwitch")
	var names []string
	for _, s := range switchings {
		if s.name != name {
			names = append(names, s.name)
			continue
		}
		if s.traces && w.tracer == nil && on {
			return fmt.Errorf("throng: the switch %s has no tracer to write to: join with Config.Tracer, or with %s in the environment", name, envTrace)
		}
		if s.traces && w.tracer == nil {
			return nil // it is off
		}
		s.set(w, on)
		return nil
	}
	return fmt.Errorf("throng: there is no switch %q: use one of %s", name, strings.Join(names, ", "))
}
