package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/internal/inspect"
	"github.com/throng-dev/throng/internal/load"
	"github.com/throng-dev/throng/internal/udp"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/token"
)

// demoCommand is the whole of Throng in one process: relay, clients over UDP, page.
//
//	relay ◄─ UDP ─► bots (crews) ─► meter ─► status lines, page, summary
//
// A run: join, walk, stand still, wait until it is quiet, compare.
type demoCommand struct {
	Bots      int           `default:"100" help:"How many clients walk about."`
	Addr      string        `default:"127.0.0.1:7777" help:"Where the page is served."`
	For       time.Duration `default:"0s" help:"End after this long with a check and a summary; 0 runs until Ctrl-C."`
	JSON      bool          `name:"json" help:"Standard output is the summary alone, as one JSON object; everything else, the summary for readers too, goes to standard error."`
	Switch    []string      `placeholder:"NAME" help:"Switches of the first bot to begin with on, with commas between: trace.entity, trace.state, trace.event, trace.net, loopback.state, loopback.event, tracker.backlog, track.self. The page has them all; the trace goes to standard error."`
	ListenUDP string        `name:"listen-udp" default:"127.0.0.1:0" help:"Where the relay listens; loopback only."`
}

// joining is how many bots join at the same time, joinWait how long one may take.
const (
	joining  = 32
	joinWait = 20 * time.Second
)

// demo is a run.
type demo struct {
	*demoCommand
	con    console
	m      *meter
	relay  *relay.Server
	udp    *udp.Listener
	client *slog.Logger
	first  *switches // of the first bot
	crews  []*crew
	last   *look // of the newest status line

	mu     sync.Mutex
	newest *rates
	joined int
}

// Run runs the demo until its time is over or ctx ends.
func (c *demoCommand) Run(ctx context.Context, con console) error {
	if c.Bots < 1 || c.Bots > 10_000 {
		return fmt.Errorf("--bots %d: between 1 and 10000 fit one process", c.Bots)
	}
	d := &demo{demoCommand: c, con: con}
	log := &load.Faults{Out: con.err, Prefix: "throng: "}
	d.client = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: dropTime}))
	d.first = newSwitches(slog.New(slog.NewTextHandler(con.err, &slog.HandlerOptions{ReplaceAttr: dropTime})))
	d.m = newMeter(c.Bots, log)

	page, err := listenHTTP("--addr", c.Addr)
	if err != nil {
		return err
	}
	stopRelay, err := d.startRelay()
	if err != nil {
		page.Close()
		return err
	}
	v := newView(d.relay, d.counters)
	v.field = &inspect.Rect{MaxX: d.m.side, MaxY: d.m.side}
	stopPage := servePage(page, inspect.NewSwitching(v, d.first, 0))
	ended, err := d.play(ctx, "http://"+page.Addr().String())
	stopPage()
	stopRelay()
	if err != nil || ended == nil {
		return err
	}
	if err := ended.write(d.status()); err != nil {
		return err
	}
	if c.JSON {
		if err := json.NewEncoder(con.out).Encode(ended); err != nil {
			return err
		}
	}
	return ended.verdict()
}

// startRelay runs a relay with the key that everybody knows, for which the address must be loopback.
func (d *demo) startRelay() (stop func(), err error) {
	if err := loopbackOnly("--listen-udp", d.ListenUDP); err != nil {
		return nil, err
	}
	d.relay, err = relay.New(relay.Config{
		Worlds: map[string]relay.World{level: {ChunkSize: chunkSize, Reach: 1, Flat: true}},
		Key:    token.InsecureDevKey(), Settle: -1, MaxSessions: d.Bots + 16, Logger: d.client,
	})
	if err != nil {
		return nil, err
	}
	d.udp, err = listenUDP(d.relay, "--listen-udp", d.ListenUDP)
	if err != nil {
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := d.relay.Serve(d.udp); err != nil {
			d.m.fail(err)
		}
	}()
	return func() {
		d.relay.Close()
		<-done
	}, nil
}

// play is the run of the bots. It returns nothing if ctx ended it.
func (d *demo) play(ctx context.Context, url string) (*summary, error) {
	fmt.Fprintf(d.status(), "throng demo: %d bots, relay on %v\nopen %s\n", d.Bots, d.udp.Addr(), url)
	crews, dismiss := context.WithCancel(context.WithoutCancel(ctx))
	var work sync.WaitGroup
	for range max(2, min(2*runtime.GOMAXPROCS(0), d.Bots/16)) {
		c := &crew{m: d.m, rng: rand.New(rand.NewPCG(rand.Uint64(), 0))}
		d.crews = append(d.crews, c)
	}
	for i := range d.Bots {
		d.m.bots = append(d.m.bots, newBot(d.m, fmt.Sprintf("bot-%03d", i+1), rand.Uint64()))
	}
	for _, c := range d.crews {
		c.rate = samplesPerSecond / float64(len(d.crews))
		work.Go(func() { c.run(crews) })
	}
	leave := func() {
		dismiss()
		work.Wait()
		for _, b := range d.m.bots {
			if b.w != nil {
				b.w.Close()
			}
		}
		d.first.flush()
	}
	defer leave()

	d.last = d.look()
	status := time.NewTicker(time.Second)
	defer status.Stop()
	if err := d.join(ctx, status.C); err != nil {
		if ctx.Err() != nil {
			d.stopped(nil)
			return nil, nil
		}
		return nil, err
	}
	var end <-chan time.Time
	if d.For > 0 {
		timer := time.NewTimer(d.For)
		defer timer.Stop()
		end = timer.C
	}
	warm := time.NewTimer(min(d.For/4, 3*time.Second))
	defer warm.Stop()
	var from *look
	for {
		select {
		case <-ctx.Done():
			d.stopped(from)
			return nil, nil
		case <-status.C:
			d.report()
		case <-warm.C:
			from = d.look()
		case <-end:
			s := new(summary)
			if from != nil {
				s.measured(d.look().since(from))
			}
			return s, d.settle(ctx, s, func() { dismiss(); work.Wait() })
		}
	}
}

// join lets all bots in. Those that are in begin to walk.
func (d *demo) join(ctx context.Context, status <-chan time.Time) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next, done := make(chan int), make(chan struct{})
	var work sync.WaitGroup
	for range joining {
		work.Go(func() {
			for i := range next {
				if err := d.joinOne(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	go func() {
		defer close(done)
		for i := range d.Bots {
			select {
			case next <- i:
			case <-ctx.Done():
			}
		}
		close(next)
		work.Wait()
	}()
	for {
		select {
		case <-status:
			d.report()
		case <-done:
			return context.Cause(ctx)
		}
	}
}

func (d *demo) joinOne(ctx context.Context, i int) error {
	ctx, cancel := context.WithTimeout(ctx, joinWait)
	defer cancel()
	b, addr := d.m.bots[i], d.udp.Addr().String()
	cfg := throng.Config{TokenSource: token.DevSource(addr, b.name), World: level, Hooks: b.hooks(), Logger: d.client}
	if i == 0 {
		cfg.Tracer = d.first.tracer
	}
	w, err := throng.Join(ctx, addr, schema, cfg)
	if err != nil {
		return fmt.Errorf("%s cannot join: %w", b.name, err)
	}
	b.w = w
	if i == 0 {
		for _, name := range d.Switch { // the crew does not have it yet
			if err := w.SetSwitch(name, true); err != nil {
				return fmt.Errorf("--switch: %w", err)
			}
		}
		d.first.world.Store(w)
	}
	d.mu.Lock()
	d.joined++
	d.mu.Unlock()
	d.crews[i%len(d.crews)].join(b)
	return nil
}

// settle ends the play and checks what everybody holds.
func (d *demo) settle(ctx context.Context, s *summary, dismiss func()) error {
	d.m.over.Store(true)
	d.m.standing.Store(true)
	if err := d.quiet(ctx); err != nil {
		if errors.Is(err, context.Canceled) {
			return fmt.Errorf("stopped before the check at the end: let it run on after --for is over")
		}
		d.m.fail(err)
	}
	snap, err := d.relay.Snapshot()
	if err != nil {
		return err
	}
	for _, w := range snap.Worlds {
		s.Clients += len(w.Sessions)
		s.Entities += w.Total
	}
	dismiss()
	f := d.m.compare()
	for _, text := range f.texts {
		fmt.Fprintln(d.con.err, text)
	}
	s.Wrong, s.Pairs, s.Slots = f.wrong, f.pairs, f.slots
	if missing := d.Bots - s.Clients; missing > 0 {
		d.m.fail(fmt.Errorf("%d clients are not in the world at the end", missing))
	}
	for _, b := range d.m.bots {
		if st := b.w.Stats(); st.Malformed+st.Foreign+st.NoRoom > 0 {
			d.m.fail(fmt.Errorf("%s refused what the relay sent: %d malformed, %d foreign, %d without room", b.name, st.Malformed, st.Foreign, st.NoRoom))
		}
	}
	if r := d.relay.Stats().Replication; r.Malformed > 0 {
		d.m.fail(fmt.Errorf("the relay got %d malformed frames", r.Malformed))
	}
	s.Errors = d.m.log.Count()
	return nil
}
