package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/throng-dev/throng/internal/load"
)

// natsChild is the command of this program that runs the server.
const natsChild = "nats-child"

// serveNATS is an embedded NATS server. It answers every line of its input with its counters.
func serveNATS() error {
	runtime.GOMAXPROCS(1)
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true, MaxConn: 65_536})
	if err != nil {
		return err
	}
	s.Start()
	defer s.Shutdown()
	if !s.ReadyForConnections(10 * time.Second) {
		return fmt.Errorf("bench: the NATS server does not start")
	}
	say := json.NewEncoder(os.Stdout)
	say.Encode(map[string]string{"addr": s.Addr().String()})
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		say.Encode(usage{CPU: float64(load.CPUTime().Microseconds())})
	}
	return nil
}

// walkerBytes is a message: who, then the state of 4 bytes.
const walkerBytes = 8

// natsField is what all clients of a run share.
type natsField struct {
	o      *options
	side   float64
	start  time.Time
	url    string
	seats  []*natsSeat
	bytes  atomic.Int64 // read by all sockets
	reads  atomic.Int64
	faults atomic.Int64

	counting atomic.Bool
	updates  atomic.Uint64
	latency  [30001]atomic.Uint32 // 100 µs each
}

// natsSeat is a client: a connection that subscribes to the nine cells around it, and publishes to its own.
type natsSeat struct {
	f      *natsField
	i      int
	nc     *nats.Conn
	in     chan *nats.Msg
	subs   map[[2]int]*nats.Subscription
	rng    *rand.Rand
	x, y   float64
	cell   atomic.Uint64 // packed
	anim   uint8
	phase  time.Duration
	writes [256]atomic.Int64 // by anim: when it was written
	held   []atomic.Int32    // by walker: anim held, −1: none
}

func (f *natsField) now() time.Duration { return time.Since(f.start) }

func cellOf(x, y float64) [2]int {
	return [2]int{int(math.Floor(x / load.ChunkSize)), int(math.Floor(y / load.ChunkSize))}
}

func pack(c [2]int) uint64   { return uint64(uint32(c[0]))<<32 | uint64(uint32(c[1])) }
func unpack(v uint64) [2]int { return [2]int{int(int32(v >> 32)), int(int32(v))} }

// counted counts what a socket reads.
type counted struct {
	net.Conn
	f *natsField
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.f.bytes.Add(int64(n))
	c.f.reads.Add(1)
	return n, err
}

// Dial is part of nats.CustomDialer.
func (f *natsField) Dial(network, addr string) (net.Conn, error) {
	c, err := net.DialTimeout(network, addr, 10*time.Second)
	if err != nil {
		return nil, err
	}
	return counted{c, f}, nil
}

func playNATS(ctx context.Context, o *options) (*result, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	child, err := start(o, 0, self, natsChild)
	if err != nil {
		return nil, err
	}
	defer child.stop()
	var at struct{ Addr string }
	if err := child.hear(&at); err != nil {
		return nil, err
	}
	f := &natsField{o: o, side: load.Side(o.clients), start: time.Now(), url: "nats://" + at.Addr}
	defer f.leave()
	for i := range o.clients {
		s := &natsSeat{f: f, i: i, in: make(chan *nats.Msg, 4096), subs: map[[2]int]*nats.Subscription{}, rng: rand.New(rand.NewPCG(uint64(i), 7)), held: make([]atomic.Int32, o.clients)}
		s.x, s.y = f.side*(s.rng.Float64()-0.5), f.side*(s.rng.Float64()-0.5)
		s.phase = time.Duration(s.rng.Int64N(int64(frame)))
		for k := range s.held {
			s.held[k].Store(-1)
		}
		if err := s.join(); err != nil {
			return nil, err
		}
		f.seats = append(f.seats, s)
	}
	var work sync.WaitGroup
	defer work.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, s := range f.seats {
		work.Go(func() { s.listen(ctx) })
	}
	work.Go(func() { f.walk(ctx) })
	if err := sleep(ctx, o.warm); err != nil {
		return nil, err
	}
	from, err := child.usage()
	if err != nil {
		return nil, err
	}
	bytes, reads, cpu, began := f.bytes.Load(), f.reads.Load(), load.CPUTime(), time.Now()
	f.counting.Store(true)
	samples, fresh := 0, 0
	rng := rand.New(rand.NewPCG(1, 8))
	for time.Since(began) < o.window { // 1,000 samples a second
		if err := sleep(ctx, 10*time.Millisecond); err != nil {
			return nil, err
		}
		for range 10 {
			if ok, good := f.sample(rng); ok {
				samples++
				if good {
					fresh++
				}
			}
		}
	}
	f.counting.Store(false)
	seconds := time.Since(began).Seconds()
	to, err := child.usage()
	if err != nil {
		return nil, err
	}
	n := float64(f.updates.Load())
	r := &result{peer: "NATS 2.15, a subject a cell", seconds: seconds, joined: len(f.seats), updates: n / seconds, bytes: float64(f.bytes.Load()-bytes) / max(n, 1),
		p50: f.quantile(0.5), p99: f.quantile(0.99), clientCore: (load.CPUTime() - cpu).Seconds() / seconds, faults: int(f.faults.Load())}
	r.wire = r.bytes + segment*float64(f.reads.Load()-reads)/max(n, 1)
	if samples > 0 {
		r.freshness = float64(fresh) / float64(samples)
	}
	r.spent(from, to, n)
	return r, nil
}

func (f *natsField) leave() {
	for _, s := range f.seats {
		s.nc.Close()
	}
}

func (s *natsSeat) join() (err error) {
	s.nc, err = nats.Connect(s.f.url, nats.NoEcho(), nats.SetCustomDialer(s.f), nats.NoReconnect(),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) { s.f.faults.Add(1) }))
	if err != nil {
		return err
	}
	return s.look()
}

// look subscribes to what is around.
func (s *natsSeat) look() error {
	at := cellOf(s.x, s.y)
	s.cell.Store(pack(at))
	for dx := -load.Reach; dx <= load.Reach; dx++ {
		for dy := -load.Reach; dy <= load.Reach; dy++ {
			c := [2]int{at[0] + dx, at[1] + dy}
			if s.subs[c] != nil {
				continue
			}
			sub, err := s.nc.ChanSubscribe(subject(c), s.in)
			if err != nil {
				return err
			}
			s.subs[c] = sub
		}
	}
	for c, sub := range s.subs {
		if max(c[0]-at[0], at[0]-c[0], c[1]-at[1], at[1]-c[1]) > load.Reach {
			if err := sub.Unsubscribe(); err != nil {
				return err
			}
			delete(s.subs, c)
		}
	}
	return nil
}

func subject(c [2]int) string { return fmt.Sprintf("cell.%d.%d", c[0], c[1]) }

// walk moves everybody once an interval, each at a phase of its own.
func (f *natsField) walk(ctx context.Context) {
	due := make([]time.Duration, len(f.seats))
	for i, s := range f.seats {
		due[i] = f.now() + time.Duration(s.rng.Int64N(int64(interval)))
	}
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := f.now()
		for i, s := range f.seats {
			if due[i] > now {
				continue
			}
			due[i] = max(due[i]+interval, now-interval)
			if err := s.step(now); err != nil && ctx.Err() == nil {
				f.faults.Add(1)
			}
		}
	}
}

func (s *natsSeat) step(now time.Duration) error {
	side := s.f.side
	move := func(v float64) float64 {
		return max(-side/2, min(side/2, v+load.Step*(2*s.rng.Float64()-1)))
	}
	s.x, s.y = move(s.x), move(s.y)
	s.anim++
	if cellOf(s.x, s.y) != unpack(s.cell.Load()) {
		if err := s.look(); err != nil {
			return err
		}
	}
	b := make([]byte, walkerBytes)
	binary.LittleEndian.PutUint32(b, uint32(s.i))
	b[4], b[5] = uint8((s.x/side+0.5)*255), uint8((s.y/side+0.5)*255)
	b[6], b[7] = s.anim*6, s.anim
	s.writes[s.anim].Store(int64(now))
	return s.nc.Publish(subject(unpack(s.cell.Load())), b)
}

// listen takes what arrives. A game applies it at its next frame.
func (s *natsSeat) listen(ctx context.Context) {
	f := s.f
	for {
		var m *nats.Msg
		select {
		case <-ctx.Done():
			return
		case m = <-s.in:
		}
		who := binary.LittleEndian.Uint32(m.Data)
		if int(who) >= len(s.held) || len(m.Data) != walkerBytes {
			f.faults.Add(1)
			continue
		}
		anim := m.Data[7]
		if s.held[who].Swap(int32(anim)) == int32(anim) || !f.counting.Load() {
			continue
		}
		f.updates.Add(1)
		now := f.now()
		applied := now + frame - (now-s.phase)%frame
		took := applied - time.Duration(f.seats[who].writes[anim].Load())
		f.latency[max(0, min(int(took/(100*time.Microsecond)), len(f.latency)-1))].Add(1)
	}
}

// sample looks at what a random client holds of a random one in reach.
func (f *natsField) sample(rng *rand.Rand) (ok, fresh bool) {
	o := f.seats[rng.IntN(len(f.seats))]
	at := unpack(o.cell.Load())
	var near []*natsSeat
	for _, s := range f.seats {
		c := unpack(s.cell.Load())
		if s != o && max(c[0]-at[0], at[0]-c[0], c[1]-at[1], at[1]-c[1]) <= load.Reach {
			near = append(near, s)
		}
	}
	if len(near) == 0 {
		return false, false
	}
	s := near[rng.IntN(len(near))]
	anim := o.held[s.i].Load()
	return true, anim >= 0 && f.now()-time.Duration(s.writes[anim].Load()) <= staleAfter
}

func (f *natsField) quantile(q float64) float64 {
	counts := make([]uint64, len(f.latency))
	total := uint64(0)
	for i := range f.latency {
		counts[i] = uint64(f.latency[i].Load())
		total += counts[i]
	}
	sum := uint64(0)
	i := slices.IndexFunc(counts, func(n uint64) bool { sum += n; return total > 0 && float64(sum) >= q*float64(total) })
	return float64(i+1) / 10
}
