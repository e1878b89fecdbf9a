package session

import (
	"encoding/binary"
	"errors"
	"runtime"
	"testing"
	"time"
)

// deaf is a Handler that only counts.
type deaf struct{ acked, lost, frames, messages int }

func (d *deaf) Acked(uint64)                { d.acked++ }
func (d *deaf) Lost(uint64)                 { d.lost++ }
func (d *deaf) Frame(uint64, byte, []byte)  { d.frames++ }
func (d *deaf) Message(uint64, int, []byte) { d.messages++ }
func header(pn uint64, flags byte) []byte {
	return append(binary.LittleEndian.AppendUint16(nil, uint16(pn)), flags)
}
func pieceOf(b []byte, p piece) []byte {
	b, at := BeginFrame(b, kindPiece)
	head := p.stream
	if p.void {
		head |= pieceVoid
	}
	if p.more {
		head |= pieceMore
	}
	b = binary.AppendUvarint(append(b, head), p.seq)
	b = append(binary.LittleEndian.AppendUint16(b, p.stamp), p.data...)
	EndFrame(b, at)
	return b
}

func TestMalformedPackets(t *testing.T) {
	good := AppendFrame(nil, 0x20, []byte("body"))
	for _, tt := range []struct {
		name string
		pkt  []byte
		err  error
	}{
		{"empty", nil, ErrMalformed},
		{"short header", []byte{1, 0}, ErrMalformed},
		{"reserved flag", header(1, 2), ErrMalformed},
		{"number zero", header(0, 0), ErrMalformed},
		{"frame without length", append(header(1, 0), 0x20), ErrMalformed},
		{"frame too long", append(header(1, 0), 0x20, 5, 1, 2), ErrMalformed},
		{"good frame, then a bad one", append(append(header(1, 0), good...), 0x20, 9), ErrMalformed},
		{"length of three bytes", append(header(1, 0), 0x20, 0x80, 0x80, 0), ErrMalformed},
		{"piece without head", append(header(1, 0), kindPiece, 0), ErrMalformed},
		{"piece without stamp", append(header(1, 0), kindPiece, 3, 0, 0, 0), ErrMalformed},
		{"stream out of range", pieceOf(header(1, 0), piece{stream: 0x10}), ErrMalformed},
		{"sequence far ahead", pieceOf(header(1, 0), piece{seq: 1 << 40}), ErrProtocol},
		{"stamp of the future", pieceOf(header(1, 0), piece{stamp: 2}), ErrProtocol},
		{"goodbye without code", append(header(1, 0), kindClose, 1, 0), ErrMalformed},
		{"no ack block", header(1, flagAcks), ErrMalformed},
		{"too many ranges", append(header(1, flagAcks), 1, 0, 0, 8, 0), ErrMalformed},
		{"ranges cut off", append(header(1, flagAcks), 1, 0, 0, 1, 0), ErrMalformed},
		{"acks of packets never sent", append(header(1, flagAcks), 2, 0, 0, 0, 0), ErrProtocol},
		{"acks below the first", append(header(1, flagAcks), 1, 0, 0, 0, 1), ErrProtocol},
		{"unknown kind is skipped", append(header(1, 0), 0x0a, 1, 0xff), nil},
		{"good", append(header(1, 0), good...), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, h := New(Config{}), &deaf{}
			c.Commit(0, AppendFrame(c.Begin(0, nil), 0x20, nil), true)
			if err := c.Receive(0, tt.pkt, h); !errors.Is(err, tt.err) || tt.err == nil && err != nil {
				t.Fatalf("%v, want %v", err, tt.err)
			}
			if tt.err == nil {
				return
			}
			if s := c.Stats(); s.Malformed+s.Violations != 1 {
				t.Fatalf("not counted: %+v", s)
			}
			if tt.name == "stamp of the future" {
				return
			}
			// Nothing of it was used: not acked, not remembered, nothing handed over.
			if c.window.top != 0 || c.acks.owed || *h != (deaf{}) || c.InFlight() != 1 {
				t.Fatalf("a bad packet left a trace: %+v", h)
			}
		})
	}
}

// One byte too many in 256 packets of ack ranges, and the largest block there is.
func TestAckBlockBounds(t *testing.T) {
	var a ackBlock
	block := []byte{0, 4, 0, 0, 0xff, 1} // packets 769..1024
	if n, err := a.parse(block, 1024); n != len(block) || err != nil || a.ranges[0] != (ackRange{769, 1024}) {
		t.Fatal(n, err, a.ranges[0])
	}
	block[4], block[5] = 0x80, 2 // one more
	if _, err := a.parse(block, 1024); !errors.Is(err, ErrProtocol) {
		t.Fatal(err)
	}
	var w window
	for pn := uint64(1); pn <= 1000; pn++ {
		if pn%30 != 0 {
			w.add(pn)
		}
	}
	w.ranges(&a)
	if n := len(a.append(nil)); a.n != maxRanges || n > maxAckBlock {
		t.Fatalf("%d ranges, %d B", a.n, n)
	}
}

// A peer that sends half messages and gaps without end is stopped at the bound its own window implies.
func TestHoardingIsBounded(t *testing.T) {
	cfg := Config{MaxMessage: 8 << 10, Window: 32 << 10}
	data := make([]byte, 1000)
	for name, next := range map[string]func(i int) piece{
		"one endless message": func(i int) piece { return piece{more: true, seq: uint64(i), data: data} },
		"half messages": func(i int) piece {
			return piece{stream: uint8(i % Streams), more: true, seq: uint64(i / Streams), data: data}
		},
		"gaps":      func(i int) piece { return piece{stream: uint8(i % Streams), seq: uint64(2 + i/Streams), data: data} },
		"tiny gaps": func(i int) piece { return piece{stream: uint8(i % Streams), seq: uint64(2 + i/Streams)} },
	} {
		t.Run(name, func(t *testing.T) {
			c, h := New(cfg), &deaf{}
			for i := range 10_000 {
				pkt := pieceOf(header(uint64(i+1), 0), next(i))
				if err := c.Receive(0, pkt, h); err != nil {
					if !errors.Is(err, ErrProtocol) || c.inbox.held > cfg.Window+cfg.MaxMessage+2000 {
						t.Fatalf("piece %d: %v, %d B held", i, err, c.inbox.held)
					}
					return
				}
			}
			t.Fatalf("never refused, %d B held", c.inbox.held)
		})
	}
}

// What an honest sender may have under way never looks like hoarding: the first packet is lost, all others arrive.
func TestFullWindowBehindALossIsAccepted(t *testing.T) {
	for _, size := range []int{0, 10, 600, 8 << 10} {
		p := newPair(t, 1, Config{MaxMessage: 8 << 10, Window: 32 << 10}, weather{delay: 5 * time.Millisecond})
		p.filter = func(d datagram) bool { return d.to == 0 || d.pn > 3 }
		for i := 0; ; i++ {
			msg := time.Duration(i).String() + string(make([]byte, max(0, size-20)))
			if p.ends[0].queue(i%3, msg) != nil {
				break
			}
		}
		p.settleAll(20 * time.Second)
	}
}

// A peer that never acks costs a bounded number of remembered packets, however much is sent to it.
func TestSilentPeerIsBounded(t *testing.T) {
	c, h := New(Config{}), &deaf{}
	now := time.Duration(0)
	for range 10 * maxFlying {
		c.Commit(now, AppendFrame(c.Begin(now, nil), 0x20, nil), true)
		now += time.Microsecond
		if at, ok := c.Deadline(); ok && at <= now {
			c.Expire(now, h)
		}
	}
	if c.InFlight() > maxFlying+1 || c.flights.len() > maxFlying+maxTrace+1 || h.lost+c.InFlight() != 10*maxFlying {
		t.Fatalf("%d in flight, %d remembered, %d lost", c.InFlight(), c.flights.len(), h.lost)
	}
}

func TestReceiveInsideAPacketPanics(t *testing.T) {
	c := New(Config{})
	c.Begin(0, nil)
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	c.Receive(0, header(1, 0), &deaf{})
}

func TestHandlerMustNotSend(t *testing.T) {
	p := newPair(t, 1, Config{}, weather{loss: 1})
	a := p.ends[0]
	a.onLost = func(uint64) {
		defer func() {
			if recover() == nil {
				t.Error("Begin inside a Handler went unnoticed")
			}
		}()
		a.Begin(p.now, nil)
	}
	p.flush(0, true)
	p.run(time.Second)
}

// A busy session that fell idle gives its memory back; an idle one has little.
func TestMemoryOfAnIdleSession(t *testing.T) {
	const sessions, budget = 500, 2 << 10 // measured 2026-11: 1,340 B
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	all := make([]*pair2, sessions)
	for i := range all {
		all[i] = newPair2()
		all[i].a.Queue(1, make([]byte, 60<<10))
		all[i].exchange(600) // three seconds
		all[i].buf, all[i].body = nil, nil
	}
	each := (heap() - before) / (2 * sessions)
	runtime.KeepAlive(all)
	t.Logf("%d B an idle session", each)
	if each > budget {
		t.Fatalf("%d B an idle session, budget %d", each, budget)
	}
}
