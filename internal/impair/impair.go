// Package impair is a UDP proxy that makes a loopback network a bad one: it loses, delays, reorders datagrams.
//
//	client ─► proxy ─► loss? ─► queue, by the time that each is due ─► a socket for each client ─► server
//	client ◄─ proxy ◄──────────── the same queue ◄──────────── loss? ◄──────────┘
//
// Everything is bounded: flows, datagrams in the queue, bytes a datagram. What does not fit is lost, which is counted apart. Both ends
// must be on the loopback interface: it is a tool for tests.
package impair

import (
	"container/heap"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"
)

const (
	maxFlows  = 20_000
	maxQueue  = 1 << 16 // datagrams
	datagram  = 2048    // bytes; longer ones are lost
	sockets   = 4 << 20 // buffer that is asked for at the clients' side
	flowQueue = 512 << 10
)

// Config says what happens to datagrams.
type Config struct {
	To     netip.AddrPort // the server
	Loss   float64        // share that is lost, each way
	Delay  time.Duration  // of each datagram, each way
	Jitter time.Duration  // the delay is up to so much shorter or longer
	Seed   uint64
}

// Stats count datagrams.
type Stats struct {
	Forwarded, Lost, Overflowed uint64
}

// Proxy is one at work.
type Proxy struct {
	cfg  Config
	conn *net.UDPConn
	work sync.WaitGroup
	wake chan struct{}
	stop chan struct{}
	once sync.Once

	mu    sync.Mutex
	rng   *rand.Rand
	flows map[netip.AddrPort]*flow
	queue queue
	order uint64
	free  [][]byte
	stats Stats
	done  bool
}

// flow is one client: the server must see an address for each.
type flow struct {
	client netip.AddrPort
	up     *net.UDPConn
}

// parcel is a datagram under way.
type parcel struct {
	due   time.Time
	order uint64 // those due at the same time keep their order
	to    *flow
	down  bool
	buf   []byte
	n     int
}

// Listen opens a proxy on a free port of the loopback interface.
func Listen(cfg Config) (*Proxy, error) {
	switch {
	case !cfg.To.Addr().Unmap().IsLoopback():
		return nil, fmt.Errorf("throng: impairing the way to %v: only loopback addresses can be impaired", cfg.To)
	case cfg.Loss < 0 || cfg.Loss > 1 || cfg.Delay < 0 || cfg.Jitter < 0 || cfg.Jitter > cfg.Delay:
		return nil, fmt.Errorf("throng: impairing the way to %v: loss %v, delay %v, jitter %v: use a share, a time, and a jitter up to the delay", cfg.To, cfg.Loss, cfg.Delay, cfg.Jitter)
	}
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fmt.Errorf("throng: impairing the way to %v: %w", cfg.To, err)
	}
	_ = conn.SetReadBuffer(sockets) // systems give less than is asked for
	_ = conn.SetWriteBuffer(sockets)
	p := &Proxy{cfg: cfg, conn: conn, wake: make(chan struct{}, 1), stop: make(chan struct{}), rng: rand.New(rand.NewPCG(cfg.Seed, 3)), flows: map[netip.AddrPort]*flow{}}
	p.work.Go(p.listen)
	p.work.Go(p.deliver)
	return p, nil
}

// Addr is where clients find the server.
func (p *Proxy) Addr() netip.AddrPort { return p.conn.LocalAddr().(*net.UDPAddr).AddrPort() }

// Stats may be called by any goroutine.
func (p *Proxy) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}

// Close ends it. What is under way is lost.
func (p *Proxy) Close() error {
	p.once.Do(func() {
		close(p.stop)
		p.conn.Close()
		p.mu.Lock()
		p.done = true
		for _, f := range p.flows {
			f.up.Close()
		}
		p.mu.Unlock()
	})
	p.work.Wait()
	return nil
}

func (p *Proxy) listen() {
	for {
		b := p.buffer()
		n, from, err := p.conn.ReadFromUDPAddrPort(b)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		f := p.flow(from)
		p.take(f, false, b, n, err != nil || f == nil)
	}
}

// flow finds or makes the flow of a client; nil if there is no room.
func (p *Proxy) flow(client netip.AddrPort) *flow {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.flows[client]
	if f != nil || p.done || len(p.flows) >= maxFlows || !client.Addr().Unmap().IsLoopback() {
		return f
	}
	up, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(p.cfg.To))
	if err != nil {
		return nil
	}
	_ = up.SetReadBuffer(flowQueue)
	f = &flow{client, up}
	p.flows[client] = f
	p.work.Go(func() { p.answer(f) })
	return f
}

// answer takes what the server says to one client.
func (p *Proxy) answer(f *flow) {
	for {
		b := p.buffer()
		n, err := f.up.Read(b)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		p.take(f, true, b, n, err != nil) // such as a port that is not open yet
	}
}

// take decides what becomes of a datagram.
func (p *Proxy) take(f *flow, down bool, b []byte, n int, faulty bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case faulty || n == datagram || len(p.queue) >= maxQueue:
		p.stats.Overflowed++
	case p.rng.Float64() < p.cfg.Loss:
		p.stats.Lost++
	default:
		late := p.cfg.Delay
		if j := int64(p.cfg.Jitter); j > 0 {
			late += time.Duration(p.rng.Int64N(2*j+1) - j)
		}
		p.order++
		heap.Push(&p.queue, &parcel{time.Now().Add(late), p.order, f, down, b, n})
		if p.queue[0].order == p.order { // it is the next that is due
			select {
			case p.wake <- struct{}{}:
			default:
			}
		}
		return
	}
	p.free = append(p.free, b)
}

// deliver sends what is due.
func (p *Proxy) deliver() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-p.wake:
		case <-timer.C:
		}
		for {
			next, wait := p.next()
			if next == nil {
				timer.Reset(wait)
				break
			}
			if next.down {
				_, _ = p.conn.WriteToUDPAddrPort(next.buf[:next.n], next.to.client) // what the system does not take is lost
			} else {
				_, _ = next.to.up.Write(next.buf[:next.n])
			}
			p.mu.Lock()
			p.free = append(p.free, next.buf)
			p.mu.Unlock()
		}
	}
}

// next takes the datagram that is due, or says for how long none will be.
func (p *Proxy) next() (*parcel, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		return nil, time.Hour
	}
	if wait := time.Until(p.queue[0].due); wait > 0 {
		return nil, wait
	}
	p.stats.Forwarded++
	return heap.Pop(&p.queue).(*parcel), 0
}

func (p *Proxy) buffer() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		b := p.free[n-1]
		p.free = p.free[:n-1]
		return b
	}
	return make([]byte, datagram)
}

// queue is a heap by time.
type queue []*parcel

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].due.Before(q[j].due) || q[i].due.Equal(q[j].due) && q[i].order < q[j].order
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*parcel)) }
func (q *queue) Pop() any {
	old := *q
	n := len(old)
	x := old[n-1]
	old[n-1] = nil
	*q = old[:n-1]
	return x
}
