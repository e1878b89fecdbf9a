package load

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/throng-dev/throng"
)

// ChurnReport is what happened in churn.
type ChurnReport struct {
	Moves       int `json:"neighbourhoods"` // that clients entered, and left the one before
	Late        int `json:"late_joiners"`
	Requested   int `json:"transfers_requested"`
	Transferred int `json:"transfers"`
	Silent      int `json:"silent"` // entities that changed once
	Kills       int `json:"host_kills"`
	Hosts       int `json:"hosts"` // that there were
}

// What happens in churn, spread over the window.
const (
	neighbourhoods = 20 // each client
	lateJoiners    = 30
	transfers      = 50
	silent         = 10
	kills          = 5
	hosted         = 5 // things that the host drives
	// silence is after how long the relay takes a client for gone: twice the interval of keep-alives, so that five hosts in a row can
	// be missed within the window.
	silence = 3 * time.Second
	// killedFor is how long that takes, with a little for what follows.
	killedFor = silence + time.Second
)

// churn is everything that goes on in a world beside walking, all at once.
func (r *run) churn(ctx context.Context) error {
	switch {
	case r.Sink:
		return errors.New("throng: churn needs game structs: leave --sink out")
	case r.Clients <= kills+1:
		return errors.New("throng: churn kills 5 hosts: play more clients than that")
	}
	c := &churn{run: r, rep: &ChurnReport{}, side: Side(r.Clients + lateJoiners)}
	if err := r.enter(ctx, r.make(r.Clients, c.side)); err != nil {
		return err
	}
	r.rep.Churn = c.rep
	r.rep.Clients += lateJoiners
	if err := c.furnish(); err != nil {
		return err
	}
	r.say("%d clients are in; measuring in %v, for %v", r.inside(), r.Warm, r.Window)
	if err := r.w.play(ctx, r.m.now()+r.Warm, nil); err != nil {
		return err
	}
	late := r.make(lateJoiners, c.side)
	c.plan(late)
	c.ctx = ctx
	r.w.between = c.happen
	err := r.window(ctx, r.Window)
	if err == nil {
		err = r.w.play(ctx, r.m.now()+joinWait+kills*killedFor, c.settled)
	}
	c.joins.Wait()
	r.w.between = nil
	if err := errors.Join(err, c.failed); err != nil {
		return err
	}
	for _, p := range c.players() {
		p.busy = false
		c.rep.Transferred += p.granted
	}
	c.rep.Hosts = len(c.hosts)
	for _, k := range r.clients { // no one writes while the relay finds out who is gone
		k.be(true)
	}
	if err := r.w.play(ctx, c.lastKill+killedFor, nil); err != nil {
		return err
	}
	if err := r.check(ctx); err != nil {
		return err
	}
	r.rep.Joined += c.rep.Kills // they were in
	return nil
}

// churn is the script.
type churn struct {
	*run
	ctx      context.Context
	rep      *ChurnReport
	side     float64
	things   []throng.NetID
	still    []throng.NetID
	script   []happening // by time
	joins    sync.WaitGroup
	lastKill time.Duration
	hosts    map[throng.PlayerID]bool
	failed   error

	mu       sync.Mutex
	joinErrs []error
}

// happening is something that is due.
type happening struct {
	at time.Duration
	do func()
}

func (c *churn) players() (out []*player) {
	for _, k := range c.clients {
		if p := k.(*player); !p.killed && p.e != nil && p.err == nil {
			out = append(out, p)
		}
	}
	return out
}

func (c *churn) any() *player {
	all := c.players()
	return all[c.m.rng.IntN(len(all))]
}

// furnish puts things into the world.
func (c *churn) furnish() error {
	for i := range transfers + silent + hosted {
		var opts []throng.SpawnOption
		if i >= transfers+silent {
			opts = append(opts, throng.OwnedByHost())
		}
		e, err := c.any().put(i >= transfers && i < transfers+silent, opts...)
		if err != nil {
			return err
		}
		switch {
		case e.Quiet:
			c.still = append(c.still, e.NetID())
		case len(opts) == 0:
			c.things = append(c.things, e.NetID())
		}
	}
	for _, p := range c.players() {
		p.busy = true
	}
	return nil
}

// plan spreads everything over the window.
func (c *churn) plan(late []client) {
	from := c.m.now()
	at := func(share float64) time.Duration { return from + time.Duration(share*float64(c.Window)) }
	add := func(t time.Duration, do func()) { c.script = append(c.script, happening{t, do}) }
	any := func() time.Duration { return at(0.02 + 0.96*c.m.rng.Float64()) }
	for _, p := range c.players() {
		for range neighbourhoods {
			add(any(), func() { c.move(p) })
		}
	}
	for _, k := range late {
		add(any(), func() { c.arrive(k) })
	}
	for _, id := range c.things {
		add(any(), func() { c.transfer(id) })
	}
	for _, id := range c.still {
		add(any(), func() { c.light(id) })
	}
	for i := range kills {
		add(at((float64(i)+0.5)/kills), c.kill)
	}
	slices.SortStableFunc(c.script, func(a, b happening) int { return cmp.Compare(a.at, b.at) })
	c.hosts = map[throng.PlayerID]bool{}
}

// happen runs what is due.
func (c *churn) happen(now time.Duration) {
	for len(c.script) > 0 && c.script[0].at <= now {
		do := c.script[0].do
		c.script = c.script[1:]
		do()
	}
	if p := c.host(); c.w.at == 0 && p != nil {
		c.hosts[p.self] = true
	}
}

// settled is when all that was begun has come to an end.
func (c *churn) settled() bool {
	if len(c.script) > 0 {
		return false
	}
	for _, k := range c.clients {
		if p := k.(*player); p.e == nil && !p.killed {
			c.mu.Lock()
			c.failed = errors.Join(c.joinErrs...)
			c.mu.Unlock()
			return c.failed != nil
		}
	}
	return true
}

func (c *churn) move(p *player) {
	if p.killed {
		return
	}
	to := somewhere(p.rng, c.side)
	p.goal = &to
	c.rep.Moves++
}

func (c *churn) arrive(k client) {
	c.rep.Late++
	p := k.(*player)
	p.busy = true
	c.joins.Go(func() {
		if err := joinOne(c.ctx, c.gate, p); err != nil {
			c.mu.Lock()
			c.joinErrs = append(c.joinErrs, err)
			c.mu.Unlock()
			return
		}
		c.w.mu.Lock()
		c.w.new = append(c.w.new, p)
		c.w.mu.Unlock()
	})
}

// transfer has somebody who sees a thing ask for it, in a frame in which its driver writes it.
func (c *churn) transfer(id throng.NetID) {
	var driver *player
	var others []*player
	for _, p := range c.players() {
		o, ok := p.w.Find(id)
		switch {
		case !ok:
		case p.w.Drives(o):
			driver = p
		default:
			others = append(others, p)
		}
	}
	if driver == nil || len(others) == 0 {
		return // killed, or alone
	}
	o, _ := driver.w.Find(id)
	o.(*Thing).Writes += 100
	p := others[c.m.rng.IntN(len(others))]
	o, _ = p.w.Find(id)
	if err := p.w.RequestOwnership(o); err == nil {
		c.rep.Requested++
	}
}

// light changes a thing that is never changed again.
func (c *churn) light(id throng.NetID) {
	for _, p := range c.players() {
		if o, ok := p.w.Find(id); ok && p.w.Drives(o) {
			o.(*Thing).Lit = true
			c.rep.Silent++
			return
		}
	}
}

func (c *churn) host() *player {
	for _, p := range c.players() {
		if p.w.IsHost() {
			return p
		}
	}
	return nil
}

// kill takes the network from the host: it does not say goodbye. If the one before has not been missed yet, it waits.
func (c *churn) kill() {
	p := c.host()
	if p == nil {
		c.script = append(c.script, happening{c.m.now() + frame, c.kill}) // behind all that is due
		slices.SortStableFunc(c.script, func(a, b happening) int { return cmp.Compare(a.at, b.at) })
		return
	}
	c.hosts[p.self] = true
	p.killed = true
	c.m.ended(p.avatar)
	c.taps.cut(p.index)
	c.w.remove(p)
	p.w.Close()
	c.clients = slices.DeleteFunc(c.clients, func(k client) bool { return k == client(p) })
	c.rep.Kills++
	c.lastKill = c.m.now()
}
