package throng

import (
	"time"

	"github.com/throng-dev/throng/internal/wire"
)

// Who is here, and who has fallen silent (B-063):
//
//	a body of somebody else's ─► OnSpawn ─► OnAppeared
//	sweep, every 2 s: nothing heard for EntityTimeout ─► registry.Forget, OnDestroy(TimedOut) ─► OnTimedOut
//	a departure ─► OnDestroy, if it is held here ─► OnLeft, held or not
//
// Where the relay keeps values, an entity that does not change is not repeated: the relay vouches for all it shows, and what counts is when
// the relay was heard of. In a pass-through world a Dynamic entity must be heard of itself.

const (
	defaultTimeout = 12 * time.Second
	sweepEvery     = 2 * time.Second
)

// tracking is what the World keeps of it. The game's goroutine, but where it says otherwise.
type tracking struct {
	self     trackSelf
	told     bool // that MaxEntities is reached
	next     time.Duration
	timedOut uint64

	looked time.Duration // under mu: all that had come by then was taken
	heard  time.Duration // under mu: last packet of the relay
	asked  time.Duration // under mu: when the relay was last asked whether it hears
}

// trackSelf says whether the echo of what this client drives is tracked.
type trackSelf uint8

const (
	trackAuto trackSelf = iota // in pass-through worlds
	trackOn
	trackOff
)

func (w *World) tracksSelf() bool {
	return w.track.self == trackOn || w.track.self == trackAuto && w.phase != Connecting && !w.profile.Retain
}

func (w *World) setTrackSelf(on bool) {
	if w.track.self = trackOff; on {
		w.track.self = trackOn
	}
	w.applyTrackSelf()
}

// setBacklog says whether what waits for a Tick waits each for itself.
func (w *World) setBacklog(on bool) {
	w.newest = !on
	w.mu.Lock()
	w.reg.SetBacklog(on)
	w.mu.Unlock()
}

// applyTrackSelf tells the registry.
func (w *World) applyTrackSelf() {
	w.mu.Lock()
	w.reg.TrackSelf(w.tracksSelf())
	w.mu.Unlock()
	for _, b := range w.driven {
		b.echoes = false
	}
}

// askEvery is how old the last confirmation of the relay may be before it is asked for one: an end that only acks is never acked.
const askEvery = 3 * time.Second

// ask makes the relay confirm that it hears this client. It is called under mu, before a flush.
func (w *World) ask(now time.Duration) {
	if now-max(w.reg.Confirmed(), w.track.asked) >= askEvery {
		w.track.asked = now
		w.sess.Ping()
	}
}

// silences ends what nothing was heard of for too long.
func (w *World) silences(now time.Duration) {
	limit := w.cfg.EntityTimeout
	if limit == 0 {
		limit = defaultTimeout
	}
	if limit < 0 || now < w.track.next {
		return
	}
	w.track.next = now + min(sweepEvery, limit/5) // a sweep as rare as the limit would come up to twice too late
	w.mu.Lock()
	defer w.mu.Unlock()
	until := w.track.looked // a game that did not run for a while must not take what waits in the socket for silence
	if w.conn == nil {
		until = now
	}
	vouched := w.track.heard
	for _, b := range w.list {
		if b.gone || b.e.c.Mirrors() {
			continue
		}
		c := b.e.c
		heard := c.Heard()
		if w.profile.Retain || !b.pulses() {
			heard = max(heard, vouched)
		}
		if until-heard <= limit {
			continue
		}
		switch {
		case b.drives:
			if b.echoes {
				b.echoes = false
				w.track.timedOut++
				w.reg.Unecho(c)
				w.events = append(w.events, happening{kind: selfLost, b: b})
			}
		case c.Stands() || c.Old() && w.reg.Welcomed: // the end mark decides
		default:
			w.track.timedOut++
			w.reg.Forget(c)
			w.remove(b, Departure{Why: TimedOut})
		}
	}
}

// pulses reports whether an entity sends something though nothing changes.
func (b *body) pulses() bool {
	cfg := &b.hooks.class.cfg
	return cfg.Mode == Dynamic && !cfg.NoHeartbeat
}

// fullNow warns, once, that newcomers are refused. It is called under mu.
func (w *World) fullNow() {
	if w.track.told || !w.reg.Full() {
		return
	}
	w.track.told = true
	most := w.cfg.MaxEntities
	if most == 0 {
		most = 4096
	}
	w.log.Warn("throng: this client holds as many entities of others as it may: farther ones are not shown until there is room, Stats.NoRoom counts them; see Config.MaxEntities",
		"cat", "entity", "most", most)
}

// parted tells of departures of what was not held. It is called under mu.
func (w *World) parted() {
	if w.cfg.OnLeft == nil || w.noProxies() {
		return
	}
	w.lefts = w.reg.Lefts(w.lefts[:0])
	for _, l := range w.lefts {
		w.events = append(w.events, happening{kind: leftUnseen, id: NetIDFrom(l.ID), d: Departure{Why: reason(l.Why), By: PlayerIDFrom(l.By)}})
	}
}

// left tells of one departure, unless the game caused it, or was told that the entity had timed out.
func (w *World) left(id NetID, d Departure) {
	switch d.Why {
	case Destroyed, Stale, SessionReleased, OutOfReach:
		if w.cfg.OnLeft != nil && !d.Local && !w.noProxies() {
			w.cfg.OnLeft(w, id, d)
		}
	}
}

// unheld tells of the departure of a copy that has no body: of a class that this build lacks, or still loading.
func (w *World) unheld(id wire.ID, d Departure) {
	if w.cfg.OnLeft != nil && !w.noProxies() {
		w.events = append(w.events, happening{kind: leftUnseen, id: NetIDFrom(id), d: d})
	}
}
