package throng

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"time"

	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/udp"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/transport"
)

// A World has one goroutine of its own:
//
//	run:  token ─► Dial ─► news: connected ─┐         ┌─► receive until it ends ─► news: lost ─► back off ─► again
//	Tick: news ─► registry.Connect (Hello) ─┘ … welcome ─► Announce, Live
//
// It receives, acks and keeps time while the game does something else; everything that touches the game's structs waits for
// Tick.

// connNews is what the goroutine tells Tick.
type connNews struct {
	conn transport.Conn // a new connection
	lost error          // or why there is none
	last bool           // and there will not be another
}

// helloWait is how long a relay may take to answer Hello.
const helloWait = 5 * time.Second

// errOverrun ends a session whose game does not take what it must not lose.
var errOverrun = errors.New("throng: 8 MiB of events wait for Tick, which was not called for long")

// Back-off of reconnecting: doubled from the first to the most, each ± a fifth.
const (
	firstWait = 250 * time.Millisecond
	mostWait  = 10 * time.Second
)

// Join connects to a relay and enters a world. It blocks until the client is in the world, was refused, or ctx ended; ctx has
// no effect afterwards. A refusal is a *[JoinError].
func Join(ctx context.Context, addr string, s *Schema, cfg Config) (*World, error) {
	w, err := newWorld(addr, s, cfg)
	if err != nil {
		return nil, err
	}
	arrived := make(chan struct{}, 1)
	w.mail = func() {
		select {
		case arrived <- struct{}{}:
		default:
		}
	}
	go w.run(ctx, true)
	for {
		select {
		case <-arrived:
		case <-ctx.Done():
			w.shut(wire.CloseGoodbye)
			return nil, w.joinError(ctx.Err())
		}
		w.turn.Store(inside)
		w.listen()
		w.turn.Store(idle)
		switch {
		case w.phase == Live:
			w.mu.Lock()
			w.mail = nil
			w.mu.Unlock()
			return w, nil
		case w.final != nil:
			err := w.final
			w.shut(wire.CloseGoodbye)
			return nil, err
		}
	}
}

// JoinAsync returns at once; the World connects while it is ticked, again and again until it is in the world or refused for
// good. Config.OnState tells. It is the form for programs that must not block.
func JoinAsync(addr string, s *Schema, cfg Config) (*World, error) {
	w, err := newWorld(addr, s, cfg)
	if err != nil {
		return nil, err
	}
	go w.run(context.Background(), false)
	return w, nil
}

func newWorld(addr string, s *Schema, cfg Config) (*World, error) {
	if s == nil {
		return nil, errors.New("throng: joining " + addr + ": no schema: make one with NewSchema")
	}
	if err := cfg.validate(s); err != nil {
		return nil, err
	}
	w := &World{schema: s, cfg: cfg, addr: addr, log: cfg.Logger, start: time.Now(), hooks: map[*class]*hookSet{}, classes: map[*class]*registry.Class{}, hearing: hearing{handlers: map[*event][]Hook{}, kinds: map[*event]*registry.EventKind{}},
		players: map[PlayerID]PlayerInfo{}, byID: registry.NewIndex(func(b *body) *wire.ID { return &b.c.ID }), viewed: true, stop: make(chan struct{}), ended: make(chan struct{})}
	if w.log == nil {
		w.log = slog.Default()
	}
	if w.cfg.Dialer == nil {
		w.cfg.Dialer = UDP()
	}
	w.loadCtx, w.loadStop = context.WithCancel(context.Background())
	if cfg.TrackSelf {
		w.track.self = trackOn
	}
	w.cfg.Hooks = append([]Hook(nil), cfg.Hooks...)
	w.tracer, w.loopback = cfg.Tracer, cfg.Loopback
	w.readEnv(os.Getenv)
	w.lend = w.buffer
	w.reg = registry.New(registry.Config{MaxEntities: cfg.MaxEntities, Departures: cfg.OnLeft != nil && !cfg.NoProxies, Encode: w.encode, Zero: w.zero, Sent: w.reflect, Trace: w.tracer.sink(), World: cfg.World, Agent: "throng-go", Nonce: rand.Uint32()})
	w.way.Most = 0.0005 // how long the way is decides how late all is drawn, and nothing else
	w.wantUpdates(cfg.OnUpdates != nil)
	s.logRefused(w.log)
	for _, c := range s.classes {
		w.classes[c] = w.reg.AddClass(&c.wire, c)
		w.hooks[c] = &hookSet{class: c, channel: c.open()}
	}
	for _, e := range s.events {
		w.kinds[e] = w.reg.AddEvent(e.wire, e)
	}
	for _, h := range w.cfg.Hooks {
		if h.event != nil {
			w.handlers[h.event] = append(w.handlers[h.event], h)
			continue
		}
		w.hooks[h.class].hooks = append(w.hooks[h.class].hooks, h)
	}
	return w, nil
}

// run connects, receives, and connects again, until the World is closed or no attempt can succeed. once: until this client was
// in the world, the first failure is final.
func (w *World) run(ctx context.Context, once bool) {
	defer close(w.ended)
	// The caller's patience is for Join, which shuts the World when it ends; what else the context holds is for TokenSource.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	go func() {
		select {
		case <-w.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	wait, joined := firstWait, false
	var conn transport.Conn // dialed already
	for {
		var err error
		if conn == nil {
			conn, err = w.dial(ctx)
		}
		if err == nil {
			w.tell(connNews{conn: conn})
			if err = w.receive(ctx, conn); w.isLive() {
				once, wait, joined = false, firstWait, true
			}
			conn.Close()
		}
		conn = nil
		var moved *movedError
		if errors.As(err, &moved) {
			conn, err = moved.conn, transport.ErrTimeout
		}
		if w.isClosed() {
			if conn != nil {
				conn.Close()
			}
			return
		}
		je := w.joinError(err)
		je.Joined = joined
		last := once || je.Retry == RetryNever || w.cfg.TokenSource == nil
		if conn != nil {
			w.tell(connNews{lost: je})
			continue
		}
		w.tell(connNews{lost: je, last: last})
		if last {
			return
		}
		if je.Retry == RetryFresh && wait == firstWait {
			wait *= 2
			continue // at once, the first time
		}
		select {
		case <-time.After(wait * time.Duration(80+rand.IntN(41)) / 100):
		case <-w.stop:
			return
		}
		wait = min(2*wait, mostWait)
	}
}

func (w *World) dial(ctx context.Context) (transport.Conn, error) {
	token := w.cfg.Token
	if w.cfg.TokenSource != nil {
		var err error
		if token, err = w.cfg.TokenSource(ctx); err != nil {
			return nil, err
		}
	}
	return w.cfg.Dialer.Dial(ctx, w.addr, token)
}

func (w *World) joinError(err error) *JoinError {
	var je *JoinError
	if errors.As(err, &je) {
		return je
	}
	je = &JoinError{Addr: w.addr, Err: err, Retry: RetryLater}
	var gone *session.CloseError
	switch {
	case errors.As(err, &gone):
		je = refusal(w.addr, gone.Code, gone.Text)
	case errors.Is(err, transport.ErrTokenUsed), errors.Is(err, transport.ErrTimeout):
		je.Retry = RetryFresh
	case errors.As(err, new(*net.AddrError)):
		je.Retry = RetryNever // no time mends an address
	}
	return je
}

func refusal(addr string, code uint16, text string) *JoinError {
	c := wire.CloseCode(code)
	je := &JoinError{Addr: addr, Code: int(code), Text: text, Retry: RetryLater}
	if text == "" {
		je.Text = c.String()
	}
	switch c.Retry() {
	case wire.RetryNever:
		je.Retry = RetryNever
	case wire.RetryFresh:
		je.Retry = RetryFresh
	}
	return je
}

func (w *World) tell(n connNews) {
	w.mu.Lock()
	w.news = append(w.news, n)
	w.wakeJoin()
	w.mu.Unlock()
}

func (w *World) wakeJoin() {
	if w.mail != nil {
		w.mail()
	}
}

func (w *World) isClosed() bool {
	select {
	case <-w.stop:
		return true
	default:
		return false
	}
}

func (w *World) isLive() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reg.Welcomed
}

// receive serves a connection until it ends. Tick gives it a session first.
func (w *World) receive(ctx context.Context, conn transport.Conn) error {
	var second rival
	defer second.end()
	opened := w.now()
	var failed error
	take := func(payload []byte) { // made once: it would be made for every packet in the loop
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.conn != conn {
			return // not taken up by a Tick yet: the relay will send it again
		}
		w.tracer.packet(len(payload))
		now := w.now()
		w.track.heard = now
		if e := w.sess.Receive(now, payload, w.reg.Handler(now)); e != nil && !errors.Is(e, session.ErrMalformed) && failed == nil {
			failed = e
		}
	}
	for {
		err := conn.Receive(w.start.Add(w.patience(conn)), take)
		w.mu.Lock()
		if w.conn == conn {
			now := w.now()
			w.track.looked = now
			w.sess.Expire(now, w.reg.Handler(now))
			w.ask(now)
			w.flush(now, false)
			if w.reg.Refused != nil && failed == nil {
				failed = refusal(w.addr, w.reg.Refused.Code, w.reg.Refused.Text)
			}
			if w.reg.Overrun && failed == nil {
				failed, w.reg.Overrun = errOverrun, false
			}
			if w.reg.Welcomed {
				w.wakeJoin()
			} else if now-max(opened, w.reg.Listed) > helloWait && failed == nil {
				failed = transport.ErrTimeout
			}
		}
		w.mu.Unlock()
		if err == nil {
			err = failed
		}
		if err != nil {
			return err
		}
		if w.isClosed() {
			return ErrClosed
		}
		if next := w.beside(ctx, conn, &second); next != nil {
			return &movedError{next}
		}
	}
}

// patience is until when to wait for a packet: until the session has something to do of its own. A game that ticks does
// most of it, so the goroutine does not look more often than acks need.
func (w *World) patience(conn transport.Conn) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	at := now + 250*time.Millisecond
	if w.conn == conn {
		if d, ok := w.sess.Deadline(); ok && d < at {
			at = max(d, now+time.Millisecond)
		}
	}
	return at
}

// flush sends what is due, with tick the marked changes. It is called under mu.
func (w *World) flush(now time.Duration, tick bool) {
	w.used = 0
	w.out = w.reg.Send(now, tick, transport.MaxPayload, transport.Headroom, w.lend, w.out[:0])
	if len(w.out) > 0 {
		w.tracer.packets(w.out, transport.Headroom)
		// What the carrier cannot take is lost, as it may be anywhere on the way.
		_ = w.conn.Send(w.out)
	}
}

// buffer hands out packet memory; Send has given it all back before the next flush.
func (w *World) buffer() []byte {
	if w.used == len(w.buffers) {
		w.buffers = append(w.buffers, transport.NewBuffer())
	}
	w.used++
	return w.buffers[w.used-1][:transport.Headroom]
}

// Close leaves the world. Entities stay as they are; Tick returns an error from then on.
func (w *World) Close() error {
	defer w.leave(w.enter("Close"))
	was := w.phase
	if was != Closed {
		w.phase, w.final = Closed, w.wrap(ErrClosed, "World of %s", w.addr)
	}
	w.shut(wire.CloseGoodbye)
	if was != Closed {
		w.state(Closed, nil)
	}
	return nil
}

// shut ends the goroutine and waits for it.
func (w *World) shut(code wire.CloseCode) {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		if w.conn != nil {
			for range 3 { // nobody answers a goodbye
				b := w.sess.Begin(w.now(), transport.NewBuffer())
				b = session.AppendClose(b, uint16(code), "")
				w.sess.Commit(w.now(), b, false)
				_ = w.conn.Send([][]byte{b})
			}
		}
		close(w.stop)
		if w.conn != nil {
			w.conn.Close()
		}
	}
	w.mu.Unlock()
	<-w.ended
	w.endLoads()
	w.endTrace()
}

// UDP is the carrier that a Config without a Dialer uses: for programs that wrap it, to count or to record.
func UDP() transport.Dialer { return udp.Dialer{} }
