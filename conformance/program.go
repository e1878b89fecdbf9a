package conformance

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/memnet"
	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/shard"
	"github.com/throng-dev/throng/internal/wire"
)

// Options shape the random programs.
type Options struct {
	Clients  int // at most; 0: 4
	Relay    shard.Faults
	Client   registry.Faults
	Restarts bool // the relay restarts now and then
	// PassThrough keeps no values: Safety, presence and who drives hold as ever, values are not compared.
	PassThrough bool
	// Audiences change now and then who may know of an entity.
	Audiences bool
	// PropertyReach below Reach makes two lanes; 0: the same.
	Reach, PropertyReach int
	Decay                uint8        // of motion: the last slot
	Link                 *memnet.Link // both ways, while the program runs; nil: drawn by the seed
	Log                  bool
}

// Result is how a program ended.
type Result struct {
	Bad     string // the first rule broken; empty: none
	Log     []string
	Packets uint64
	Checked int // (session, entity) pairs compared at the end
	Slots   int
	Stats   shard.Stats
}

const (
	chunks  = 6
	slotPos = 0 // value carries the chunk
	slotOwn = 3 // delivered to the owning session only
	slots   = 5
)

// thing is the class of all entities: a position, a fixed, a variable, an owner slot and one more, so that masks and lengths
// of every kind occur.
func thing() *wire.Class {
	c := &wire.Class{ID: 7, Hash: 77, Name: "thing", Slots: []wire.Slot{
		{Width: 8, Words: wire.WordPosition, Name: "Pos"}, {Width: 4, Name: "A"}, {Width: 0, Name: "B"}, {Width: 4, Words: wire.WordOwner, Name: "C"}, {Width: 4, Words: wire.WordMotion, Name: "D"},
	}}
	if !c.Index() {
		panic("class")
	}
	return c
}

// val is a slot's value: W is unique for every write, C the chunk (position only).
type val struct{ W, C uint32 }

func (v val) append(b []byte, slot int) []byte {
	switch slot {
	case slotPos:
		return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, v.W), v.C)
	case 2:
		n := int(v.W%7) + 4
		b = append(binary.LittleEndian.AppendUint32(append(b, byte(n)), v.W), make([]byte, n-4)...)
		return b
	}
	return binary.LittleEndian.AppendUint32(b, v.W)
}

func parseVal(b []byte, slot int) (v val) {
	switch slot {
	case slotPos:
		return val{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])}
	case 2:
		if len(b) < 5 {
			return val{}
		}
		return val{W: binary.LittleEndian.Uint32(b[1:])}
	}
	return val{W: binary.LittleEndian.Uint32(b)}
}

// body is what a game would hold.
type body struct {
	val, shadow [slots]val
}

type player struct {
	w      *world
	i      int
	id     wire.PlayerID
	reg    *registry.Registry
	conn   *session.Conn
	class  *registry.Class
	up     memnet.Pipe
	down   memnet.Pipe
	on     bool
	away   bool // its relay is gone, it will reconnect
	view   uint32
	cut    time.Duration
	shown  map[wire.ID]*registry.Copy
	ticks  int
	deltas bool
	joined int
	gone   map[wire.ID]wire.Count // incarnations it saw destroyed
	told   map[wire.ID]bool       // it drove or was introduced to
}

type accepted struct {
	epoch       uint64
	first, last int // a value may be accepted again: a re-announcement of a higher term
}

type accKey struct {
	id   wire.ID
	inc  wire.Count
	slot int
	w    uint32
}

type world struct {
	memnet.Sched
	opt      Options
	rng      *rand.Rand
	relay    *shard.Shard
	sessions map[int]*shard.Session // by player
	players  []*player
	epoch    uint64
	start    uint32
	writes   uint32
	nextID   uint32
	order    int
	acc      map[accKey]accepted
	must     map[wire.ID]wire.Count // the last restart may not lose these
	link     memnet.Link
	quiet    bool
	wakeAt   time.Duration
	res      Result
	senior   uint64
}

// Run plays one random program and checks the promise of the protocol: Safety at every step, Liveness at the end.
func Run(seed uint64, opt Options) (res Result) {
	w := &world{opt: opt, rng: rand.New(rand.NewPCG(seed, 1)), acc: map[accKey]accepted{}, sessions: map[int]*shard.Session{}}
	defer func() {
		if p := recover(); p != nil && (opt.Relay != shard.Faults{} || opt.Client != registry.Faults{}) {
			w.fail("panic: %v", p) // a planted fault may break more than a promise
			res = w.res
		} else if p != nil {
			panic(p)
		}
	}()
	if w.opt.Clients == 0 {
		w.opt.Clients = 4
	}
	if w.opt.Reach == 0 {
		w.opt.Reach = 1
	}
	if w.opt.PropertyReach == 0 {
		w.opt.PropertyReach = w.opt.Reach
	}
	w.link = memnet.Link{Latency: 40 * time.Millisecond, Jitter: 30 * time.Millisecond, Duplicate: 0.05, Reorder: 0.2,
		Loss: []float64{0, 0.05, 0.2, 0.4}[w.rng.IntN(4)]}
	if opt.Link != nil {
		w.link = *opt.Link
	}
	w.newRelay()
	for i := range 2 + w.rng.IntN(w.opt.Clients-1) {
		p := &player{w: w, i: i, view: uint32(w.rng.IntN(3)), shown: map[wire.ID]*registry.Copy{}, gone: map[wire.ID]wire.Count{}, ticks: w.rng.IntN(4)}
		p.id[0], p.id[15] = byte(i+1), 1
		w.players = append(w.players, p)
		p.fresh()
		w.join(p)
		w.After(time.Duration(25+w.rng.IntN(25))*time.Millisecond, p.tick)
	}
	restarts := []int{0, 0, 1, 2}[w.rng.IntN(4)]
	end := time.Duration(3000+w.rng.IntN(4000)) * time.Millisecond
	gap := 10 + w.rng.IntN(80)
	var ops func()
	ops = func() {
		if w.Now() < end {
			w.step(&restarts)
			if w.opt.Audiences && w.rng.IntN(4) == 0 {
				w.hush()
			}
			w.After(time.Duration(1+w.rng.IntN(2*gap))*time.Millisecond, ops)
		}
	}
	w.After(100*time.Millisecond, ops)
	for w.Now() < end && w.res.Bad == "" {
		w.Step()
	}
	w.quiet, w.link = true, memnet.Link{Latency: 40 * time.Millisecond, Jitter: 10 * time.Millisecond}
	for w.Now() < end+10*time.Second && w.res.Bad == "" {
		w.Step()
	}
	if w.res.Bad == "" {
		w.settled()
	}
	w.res.Stats = w.relay.Stats()
	return w.res
}

func (w *world) fail(f string, a ...any) {
	if w.res.Bad == "" {
		w.res.Bad = fmt.Sprintf("%v: ", w.Now()) + fmt.Sprintf(f, a...)
		w.note("FAILED: %s", w.res.Bad)
	}
}

func (w *world) note(f string, a ...any) {
	if w.opt.Log {
		w.res.Log = append(w.res.Log, fmt.Sprintf("%8v ", w.Now().Truncate(time.Millisecond))+fmt.Sprintf(f, a...))
	}
}

func (w *world) newRelay() {
	w.epoch++
	w.start++
	prof := shard.DefaultProfile()
	if w.opt.PassThrough {
		prof.Flags &^= wire.ProfileRetain
	}
	prof.Reach, prof.PropertyReach = uint8(w.opt.Reach), uint8(w.opt.PropertyReach)
	prof.Decay = w.opt.Decay
	w.relay = shard.New(w.Now(), shard.Config{Epoch: w.epoch, Start: w.start, Key: []byte("k"), World: "w", Profile: prof,
		Rest: 400 * time.Millisecond, Faults: w.opt.Relay, Accepted: w.accept})
	w.sessions = map[int]*shard.Session{}
	w.wakeAt = 0
	w.wake()
}

// wake plans the next flush of the relay.
func (w *world) wake() {
	w.drivers()
	at := max(w.relay.Wake(), w.Now())
	if w.wakeAt > w.Now() && w.wakeAt <= at {
		return
	}
	w.wakeAt = at
	relay := w.relay
	w.At(at, func() {
		if relay == w.relay && w.wakeAt == w.Now() {
			w.flush()
		}
	})
}

func (w *world) flush() {
	w.drivers()
	out := w.relay.Flush(w.Now(), nil)
	for _, d := range out {
		for _, p := range w.players {
			if s := w.sessions[p.i]; s != nil && s.To == d.To {
				if w.opt.Audiences {
					w.wary(p, s, d.Payload())
				}
				w.carry(p, &p.down, d.Payload(), func(b []byte) { p.receive(b) })
			}
		}
	}
	w.oneDriver()
	w.wakeAt = 0
	w.wake()
}

// carry moves a packet of the present session of a player.
func (w *world) carry(p *player, pipe *memnet.Pipe, payload []byte, arrive func([]byte)) {
	w.res.Packets++
	pipe.Link = w.link
	if w.Now() < p.cut {
		return
	}
	joined := p.joined
	w.Carry(pipe, w.rng, payload, func(b []byte) {
		if p.joined == joined && p.on && w.Now() >= p.cut {
			arrive(b)
		}
	})
}

func (p *player) fresh() {
	p.reg = registry.New(registry.Config{Encode: p.encode, Nonce: p.w.writes << 8, World: "w", Agent: "sim", Faults: p.w.opt.Client})
	p.class = p.reg.AddClass(thing(), nil)
	p.shown = map[wire.ID]*registry.Copy{}
	p.gone, p.told = map[wire.ID]wire.Count{}, map[wire.ID]bool{}
	p.reg.SetView(false, []grid.Chunk{{X: int64(p.view)}})
}

func (w *world) join(p *player) {
	p.joined++
	p.on, p.away = true, false
	p.conn = session.New(session.Config{})
	p.reg.Connect(w.Now(), p.conn)
	w.senior++
	s := w.relay.Join(w.Now(), session.New(session.Config{}), shard.Identity{To: 1 + idOf(p), Player: p.id, Senior: w.senior, Eligible: true}, 1)
	w.sessions[p.i] = s
	w.note("client %d joins, looks at %d", p.i, p.view)
	p.send(false)
}
