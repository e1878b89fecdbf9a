// Package shard is one world at a relay, as a state machine that others drive.
//
//	Receive ─► session ─► wire ─► announce.go (spawn, again, destroy)   ─┐
//	                              write.go    (deltas, overrides)        ├─► table (newest value per slot, owner, term)
//	                              drive.go    (host, revoke, assign)    ─┘        │ dirty entities, moved entities
//	Flush ─► presence.go (who has what in reach) ─► blob.go (bytes of this flush, once for all) ─► bundle.go (copies for
//	         each observer, and what is its own) ─► datagrams;  delivery.go learns what arrived and makes the rest dirty again
//
// A Shard opens no socket, starts no goroutine and reads no clock: now is the time since some start, passed in, and never
// runs backwards. It belongs to one goroutine.
package shard

import (
	"errors"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// Config describes a world. Zero fields take the defaults named.
type Config struct {
	Epoch   uint64 // of the relay, new at every start
	Start   uint32 // counts starts: the high half of terms and incarnations
	Key     []byte // for certificates of re-announcement; nil: none are given, none are believed
	World   string
	Profile wire.Profile
	// Settle is how long after its own start the world takes re-announcements before it elects a host. 0: 1 s; negative: none.
	Settle time.Duration
	// ReleaseWait is how long a revoked driver may take to release. 0: 1 s.
	ReleaseWait time.Duration
	// Rest is how long a free handle rests. 0: 2 s.
	Rest time.Duration
	// ParkGrants is how long a grant to a player who is not in the world waits for it, until the host gets the entity. 0: such a grant
	// is refused.
	ParkGrants time.Duration
	// Budget is the most that an observer is sent, in bytes a second (B-072). 0: 64 KiB.
	Budget int
	// MaxStale is how long an observer may lack what changed in its reach before that goes first and counts. 0: 1 s.
	MaxStale time.Duration
	// SessionEntities bounds what one session may own. 0: 4096.
	SessionEntities int
	// MaxEntities bounds the world. 0: 65536.
	MaxEntities int
	// MayJoin decides whether a client may join a group of players by itself. nil: it may not.
	MayJoin func(p wire.PlayerID, group string) bool
	// Handles bounds the handle space, for simulators that force reuse. 0: as wide as MaxEntities asks for.
	Handles int
	// Heavy makes flushes wait for multiples of their interval however little happens, for simulators.
	Heavy bool
	// EventRate is how many events a session may send a second, over five seconds (B-132). 0: 200; negative: no bound.
	EventRate int
	// EventSize bounds the payload of an event. 0: wire.MaxEvent.
	EventSize int
	// Accepted, if set, is called for every slot value that the relay accepts, for simulators and traces.
	Accepted func(e *table.Entity, slot int)
	// Given, if set, is called for every reliable event, and again for every session that it is for.
	Given func(to *Session, payload []byte)
	// Tolerated, if set, is called for everything that an observing world lets pass and a strict one would drop.
	Tolerated func(o *Session, e *table.Entity, what string)
	// Dropped, if set, is called for each frame and message of which something was refused or made no sense.
	Dropped func(o *Session, d Drop)
	// Handed, if set, is called whenever a session is given the drive, before it is told.
	Handed func(e *table.Entity, to *Session)
	// Overlooked, if set, is called for every session that a pass does not look at although it should, for simulators. Then the world
	// behaves like a large one, in which those who must be served are looked for, however few they are.
	Overlooked func(o *Session, what string)
	// Faults plants faults for tests of the tests; empty in production.
	Faults Faults
}

// Faults breaks one rule each, to prove that the checks which guard it can fail.
type Faults struct {
	EventEarly     bool // an event does not wait for the introduction
	EventBlind     bool // an event does not name the values that stood before it
	EventOvertakes bool // an event does not wait for what its sender said before it
	AckUnknown     bool // records for an entity that was not known count as delivered
	GuestForgotten bool // no own records in ring reach+1
	ReuseNow       bool // a handle is free at the destroy
	OverrideLost   bool // override numbers are ignored
	ApartForgotten bool // a value that travels apart is not sent again to who comes to know the entity
	ApartTold      bool // what is on its way of an entity leaves also when its observer may not know of it any more
	ApartOnce      bool // what is set while the value before is on its way is sent to nobody
	LevelForgotten bool // what an observer lacks when its level changes stays lacking (B-071)
	RoleForgotten  bool // owner and term changed while introducing are not dirty
	ListsForgotten bool // a loss reported after the lists of its flush were dropped is none
	NumbersKept    bool // what counts within a term goes on in the next
	SameTerm       bool // a hand-over does not change the term
	OwnerTold      bool // owner slots are in shared records and baselines (B-024)
	GoneForgotten  bool // a re-announcement of what was destroyed is taken
	SegmentsForAll bool // segments are copied whatever their audience
	DenyForgotten  bool // who lost an entity by its audience keeps it
	CrossForgotten bool // what leaves a chunk in backlog is not dirty singly
	EdgeForgotten  bool // backlog of a chunk that leaves reach is dropped
	NotShared      bool // every observer's records are made for it alone: breaks nothing, and shows what sharing saves
	NearForgotten  bool // nobody is looked for who has in reach what changed
	MarkForgotten  bool // what does not fit the budget is not noted
	MendForgotten  bool // what a mend leaves to the next flush is left to nobody
}

// DefaultProfile is what a world gets that asks for nothing else (B-074).
func DefaultProfile() wire.Profile {
	return wire.Profile{ChunkSize: 1600, Reach: 8, PropertyReach: 8, MaxRate: 60, Flags: wire.ProfileRetain | wire.ProfileStrict,
		FlushMS: 50, KeyframeMS: 2000, SilenceMS: 5000, MaxEntities: 4096}
}

// Stats counts what happened in a world since its start.
type Stats struct {
	Flushes, Packets, Bytes         uint64
	Served                          uint64 // sessions looked at, over all passes
	Deltas, Writes                  uint64 // records received, slots accepted of them
	Segments, SegmentRecords        uint64 // built, once for all
	SegmentCopies, RecordCopies     uint64 // copied into packets
	Apart                           uint64 // values that travelled apart
	CatchUps                        uint64 // catch-up blobs built
	Mends                           uint64 // sessions mended between flushes
	Held, Late                      uint64 // chunks that an observer's budget held back; of them, those that waited longer than MaxStale
	OwnRecords, Intros, Departs     uint64
	Lost, ListsGone                 uint64
	Malformed, Stale, Refused       uint64 // frames that do not parse; records of old terms or handles; slots or messages refused
	Transfers, Forced, HostChanges  uint64
	Overtaken, Overridden, NoHandle uint64
	Beats                           uint64 // records that only say that the driver is there

	// Of Refused: messages by those who do not drive, are not host, may not write to what only its owner writes; grants to who is not
	// there; requests beyond what a session may ask. Then what a world that is not strict let pass.
	NotDriver, NotHost, OwnerOnly, Absent, Floods uint64
	Tolerated                                     uint64
	EventStats
}

// Shard is one world.
type Shard struct {
	cfg     Config
	now     time.Duration
	started time.Duration
	flush   uint32
	flushed time.Duration

	dropped

	table   *table.Table
	grid    *grid.Grid
	global  []*table.Entity // entities without a position
	classes []*table.Class  // by number - 1
	byHash  map[classKey]*table.Class

	sessions []*Session // by seniority
	byNumber map[uint32]*Session
	lastNum  uint32
	host     *Session
	hostTerm wire.Count
	settled  bool
	standby  []standing
	waits    int    // bytes of values in standby
	unset    uint64 // slots that accept found no room for

	repeating map[uint32]bool  // spawns that are repeated in the next flush, by handle
	destroyed []wire.Destroyed // what sessions that begin are told; nil: to be made anew
	hushed    map[wire.ID]bool // destroyed, and not for everybody to know of
	failed    []*Session
	shares    map[wire.PlayerID]*table.Share
	apart     int                               // bytes of all values that travel apart
	members   map[wire.PlayerID]map[string]bool // groups that the relay put players into
	roster    roster
	kinds     []*kind // of events, by number - 1

	kindByHash  map[kindKey]*kind
	spareEvents []*event

	rejected map[uint32]uint64 // by handle: slots whose driver was told that they are not applied
	dirty    []*table.Entity   // slots changed since the last flush
	parted   []*table.Entity   // died or fell silent since the last flush
	moved    []*table.Entity   // appeared, crossed a chunk, died, fell silent
	revoking []*table.Entity
	kept     []*table.Entity // wait for their owners
	parked   []parkedGrant
	dying    []*table.Entity // dead, still held by somebody

	audiences audiences
	ties      ties

	dues      dues
	called    []*Session // the next pass looks at them
	serving   []*Session // memory for called while a pass is under way
	allCalled bool
	looking   []*Session // whose views changed
	forgotten int        // pairs that are forgotten
	eyes      eyes

	capture capture // of the frame at hand
	decay   decay
	blob    blob
	lists   lists
	packets packetPool

	mendable mendable
	scratch  scratch
	passed   time.Duration // last Flush that did something
	calm     time.Duration // last moment at which there was no work
	wake     time.Duration // when a session or a timer wants a pass
	load     float64       // changes in about half a second
	work     bool          // somebody is due something about entities
	retry    bool          // what is due did not fit the budget
	urgent   bool          // something reliable waits
	front    uint32        // grows with every flush, by as much as who is first moves on
	lateAt   time.Duration // when to look again for who holds what died long ago
	stats    Stats
}

type classKey struct {
	id          uint32
	hash, shape uint64
}

// New returns an empty world that starts at now.
func New(now time.Duration, cfg Config) *Shard {
	if cfg.Profile.ChunkSize == 0 {
		cfg.Profile = DefaultProfile()
	}
	def(&cfg.Settle, time.Second)
	def(&cfg.ReleaseWait, time.Second)
	def(&cfg.Budget, 64<<10)
	def(&cfg.MaxStale, time.Second)
	def(&cfg.SessionEntities, 4096)
	def(&cfg.MaxEntities, 65536)
	def(&cfg.EventRate, 200)
	def(&cfg.EventSize, wire.MaxEvent)
	s := &Shard{cfg: cfg, now: now, started: now, flushed: now, table: table.New(cfg.Start, cfg.MaxEntities),
		byHash: make(map[classKey]*table.Class), shares: make(map[wire.PlayerID]*table.Share), byNumber: make(map[uint32]*Session)}
	if cfg.Rest != 0 {
		s.table.SetRest(cfg.Rest)
	}
	if cfg.Handles != 0 {
		s.table.SetSpace(cfg.Handles)
	}
	s.settled = cfg.Settle < 0
	s.decay = newDecay(&cfg.Profile)
	s.grid = grid.New(func(h uint32) *grid.Place { return &s.table.ByHandle(h).Place })
	return s
}

func def[T int | time.Duration](v *T, d T) {
	if *v == 0 {
		*v = d
	}
}

// Stats returns the counters.
func (s *Shard) Stats() Stats { return s.stats }

// Profile returns what the world announces.
func (s *Shard) Profile() wire.Profile { return s.cfg.Profile }

// Sessions is how many sessions are in the world.
func (s *Shard) Sessions() int { return len(s.sessions) }

// Entities is how many entities live in the world.
func (s *Shard) Entities() int { return s.table.Len() }

// Host is the player that is host; zero if there is none.
func (s *Shard) Host() wire.PlayerID {
	if s.host == nil {
		return wire.PlayerID{}
	}
	return s.host.Player
}

// FlushNumber is the number of the newest flush.
func (s *Shard) FlushNumber() uint32 { return s.flush }

// At returns the living entity with an id, or nil. Read only.
func (s *Shard) At(id wire.ID) *table.Entity { return s.table.ByID(id) }

// Gone reports whether an incarnation of the id was destroyed.
func (s *Shard) Gone(id wire.ID) bool { return s.table.Gone(id) != 0 }

// Drives reports whether a session drives an entity.
func (s *Shard) Drives(o *Session, e *table.Entity) bool { return e.Driver == o.number }

// Each calls f for every living entity, by handle. Read only.
func (s *Shard) Each(f func(*table.Entity)) {
	for _, e := range s.table.All() {
		if e != nil && !e.Dead {
			f(e)
		}
	}
}

// retains is false in a pass-through world: what is kept is never told to anybody who was not there when it was sent, nor a second
// time to who was. Handles, owners, introductions and departures work as ever.
func (s *Shard) retains() bool { return s.cfg.Profile.Flags&wire.ProfileRetain != 0 }

// set accepts a value: the next flush is its version.
func (s *Shard) set(e *table.Entity, i int, v []byte) bool {
	room := 0
	if e.Class.Slots[i].Width == 0 {
		room = s.apartRoom(e)
	}
	was := e.Apart()
	grew, ok := e.Set(i, v, s.flush+1, room)
	if !ok {
		return false
	}
	if grew != 0 {
		s.chargeApart(e, grew)
	}
	if e.Class.Motion>>i&1 != 0 {
		s.captured(e)
	}
	e.Dirty |= 1<<i | e.Apart()&^was // what a record would have brought does not come with one any more
	if s.cfg.Accepted != nil {
		s.cfg.Accepted(e, i)
	}
	if !e.Listed {
		e.Listed = true
		s.dirty = append(s.dirty, e)
	}
	return true
}

// place moves an entity to the chunk that its driver named.
func (s *Shard) place(e *table.Entity, c grid.Chunk) {
	if _, attached := s.ties.parent[e.Handle]; attached || e.Class.Position < 0 || e.Place.In() && e.Place.Chunk == c {
		return
	}
	s.move(e, c)
	if p := e.Class.Position; e.Dirty>>p&1 == 0 && e.Prev != c {
		s.set(e, p, e.Value(p)) // the same place in another chunk is another value
	}
}

// look puts an entity, and what is attached to it, on the list of those whose presence the next flush decides anew.
func (s *Shard) look(e *table.Entity) {
	was := e.Check
	if e.Check = table.CheckAll; was == 0 {
		s.moved = append(s.moved, e)
		for _, h := range s.ties.children[e.Handle] {
			s.look(s.table.ByHandle(h))
		}
	}
}

func (s *Shard) session(number uint32) *Session { return s.byNumber[number] }

// timers does what is due by time alone.
func (s *Shard) timers() {
	if !s.settled && s.now >= s.started+s.cfg.Settle {
		s.settled, s.work = true, true
		s.callAll() // for end marks, and events that waited
		s.standIn()
		s.elect()
	}
	for i := 0; i < len(s.revoking); i++ {
		if e := s.revoking[i]; e.Dead || !e.Revoking {
			s.revoking = append(s.revoking[:i], s.revoking[i+1:]...)
			i--
		} else if s.now >= e.Deadline {
			s.stats.Forced++
			s.swap(e)
		}
	}
	s.silence()
	s.absences()
}

// finish ends the flush: what is dead and held by nobody gives back its handle.
func (s *Shard) finish() {
	for _, e := range s.dirty {
		e.Dirty, e.Listed = 0, false
	}
	s.dirty = s.dirty[:0]
	clear(s.repeating)
	keep, late := s.dying[:0], false
	for _, e := range s.dying {
		if e.Refs > 0 {
			if s.now-e.At > heldDead && s.now >= s.lateAt {
				late = true
				s.tooLate(e)
			}
			keep = append(keep, e)
		} else if !s.cfg.Faults.ReuseNow {
			s.closeTie(e)
			s.closeAudience(e)
			s.table.Free(s.now, e)
		}
	}
	clear(s.dying[len(keep):])
	s.dying = keep
	if late {
		s.lateAt = s.now + time.Second // who is silent holds on
	}
}

// heldDead is how long a session may leave a departure unacked.
const heldDead = 30 * time.Second

var errHeldDead = errors.New("a departure was not acked for 30 s")

// tooLate ends the sessions that hold the handle of what died long ago: handles are the world's.
func (s *Shard) tooLate(e *table.Entity) {
	for _, o := range s.sessions {
		if p := o.pairs.get(e.Handle); p != nil && o.closing == nil && !o.silent {
			o.closing = errHeldDead
			s.failed = append(s.failed, o)
		}
	}
}
