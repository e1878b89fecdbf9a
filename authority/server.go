package authority

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/internal/relevancy"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/store"
)

// Config is how a Server joins, and what it is told to do.
type Config struct {
	// Config is that of its World. TokenSource must give tokens with the authority right; see [Source]. MaxEntities zero is 65,536
	// here: an authority sees the whole world.
	throng.Config

	// Rules of classes. A class without rules is shown to nobody.
	Rules []Rule
	// Policy is how verdicts become channels. The zero Policy is right for games.
	Policy Policy
	// ViewpointsOf tells where a player looks from, for ByDistance. Nil: ByDistance leaves it to the relay.
	ViewpointsOf func(s *Server, p throng.PlayerID, at []throng.Vec3) []throng.Vec3

	// Store keeps the persist fields of actors that are Persistent. Nil: such actors are refused.
	Store store.Store
	// Behind says how long a change waits before it is committed; see [store.BehindConfig]. Its callbacks are the Server's.
	Behind time.Duration

	// OnVerdict gets a record whenever a verdict, its reason or its channel changes. OnAlarm runs when the owner of an actor has been
	// unknown for too long, OnLost when an actor that is Persistent is written by another program, or cannot be read. Each may be nil.
	OnVerdict func(Record)
	OnAlarm   func(s *Server, a throng.Object, why string)
	OnLost    func(s *Server, a throng.Object, err error)
	// OnLife runs when the life of an actor moves on.
	OnLife func(s *Server, a throng.Object, was, is Life)
}

// Policy is how verdicts become channels; see the fields.
type Policy struct {
	// Legacy reproduces the channels of a reference engine, for tests and comparison: every negative verdict lingers for Timeout (0: 5
	// s) after the last positive one, which is moved forward by up to half a second, and an open channel is asked about once a
	// second only.
	Legacy  bool
	Timeout time.Duration
	// Seed makes the jitter of Legacy repeatable.
	Seed uint64
}

// Server is a trusted program in a world.
type Server struct {
	world   *throng.World
	schema  *throng.Schema
	cfg     Config
	log     *slog.Logger
	start   time.Time
	engine  *relevancy.Engine
	rules   map[string]*rules
	actors  map[throng.Object]*actor
	byN     []*actor // by the engine's number
	viewers map[throng.PlayerID]*Viewer
	viewerN []*Viewer // by the engine's number
	fresh   []*Viewer // not in the group of the judged yet
	touched []*actor  // whose viewers changed
	written map[throng.NetID]*writing
	keeper  *keeper
	group   string
	relay   *relay.Server
	addr    string
	closing func() error // of an embedded relay
}

// actor is what the Server knows of one.
type actor struct {
	o         throng.Object
	class     string
	rules     *rules
	life      Life
	n         int
	owner     throng.PlayerID
	how       string // the owner was found by
	known     bool
	ownerless bool
	begun     bool
	announced bool // to the relay
	noStandIn bool
	direct    throng.Object // who possesses it
	name      string        // persistent
	key       string        // in the store
	loading   bool
	wants     bool // Published as soon as it is loaded
	denied    map[throng.PlayerID]bool
	touched   bool
	opts      []throng.SpawnOption
}

// noRules hide.
var noRules rules

// Join joins a relay's world as an authority. It blocks until it is in, or ctx ends.
func Join(ctx context.Context, addr string, schema *throng.Schema, cfg Config) (*Server, error) {
	s := &Server{schema: schema, cfg: cfg, rules: map[string]*rules{}, actors: map[throng.Object]*actor{}, viewers: map[throng.PlayerID]*Viewer{},
		written: map[throng.NetID]*writing{}}
	if s.log = cfg.Logger; s.log == nil {
		s.log = slog.Default()
	}
	for _, r := range cfg.Rules {
		if s.rules[r.class] != nil {
			return nil, fmt.Errorf("throng: class %q has rules twice: give one of them", r.class)
		}
		s.rules[r.class] = &r.rules
	}
	s.engine = relevancy.New(relevancy.Policy{Legacy: cfg.Policy.Legacy, Timeout: cfg.Policy.Timeout, Seed: cfg.Policy.Seed})
	if cfg.OnVerdict != nil {
		s.engine.Changed = func(r relevancy.Record) { cfg.OnVerdict(s.record(r)) }
	}
	join := cfg.Config
	if join.MaxEntities == 0 {
		join.MaxEntities = 1 << 16
	}
	join.OnPlayer = func(w *throng.World, p throng.PlayerInfo, present bool) {
		s.player(p, present)
		if cfg.OnPlayer != nil {
			cfg.OnPlayer(w, p, present)
		}
	}
	join.OnLeft = func(w *throng.World, id throng.NetID, d throng.Departure) {
		if d.Why == throng.Destroyed {
			delete(s.written, id)
		}
		if cfg.OnLeft != nil {
			cfg.OnLeft(w, id, d)
		}
	}
	w, err := throng.Join(ctx, addr, schema, join)
	if err != nil {
		return nil, err
	}
	if !w.IsAuthority() {
		w.Close()
		return nil, fmt.Errorf("throng: joining %s as an authority: %w", addr, throng.ErrNotAuthority)
	}
	s.world, s.start, s.addr = w, time.Now(), addr
	s.group = "judged by " + w.Self().String()
	if cfg.Store != nil {
		s.keeper = newKeeper(s)
	}
	for p := range w.Players() {
		s.player(p, true)
	}
	return s, nil
}

// World is what the Server plays in: for events, queries, and everything that is not an actor's life.
func (s *Server) World() *throng.World { return s.world }

// Tick is a World's Tick, with verdicts behind step: what step published is decided on, and what the rules say of everything is
// sent ahead of values, in the same tick.
func (s *Server) Tick(step func()) error {
	return s.world.Tick(func() {
		if step != nil {
			step()
		}
		s.decide()
	})
}

// Close commits what is Persistent, leaves the world and stops an embedded relay.
func (s *Server) Close() error {
	var err error
	if s.keeper != nil {
		s.keep()
		err = s.keeper.close()
	}
	s.world.Close()
	if s.closing != nil {
		if e := s.closing(); err == nil {
			err = e
		}
	}
	return err
}

// now is the engine's time.
func (s *Server) now() time.Duration { return time.Since(s.start) }

// player follows who is in the world.
func (s *Server) player(p throng.PlayerInfo, present bool) {
	v := s.viewers[p.ID]
	switch {
	case p.Authority || p.ID == s.self():
	case present && v == nil:
		v = &Viewer{Player: p.ID, server: s, n: s.engine.AddViewer(p.ID.Bytes())}
		s.viewers[p.ID] = v
		for len(s.viewerN) <= v.n {
			s.viewerN = append(s.viewerN, nil)
		}
		s.viewerN[v.n] = v
		s.fresh = append(s.fresh, v)
	case !present && v != nil:
		s.engine.RemoveViewer(v.n)
		delete(s.viewers, p.ID)
		s.viewerN[v.n] = nil
		s.fresh = slices.DeleteFunc(s.fresh, func(f *Viewer) bool { return f == v })
		s.check(s.world.SetMember(p.ID, s.group, false)) // before anything about it is forgotten
		for _, a := range s.actors {
			if a.denied[p.ID] {
				delete(a.denied, p.ID)
				s.touch(a)
			}
		}
	}
}

func (s *Server) self() throng.PlayerID {
	if s.world == nil { // within Join
		return throng.PlayerID{}
	}
	return s.world.Self()
}

// decide asks the rules and tells the relay: first who may know of what, then who may know of anything at all.
func (s *Server) decide() {
	if s.cfg.ViewpointsOf != nil {
		for p, v := range s.viewers {
			v.views = s.cfg.ViewpointsOf(s, p, v.views[:0])
		}
	}
	for i := 0; i < len(s.byN); i++ { // OnBegin may spawn more
		a := s.byN[i]
		if a == nil || a.life != Published {
			continue
		}
		if a.rules.owner != nil {
			s.resolve(a)
		}
		if !a.begun {
			if a.begun = true; a.rules.begin != nil {
				a.rules.begin(s, a.o)
			}
		}
	}
	for _, c := range s.engine.Tick(s.now(), s.ask) {
		a, v := s.byN[c.Actor], s.viewerN[c.Viewer]
		if c.Allowed {
			delete(a.denied, v.Player)
		} else {
			a.denied[v.Player] = true
		}
		s.touch(a)
	}
	for _, v := range s.fresh {
		for _, a := range s.byN {
			if a != nil && !s.engine.Allowed(v.n, a.n) && !a.denied[v.Player] {
				a.denied[v.Player] = true
				s.touch(a)
			}
		}
	}
	for _, n := range s.engine.Alarms() {
		s.alarm(s.byN[n], "its owner is unknown")
	}
	s.announce()
	for _, v := range s.fresh {
		s.check(s.world.SetMember(v.Player, s.group, true))
	}
	s.fresh = s.fresh[:0]
	s.rewrite()
	s.keep()
}

func (s *Server) ask(v, n int) relevancy.Answer {
	a := s.byN[n]
	if a.rules.relevant == nil {
		return relevancy.Answer{Kind: relevancy.Hidden, Reason: "no rule"}
	}
	return a.rules.relevant(s.viewerN[v], a.o).answer
}

// resolve asks the rule whom the actor belongs to.
func (s *Server) resolve(a *actor) {
	p := a.rules.owner(a.o)
	known := !p.IsZero()
	if known {
		a.owner, a.how = p, "resolved"
	} else if a.how != "" {
		a.how = "cached"
	}
	a.known = known
	s.engine.SetOwner(a.n, a.owner.Bytes(), known, a.rules.hide && !a.noStandIn)
}

func (s *Server) touch(a *actor) {
	if !a.touched {
		a.touched = true
		s.touched = append(s.touched, a)
	}
}

// announce spawns what was published and tells the relay whose viewers changed.
func (s *Server) announce() {
	for _, a := range s.touched {
		a.touched = false
		if a.life != Published && a.life != Withdrawn {
			continue
		}
		v := s.viewersOf(a)
		switch {
		case s.inWorld(a):
			s.check(s.world.SetViewers(a.o, v))
			continue
		case a.announced: // somebody ended it who may
			s.forget(a, Gone)
			continue
		}
		if a.life != Published {
			continue
		}
		opts := append([]throng.SpawnOption{throng.AsActor(), throng.ForViewers(v)}, a.opts...)
		if err := s.world.Spawn(a.o, opts...); err != nil {
			s.log.Error("throng: an actor could not be published", "class", a.class, "err", err)
			s.forget(a, Gone)
			continue
		}
		a.announced = true
	}
	s.touched = s.touched[:0]
}

// inWorld reports whether the relay has been told of the actor.
func (s *Server) inWorld(a *actor) bool {
	o, ok := s.world.Find(idOf(a.o))
	return ok && o == a.o
}

// maxNamed is how many players the relay takes in one list.
const maxNamed = 1024

// viewersOf says who may know of an actor: of those that were judged all but the denied. If there are too many of them nobody
// may, rather than one too many.
func (s *Server) viewersOf(a *actor) throng.Viewers {
	if a.life != Published || len(a.denied) > maxNamed {
		if a.life == Published {
			s.alarm(a, "too many players are kept from it: put them into a group and decide by that")
		}
		return throng.Viewers{Only: true}
	}
	return throng.Viewers{Group: s.group, Players: slices.Collect(maps.Keys(a.denied))}
}

func (s *Server) alarm(a *actor, why string) {
	s.log.Warn("throng: an actor is shown to nobody new", "class", a.class, "id", idOf(a.o), "why", why)
	if s.cfg.OnAlarm != nil {
		s.cfg.OnAlarm(s, a.o, why)
	}
}

func (s *Server) check(err error) {
	if err != nil {
		s.log.Error("throng: the relay was not told who may know", "err", err)
	}
}
