package throng

import (
	"context"
	"time"

	"github.com/throng-dev/throng/internal/registry"
)

// An entity whose class has a Load appears when that has returned (B-055):
//
//	applyCopy: a copy without a body ─► loading: waits ─► runs, on a goroutine of its own ─► done ─► settleLoads, in Tick ─► appear
//	                                        └── the copy goes ─► cancelled: what it returns is nobody's
//
// Values that arrive meanwhile stay staged in the copy, the newest of each field; other copies and the game do not wait.

// defaultLoads is how many Load run at once unless Config.MaxLoads says otherwise.
const defaultLoads = 8

// loading is an entity that has no body yet: because its Load has not returned, or because too many came at once. It stands in
// Copy.Data in place of the body.
type loading struct {
	c      *registry.Copy
	k      *class
	id     NetID
	state  loadState
	turn   bool // in World.turns
	cancel context.CancelFunc
	err    error // under mu until state is loaded or failed
}

type loadState uint8

const (
	loadWaits loadState = iota
	loadRuns
	loadDone   // it may appear
	loadFailed // it does not, until it appears anew
	loadOff    // the copy is gone
)

// loads is what the World has to load.
type loads struct {
	// The game's goroutine.
	byID    map[NetID]*loading // what will have a body if all goes well
	queue   []*loading
	running map[NetID]bool // also what was cancelled and has not returned: one Load an entity at a time
	failed  uint64

	// Under mu.
	done []*loading
	n    int // goroutines
	idle chan struct{}
}

// load begins to load a copy.
func (w *World) load(c *registry.Copy, k *class) *loading {
	l := &loading{c: c, k: k, id: NetIDFrom(c.ID)}
	c.Data = l
	if !w.hooks[k].loads() {
		l.state = loadDone
		return l
	}
	if w.loads.byID == nil {
		w.loads.byID, w.loads.running = map[NetID]*loading{}, map[NetID]bool{}
	}
	w.loads.byID[l.id] = l
	w.loads.queue = append(w.loads.queue, l)
	return l
}

// loads reports whether the class has a Load here.
func (h *hookSet) loads() bool {
	for _, k := range h.hooks {
		if k.load != nil {
			return true
		}
	}
	return false
}

// startLoads runs what waits, as many at once as may. It is called under mu.
func (w *World) startLoads() {
	if len(w.loads.queue) == 0 {
		return
	}
	most := w.cfg.MaxLoads
	if most == 0 {
		most = defaultLoads
	}
	keep := w.loads.queue[:0]
	for _, l := range w.loads.queue {
		switch {
		case l.state != loadWaits:
		case len(w.loads.running) >= most || w.loads.running[l.id] || w.closed:
			keep = append(keep, l)
		default:
			l.state = loadRuns
			w.loads.running[l.id] = true
			ctx, cancel := context.WithCancel(w.loadCtx)
			l.cancel = cancel
			w.loads.n++
			go w.runLoad(ctx, l)
		}
	}
	clear(w.loads.queue[len(keep):])
	w.loads.queue = keep
}

func (w *World) runLoad(ctx context.Context, l *loading) {
	var err error
	for _, h := range w.hooks[l.k].hooks {
		if h.load != nil && err == nil {
			err = h.load(ctx, l.id)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	l.err = err
	w.loads.done = append(w.loads.done, l)
	if w.loads.n--; w.loads.n == 0 && w.loads.idle != nil {
		close(w.loads.idle)
		w.loads.idle = nil
	}
}

// settleLoads takes what has returned since the last time. It is called under mu.
func (w *World) settleLoads() {
	for _, l := range w.loads.done {
		l.cancel()
		delete(w.loads.running, l.id)
		switch {
		case l.state != loadRuns || !w.holds(l.c):
		case l.err != nil:
			l.state = loadFailed
			w.loads.failed++
			delete(w.loads.byID, l.id)
			w.warn("throng: an entity does not appear, because its Load failed: it is tried again when the entity appears anew", "cat", "entity",
				"id", l.id, "class", l.k.name, "err", l.err)
			w.events = append(w.events, happening{kind: loadFail, id: l.id, err: l.err})
		default:
			l.state = loadDone
			w.takeTurn(l)
		}
	}
	clear(w.loads.done)
	w.loads.done = w.loads.done[:0]
}

// holds reports whether a copy still stands for its entity.
func (w *World) holds(c *registry.Copy) bool {
	return !c.Gone && (c.Mirrors() || w.reg.Find(c.ID) == c)
}

// endLoad ends what is loaded for a copy that is gone.
func (w *World) endLoad(l *loading) {
	if l.state == loadRuns {
		l.cancel()
	}
	l.state = loadOff
	if w.loads.byID[l.id] == l {
		delete(w.loads.byID, l.id)
	}
}

// endLoads cancels everything and waits until the last Load has returned.
func (w *World) endLoads() {
	w.loadStop()
	w.mu.Lock()
	idle := make(chan struct{})
	if w.loads.n == 0 {
		close(idle)
	} else {
		w.loads.idle = idle
	}
	w.mu.Unlock()
	<-idle
}

// Newcomers are made in batches, so that a crowd that arrives at once does not stop the game: a Tick takes batches until it has spent
// turnTime on them, the rest has to wait for the next (B-063).
const (
	turnBatch = 100
	turnTime  = 5 * time.Millisecond
)

// takeTurn makes the body of a newcomer if there is room in this batch; else it queues.
func (w *World) takeTurn(l *loading) {
	if w.batch > 0 && len(w.turns) == 0 {
		w.batch--
		w.appear(l.c, l.k)
	} else if !l.turn {
		l.turn = true
		w.turns = append(w.turns, l)
	}
}

// nextTurns makes the bodies of a batch of those that queue, and reports whether there was any.
func (w *World) nextTurns() bool {
	if len(w.turns) == 0 {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.welcomed() && PlayerIDFrom(w.reg.Host) != w.host {
		return false // OnHost comes before the drive (B-081): with the next Tick
	}
	n := 0
	for w.batch = turnBatch; w.batch > 0 && n < len(w.turns); n++ {
		if l := w.turns[n]; l.state == loadDone && w.holds(l.c) {
			w.batch--
			w.appear(l.c, l.k)
		}
	}
	clear(w.turns[:n])
	if w.turns = w.turns[n:]; len(w.turns) == 0 {
		w.turns = nil
	}
	return true
}

// appear gives a copy its body.
func (w *World) appear(c *registry.Copy, k *class) {
	delete(w.loads.byID, NetIDFrom(c.ID))
	b := w.newBody(c, k, w.proxy(w.hooks[k]))
	b.made = true
	w.write(b, c)
	c.Applied()
	w.point(b, c)
	kind := uint8(spawned)
	if b.unspoken = !c.Spoken() && !c.Drives(); b.unspoken {
		kind = met
	}
	w.events = append(w.events, happening{kind: kind, b: b})
}
