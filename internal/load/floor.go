package load

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng/internal/udp"
)

// The floor is what the datagrams alone would cost: a bare loop in a process laid out as the relay's, which gets as many datagrams as
// the relay got and answers each client, once an interval, with one unsealed datagram of 8 bytes for each entity that it sees.
//
//	clients ─► uplink datagrams, number of the client in front ─► loop (child) ─► at each interval: one to each client ─► counted

// floorBytes is what the floor spends on an entity that somebody sees.
const floorBytes = 8

// FloorOrder says what the bare loop sends.
type FloorOrder struct {
	Visible []int `json:"visible"` // entities that each client sees
	Plain   bool  `json:"plain"`   // a call for each datagram, not batches
}

// FloorReadings are what it sent.
type FloorReadings struct {
	Sent    uint64 `json:"sent"` // datagrams
	Updates uint64 `json:"updates"`
}

// FloorReport is what the floor came to, in microseconds of CPU an update.
type FloorReport struct {
	Batched  float64 `json:"batched"`  // recvmmsg and sendmmsg
	Plain    float64 `json:"plain"`    // a call for each datagram
	Received float64 `json:"received"` // share that arrived at its clients, of the better one
}

// bareSocket is what both ways of the loop have in common.
type bareSocket interface {
	receive(until time.Time, f func(from netip.AddrPort, data []byte)) error
	send(to netip.AddrPort, data []byte)
	flush()
	addr() netip.AddrPort
	close()
}

type batchedSocket struct{ b *udp.Bare }

func (s batchedSocket) receive(until time.Time, f func(netip.AddrPort, []byte)) error {
	return s.b.Receive(until, f)
}
func (s batchedSocket) send(to netip.AddrPort, data []byte) { s.b.Add(to, data) }
func (s batchedSocket) flush()                              { s.b.Flush() }
func (s batchedSocket) addr() netip.AddrPort                { return s.b.Addr() }
func (s batchedSocket) close()                              { s.b.Close() }

type plainSocket struct {
	c   *net.UDPConn
	buf []byte
}

func (s plainSocket) receive(until time.Time, f func(netip.AddrPort, []byte)) error {
	if err := s.c.SetReadDeadline(until); err != nil {
		return err
	}
	n, from, err := s.c.ReadFromUDPAddrPort(s.buf)
	if err == nil {
		f(from, s.buf[:n])
		return nil
	}
	if e, ok := err.(net.Error); ok && e.Timeout() {
		return nil
	}
	return err
}
func (s plainSocket) send(to netip.AddrPort, data []byte) { _, _ = s.c.WriteToUDPAddrPort(data, to) }
func (s plainSocket) flush()                              {}
func (s plainSocket) addr() netip.AddrPort                { return s.c.LocalAddr().(*net.UDPAddr).AddrPort() }
func (s plainSocket) close()                              { s.c.Close() }

func openBare(plain bool) (bareSocket, error) {
	if !plain {
		b, err := udp.ListenBare("127.0.0.1:0")
		return batchedSocket{b}, err
	}
	c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	_ = c.SetReadBuffer(4 << 20)
	_ = c.SetWriteBuffer(4 << 20)
	return plainSocket{c, make([]byte, 2048)}, nil
}

// floorJob is the bare loop in the child.
type floorJob struct {
	s             bareSocket
	order         *FloorOrder
	done          chan error
	sent, updates atomic.Uint64
}

func startFloor(o *FloorOrder) (job, error) {
	s, err := openBare(o.Plain)
	if err != nil {
		return nil, err
	}
	j := &floorJob{s: s, order: o, done: make(chan error, 1)}
	go j.loop()
	return j, nil
}

func (j *floorJob) loop() {
	clients := make([]netip.AddrPort, len(j.order.Visible))
	largest := 0
	for _, n := range j.order.Visible {
		largest = max(largest, n)
	}
	data := make([]byte, max(1, floorBytes*largest)) // the same for all: the loop encodes nothing
	learn := func(from netip.AddrPort, b []byte) {
		if len(b) >= 4 {
			if i := binary.LittleEndian.Uint32(b); int(i) < len(clients) {
				clients[i] = from
			}
		}
	}
	for next := time.Now().Add(interval); ; {
		if err := j.s.receive(next, learn); err != nil {
			j.done <- err
			return
		}
		if time.Now().Before(next) {
			continue
		}
		next = next.Add(interval)
		sent, updates := uint64(0), uint64(0)
		for i, to := range clients {
			if n := j.order.Visible[i]; to.IsValid() && n > 0 {
				j.s.send(to, data[:floorBytes*n])
				sent, updates = sent+1, updates+uint64(n)
			}
		}
		j.s.flush()
		j.sent.Add(sent)
		j.updates.Add(updates)
	}
}

func (j *floorJob) addr() string        { return j.s.addr().String() }
func (j *floorJob) ended() <-chan error { return j.done }
func (j *floorJob) read(r *Readings)    { r.Floor = FloorReadings{j.sent.Load(), j.updates.Load()} }
func (j *floorJob) stop() {
	j.s.close()
	<-j.done
}

// floorTime is how long one way of the floor is measured at most.
const floorTime = 5 * time.Second

// see keeps what the floor needs to know of the crowd as it stands: how many each client sees.
func (r *run) see() {
	r.visible = make([]int, len(r.m.seats))
	for i, s := range r.m.seats {
		if s.avatar != nil {
			r.visible[i] = r.m.visible(s.avatar)
		}
	}
}

// floor measures both ways, if it was asked for. The relay must have been measured before; its clients have left.
func (r *run) floor(ctx context.Context) error {
	if !r.Floor || r.relay == nil || r.rep.Updates == 0 {
		return nil
	}
	rep := new(FloorReport)
	best := 0.0
	for _, plain := range []bool{false, true} {
		cost, received, err := r.floorOf(ctx, &FloorOrder{Visible: r.visible, Plain: plain})
		if err != nil {
			return err
		}
		if plain {
			rep.Plain = cost
		} else {
			rep.Batched = cost
		}
		if received >= 0.99 && (best == 0 || cost < best) {
			best, rep.Received = cost, received
		}
	}
	r.rep.Floor = rep
	if best == 0 {
		r.say("the floor is void: its clients got less than 99 %%")
		return nil
	}
	r.rep.FloorCPU = &best
	return nil
}

func (r *run) floorOf(ctx context.Context, o *FloorOrder) (cost, received float64, err error) {
	child, err := Start(ctx, &Order{Job: "floor", CPU: r.order.CPU, Floor: *o}, r.faults)
	if err != nil {
		return 0, 0, err
	}
	defer child.Stop()
	to, err := netip.ParseAddrPort(child.Addr)
	if err != nil {
		return 0, 0, err
	}
	var got atomic.Uint64
	var work sync.WaitGroup
	defer work.Wait()
	conns := make([]*net.UDPConn, len(o.Visible))
	for i := range conns {
		if conns[i], err = net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to)); err != nil {
			return 0, 0, fmt.Errorf("throng: measuring the floor: %w", err)
		}
		c := conns[i]
		defer c.Close()
		work.Go(func() {
			for b := make([]byte, 64); ; { // the rest of a datagram is of no interest
				if _, err := c.Read(b); err != nil {
					return
				}
				got.Add(1)
			}
		})
	}
	uplink := make([]byte, max(4, r.uplinkBytes))
	burst := func() { // all uplink datagrams of an interval, near to one another as the phase lock has them
		for i, c := range conns {
			binary.LittleEndian.PutUint32(uplink, uint32(i))
			for range r.uplinks.next() {
				_, _ = c.Write(uplink) // what the system does not take is lost
			}
		}
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	var from, before *Readings
	gotBefore := uint64(0)
	for start := time.Now(); ; {
		select {
		case <-ctx.Done():
			return 0, 0, ctx.Err()
		case <-tick.C:
		}
		burst()
		at := time.Since(start)
		if from == nil && at > 500*time.Millisecond {
			if from, err = child.Read(""); err != nil {
				return 0, 0, err
			}
			before, gotBefore = from, got.Load()
		}
		if at > 500*time.Millisecond+min(r.Window, floorTime) {
			break
		}
	}
	end, err := child.Read("")
	if err != nil {
		return 0, 0, err
	}
	arrived := got.Load() - gotBefore
	sent, updates := end.Floor.Sent-before.Floor.Sent, end.Floor.Updates-before.Floor.Updates
	return round(float64((end.CPU-from.CPU).Nanoseconds())/1e3/float64(max(updates, 1)), 1000), min(1, float64(arrived)/float64(max(sent, 1))), nil
}

// spreader hands out whole numbers that come to a fraction on average.
type spreader struct{ rate, owed float64 }

func (s *spreader) next() int {
	s.owed += s.rate
	n := int(s.owed)
	s.owed -= float64(n)
	return n
}
