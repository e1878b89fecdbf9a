// Package load plays crowds of clients against a relay to measure what it does to them.
//
//	relay (a child process on a core of its own) ◄─ UDP, perhaps by a proxy that loses some ─► players or sinks
//	                                                                                            │ ticked by one wheel
//	readings of the child ─► Report ◄─ judge ◄─ meter ◄─ what drivers wrote, what observers hold ─┘
//
// What the measures mean is in docs/guide/measuring.md.
package load

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"runtime"
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/impair"
	"github.com/throng-dev/throng/token"
)

// Options are what a run is to be. All durations and counts must be set.
type Options struct {
	Scenario string // crowd, hotspot, churn, idle or handshake
	Clients  int
	Sink     bool // clients without game structs
	Warm     time.Duration
	Window   time.Duration
	Flush    time.Duration // of the relay
	Seed     uint64

	Addr string    // of a relay that runs already; empty: one is started
	Key  token.Key // that it opens tokens with

	Loss          float64 // each way
	Delay, Jitter time.Duration

	NoPhaseLock bool
	Floor       bool
	Pin         bool
	Profile     string // file for a CPU profile of the relay in the window; empty: none
	HeapProfile string // the same of its memory, when the window ends
	OwnProfile  string // of the clients' CPU time

	Log io.Writer // for people: progress and faults
}

// run is a run at work.
type run struct {
	*Options
	rep     *Report
	m       *meter
	w       *wheel
	taps    *taps
	gate    *gate
	relay   *Process // nil: it runs elsewhere
	proxy   io.Closer
	clients []client
	faults  *Faults
	order   Order
	addr    netip.AddrPort // of the relay

	// What the floor is to do as well.
	visible     []int
	uplinkBytes int
	uplinks     spreader
}

// Run plays a scenario. It returns an error if there is nothing to report.
func Run(ctx context.Context, o *Options) (*Report, error) {
	r := &run{Options: o, rep: &Report{Scenario: o.Scenario, Clients: o.Clients, Kind: "sdk", Network: "loopback"},
		m: newMeter(o.Seed), taps: new(taps), faults: &Faults{Out: o.Log}}
	if o.Sink {
		r.rep.Kind = "sink"
	}
	r.w = newWheel(r.m)
	r.order = Order{Job: "relay", CPU: -1, Clients: o.Clients, Flush: o.Flush, Profile: o.Profile, Heap: o.HeapProfile}
	switch o.Scenario {
	case "handshake":
		r.order.Clients = guests
	case "churn":
		r.order.Silence = silence
		r.order.Clients += lateJoiners
	}
	if o.Pin {
		defer Unpin()
		if Pin(1) {
			r.order.CPU = 0
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		}
	}
	defer r.w.ready.close()
	defer r.close()
	if err := r.open(ctx); err != nil {
		return nil, err
	}
	play, ok := map[string]func(context.Context) error{"crowd": r.crowd, "hotspot": r.hotspot, "churn": r.churn, "idle": r.idle, "handshake": r.handshake}[o.Scenario]
	if !ok {
		return nil, fmt.Errorf("throng: there is no scenario %q: use crowd, hotspot, churn, idle or handshake", o.Scenario)
	}
	if err := play(ctx); err != nil {
		return nil, err
	}
	r.verdict()
	r.close()
	if err := r.floor(ctx); err != nil {
		return nil, err
	}
	return r.rep, nil
}

// open starts the relay, and what stands between it and the clients.
func (r *run) open(ctx context.Context) (err error) {
	addr, key := r.Addr, r.Key
	if addr == "" {
		key = token.NewKey()
		r.order.Key = key.Hex()
		if r.relay, err = Start(ctx, &r.order, r.faults); err != nil {
			return err
		}
		addr, r.rep.Pinned = r.relay.Addr, r.relay.Pinned
	}
	if r.addr, err = netip.ParseAddrPort(addr); err != nil {
		return fmt.Errorf("throng: the relay's address %s: %w: write it as 127.0.0.1:9091", addr, err)
	}
	if err := r.between(); err != nil {
		return err
	}
	life := time.Duration(0)
	if r.Scenario == "handshake" {
		life = guestLife
	}
	r.gate.tokens = func(name string) func(context.Context) ([]byte, error) {
		var id [16]byte
		copy(id[:], name)
		return func(context.Context) ([]byte, error) {
			return token.Mint(key, token.ProtocolID, []netip.AddrPort{r.addr}, token.Claims{Player: id, Rights: token.Player | token.HostEligible}, life)
		}
	}
	return nil
}

// between makes the way to the relay.
func (r *run) between() error {
	addr := r.addr
	if r.Loss > 0 || r.Delay > 0 {
		p, err := impair.Listen(impair.Config{To: r.addr, Loss: r.Loss, Delay: r.Delay, Jitter: r.Jitter, Seed: r.Seed})
		if err != nil {
			return err
		}
		r.proxy, addr = p, p.Addr()
		r.rep.Network = fmt.Sprintf("%v ± %v and %v %% lost each way", r.Delay, r.Jitter, 100*r.Loss)
	}
	r.gate = &gate{addr: addr.String(), dialer: r.taps.dialer, noPhaseLock: r.NoPhaseLock,
		log: slog.New(slog.NewTextHandler(r.faults, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	return nil
}

// close ends all that runs. It may be called again.
func (r *run) close() {
	for _, c := range r.clients {
		if c.connected() {
			c.leave()
		}
	}
	r.clients = nil
	if r.proxy != nil {
		r.proxy.Close()
		r.proxy = nil
	}
	if r.relay != nil {
		r.relay.Stop()
	}
}

// make makes clients that walk in a square of an edge.
func (r *run) make(n int, side float64) (made []client) {
	for range n {
		i := len(r.m.seats)
		name := fmt.Sprintf("load-%06d", i+1)
		var c client
		if r.Sink {
			c = newSink(r.m, name, r.Seed+uint64(i), side)
		} else {
			c = newPlayer(r.m, name, r.Seed+uint64(i), side)
		}
		made = append(made, c)
	}
	r.clients = append(r.clients, made...)
	return made
}

// enter lets clients in, and waits until those that have one see from their avatar.
func (r *run) enter(ctx context.Context, clients []client) error {
	out, err := r.w.join(ctx, r.gate, clients, r.fail)
	r.clients = slices.DeleteFunc(r.clients, func(c client) bool { return slices.Contains(out, c) })
	if err != nil {
		return err
	}
	return r.w.play(ctx, r.m.now()+joinWait, func() bool { return r.inside() == len(r.clients) })
}

// inside is how many clients are in the world.
func (r *run) inside() (n int) {
	for _, c := range r.clients {
		if c.failed() == nil && (c.base().avatar != nil || c.watches()) {
			n++
		}
	}
	return n
}

// say tells people how far it is.
func (r *run) say(format string, args ...any) { fmt.Fprintf(r.Log, format+"\n", args...) }

func (r *run) fail(err error) { r.faults.Add(err.Error()) }

// verdict counts the errors and decides whether the run counts.
func (r *run) verdict() {
	rep := r.rep
	for _, c := range r.clients {
		if err := c.failed(); err != nil {
			r.fail(err)
		}
	}
	if n := r.m.strange; n > 0 {
		r.fail(fmt.Errorf("%d changes had values that no driver sent", n))
	}
	rep.Errors = r.faults.Count()
	rep.Duplicates = int(r.m.duplicates)
	if rep.Errors > 0 {
		rep.invalid("%d errors: see the lines above", rep.Errors)
	}
	if rep.Joined < rep.Clients {
		rep.invalid("only %d of %d clients joined", rep.Joined, rep.Clients)
	}
	// Handshakes are made as fast as can be, and only the relay's time for one counts.
	if rep.ClientCPU > 0.9 && r.Scenario != "handshake" && (rep.Pinned || rep.ClientCPU > 0.9*float64(runtime.NumCPU())) {
		rep.invalid("the clients' core was %.0f %% busy, which shows in all times: play fewer, or with --sink", 100*rep.ClientCPU)
	}
	if rep.LateTicks > maxLate && rep.Pinned {
		rep.invalid("%.0f %% of the clients' Ticks were left out, which shows in all times: other programs use the core, stop them", 100*rep.LateTicks)
	}
	if needsPairs := r.Scenario == "crowd" || r.Scenario == "hotspot" || r.Scenario == "churn"; needsPairs && rep.Pairs == 0 {
		rep.invalid("nothing was compared: no client had anybody in reach")
	}
	rep.Valid = len(rep.Why) == 0
}

// maxLate is the share of Ticks that may be left out before the times of a run say more of the machine than of the relay.
const maxLate = 0.05
