package main

import (
	"errors"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/internal/inspect"
)

// switchWait is how long a bot may take to come to its next frame.
const switchWait = 2 * time.Second

// switches are those of one bot, for any goroutine.
type switches struct {
	tracer *throng.Tracer // nil: the World has its own, or none
	world  atomic.Pointer[throng.World]

	mu   sync.Mutex
	late <-chan struct{} // closed when what was given up has run after all
}

// newSwitches traces to l, unless the environment has another place for the trace.
func newSwitches(l *slog.Logger) *switches {
	s := &switches{}
	if os.Getenv("THRONG_TRACE") == "" {
		s.tracer = throng.NewLogTracer(l)
	}
	return s
}

// Switches is for the handler of package inspect. There are none until the bot has joined.
func (s *switches) Switches() (all []inspect.Switch) {
	is := make(chan []throng.Switch, 1)
	if s.do(func(w *throng.World) { is <- w.Switches() }) != nil {
		return nil
	}
	for _, one := range <-is {
		all = append(all, inspect.Switch(one))
	}
	return all
}

// SetSwitch is for the handler of package inspect.
func (s *switches) SetSwitch(name string, on bool) error {
	done := make(chan error, 1)
	if err := s.do(func(w *throng.World) { done <- w.SetSwitch(name, on) }); err != nil {
		return err
	}
	return <-done
}

// do runs f on the goroutine that the World belongs to. One at a time, and none behind one that hangs: they would pile up.
func (s *switches) do(f func(w *throng.World)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.world.Load()
	if w == nil {
		return errors.New("throng: the bot has not joined yet: try again")
	}
	hangs := errors.New("throng: the bot does not move: its world has ended, or this machine is too busy")
	if s.late != nil {
		select {
		case <-s.late:
			s.late = nil
		default:
			return hangs
		}
	}
	ran := make(chan struct{})
	w.Post(func() {
		defer close(ran)
		f(w)
	})
	timer := time.NewTimer(switchWait)
	defer timer.Stop()
	select {
	case <-ran:
		return nil
	case <-timer.C:
		s.late = ran
		return hangs
	}
}

// flush writes what is left of the trace.
func (s *switches) flush() {
	if s.tracer != nil {
		_ = s.tracer.Flush() // there is nobody left to tell
	}
}
