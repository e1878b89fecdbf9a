package throng

import (
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng/internal/delta"
	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/transport"
)

// World is a client's view of a world, and its part in it. Join makes one.
//
// The goroutine that calls Tick owns it; see the package comment. Only Post may be called from elsewhere.
type World struct {
	// Constant after Join.
	schema  *Schema
	cfg     Config
	addr    string
	log     *slog.Logger
	hooks   map[*class]*hookSet
	start   time.Time
	classes map[*class]*registry.Class
	hearing

	turn atomic.Uint32 // who is inside; see enter

	// The game's goroutine.
	self      PlayerID
	authority bool // this client is a trusted server
	host      PlayerID
	hosted    bool // host is known
	players   map[PlayerID]PlayerInfo
	met       uint32 // registry.People when players was made
	phase     Phase
	gifts     []gift // granted, and driven until the end of the Tick
	travelTo  string // the world that this client is on the way to
	final     error
	profile   Profile
	list      []*body // everything the game sees, in order of appearance
	holes     bool    // some of list are gone
	byID      registry.Index[body]
	driven    []*body
	repeats   map[*body]time.Duration // when a spawn is said again, where values are not kept
	interval  time.Duration
	nextTick  time.Duration
	lastTick  time.Duration
	frame     time.Duration // smoothed time between two Ticks
	keyframe  time.Duration
	changed   []*registry.Copy
	events    []happening
	strange   map[stranger]bool
	liveAt    time.Duration
	loads     loads
	batch     int // bodies that may still be made in this batch
	turns     []*loading
	track     tracking
	newest    bool // no backlog
	lefts     []registry.Left
	retired   []*body // scratch of sweep
	blindly   bool    // told that it sees nothing
	viewed    bool
	views     []Vec3
	buffers   [][]byte
	used      int
	lend      registry.Buffers // buffer, bound once
	out       [][]byte

	movement // of what moves: see stream.go and drawing.go

	tracer      *Tracer   // nil: none
	traceFile   io.Closer // of a tracer that is the World's own
	loopback    bool      // changed under mu
	reflections []reflection
	reflected   []byte // values of them
	warnings    map[string]*warning
	undecoded   uint64 // under mu

	// Under mu: shared by Tick and the goroutine that receives.
	mu    sync.Mutex
	reg   *registry.Registry
	sess  *session.Conn
	conn  transport.Conn
	news  []connNews
	mail  func() // wakes a waiting Join
	posts []func()

	loadCtx  context.Context // of every Load
	loadStop context.CancelFunc

	stop   chan struct{}
	ended  chan struct{}
	closed bool // under mu
}

// body is an entity that the game sees.
type body struct {
	e        *Entity
	c        *registry.Copy
	o        Object
	hooks    *hookSet
	track    track         // of a proxy that moves: the samples it is drawn from; nil: none came
	drive    *driving      // nil: it was not driven here
	until    time.Duration // when a body that is gone leaves the list; before OnDestroy ran, minus the time that it outlives that by
	frame    time.Duration // of the next keyframe
	drives   bool
	listed   bool // in World.driven
	gone     bool // out of the world; it stays in the list until the end of the phase, or its delay
	told     bool // OnSpawn ran
	unspoken bool // its spawn has not come, where values are not kept
	made     bool // the struct was made here, for an entity of somebody else's
	echoes   bool // driven here, and its echo came
	quiet    bool // no keyframes
	placed   bool // its init fields are this client's own
	mine     bool // Destroy was called here
	moving   bool // in World.moving
	drawn    bool // its first sample was shown
}

// driving is what only a body that is driven here needs, or was: there are thousands of others (TestProxyBudget).
type driving struct {
	stream   *stream        // of what moves
	refused  uint64         // slots whose value cannot be sent, logged
	rejected uint64         // slots that the relay did not apply, as last told
	seen     *delta.Shadow  // of a driver that is told of its own changes: the values it knows of
	mirror   *registry.Copy // with loopback: what it is mirrored to
	why      uint8          // of rejected
}

// driving returns what a driver needs of a body.
func (b *body) driving() *driving {
	if b.drive == nil {
		b.drive = &driving{}
	}
	return b.drive
}

// mirror is what a body is mirrored to; nil: nothing.
func (b *body) mirror() *registry.Copy {
	if b.drive == nil {
		return nil
	}
	return b.drive.mirror
}

// hookSet is the behaviour of a class in this world.
type hookSet struct {
	class   *class
	channel channel // of a class that streams; nil: it does not
	hooks   []Hook
	pool    []Object // cleared, for proxies to come
}

// Profile is what the relay decides for a world.
type Profile struct {
	ChunkSize     float64 // edge of a chunk in the game's units
	Reach         int     // chunks from which entities are seen
	PropertyReach int     // chunks from which fields other than the position follow
	MaxRate       int     // replication ticks a second that the relay accepts
	Keyframe      time.Duration
	Flush         time.Duration // where much happens, the relay sends at multiples of this
	Flat          bool          // chunks are columns
	Retain        bool          // the relay keeps values: late joiners are complete
	Decay         int           // how motion is thinned with distance: one of the Decay values of package relay, 0 is none
	Trust         Trust         // what becomes of writes by those who may not
	NoProperties  bool          // no field replicates after an entity's first values; see Config.NoProperties
	NoProxies     bool          // nobody is shown the entities of others; see Config.NoProxies
	ParkGrants    bool          // a grant to a player who is not in the world waits for it; see World.Grant
}

// Stats counts what this client received and sent.
type Stats struct {
	Entities                 int // held
	RTT                      time.Duration
	Records, Applied         uint64 // changes received, and applied
	Overtaken, Void          uint64 // older than what was held; about an earlier life of a handle
	Unknown, Foreign         uint64 // of entities not introduced; of classes this build lacks, or has with another layout
	Malformed, WrongEpoch    uint64
	NoRoom                   uint64 // entities refused at MaxEntities
	OtherLayout              uint64 // of Foreign, those of a class that this build has with another layout
	Echo, Waiting            uint64 // of entities driven here; of entities that wait for the values of their next driver
	Stale, Dead              uint64 // of an older life or driver of an entity; of one that was destroyed
	Undecoded                uint64 // with a value that the field cannot have
	Rejected                 uint64 // times the relay said that it does not apply what was sent
	Uninvited                uint64 // writes to what is driven here by those who may not, in a world that lets them pass: dropped
	PacketsIn, PacketsOut    uint64
	Motion                   MotionStats
	Loading                  int           // entities whose Load has not returned
	LoadsFailed, TimedOut    uint64        // Loads that returned an error; entities of which nothing was heard for too long
	LastHeard                time.Duration // since the relay last confirmed a packet of this client; −1: it never did
	Backlog                  int           // changes that wait for a Tick
	Merged                   uint64        // changes that newer ones replaced while they waited for it
	PacketsLost, LostUpwards uint64        // reported lost of those sent; of them, with changes that were sent again

	EventsSent, EventsHeard uint64 // by this client, to others; by its handlers, from others
	EventsUndelivered       uint64 // sent, and reached nobody
	EventsForeign           uint64 // heard of a kind that this build lacks, or has with another payload
	EventsUndecoded         uint64 // with a payload that the kind cannot have, or that do not parse
	EventsDropped           uint64 // sent once, and what they were about did not come in time
	EventsEnded             uint64 // of a world or a session that ended before they were handled
	EventsImpatient         uint64 // handled, though values that were written before them had not come for long
}

// enter takes the World for a call, and says how to leave. Calls nest only on the game's goroutine, from within a hook or
// step: then Tick has the World and has opened it.
const (
	idle   = iota
	inside // Tick is at work
	open   // Tick runs the game's code
	called // some other method is at work
)

func (w *World) enter(what string) uint32 {
	for _, from := range [...]uint32{open, idle} {
		if w.turn.CompareAndSwap(from, called) {
			return from
		}
	}
	panic("throng: World." + what + " while another call is at work: a World belongs to one goroutine, use Post from others")
}

func (w *World) leave(to uint32) { w.turn.Store(to) }

// reads is enter for a call that only reads, and takes nothing.
func (w *World) reads(what string) {
	if t := w.turn.Load(); t != open && t != idle {
		panic("throng: World." + what + " while another call is at work: a World belongs to one goroutine, use Post from others")
	}
}

// user runs the game's code from within a method, so that it may call methods in turn.
func (w *World) user(f func()) {
	was := w.turn.Swap(open)
	f()
	w.turn.Store(was)
}

func (w *World) now() time.Duration { return time.Since(w.start) }

// Self is this client's player. It is zero before the world was joined.
func (w *World) Self() PlayerID {
	w.reads("Self")
	return w.self
}

// Host is the player that is host. It is zero and true if the world has none, and false if this client does not know yet.
func (w *World) Host() (PlayerID, bool) {
	w.reads("Host")
	return w.host, w.hosted
}

// IsHost reports whether this client is the host.
func (w *World) IsHost() bool {
	w.reads("IsHost")
	return w.isHost()
}

func (w *World) isHost() bool { return w.hosted && !w.self.IsZero() && w.host == w.self }

// Players iterates over the players in the world, this one too, in no order.
func (w *World) Players() iter.Seq[PlayerInfo] {
	return func(yield func(PlayerInfo) bool) {
		w.reads("Players")
		for _, p := range w.players {
			if !yield(p) {
				return
			}
		}
	}
}

// Profile is what the relay decided for this world. It is zero before the world was joined.
func (w *World) Profile() Profile {
	w.reads("Profile")
	return w.profile
}

func (w *World) noProperties() bool { return w.cfg.NoProperties || w.profile.NoProperties }
func (w *World) noProxies() bool    { return w.cfg.NoProxies || w.profile.NoProxies }

// RTT is the smoothed time that a packet takes to the relay and back.
func (w *World) RTT() time.Duration { return w.Stats().RTT }

// Stats returns the counters.
func (w *World) Stats() Stats {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.reg.Stats()
	s := Stats{Entities: w.reg.Len(), Records: r.Records, Applied: r.Applied, Overtaken: r.Overtaken, Void: r.Void, Unknown: r.Unknown,
		Foreign: r.Foreign, Malformed: r.Malformed, WrongEpoch: r.WrongEpoch, NoRoom: r.NoRoom, LostUpwards: r.Lost,
		Motion: MotionStats{Samples: w.motions.Samples, Old: w.motions.Old, Jumps: w.motions.Jumps, Resets: w.motions.Resets,
			Extrapolated: w.motions.Extrapolated, Beats: r.Beats, Dropped: w.updates.lost},
		OtherLayout: r.OtherLayout, Echo: r.Echo, Waiting: r.Waiting, Stale: r.Stale, Dead: r.Dead, Undecoded: w.undecoded, Rejected: r.Rejected, Uninvited: r.Uninvited}
	s.Loading, s.LoadsFailed, s.TimedOut, s.LastHeard = len(w.loads.byID), w.loads.failed, w.track.timedOut, -1
	s.Backlog, s.Merged = w.reg.Backlog()
	if at := w.reg.Confirmed(); at > 0 {
		s.LastHeard = w.now() - at
	}
	e := w.reg.EventStats()
	s.EventsSent, s.EventsHeard, s.EventsUndelivered, s.EventsForeign = e.EventsSent, e.EventsHeard, e.EventsUndelivered, e.EventsForeign
	s.EventsUndecoded, s.EventsDropped, s.EventsEnded, s.EventsImpatient = e.EventsMalformed+w.undecodedEvents, e.EventsDropped, e.EventsEnded, e.EventsImpatient
	if w.sess != nil {
		c := w.sess.Stats()
		s.RTT, _ = w.sess.RTT()
		s.PacketsIn, s.PacketsOut, s.PacketsLost = c.Received, c.Sent, c.Lost
	}
	return s
}

// Find returns the entity with an id that this client holds.
func (w *World) Find(id NetID) (Object, bool) {
	w.reads("Find")
	if b := w.byID.Find(id.Bytes()); b != nil && !b.gone {
		return b.o, true
	}
	return nil, false
}

// Entities iterates over everything this client holds, in order of appearance. Spawning and destroying meanwhile is fine.
func (w *World) Entities() iter.Seq[Object] { return w.all() }

// OwnedBy iterates over the entities of a player; the zero player means those that the host drives.
func (w *World) OwnedBy(p PlayerID) iter.Seq[Object] {
	return func(yield func(Object) bool) {
		for o := range w.all() {
			e := o.entity()
			if e.owner == p && (!p.IsZero() || e.role == RoleHost) && !yield(o) { // a mirror is nobody's
				return
			}
		}
	}
}

func (w *World) all() iter.Seq[Object] {
	return func(yield func(Object) bool) {
		w.reads("Entities")
		now := w.now()
		for i := 0; i < len(w.list); i++ {
			if b := w.list[i]; (!b.gone || b.until > now) && !yield(b.o) {
				return
			}
		}
	}
}

// Drives reports whether this client drives the entity: what it writes is what the others get.
func (w *World) Drives(o Object) bool {
	w.reads("Drives")
	b := w.bodyOf(o)
	return b != nil && b.drives
}

// bodyOf is the body of an object in this world, or nil.
func (w *World) bodyOf(o Object) *body {
	e := o.entity()
	if e.w != w || e.c == nil {
		return nil
	}
	if b, _ := e.c.Data.(*body); b != nil && b.e == e {
		return b
	}
	return nil // another struct took its place
}

// Post runs fn on the game's goroutine, in the next Tick, before its step. Any goroutine may call it.
func (w *World) Post(fn func()) {
	w.mu.Lock()
	w.posts = append(w.posts, fn)
	w.mu.Unlock()
}

// SetViewpoints says from where this client looks, instead of from its avatar; at most 8 places. Without any it looks from its
// avatar again. A client with neither sees only what has no position.
func (w *World) SetViewpoints(p ...Vec3) {
	defer w.leave(w.enter("SetViewpoints"))
	w.views = append(w.views[:0], p[:min(len(p), wire.MaxViews)]...)
	w.viewed = false
	w.look()
}

// look tells the relay the viewpoints, as soon as the size of a chunk is known.
func (w *World) look() {
	if w.viewed || w.phase != Live {
		return
	}
	var chunks []grid.Chunk
	for _, v := range w.views {
		if c, ok := w.chunk(v.X, v.Y, v.Z); ok {
			chunks = append(chunks, c)
		}
	}
	w.viewed = true
	w.mu.Lock()
	w.reg.SetView(len(chunks) == 0, chunks)
	w.mu.Unlock()
}

func (w *World) chunk(x, y, z float64) (grid.Chunk, bool) {
	if w.profile.Flat {
		z = 0
	}
	return grid.Of(x, y, z, w.profile.ChunkSize)
}

func (w *World) wrap(err error, format string, args ...any) error {
	return fmt.Errorf("throng: "+format+": %w", append(args, err)...)
}
