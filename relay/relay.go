// Package relay runs Throng worlds behind a network listener.
//
//	transport.Listener.Poll ─► peer.go  who is it, too much of it?  ─► session ─► hello.go  may it enter which world?
//	                                                                       │         realm.go, world.go
//	                                                                       ▼
//	transport.Listener.Send ◄─ loop.go  flush of each world that is due ◄─ shard (what the world is, who is told what)
//	                        ◄─ close.go goodbyes, three times
//
// One goroutine, the one that called Serve, owns all of it: sessions, worlds, the carrier. It reads the clock once a turn
// and takes no lock while nobody asks from outside. The methods of a Server may be called from any goroutine; those that
// wait (Close, Do, Snapshot, Kick) must not be called from inside Do, which would wait for itself.
//
// A world is an instance of a level for one realm: two realms that name the same level do not meet, see or count each
// other. Within a realm a player has one live session, in one world; a newer one replaces it. A world begins with its
// first session, and ends when it has had none for World.Linger.
package relay

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/throng-dev/throng/transport"
)

// ErrClosed is returned by what needs a Server that serves, when it does not yet or no longer.
var ErrClosed = errors.New("throng: relay is not serving: call Serve first, and not after Close")

// Server is a relay. Make it with New, run it with Serve.
type Server struct {
	// constant after New
	cfg  Config
	log  *slog.Logger
	done chan struct{} // closed when Serve has returned

	// atomic
	stats  atomic.Pointer[Stats]
	called atomic.Bool // there is something in calls, or closing is set

	// under mu
	mu       sync.Mutex
	listener transport.Listener // of Serve
	calls    []func()
	closing  bool

	// the goroutine that serves
	loop *loop
}

// New checks the config and returns a relay that does not run yet. All that is wrong with the config is in the error.
func New(cfg Config) (*Server, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	s := &Server{cfg: cfg, log: cfg.Logger, done: make(chan struct{})}
	s.stats.Store(new(Stats))
	return s, nil
}

// Serve runs the relay on a carrier until Close, then returns nil; at once if Close came first. It returns an error if the
// carrier is of no more use. A Server serves once. The listener is Serve's from the call on: it closes it, too.
func (s *Server) Serve(l transport.Listener) error {
	s.mu.Lock()
	switch {
	case s.listener != nil:
		s.mu.Unlock()
		l.Close()
		return errors.New("throng: this relay serves or has served: make another with New")
	case s.closing:
		s.mu.Unlock()
		return l.Close()
	}
	s.listener, s.loop = l, newLoop(s, l)
	s.mu.Unlock()

	s.log.Info("relay serves", "addr", l.Addr())
	err := s.loop.run()
	s.loop.publish()
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	l.Close()
	close(s.done)
	if err != nil {
		return fmt.Errorf("throng: relay on %v: %w", l.Addr(), err)
	}
	s.log.Info("relay closed", "addr", l.Addr())
	return nil
}

// Close tells every session that the relay stops, and waits for Serve to return: a fifth of a second.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closing = true
	l := s.listener
	s.mu.Unlock()
	if l == nil {
		return nil
	}
	s.called.Store(true)
	l.Wake()
	<-s.done
	return nil
}

// Do runs f on the goroutine that serves, between two turns, and waits for it: no packet is handled meanwhile, so f must
// be short. f is not run if Do returns an error.
func (s *Server) Do(f func()) error {
	ran := make(chan struct{})
	s.mu.Lock()
	l := s.listener
	if l == nil || s.closing {
		s.mu.Unlock()
		return ErrClosed
	}
	s.calls = append(s.calls, func() { f(); close(ran) })
	s.mu.Unlock()
	s.called.Store(true)
	l.Wake()
	select {
	case <-ran:
		return nil
	case <-s.done:
	}
	select {
	case <-ran: // in the last turn
		return nil
	default:
		return ErrClosed
	}
}

// asked runs what other goroutines asked for. It reports whether the relay is to close.
func (s *Server) asked() (closing bool) {
	if !s.called.Swap(false) {
		return false
	}
	s.mu.Lock()
	calls := s.calls
	s.calls, closing = nil, s.closing
	s.mu.Unlock()
	for _, f := range calls {
		f()
	}
	return closing
}
