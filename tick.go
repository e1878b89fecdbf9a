package throng

import (
	"time"

	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
)

// Tick, in order:
//
//	posts ─► listen: connection, host, players ─► apply: values into structs, bodies made and taken ─► hooks
//	      ─► hear: handlers of events ─► step ─► diff: values against shadows ─► send
//
// Values are written under the lock that the receiving goroutine shares; hooks and step run without it.

// Tick is the one call of a game loop: it applies what arrived and runs the hooks, runs step (which may be nil), then
// compares and sends if a replication tick is due. What is written in step leaves in the same call. An error is final.
func (w *World) Tick(step func()) error {
	if !w.turn.CompareAndSwap(idle, inside) {
		panic("throng: World.Tick within another call: a World belongs to one goroutine and hooks must not tick, use Post from others")
	}
	defer w.turn.Store(idle)
	if w.final != nil {
		return w.final
	}
	w.mu.Lock()
	posts := w.posts
	w.posts = nil
	w.mu.Unlock()
	for _, fn := range posts {
		w.user(fn)
	}
	began := w.now()
	w.keepTime(began)
	for applied := false; !applied; applied = w.apply() {
		if w.listen(); w.final != nil {
			return w.final
		}
	}
	w.silences(began)
	w.drawMotion(began)
	w.tellUpdates()
	w.happen()
	for w.now()-began < turnTime && w.nextTurns() {
		w.happen()
	}
	w.asked()
	w.hear()
	if step != nil {
		w.user(step)
	}
	w.sweep()
	now := w.now()
	tick := w.phase == Live && now >= w.nextTick
	if tick {
		w.keepTime(now)                                  // what is captured below is of now
		if w.nextTick += w.interval; w.nextTick <= now { // after a stall one tick runs, not the backlog (B-023)
			w.nextTick = now + w.interval
		}
		w.nextTick += w.lock()
		w.diff(now)
		w.repeat(now)
		w.blind(now)
	}
	w.handOver()
	w.frame += (min(now-w.lastTick, w.interval) - w.frame) / 8
	w.lastTick = now
	w.send(now, tick)
	w.depart()
	return w.final
}

func (w *World) send(now time.Duration, tick bool) {
	w.mu.Lock()
	defer w.mu.Unlock() // a panic must not leave others waiting
	if w.conn != nil {
		w.flush(now, tick)
	}
}

// listen takes news of the connection, then of host and players.
func (w *World) listen() {
	w.mu.Lock()
	news := w.news
	w.news = nil
	w.mu.Unlock()
	for _, n := range news {
		switch {
		case n.conn != nil:
			w.mu.Lock()
			if !w.closed {
				now := w.now()
				w.conn, w.sess = n.conn, session.New(session.Config{Prompt: true})
				w.reg.Connect(now, w.sess)
				w.flush(now, false)
			}
			w.mu.Unlock()
		default:
			w.mu.Lock()
			w.conn = nil
			w.mu.Unlock()
			if n.last {
				w.final = n.lost
				w.state(Closed, n.lost)
			} else {
				w.log.Warn("throng: connection lost, trying again", "addr", w.addr, "err", n.lost)
				if w.phase != Connecting {
					w.state(Reconnecting, n.lost)
				}
			}
		}
	}
	there := w.arrived()
	w.mu.Lock()
	welcomed := w.welcomed()
	enters := welcomed && w.phase != Live && (there || w.phase != Traveling)
	if enters {
		w.welcome(&w.reg.Welcome)
	}
	if w.reg.Due {
		w.reg.Announce()
	}
	host := PlayerIDFrom(w.reg.Host)
	w.mu.Unlock()
	if !welcomed {
		return
	}
	w.people()
	w.strangers()
	w.groupNews()
	w.undelivered()
	if host != w.host || !w.hosted {
		was, known := w.host, w.hosted
		w.host, w.hosted = host, true
		if w.cfg.OnHost != nil && (known || !host.IsZero()) {
			w.user(func() { w.cfg.OnHost(w, was) })
		}
		if w.isHost() {
			w.mu.Lock()
			w.hostNow()
			w.mu.Unlock()
		}
	}
	if enters {
		if w.phase == Reconnecting {
			w.log.Info("throng: connected again", "addr", w.addr)
		}
		w.liveAt = w.now()
		w.state(Live, nil)
	}
	w.look()
}

// welcomed reports whether this client is in the world, as far as the relay is concerned. It is called under mu.
func (w *World) welcomed() bool { return w.reg.Welcomed && w.conn != nil }

// welcome takes what the relay says of the world. It is called under mu.
func (w *World) welcome(m *wire.Welcome) {
	w.self, w.authority = PlayerIDFrom(m.Player), m.Authority
	p := m.Profile
	w.profile = Profile{ChunkSize: p.ChunkSize, Reach: int(p.Reach), PropertyReach: int(p.PropertyReach), MaxRate: int(p.MaxRate),
		Keyframe: time.Duration(p.KeyframeMS) * time.Millisecond, Flush: time.Duration(p.FlushMS) * time.Millisecond, Flat: p.Flags&wire.ProfileFlat != 0, Retain: p.Flags&wire.ProfileRetain != 0, Decay: int(p.Decay),
		NoProperties: p.Flags&wire.ProfileNoProperties != 0, NoProxies: p.Flags&wire.ProfileNoProxies != 0, ParkGrants: p.Flags&wire.ProfilePark != 0}
	switch {
	case p.Flags&wire.ProfileStrict != 0:
	case p.Flags&wire.ProfileObserve != 0:
		w.profile.Trust = TrustObserve
	default:
		w.profile.Trust = TrustAll
	}
	rate := w.cfg.Rate
	if rate == 0 {
		rate = min(10, w.profile.MaxRate)
	}
	if rate > w.profile.MaxRate {
		w.log.Warn("throng: Config.Rate is above what the world allows: lowered", "asked", rate, "allowed", w.profile.MaxRate)
		rate = w.profile.MaxRate
	}
	w.interval = time.Second / time.Duration(rate)
	w.nextTick = w.now()
	switch {
	case w.cfg.Keyframe < 0:
		w.keyframe = 0
	case w.cfg.Keyframe > 0:
		w.keyframe = w.cfg.Keyframe
	default:
		w.keyframe = w.profile.Keyframe
	}
	w.viewed = len(w.views) == 0
	w.motionKeyframe, w.motionHeartbeat = orElse(w.cfg.MotionKeyframe, motionKeyframe), orElse(w.cfg.MotionHeartbeat, motionHeartbeat)
	w.forgetTime()
	w.reg.TrackSelf(w.track.self == trackOn || w.track.self == trackAuto && !w.profile.Retain)
}

func (w *World) state(p Phase, err error) {
	w.phase = p
	w.tracer.phase(p, err)
	if w.cfg.OnState != nil {
		w.user(func() { w.cfg.OnState(w, ConnState{p, err}) })
	}
}

// people compares the players that the relay names with those the game was told of.
func (w *World) people() {
	var came, left []PlayerInfo
	w.mu.Lock()
	if w.met == w.reg.People {
		w.mu.Unlock()
		return // a walk over all players at every Tick costs more than the rest of the Tick
	}
	w.met = w.reg.People
	for id, p := range w.reg.Players {
		k := PlayerIDFrom(id)
		if _, ok := w.players[k]; !ok {
			came = append(came, PlayerInfo{k, p.Eligible, p.Authority})
		}
	}
	if len(w.players)+len(came) != len(w.reg.Players) {
		for k, p := range w.players {
			if _, ok := w.reg.Players[k.Bytes()]; !ok {
				left = append(left, p)
			}
		}
	}
	w.mu.Unlock()
	tell := w.phase == Live && w.cfg.OnPlayer != nil
	for _, p := range left {
		delete(w.players, p.ID)
		if tell {
			w.user(func() { w.cfg.OnPlayer(w, p, false) })
		}
	}
	for _, p := range came {
		w.players[p.ID] = p
		if tell {
			w.user(func() { w.cfg.OnPlayer(w, p, true) })
		}
	}
}
