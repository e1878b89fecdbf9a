package conformance

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/throng-dev/throng/internal/memnet"
	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/shard"
	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// Options are of a run, not of the program: what is broken on purpose, and whether to tell.
type Options struct {
	Relay  shard.Faults
	Client registry.Faults
	Play   Faults
	Log    bool
	Trace  bool // in the log, what every client takes and sends
}

// Faults break rules that lie in how the core is used, not in its code.
type Faults struct {
	Hasty     bool // everything must be right after an eighth of the Bound
	SameStart bool // a relay that starts again counts terms and incarnations from where the first began
}

// Result is how a program ended.
type Result struct {
	Bad     string // the first rule broken; empty: none
	Log     []string
	Packets uint64
	Checked int // (session, entity) pairs compared in calms
	Slots   int
	Calms   int
	Rests   time.Duration // sum of the bounds waited for
	Stats   shard.Stats
}

// world is a program under way.
type world struct {
	memnet.Sched
	opt         Options
	mode        Mode
	prog        *Program
	gen         *generator // nil: the program is played as it is written
	clock       time.Duration
	levels      []*level
	routes      map[int]*route // by seat
	lingers     map[int]*route // of clients that are gone without a word
	players     []*player
	epoch       uint64
	start       uint32
	restarts    int
	writes      uint32
	writesApart bool // a value that does not fit a record was written
	named       int  // entities spawned so far
	senior      uint64
	quiet       bool
	fate        *rand.PCG
	chance      *rand.Rand
	lastAt      time.Duration
	lastNth     uint64
	oracle      oracle
	rights      rights
	words       words
	res         Result
}

func newWorld(p *Program, m Mode, opt Options) *world {
	w := &world{opt: opt, mode: m, prog: p, fate: rand.NewPCG(p.Seed, 2)}
	w.chance = rand.New(w.fate)
	w.oracle.init()
	w.newRelay()
	for i, s := range p.Seats {
		l, err := linkOf(s.Link)
		if err != nil {
			panic(err)
		}
		w.players = append(w.players, newPlayer(w, i, s.View, l))
	}
	return w
}

// Play runs a program as it is written.
func Play(p *Program, opt Options) Result {
	m, err := modeOf(p.Mode)
	if err != nil {
		panic("throng: playing a program: " + err.Error())
	}
	return newWorld(p.clone(), m, opt).play()
}

func (w *world) play() (res Result) {
	defer func() {
		if p := recover(); p != nil && (w.opt.Relay != shard.Faults{} || w.opt.Client != registry.Faults{} || w.opt.Play != Faults{}) {
			w.fail("panic: %v", p) // a planted fault may break more than a promise
			res = w.res
		} else if p != nil {
			panic(p)
		}
	}()
	for i := range w.prog.Ops {
		w.run(w.prog.Ops[i].Wait)
		w.do(&w.prog.Ops[i])
	}
	for owed := 0; w.gen != nil && w.res.Bad == ""; {
		ms, ok := w.gen.wait()
		if !ok {
			w.prog.Ops = append(w.prog.Ops, Op{Wait: owed, Name: "wait"})
			w.run(0)
			w.do(&Op{Name: "wait"})
			break
		}
		owed += ms
		w.run(ms)
		if o, ok := w.gen.next(w); ok && w.res.Bad == "" {
			o.Wait, owed = owed, 0
			w.prog.Ops = append(w.prog.Ops, o)
			w.do(&o)
		}
	}
	w.calm()
	w.res.Stats = w.levels[0].Stats()
	return w.res
}

// run lets time pass.
func (w *world) run(ms int) {
	w.clock += time.Duration(ms) * time.Millisecond
	w.pass(w.clock)
}

// pass lets time pass until then, or until a rule is broken.
func (w *world) pass(until time.Duration) {
	for w.res.Bad == "" {
		if at, ok := w.Next(); !ok || at > until {
			w.Run(until)
			return
		}
		w.Step()
	}
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
	if w.opt.Play.SameStart {
		w.start = 1
	}
	prof := shard.DefaultProfile()
	if w.mode.PassThrough {
		prof.Flags &^= wire.ProfileRetain
	}
	prof.Reach, prof.PropertyReach = uint8(w.mode.Reach), uint8(w.mode.PropertyReach)
	prof.Decay = w.mode.Decay
	rest := w.mode.Rest
	if rest == 0 {
		rest = 400 * time.Millisecond // the 2 s of R-04, scaled like the delays
	}
	w.routes, w.lingers, w.levels = map[int]*route{}, map[int]*route{}, nil
	for i := range max(1, w.mode.Levels) {
		l := &level{i: i}
		overlooked := func(o *shard.Session, what string) {
			w.fail("a pass overlooks session %x, which is due %s", o.Player[:2], what)
		}
		if w.prog.Seed%2 == 0 {
			overlooked = nil // like a small world
		}
		l.Shard = shard.New(w.Now(), shard.Config{Epoch: w.epoch, Start: w.start, Key: []byte("k"), World: l.name(), Profile: prof,
			MaxEntities: w.mode.Entities, Handles: w.mode.Handles, Budget: w.mode.Budget, Rest: rest, Faults: w.opt.Relay,
			Accepted: func(e *table.Entity, slot int) { w.accepted(l, e, slot) },
			Given:    w.given, Overlooked: overlooked, Heavy: w.prog.Seed%4 < 2, // so that there is a while between two, to mend
			Handed: func(e *table.Entity, to *shard.Session) { w.handed(e, to.Player) }})
		w.levels = append(w.levels, l)
	}
	w.wake()
}

// carry moves a packet of the present session of a player. Its fate depends on the seed, the direction and the time, not on what
// happened before: a program that lost an operation keeps the fates of most others.
func (w *world) carry(p *player, pipe *memnet.Pipe, cut time.Duration, payload []byte, arrive func([]byte)) {
	w.res.Packets++
	pipe.Link = p.link
	if w.quiet {
		pipe.Link = calm(p.link)
	} else if w.Now() < p.narrowUntil {
		pipe.MTU = p.narrow
	}
	if w.Now() < max(p.cut, cut) {
		return
	}
	if w.lastNth++; w.lastAt != w.Now() {
		w.lastAt, w.lastNth = w.Now(), 0
	}
	dir := uint64(0)
	if pipe == &p.down {
		dir = 1
	}
	w.fate.Seed(mix(w.prog.Seed, uint64(p.i)<<1|dir), mix(uint64(w.Now()), w.lastNth))
	joined := p.joined
	w.Carry(pipe, w.chance, payload, func(b []byte) {
		if p.joined == joined && p.state == on {
			arrive(b)
		}
	})
}

// mix makes two numbers one that looks like neither (splitmix64).
func mix(a, b uint64) uint64 {
	z := a*0x9e3779b97f4a7c15 + b + 0x632be59bd9b4e019
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// join opens a session for a player.
func (w *world) join(p *player) {
	if w.lingers[p.i] != nil { // the newer session of a player replaces the older (B-131)
		w.bury(p.i)
	}
	p.joined++
	p.state = on
	p.conn = session.New(session.Config{Prompt: true})
	p.reg.Connect(w.Now(), p.conn)
	w.senior++
	r := &route{w: w, p: p, conn: session.New(session.Config{}), senior: w.senior}
	w.routes[p.i] = r
	to := p.here
	if p.reg.Arrived { // the game has not seen yet that it is in another
		to = p.goes
	}
	r.into(w.levels[to])
	w.note("client %d joins, looks at %d", p.i, p.views)
	p.send(false)
	w.wake()
}

// bury ends the session of a client that is gone.
func (w *world) bury(seat int) {
	if r := w.lingers[seat]; r != nil {
		delete(w.lingers, seat)
		r.at.Leave(w.Now(), r.sess, wire.WhyReleased)
		w.rights.last = w.Now()
		w.wake()
	}
}

// part closes a player's session with a goodbye.
func (w *world) part(p *player) {
	if r := w.routes[p.i]; r != nil {
		r.at.Leave(w.Now(), r.sess, wire.WhyReleased)
		delete(w.routes, p.i)
		w.wake()
	}
}

// lose lets a player vanish without a word; the relay notices after d.
func (w *world) lose(p *player, d time.Duration) {
	r := w.routes[p.i]
	if r == nil {
		return
	}
	delete(w.routes, p.i)
	w.lingers[p.i] = r
	w.After(d, func() {
		if w.lingers[p.i] == r {
			w.note("the relay gives up client %d", p.i)
			w.bury(p.i)
		}
	})
}

// comeBack lets a player that lost its session open another, with all it holds.
func (w *world) comeBack(p *player, d time.Duration) {
	p.state = away
	joined := p.joined
	w.After(d, func() {
		if p.state == away && p.joined == joined {
			w.join(p)
		}
	})
}

func (w *world) restart() {
	w.restarts++
	w.oracle.restarted(w)
	w.newRelay()
	w.note("relay restarts")
	for _, p := range w.players {
		if p.state == on {
			w.comeBack(p, time.Duration(50+mix(w.prog.Seed, mix(uint64(w.Now()), uint64(p.i)))%900)*time.Millisecond)
		}
	}
}
