package session

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sort"
	"testing"
	"time"
)

// weather is what a test's link does to packets.
type weather struct {
	loss, double  float64
	delay, jitter time.Duration
}

type datagram struct {
	at   time.Duration
	seq  int
	to   int
	pn   uint64
	data []byte
}

// party is one end with a record of all that happened to it.
type party struct {
	Conn
	t        *testing.T
	name     string
	sent     map[uint64]bool // eliciting packets → settled
	received map[uint64]bool // packets Receive used
	acked    int
	lost     int
	got      [Streams][]string
	want     [Streams][]string // of the other party's, what it queued
	stamps   map[string]uint64 // what Next was when a message was queued
	peer     *party
	frames   map[uint64]bool // packets whose frame was handed over
	onLost   func(uint64)
}

func (p *party) settle(pn uint64, how string) {
	done, ok := p.sent[pn]
	if !ok || done {
		p.t.Fatalf("%s: %s(%d): never sent, or settled before", p.name, how, pn)
	}
	p.sent[pn] = true
}

func (p *party) Acked(pn uint64) {
	p.settle(pn, "Acked")
	p.acked++
	if !p.peer.received[pn] {
		p.t.Fatalf("%s: Acked(%d), which never arrived", p.name, pn)
	}
}

func (p *party) Lost(pn uint64) {
	p.settle(pn, "Lost")
	p.lost++
	if p.onLost != nil {
		p.onLost(pn)
	}
}

func (p *party) Frame(pn uint64, kind byte, body []byte) {
	if p.frames[pn] {
		p.t.Fatalf("%s: the frame of packet %d came twice", p.name, pn)
	}
	p.frames[pn] = true
	if kind != 0x20 || !bytes.Equal(body, binary.LittleEndian.AppendUint64(nil, pn)) {
		p.t.Fatalf("%s: frame %#x %x in packet %d", p.name, kind, body, pn)
	}
}

func (p *party) Message(stamp uint64, stream int, msg []byte) {
	p.got[stream] = append(p.got[stream], string(msg))
	if want := p.peer.stamps[string(msg)]; want != stamp {
		p.t.Fatalf("%s: message %.20q stamped %d, queued before packet %d", p.name, msg, stamp, want)
	}
}

func (p *party) queue(stream int, msg string) error {
	p.stamps[msg] = p.Next()
	err := p.Queue(stream, []byte(msg))
	if err == nil {
		p.want[stream] = append(p.want[stream], msg)
	}
	return err
}

// pair is two ends and the link between them, stepped by the test.
type pair struct {
	weather
	t      *testing.T
	rng    *rand.Rand
	now    time.Duration
	ends   [2]*party
	wire   []datagram
	seq    int
	filter func(d datagram) bool // false drops
}

func newPair(t *testing.T, seed uint64, cfg Config, w weather) *pair {
	p := &pair{weather: w, t: t, rng: rand.New(rand.NewPCG(seed, 1))}
	for i := range p.ends {
		p.ends[i] = &party{
			t: t, name: string(rune('a' + i)), sent: map[uint64]bool{}, received: map[uint64]bool{}, stamps: map[string]uint64{},
			frames: map[uint64]bool{},
		}
		p.ends[i].Init(cfg)
	}
	p.ends[0].peer, p.ends[1].peer = p.ends[1], p.ends[0]
	return p
}

// flush sends one packet of an end: a frame if asked, what is due reliably, acks.
func (p *pair) flush(i int, frame bool) uint64 {
	e := p.ends[i]
	b := e.Begin(p.now, make([]byte, 5, 1300))
	b = e.AppendReliable(p.now, b, e.Limit(p.now))
	if frame && len(b)-5 < e.Limit(p.now)-12 {
		var at int
		b, at = BeginFrame(b, 0x20)
		b = binary.LittleEndian.AppendUint64(b, e.Next())
		EndFrame(b, at)
	} else {
		frame = false
	}
	elicits := e.open.ping || e.open.hi > e.open.lo || frame
	pn := e.Commit(p.now, b, frame)
	if elicits {
		e.sent[pn] = false
	}
	p.post(1-i, pn, b[5:])
	return pn
}

func (p *pair) post(to int, pn uint64, data []byte) {
	copies := 1
	if p.rng.Float64() < p.double {
		copies = 2
	}
	for range copies {
		if p.rng.Float64() < p.loss {
			continue
		}
		d := datagram{at: p.now + p.delay, seq: p.seq, to: to, pn: pn, data: bytes.Clone(data)}
		if p.jitter > 0 {
			d.at += time.Duration(p.rng.Int64N(int64(p.jitter)))
		}
		p.seq++
		if p.filter == nil || p.filter(d) {
			p.wire = append(p.wire, d)
		}
	}
	sort.Slice(p.wire, func(i, j int) bool {
		a, b := p.wire[i], p.wire[j]
		return a.at < b.at || a.at == b.at && a.seq < b.seq
	})
}

// step moves time by 1 ms: arrivals, timers, then packets that must leave.
func (p *pair) step() {
	p.now += time.Millisecond
	for len(p.wire) > 0 && p.wire[0].at <= p.now {
		d := p.wire[0]
		p.wire = p.wire[1:]
		e := p.ends[d.to]
		if d.pn > e.window.top || !e.window.has(d.pn) {
			e.received[d.pn] = true
		}
		if err := e.Receive(p.now, d.data, e); err != nil {
			p.t.Fatalf("%s: packet %d: %v", e.name, d.pn, err)
		}
	}
	for i, e := range p.ends {
		e.Expire(p.now, e)
		at, ok := e.Deadline()
		if wants := e.WantsSend(p.now); wants && (!ok || at > p.now) {
			p.t.Fatalf("%s: wants to send at %v, deadline %v %v", e.name, p.now, at, ok)
		}
		for n := 0; e.WantsSend(p.now) && n < 4; n++ {
			p.flush(i, false)
		}
	}
}

func (p *pair) run(d time.Duration) {
	for end := p.now + d; p.now < end; {
		p.step()
	}
}

// settleAll runs until nothing is in flight or queued, then compares what was queued and what arrived.
func (p *pair) settleAll(within time.Duration) {
	p.t.Helper()
	for end := p.now + within; !(p.ends[0].Quiet() && p.ends[1].Quiet()); p.step() {
		if p.now > end {
			p.t.Fatalf("not settled after %v: %d and %d in flight, %d and %d B unacked", within,
				p.ends[0].InFlight(), p.ends[1].InFlight(), p.ends[0].Unacked(), p.ends[1].Unacked())
		}
	}
	for _, e := range p.ends {
		for s := range Streams {
			if got, want := e.peer.got[s], e.want[s]; fmt.Sprint(got) != fmt.Sprint(want) {
				p.t.Fatalf("%s: stream %d: %d messages arrived of %d, or not in order", e.name, s, len(got), len(want))
			}
		}
		for pn, done := range e.sent {
			if !done {
				p.t.Fatalf("%s: packet %d neither acked nor lost", e.name, pn)
			}
		}
		st := e.Stats()
		if int(st.Acked) != e.acked || int(st.Lost) != e.lost || e.acked+e.lost != len(e.sent) {
			p.t.Fatalf("%s: stats %+v, saw %d acked and %d lost of %d", e.name, st, e.acked, e.lost, len(e.sent))
		}
	}
}
