package load

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"
)

// IdleReport is what sessions cost that do nothing, and what the relay adds to the way of a single change.
type IdleReport struct {
	MemoryMiB float64 `json:"memory_mib"` // of the relay, more than without sessions
	Core      float64 `json:"core"`       // share of one
	Down      float64 `json:"down"`       // bytes of UDP payload a second for each session, relay to client
	Up        float64 `json:"up"`
	Through   Spread  `json:"through_ms"` // from the client that moves, by the relay, to another
	Past      Spread  `json:"past_ms"`    // the same datagrams by a bare loop in the relay's place
	Added     Spread  `json:"added_ms"`   // the difference to the median of those
}

const (
	// idleEvery is the frames between two Ticks of an idle client.
	idleEvery = 6
	// moves are how many changes are timed, moveEvery how long the world is idle between two.
	moves     = 200
	moveEvery = 50 * time.Millisecond
)

// idle is sessions in a world where nothing happens; then one client in it moves, seen by one other.
func (r *run) idle(ctx context.Context) error {
	if r.relay == nil {
		return errors.New("throng: idle measures the memory of a relay that it starts: leave --relay out")
	}
	r.Sink = true
	r.rep.Kind = "sink"
	empty, err := r.relay.Read("")
	if err != nil {
		return err
	}
	r.w.every = idleEvery
	for _, c := range r.make(r.Clients, Side(r.Clients)) {
		c.(*sink).idle = true
	}
	if err := r.enter(ctx, r.clients); err != nil {
		return err
	}
	r.say("%d clients are in; measuring in %v, for %v", r.inside(), r.Warm, r.Window)
	if err := r.w.play(ctx, r.m.now()+r.Warm, nil); err != nil {
		return err
	}
	from, err := r.mark("begin")
	if err != nil {
		return err
	}
	if err := r.w.play(ctx, r.m.now()+r.Window, nil); err != nil {
		return err
	}
	to, err := r.mark("end")
	if err != nil {
		return err
	}
	a, b := from.relay, to.relay
	seconds := (b.At - a.At).Seconds()
	each := func(n uint64) float64 { return round(float64(n)/seconds/float64(r.Clients), 10) }
	core, rss := round((b.CPU-a.CPU).Seconds()/seconds, 1000), b.RSS
	rep := &IdleReport{MemoryMiB: round((float64(b.RSS)-float64(empty.RSS))/(1<<20), 10), Core: core,
		Down: each(b.UDP.BytesOut - a.UDP.BytesOut), Up: each(b.UDP.BytesIn - a.UDP.BytesIn)}
	r.rep.Idle, r.rep.Seconds, r.rep.RelayCore, r.rep.RSS = rep, seconds, &core, &rss
	r.rep.ClientCPU = round((to.cpu-from.cpu).Seconds()/(to.at-from.at).Seconds(), 1000)
	r.rep.Joined = r.inside()
	return r.oneMover(ctx, rep)
}

// oneMover times single changes in the idle world.
func (r *run) oneMover(ctx context.Context, rep *IdleReport) error {
	mover, watcher := newSink(r.m, "load-mover", r.Seed, 1), newSink(r.m, "load-watcher", r.Seed+1, 1)
	pair := []*sink{mover, watcher}
	for _, k := range pair {
		k.rest = true
		if err := k.join(ctx, r.gate); err != nil {
			return err
		}
		r.clients = append(r.clients, k)
		if err := k.enter(r.m.now()); err != nil {
			return err
		}
	}
	r.w.between = func(now time.Duration) {
		if r.w.at%(spokes/2) == 0 {
			for _, k := range pair {
				k.tick(now)
			}
		}
	}
	meet := func() bool {
		return mover.avatar != nil && watcher.pairs[mover.avatar] != nil && watcher.pairs[mover.avatar].held
	}
	if err := r.w.play(ctx, r.m.now()+joinWait, meet); err != nil {
		return err
	}
	if !meet() {
		return errors.New("throng: the client that moves is not seen by the other")
	}
	through := new(histogram)
	for range moves {
		if err := r.w.play(ctx, r.m.now()+moveEvery, nil); err != nil {
			return err
		}
		seen := watcher.events
		mover.now = r.m.now()
		began := mover.now
		mover.rest = false
		mover.diff()
		mover.send(true)
		mover.rest = true
		for watcher.events == seen && watcher.err == nil && r.m.now() < began+time.Second {
			watcher.now = r.m.now()
			err := watcher.conn.Receive(r.m.start.Add(began+time.Second), watcher.take)
			if err != nil {
				return err
			}
			watcher.apply()
		}
		if watcher.events == seen {
			r.fail(errors.New("a change did not arrive within a second"))
			continue
		}
		through.add(r.m.now() - began)
	}
	past, err := r.past(ctx)
	if err != nil {
		return err
	}
	rep.Through, rep.Past = through.spread(), past.spread()
	rep.Added = Spread{round(rep.Through.P50-rep.Past.P50, 100), round(rep.Through.P99-rep.Past.P50, 100)}
	return nil
}

// past times the same by a bare loop.
func (r *run) past(ctx context.Context) (*histogram, error) {
	child, err := Start(ctx, &Order{Job: "echo", CPU: r.order.CPU}, r.faults)
	if err != nil {
		return nil, err
	}
	defer child.Stop()
	to, err := netip.ParseAddrPort(child.Addr)
	if err != nil {
		return nil, err
	}
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	h, b := new(histogram), make([]byte, 64)
	for range moves {
		if err := r.w.play(ctx, r.m.now()+moveEvery, nil); err != nil {
			return nil, err
		}
		began := r.m.now()
		if _, err := c.Write(b); err != nil {
			return nil, err
		}
		if err := c.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
			return nil, err
		}
		if _, err := c.Read(b); err == nil {
			h.add(r.m.now() - began)
		}
	}
	return h, nil
}

// echoJob answers every datagram with itself.
type echoJob struct {
	s    bareSocket
	done chan error
}

func startEcho() (job, error) {
	s, err := openBare(false)
	if err != nil {
		return nil, err
	}
	j := &echoJob{s, make(chan error, 1)}
	go func() {
		back := func(from netip.AddrPort, data []byte) { s.send(from, data) }
		for {
			if err := s.receive(time.Now().Add(time.Hour), back); err != nil {
				j.done <- err
				return
			}
			s.flush()
		}
	}()
	return j, nil
}

func (j *echoJob) addr() string        { return j.s.addr().String() }
func (j *echoJob) ended() <-chan error { return j.done }
func (j *echoJob) read(*Readings)      {}
func (j *echoJob) stop() {
	j.s.close()
	<-j.done
}
