package shard

import (
	"runtime"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/transport"
)

// listener is a client that does nothing but hear who is there.
type listener struct {
	t     *testing.T
	conn  *session.Conn
	sess  *Session
	there []uint64 // bit set of the players it takes for present
	lost  bool     // the datagram to come is lost
}

func (l *listener) Acked(uint64)               {}
func (l *listener) Lost(uint64)                {}
func (l *listener) Frame(uint64, byte, []byte) {}

func (l *listener) Message(_ uint64, _ int, msg []byte) {
	if msg[0] != wire.MsgPlayer {
		return
	}
	err := wire.ParsePlayers(msg[1:], func(p wire.Player) {
		n := uint32(p.ID[0]) | uint32(p.ID[1])<<8
		setBit(&l.there, n)
		if !p.Present {
			l.there[n/64] &^= 1 << (n % 64)
		}
	})
	if err != nil {
		l.t.Fatal(err)
	}
}

// hall is a world of listeners over a path of 20 ms.
type hall struct {
	t    *testing.T
	s    *Shard
	now  time.Duration
	byTo map[transport.ID]*listener
	out  []transport.Datagram
	back []*listener // who may have something to say
	most int         // datagrams handed over at once
	sent int
}

func (h *hall) join(n int) *listener {
	l := &listener{t: h.t, conn: session.New(session.Config{})}
	id := Identity{To: transport.ID(n + 1), Player: wire.PlayerID{byte(n), byte(n >> 8), 1}, Senior: uint64(n)}
	l.sess = h.s.Join(h.now, session.New(session.Config{}), id, 1)
	h.byTo[id.To] = l
	return l
}

func (h *hall) leave(l *listener) {
	h.s.Leave(h.now, l.sess, wire.WhyReleased)
	delete(h.byTo, l.sess.To)
}

func (h *hall) step() {
	h.now += 10 * time.Millisecond
	take := func(out []transport.Datagram) {
		h.most = max(h.most, len(out))
		for i, d := range out {
			l := h.byTo[d.To]
			if h.sent++; l == nil || h.sent%97 == 0 {
				continue
			}
			if err := l.conn.Receive(h.now, d.Payload(), l); err != nil {
				h.t.Fatalf("datagram %d: %v", i, err)
			}
		}
	}
	h.out = h.s.FlushTo(h.now, h.out[:0], take)
	take(h.out)
	buf := transport.NewBuffer()
	for _, l := range h.byTo {
		if l.conn.Expire(h.now, l); !l.conn.WantsSend(h.now) {
			continue
		}
		b := l.conn.AppendReliable(h.now, l.conn.Begin(h.now, buf), 1200)
		l.conn.Commit(h.now, b, false)
		if err := h.s.Receive(h.now, l.sess, b[transport.Headroom:]); err != nil {
			h.t.Fatal(err)
		}
	}
}

// A crowd that arrives together tells everybody of everybody, and leaves neither buffers nor lists behind; nor do those who leave.
func TestCrowdThatArrivesTogether(t *testing.T) {
	n := 2000
	if raceEnabled {
		n = 300
	}
	var before, after runtime.MemStats
	h := &hall{t: t, s: New(0, Config{Settle: -1}), byTo: map[transport.ID]*listener{}}
	runtime.GC()
	runtime.ReadMemStats(&before)
	all := make([]*listener, n)
	for i := range all {
		if all[i] = h.join(i); i%200 == 199 {
			h.step()
		}
	}
	for i := 0; i < n; i += 10 {
		h.leave(all[i])
	}
	for i := range 400 {
		if h.step(); i < 50 || n <= crowdedWorld { // some were told more while there were few
			continue
		}
		for _, l := range all {
			if got := l.sess.conn.Unacked(); got > 3*crowdedRoom {
				t.Fatalf("%d B of the roster wait for one of thousands", got)
			}
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	for i, l := range all {
		for j := range all {
			if i%10 != 0 && hasBit(l.there, uint32(j)) != (j%10 != 0) {
				t.Fatalf("client %d of %d has player %d wrong", i, n, j)
			}
		}
	}
	if len(h.s.roster.log) > len(h.s.roster.list) || len(h.s.failed) > 0 {
		t.Errorf("%d messages of the roster are kept, %d sessions failed", len(h.s.roster.log), len(h.s.failed))
	}
	// A session may be sent several packets of what is reliable at once.
	if got := len(h.s.packets.all); got > 2*handful || h.most > 2*handful {
		t.Errorf("%d buffers are kept, %d datagrams were handed over at once", got, h.most)
	}
	each := int(after.HeapAlloc-before.HeapAlloc) / n
	t.Logf("%d B for each session and its client, %d datagrams", each, h.sent)
	if !raceEnabled && each > 8<<10 {
		t.Errorf("an idle session and its client hold %d B", each)
	}
	runtime.KeepAlive(h)
}

// Who is behind the roster by thousands of messages cannot follow the world, and does not make it keep them.
func TestRosterIsBounded(t *testing.T) {
	h := &hall{t: t, s: New(0, Config{Settle: -1}), byTo: map[transport.ID]*listener{}}
	deaf := h.join(0)
	for range 3 {
		h.step()
	}
	delete(h.byTo, deaf.sess.To)
	for i := range maxRoster + 500 {
		h.leave(h.join(1 + i%1000))
		h.s.roster.write()
		h.s.trimRoster()
	}
	if got := len(h.s.roster.log); got > maxRoster {
		t.Errorf("%d messages are kept", got)
	}
	if deaf.sess.Err() == nil {
		t.Error("who hears nothing goes on")
	}
}

// Datagrams leave while others are built, and everybody is first at times.
func TestFlushHandsOverWhileItBuilds(t *testing.T) {
	c := newCrowd(200)
	first := map[transport.ID]bool{}
	for range 2 * 64 {
		for _, w := range c.walkers {
			w.stroll(c)
			if err := c.s.Receive(c.now, w.sess, w.packet(c.now, c.rng.Uint32())); err != nil {
				t.Fatal(err)
			}
		}
		calls, handed := 0, 0
		take := func(out []transport.Datagram) {
			if calls++; calls == 1 {
				first[out[0].To] = true
			}
			handed += len(out)
			for _, d := range out {
				if w := c.byTo[d.To]; true {
					if err := w.conn.Receive(c.now, d.Payload(), w); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		take(c.s.FlushTo(c.now, nil, take))
		if c.now += 100 * time.Millisecond; handed < 150 || calls < 150/handful {
			t.Fatalf("%d datagrams in %d calls", handed, calls)
		}
	}
	if len(first) < 32 {
		t.Errorf("only %d were first", len(first))
	}
}

// Who comes into a large world sees what happens in it while it is told who is there.
func TestRosterLeavesRoomForTheWorld(t *testing.T) {
	w := newPlain(t, 3000, Config{})
	o := w.pair[1].sess
	w.s.roster.valid = false
	o.there, o.upTo = w.s.whoIsThere()
	o.call()
	seen, late := w.pair[1].records, 0
	for range 300 {
		if w.move(); w.pair[1].records == seen {
			late++
		}
		seen = w.pair[1].records
	}
	if late > 3 {
		t.Errorf("%d of 300 moves did not leave at once", late)
	}
	if o.there != nil {
		t.Errorf("%d messages of the roster wait after 3 s", len(o.there))
	}
}
