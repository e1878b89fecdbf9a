package load

import (
	"context"
	"fmt"
	"time"
)

// grace is how long what was written in the window may still take to arrive.
const grace = time.Second

// mark is all counters at one end of the window.
type mark struct {
	at               time.Duration
	cpu              time.Duration // of the clients' process
	relay            *Readings     // nil: it runs elsewhere
	datagrams, bytes uint64        // at the clients' sockets
	records          uint64
	tapped           uint64 // updates at tapped clients
	late             uint64
	busy             time.Duration // of all processes of the machine
}

func (r *run) mark(window string) (*mark, error) {
	m := new(mark)
	if r.relay != nil {
		var err error
		if m.relay, err = r.relay.Read(window); err != nil {
			return nil, err
		}
	}
	m.at, m.cpu, m.busy, m.late = r.m.now(), CPUTime(), busyTime(), r.w.late
	m.datagrams, m.bytes = r.taps.received()
	m.records = r.taps.records.Load()
	for _, s := range r.m.seats {
		if s.index%tapped == 0 {
			m.tapped += s.updates
		}
	}
	return m, nil
}

// window measures a while of play.
func (r *run) window(ctx context.Context, d time.Duration) error {
	from, err := r.mark("begin")
	if err != nil {
		return err
	}
	stop, err := profile(r.OwnProfile)
	if err != nil {
		return err
	}
	defer stop()
	r.m.begin()
	if err := r.w.play(ctx, r.m.now()+d, nil); err != nil {
		return err
	}
	r.m.end()
	stop()
	to, err := r.mark("end")
	if err != nil {
		return err
	}
	r.see()
	if err := r.w.play(ctx, r.m.now()+grace, nil); err != nil {
		return err
	}
	r.measured(from, to)
	return nil
}

func (r *run) measured(from, to *mark) {
	rep, m := r.rep, r.m
	rep.Seconds = (m.to - m.from).Seconds()
	rep.Updates = m.updates
	rep.UpdatesPerS = round(float64(m.updates)/rep.Seconds, 10)
	updates := float64(max(m.updates, 1))
	rep.Latency, rep.Age, rep.Baseline, rep.Newcomer = m.latency.spread(), m.age.spread(), m.baseline.spread(), m.baseline.n
	if m.samples > 0 {
		rep.Freshness, rep.Samples = round(float64(m.fresh)/float64(m.samples), 1e6), m.samples
	}
	if m.nearSamples > 0 {
		f := round(float64(m.nearFresh)/float64(m.nearSamples), 1e6)
		rep.NearFreshness = &f
	}
	held, written := m.delivered()
	if rep.DeliveredOf = written; written > 0 {
		rep.Delivered = round(float64(held)/float64(written), 1e6)
	}
	rep.InReach = round(m.inReach(), 100)
	rep.ClientCPU = round((to.cpu-from.cpu).Seconds()/(to.at-from.at).Seconds(), 1000)
	datagrams, bytes := to.datagrams-from.datagrams, to.bytes-from.bytes
	if to.relay != nil {
		a, b := from.relay, to.relay
		datagrams, bytes = b.UDP.Out-a.UDP.Out, b.UDP.BytesOut-a.UDP.BytesOut
		cpu, core, rss := round(float64((b.CPU-a.CPU).Nanoseconds())/1e3/updates, 1000), round((b.CPU-a.CPU).Seconds()/(b.At-a.At).Seconds(), 1000), b.RSS
		if m.updates > 0 {
			rep.RelayCPU = &cpu
		}
		rep.RelayCore, rep.RSS = &core, &rss
		if n := b.Relay.Replication.Malformed - a.Relay.Replication.Malformed; n > 0 {
			r.fail(fmt.Errorf("the relay got %d malformed frames", n))
		}
	}
	if to.relay != nil {
		in := float64(to.relay.UDP.In - from.relay.UDP.In)
		r.uplinkBytes = int(float64(to.relay.UDP.BytesIn-from.relay.UDP.BytesIn) / max(in, 1))
		r.uplinks.rate = in / float64(max(len(m.seats), 1)) / rep.Seconds * interval.Seconds()
	}
	rep.LateTicks = round(float64(to.late-from.late)/(rep.Seconds/frame.Seconds()*spokes), 10_000)
	if to.busy > 0 && to.relay != nil {
		others := round(max(0, to.busy-from.busy-(to.cpu-from.cpu)-(to.relay.CPU-from.relay.CPU)).Seconds()/(to.at-from.at).Seconds(), 100)
		rep.OtherCPU = &others
	}
	rep.Bytes = round(float64(bytes)/updates, 100)
	rep.WireBytes = round(float64(bytes+28*datagrams)/updates, 100)
	rep.Datagrams = round(updates/float64(max(datagrams, 1)), 100)
	rep.RecordBytes = round(float64(to.records-from.records)/float64(max(to.tapped-from.tapped, 1)), 100)
}

// calm is how long nothing may happen anywhere until the world counts as quiet, patience how long that may take.
const (
	calm     = time.Second
	patience = 30 * time.Second
)

// check lets everything come to rest, then compares what all clients hold.
func (r *run) check(ctx context.Context) error {
	for _, c := range r.clients {
		c.be(true)
	}
	wait := calm + 16*(r.Delay*2+r.Jitter*2)
	begin := r.m.now()
	last, since := r.activity(), begin
	for {
		if err := r.w.play(ctx, r.m.now()+300*time.Millisecond, nil); err != nil {
			return err
		}
		now, a := r.m.now(), r.activity()
		if a != last {
			last, since = a, now
		}
		if now-since >= wait {
			break
		}
		if now-begin > patience {
			r.fail(fmt.Errorf("the world does not become quiet: something still happens %v after the last change", patience))
			break
		}
	}
	f := judge(r.living())
	for _, text := range f.texts {
		r.say("%s", text)
	}
	rep := r.rep
	rep.Wrong, rep.Pairs, rep.Slots, rep.Zombies, rep.LostLast = f.wrong, f.pairs, f.slots, f.zombies, f.lost
	rep.Joined += r.inside()
	return nil
}

// living are the clients that are in the world.
func (r *run) living() (out []client) {
	for _, c := range r.clients {
		if c.failed() == nil {
			out = append(out, c)
		}
	}
	return out
}

// activity changes whenever a client is told something, or the relay notices that it has to say it again.
func (r *run) activity() (n uint64) {
	for _, s := range r.m.seats {
		n += s.events
	}
	if r.relay != nil {
		if got, err := r.relay.Read(""); err == nil {
			x := got.Relay.Replication
			n += x.RecordCopies + x.OwnRecords + x.Intros + x.Departs + x.Lost + x.Transfers
		}
	}
	return n
}
