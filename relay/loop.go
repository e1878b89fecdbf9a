package relay

import (
	"log/slog"
	"time"

	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/transport"
)

// A turn of the loop:
//
//  1. Poll waits until a packet comes or something is due, and hands over all that has come (peer.go)
//  2. what other goroutines asked for: Do, Close
//  3. what time demands: those that sent no Hello, goodbyes, empty worlds
//  4. flush: each world that is due builds its datagrams, Send takes them a handful at a time
//
// Time is the time since the start of the loop, read when the first packet of a turn comes, again after the last.

const (
	helloWait    = 5 * time.Second
	sweepEvery   = time.Second
	publishEvery = 250 * time.Millisecond
	maxShutdown  = time.Second
)

type loop struct {
	server   *Server
	cfg      *Config
	log      *slog.Logger
	listener transport.Listener
	resume   []byte // key of certificates

	start time.Time
	now   time.Duration
	fresh bool // now was read in this turn

	peers   map[transport.ID]*peer
	opened  uint64  // connections ever
	waiting []*peer // for their Hello, oldest first; those that sent it are dropped when they are first
	leaving []*peer // being told goodbye
	members map[memberKey]*member
	seniors uint64 // seniorities given
	worlds  []*world
	byKey   map[worldKey]*world
	made    uint64 // worlds ever

	starts    uint32        // number of this start
	nextStart time.Duration // when a start would have a higher number than any world has

	out       []transport.Datagram
	hand      func([]transport.Datagram) // send, made once
	closing   bool
	closeBy   time.Duration
	sweepAt   time.Duration
	publishAt time.Duration
	warnAt    time.Duration
	unwarned  int // refusals not logged since the last that was
	passAt    time.Duration
	unpassed  int           // the same for what observing worlds let pass
	dropAt    time.Duration // when the next line about dropped input may be written
	counts    counts
}

func newLoop(s *Server, l transport.Listener) *loop {
	r := &loop{server: s, cfg: &s.cfg, log: s.log, listener: l, resume: s.cfg.resumeKey(), start: time.Now(),
		peers: map[transport.ID]*peer{}, members: map[memberKey]*member{}, byKey: map[worldKey]*world{},
		counts: counts{refused: map[wire.CloseCode]uint64{}}}
	if r.starts = r.cfg.Start; r.starts == 0 {
		r.starts = uint32((r.start.UnixMilli() - firstStart) / startUnit.Milliseconds())
	}
	r.hand = r.send
	return r
}

func (r *loop) run() error {
	for {
		r.fresh = false
		if err := r.listener.Poll(r.start.Add(r.due()), r); err != nil {
			return err
		}
		r.fresh = false
		now := r.clock()
		if r.server.asked() {
			r.shutdown()
		}
		r.overdue(now)
		r.flush(now)
		r.goodbyes(now)
		if r.closing && (len(r.leaving) == 0 && now >= r.nextStart || now >= r.closeBy) {
			return nil
		}
		if now >= r.sweepAt {
			r.sweepAt = now + sweepEvery
			r.forgetMembers(now)
			r.dropWorlds(now)
		}
		if now >= r.publishAt {
			r.publishAt = now + publishEvery
			r.publish()
		}
	}
}

// clock reads the time once a turn.
func (r *loop) clock() time.Duration {
	if !r.fresh {
		r.now, r.fresh = max(r.now, time.Since(r.start)), true
	}
	return r.now
}

// due is when the next turn has work to do even if nothing comes.
func (r *loop) due() time.Duration {
	at := r.sweepAt
	for _, w := range r.worlds {
		at = min(at, w.shard.Wake())
	}
	if len(r.waiting) > 0 {
		at = min(at, r.waiting[0].since+helloWait)
	}
	for _, p := range r.leaving {
		at = min(at, p.goodbyeAt)
	}
	if r.closing && len(r.leaving) == 0 {
		at = min(at, r.nextStart)
	}
	return at
}

func (r *loop) flush(now time.Duration) {
	for _, w := range r.worlds {
		if w.shard.Wake() > now {
			continue
		}
		r.out = w.shard.FlushTo(now, r.out[:0], r.hand)
		if len(r.out) > 0 {
			r.send(r.out)
		}
		for _, o := range w.shard.Failed() {
			if p := r.peers[o.To]; p != nil && p.sess == o {
				r.fell(p, o)
			}
		}
	}
}

func (r *loop) send(out []transport.Datagram) {
	for i := range out {
		r.counts.bytesOut += uint64(len(out[i].Payload()))
	}
	r.counts.out += uint64(len(out))
	r.listener.Send(out)
}

// overdue ends those that said nothing for too long.
func (r *loop) overdue(now time.Duration) {
	for len(r.waiting) > 0 {
		p := r.waiting[0]
		if p.entered || p.over {
			r.waiting[0], r.waiting = nil, r.waiting[1:]
			continue
		}
		if now < p.since+helloWait {
			return
		}
		r.end(p, wire.CloseTimeout, "no Hello came within 5 s")
	}
}

// shutdown begins to close: it tells everybody, once.
func (r *loop) shutdown() {
	if r.closing {
		return
	}
	r.closing, r.closeBy = true, r.now+maxShutdown
	for _, p := range r.peers {
		if !p.over {
			r.end(p, wire.CloseShutdown, "the relay stops")
		}
	}
}
