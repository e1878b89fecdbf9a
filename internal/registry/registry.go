// Package registry is what a client knows of the entities of its world.
//
//	relay → session ─► Frame, Message ─► may this be? is it newer? ─► Copy (staged values, role) ─► Changed ─► the owner's bodies
//	the owner's changes ─► Send ─► deltas in packets ─► session → relay;  Acked, Lost ─► what was lost goes out again
//
// Values stay bytes here: the owner, which has the structs, encodes and applies them. So the whole protocol of a client can
// be driven, and broken, without a struct. The package does no I/O, starts no goroutine and reads no clock.
package registry

import (
	"bytes"
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/motion"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/trace"
	"github.com/throng-dev/throng/internal/wire"
)

// Encode appends the present values of the slots in mask, in wire form, and returns which of them it could encode and the chunk
// that the entity is in. It is called inside Spawn, Announce, Release, Override and Send with tick only: never when packets arrive.
type Encode func(c *Copy, mask uint64, b []byte) (out []byte, sent uint64, at grid.Chunk)

// Config is what a Registry needs of its owner.
type Config struct {
	MaxEntities int // copies that the client holds; 0: 4096
	Encode      Encode
	Zero        func(c *Copy) // does what Copy.ZeroOwner asks, inside Announce only; nil: no body has slots of an owner
	World       string
	Agent       string
	Nonce       uint32 // announcements are numbered from here: random, so that a client that starts anew does not answer to its old ones
	// Trace takes what is sent, taken and dropped; nil: nothing is made of it (B-120).
	Trace trace.Sink
	// Sent takes the values of every delta that leaves, valid during the call; nil: nobody does (B-121).
	Sent func(c *Copy, mask uint64, values []byte)
	// Departures asks the relay for departures, within reach, of what this client does not hold: see Lefts.
	Departures bool
	// Observer is a client that has no classes and wants none: values of any count as applied, and are kept nowhere.
	Observer bool
	// Lender lends the memory for what waits for the owner; nil: one of its own.
	Lender *Lender
	// Faults plants faults for tests of the tests; empty in production.
	Faults Faults
}

// Faults breaks one rule each, to prove that the checks which guard it can fail.
type Faults struct {
	OneVersion     bool // one version an entity
	EchoApplied    bool // a driver applies shared records
	NoFence        bool // introductions and departures are not ordered by packet
	WaitingApplies bool // a copy applies records between release and baseline
	DestroyFinal   bool // a destroy is final at the caller before the relay accepted it (R-22a)
	NoNonce        bool // a bind does not say which announcement it answers
	NoStamp        bool // binds and assigns are not ordered against departures
	NoEndMark      bool // nothing removes copies of an older epoch
	CertDropped    bool // only who drives announces again
	DestroyForgot  bool // a destruction heard of is not told to a restarted relay
	PendingLost    bool // an introduction of an id ends the announcement of the same id that waits
	ApartStale     bool // a value that travels apart replaces a newer one
	ApartSent      bool // a value that must wait for others that travel apart counts as sent
	AckedDropped   bool // what comes while something waits for the game is dropped after its ack
}

// Stats counts what came and was not applied.
type Stats struct {
	Records, Applied                        uint64
	Overtaken, Unknown, Void, Echo, Foreign uint64 // older; handle not introduced; before a newer introduction; driven here; of a class this build lacks
	WrongEpoch, Malformed, NoRoom, Dead     uint64
	OtherLayout                             uint64 // of Foreign, those of a class this build has with other fields
	Waiting, Stale, Rejected                uint64 // while waiting for a baseline; of an older incarnation or term; fields the relay does not apply
	Beats                                   uint64 // records sent that carried nothing
	Uninvited                               uint64 // by those who may not, to what is driven here
	Lost                                    uint64 // packets of deltas lost on the way up, and their twins
	Twins                                   uint64 // packets of deltas sent a second time
}

// Registry belongs to one goroutine at a time.
type Registry struct {
	cfg  Config
	tr   *tracer
	path string // of the values at hand, if they are a baseline: for tr
	conn *session.Conn

	// Of the session.
	Welcomed bool
	Due      bool // welcomed, and Announce must follow
	Welcome  wire.Welcome
	Refused  *wire.Refuse
	EndMark  bool // everything due at the join was introduced
	Host     wire.PlayerID
	HostTerm wire.Count
	Players  map[wire.PlayerID]wire.Player
	// Undelivered are events of this client that reached nobody, StrangeEvents kinds of events that this build lacks, or has with
	// another payload. The owner clears both. Overrun is set when events wait beyond all bounds: the session must end.
	Undelivered   []wire.Undelivered
	StrangeEvents []*EventKind
	Overrun       bool
	// Strangers are classes of the world that this build lacks, or has with another layout. The owner clears it.
	Strangers []*wire.Class
	// Requests are for what this client drives, Denials of grants that it made. The owner clears both.
	Requests []Request
	Denials  []Denial
	// Arrived is set when a travel ended in another world, Departed are then the copies of the one before, TravelRefused is why there
	// was none. The owner clears them.
	Arrived       bool
	Departed      []*Copy
	TravelRefused *wire.Refuse
	People        uint32 // counts the changes of Players
	// GroupNews are answers about groups. The owner clears it.
	GroupNews []wire.Group
	groups    map[string]bool
	wanted    map[string]bool
	gone      map[wire.ID]wire.Count // placed, and destroyed before this session
	goneThere map[wire.ID]wire.Count // the same, of the world that this client travels to
	Listed    time.Duration          // when the relay last named some of them
	risen     map[wire.ID]bool       // of those in dead: a later incarnation lived
	wants     map[wire.ID]*Class     // placed in vain
	members   map[wire.Member]bool   // as an authority: who it put into which group
	now       time.Duration
	flush     uint32 // newest flush seen
	timeMS    uint32
	clock     motion.Filter
	uplink    uplink
	phase     phase         // to the relay's flush
	ticked    time.Duration // last Send with tick
	cur       wire.Flush
	curPN     uint64
	hasCur    bool
	tick      uint32
	// CaptureMS is the relay's time, as the owner estimates it, at which what the next Send with tick carries was so.
	CaptureMS uint32
	onMotion  func(c *Copy, at Timing, value []byte)
	full      bool
	trackSelf bool
	isReady   bool     // told the relay that presence may begin
	classes   []*Class // those of this build
	byNum     []*Class // by the world's number
	byID      Index[Copy]
	handles   handles
	pend      map[wire.ID]*Copy // announcements beside a body of an older incarnation
	dead      map[wire.ID]death
	deadIDs   []wire.ID
	mine      map[wire.ID]wire.Count // destroyed here, not yet confirmed (R-22a)
	order     []*Copy                // every copy of byID, in order of creation: iteration must be the same in every run
	changed   []*Copy
	marks     []*Copy
	keep      []*Copy // scratch of Send
	values    []byte  // scratch of Send
	nonce     uint32

	views  []grid.Chunk
	follow bool
	stages *Lender
	last   map[uint32]last // by handle
	lefts  []Left

	travel     string // where to
	traveling  bool   // asked for it
	held       [][]byte
	confirmed  time.Duration
	roomAt     time.Duration
	sent       sentLog
	apart      []apart       // values on their way up that travel apart, oldest first
	apartBytes int           // of them
	apartPaid  time.Duration // until when the rate of such values is used up
	backlog    [][]byte      // control messages that the reliable window had no room for, oldest first
	stats      Stats

	ev   events
	body []byte // scratch
}

type death struct {
	inc  wire.Count
	cert []byte
	at   time.Duration
}

// maxDead bounds the list of destroyed incarnations.
const maxDead = 8192

// maxBacklog is how much may wait of what the relay can cause. All else comes from the game.
const maxBacklog = 4096

// New returns a registry without a session.
func New(cfg Config) *Registry {
	if cfg.MaxEntities == 0 {
		cfg.MaxEntities = 4096
	}
	if cfg.Lender == nil {
		cfg.Lender = new(Lender)
	}
	return &Registry{cfg: cfg, stages: cfg.Lender, tr: newTracer(cfg.Trace), nonce: cfg.Nonce, Players: map[wire.PlayerID]wire.Player{}, byID: NewIndex(func(c *Copy) *wire.ID { return &c.ID }),
		last: map[uint32]last{}, pend: map[wire.ID]*Copy{}, dead: map[wire.ID]death{}, mine: map[wire.ID]wire.Count{}, groups: map[string]bool{}, wanted: map[string]bool{}, gone: map[wire.ID]wire.Count{}, risen: map[wire.ID]bool{}, wants: map[wire.ID]*Class{}, follow: true}
}

// Stats returns the counters.
func (r *Registry) Stats() Stats { return r.stats }

// AddClass adds a class of this build. All must be added before Connect.
func (r *Registry) AddClass(c *wire.Class, data any) *Class {
	k := &Class{Class: *c, Local: uint32(len(r.classes) + 1), Data: data, rest: r.stages}
	r.classes = append(r.classes, k)
	return k
}

// Find returns the copy of an entity, or nil.
func (r *Registry) Find(id wire.ID) *Copy { return r.byID.Find(id) }

// Len is the number of copies.
func (r *Registry) Len() int { return r.byID.Len() }

// Each calls f for every copy, in order of creation. f may create and drop copies; new ones are not visited.
func (r *Registry) Each(f func(*Copy)) {
	for _, c := range r.order[:len(r.order):len(r.order)] {
		if c != nil && r.byID.Find(c.ID) == c {
			f(c)
		}
	}
}

// Flush is the number of the newest flush seen, and Time the relay's time then in ms.
func (r *Registry) Flush() (flush, timeMS uint32) { return r.flush, r.timeMS }

// Changed returns the copies that something happened to since the last call, in order.
func (r *Registry) Changed(into []*Copy) []*Copy {
	for _, c := range r.changed {
		c.changed = false
		if c.Shown || c.Gone || r.pend[c.ID] == nil { // else an announcement of this client has the body of that id
			into = append(into, c)
		}
	}
	clear(r.changed)
	r.changed = r.changed[:0]
	return into
}

func (r *Registry) change(c *Copy) {
	if !c.changed {
		c.changed = true
		r.changed = append(r.changed, c)
	}
}

func (r *Registry) add(c *Copy) {
	r.byID.Put(c)
	if c.listed {
		return // it comes back from beside the registry
	}
	c.listed = true
	if len(r.order) > 64 && len(r.order) > 2*r.byID.Len() {
		keep := make([]*Copy, 0, r.byID.Len()+16)
		for _, k := range r.order {
			if r.byID.Find(k.ID) == k && k != c || r.pend[k.ID] == k {
				keep = append(keep, k)
			}
		}
		r.order = keep
	}
	r.order = append(r.order, c)
}

// drop ends a copy.
func (r *Registry) drop(c *Copy, why wire.Why, by wire.PlayerID, died bool, cert []byte) {
	if died {
		r.died(c.ID, c.Inc, cert)
	}
	r.byID.Delete(c)
	r.handles.free(c)
	c.end(why, by, 0)
	c.drives = false
	c.Applied()
	r.change(c)
	r.makeRoom()
}

// discard ends an announcement that stood beside the body of an older incarnation, which is the body again.
func (r *Registry) discard(p *Copy, why wire.Why, by wire.PlayerID, reason uint8) {
	delete(r.pend, p.ID)
	p.end(why, by, reason)
	p.Applied()
	r.change(p)
	if c := r.byID.Find(p.ID); c != nil { // after p: one body an id at every instant
		if i := slices.Index(r.changed, c); i >= 0 {
			r.changed = slices.Delete(r.changed, i, i+1)
		}
		c.changed = false
		r.change(c)
	}
}

func (r *Registry) died(id wire.ID, inc wire.Count, cert []byte) {
	d, ok := r.dead[id]
	if !ok {
		for len(r.deadIDs) >= maxDead {
			delete(r.dead, r.deadIDs[0])
			delete(r.risen, r.deadIDs[0])
			r.deadIDs = r.deadIDs[1:]
		}
		r.deadIDs = append(r.deadIDs, id)
	}
	if inc >= d.inc {
		delete(r.risen, id)
		r.dead[id] = death{inc, bytes.Clone(cert), r.now}
	}
}

// unprovable forgets deaths that a relay which has restarted will not believe: of entities that somebody else brings back to it this
// client would drop the introductions for ever, and the others would have them.
func (r *Registry) unprovable() {
	r.deadIDs = slices.DeleteFunc(r.deadIDs, func(id wire.ID) bool {
		if d := r.dead[id]; d.cert != nil && r.now-d.at < heardFor {
			return false
		}
		delete(r.dead, id)
		delete(r.risen, id)
		return true
	})
}

func (r *Registry) queue(msg []byte) {
	if r.traveling {
		r.holdBack(msg)
		return
	}
	r.send(msg)
}

func (r *Registry) send(msg []byte) {
	r.traceMessage(trace.Out, msg)
	switch {
	case r.conn == nil:
	case len(r.backlog) == 0 && r.conn.Queue(wire.StreamControl, msg) == nil:
	case len(r.backlog) < maxBacklog || msg[0] != wire.MsgNoRoom: // a relay that acks nothing must not fill our memory
		r.backlog = append(r.backlog, msg)
	}
}

// unblock queues what waits for room in the reliable window: a game may spawn more at once than fits.
func (r *Registry) unblock() {
	n := 0
	for n < len(r.backlog) && r.conn.Queue(wire.StreamControl, r.backlog[n]) == nil {
		n++
	}
	if r.backlog = slices.Delete(r.backlog, 0, n); len(r.backlog) == 0 {
		r.backlog = nil
	}
}
