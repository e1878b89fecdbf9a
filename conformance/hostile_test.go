package conformance

import (
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/memnet"
	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/shard"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/transport"
)

// A play of four: the host, somebody who owns an entity, somebody who looks on, and somebody whose client is modified.
type foursome struct {
	*stand
	host, owner, looker, rogue *guest
	id                         wire.ID
}

func newFoursome(t *testing.T, cfg shard.Config, flags uint16) *foursome {
	s := newStand(t, 3, memnet.Link{Latency: 5 * time.Millisecond}, cfg)
	f := &foursome{stand: s, host: s.join(), owner: s.join(), looker: s.join(), rogue: s.join(), id: wire.ID{9}}
	f.run(time.Second)
	f.owner.spawn(f.id, flags, 1)
	f.run(time.Second)
	return f
}

// say sends a message past the client's own rules.
func (g *guest) say(msg []byte) {
	if err := g.conn.Queue(wire.StreamControl, msg); err != nil {
		g.s.Fatal(err)
	}
}

// untouched checks that the entity is as its owner made it.
func (f *foursome) untouched(what string) {
	f.Helper()
	c, d := f.owner.at(f.id)
	lc, l := f.looker.at(f.id)
	if !c.Drives() || c.Owner != f.owner.id || d.val[standA] != 1 || lc.Owner != f.owner.id || lc.Drives() || l.val[standA] != 1 {
		f.Errorf("%s: the owner holds %+v, drives %v; another sees %+v of %x", what, d.val, c.Drives(), l.val, lc.Owner[:1])
	}
}

// P26, P30: no message makes an entity somebody else's, or mine: the relay stamps the owner, and what is brought back needs a
// certificate.
func TestP26NobodyIsMadeAnOwner(t *testing.T) {
	f := newFoursome(t, shard.Config{Key: []byte("key")}, 0)
	made, back := wire.ID{1}, wire.ID{2}
	f.rogue.reg.Spawn(made, f.rogue.class, f.owner.id, wire.EntityDrives, func(c *registry.Copy) { c.Data = new(standBody) })
	f.rogue.say(wire.AppendEntity(nil, wire.MsgAgain, &wire.Entity{ID: back, Inc: wire.NewCount(1, 50), Term: wire.NewCount(1, 50), Nonce: 99, Class: 1,
		Flags: wire.EntityDrives, Owner: f.owner.id, Cert: make([]byte, 16), Mask: 15, Values: make([]byte, 16)}))
	f.run(time.Second)
	if e := f.shard.At(made); e == nil || e.Owner != f.rogue.id {
		t.Fatalf("the relay takes the owner from the message: %+v", e)
	}
	if c, _ := f.owner.at(made); c.Owner != f.rogue.id || c.Drives() {
		t.Errorf("at the named owner: %x, drives %v", c.Owner[:1], c.Drives())
	}
	if f.shard.At(back) != nil {
		t.Error("what was forged came back")
	}
	// And at the client, whatever the relay were to say: an owner that is told is no drive.
	g := f.owner
	flush, _ := g.reg.Flush()
	base := grid.Chunk{}
	m := wire.Intro{Handle: 4000, Gen: 1, Num: g.class.Num, ClassID: 7, ClassHash: 77, ID: wire.ID{3}, Inc: wire.NewCount(1, 900), Term: wire.NewCount(1, 900), Owner: g.id}
	g.reg.Frame(1<<20, wire.KindFlush, (&wire.Flush{Epoch: 1, Flush: flush}).Append(nil))
	g.reg.Frame(1<<20, wire.KindIntro, m.Append(nil, base))
	if c := g.reg.Find(wire.ID{3}); c == nil || c.Drives() {
		t.Errorf("an introduction gives the drive: %+v", c)
	}
	f.untouched("after all of it")
}

// P27: nobody displaces what somebody drives by announcing its id.
func TestP27NobodyDisplaces(t *testing.T) {
	for _, flags := range []uint16{0, wire.EntityHosted, wire.EntityPlaced | wire.EntityHosted, wire.EntityAvatar} {
		f := newFoursome(t, shard.Config{}, 0)
		c, _ := f.rogue.at(f.id)
		inc := c.Inc
		f.rogue.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: f.id, Nonce: 77, Class: 1, Flags: flags, Mask: 15, Values: make([]byte, 16)}))
		f.run(time.Second)
		if f.shard.At(f.id).Inc != inc || f.shard.Stats().Refused == 0 {
			t.Errorf("flags %x: another life", flags)
		}
		f.untouched("displaced")
	}
}

// B-003, P28, P29, P35: writes and decisions by those who may not are dropped and counted by reason: corrections by who is not host, deltas and
// releases by who does not drive, grants under an old term or by somebody else, also of what the host drives.
func TestP28P29P35WhoMayNot(t *testing.T) {
	f := newFoursome(t, shard.Config{}, 0)
	c, _ := f.rogue.at(f.id)
	e := f.shard.At(f.id)
	four := binary.LittleEndian.AppendUint32(nil, 66)
	all := append(append(append(append([]byte(nil), four...), four...), four...), 0, 0, 0, 0)
	for _, tt := range []struct {
		what  string
		do    func()
		count func(shard.Stats) uint64
	}{
		{"P28: a correction by who is not host", func() {
			f.rogue.say(wire.AppendEntity(nil, wire.MsgOverrideUp, &wire.Entity{ID: f.id, Inc: c.Inc, Mask: 1, Values: four}))
		}, func(s shard.Stats) uint64 { return s.NotHost }},
		{"P29: a delta by who does not drive", func() {
			b := f.rogue.conn.Begin(f.Now(), transport.NewBuffer())
			b, at := session.BeginFrame(b, wire.KindDeltas)
			var d wire.Deltas
			d.Reset(b, 1000, grid.Chunk{}, c.Class.Num, &c.Class.Class)
			d.Begin(&wire.Delta{Handle: c.Handle, Gen: c.Gen, Term: e.Term.N(), Mask: 1})
			d.B = append(d.B, four...)
			session.EndFrame(d.B, at)
			f.rogue.conn.Commit(f.Now(), d.B, true)
			f.shard.Receive(f.Now(), f.rogue.sess, d.B[transport.Headroom:])
			f.plan()
		}, func(s shard.Stats) uint64 { return s.Stale }},
		{"P29: a release by who does not drive", func() {
			f.rogue.say(wire.AppendEntity(nil, wire.MsgRelease, &wire.Entity{ID: f.id, Inc: c.Inc, Term: e.Term, Mask: 15, Values: all}))
		}, func(s shard.Stats) uint64 { return s.Stale }},
		{"P35: a grant by who does not drive", func() {
			f.rogue.say(wire.AppendEntity(nil, wire.MsgGrant, &wire.Entity{ID: f.id, Inc: c.Inc, Term: e.Term, Owner: f.rogue.id}))
		}, func(s shard.Stats) uint64 { return s.NotDriver }},
		{"P35: a grant under an old term", func() {
			f.owner.say(wire.AppendEntity(nil, wire.MsgGrant, &wire.Entity{ID: f.id, Inc: c.Inc, Term: e.Term - 1, Owner: f.rogue.id}))
		}, func(s shard.Stats) uint64 { return s.NotDriver }},
		{"P18: a destruction by who may not", func() {
			f.rogue.say(wire.AppendEntity(nil, wire.MsgDestroy, &wire.Entity{ID: f.id, Inc: c.Inc}))
		}, func(s shard.Stats) uint64 { return s.NotDriver }},
		{"a write of an authority's field by the driver", func() {
			f.owner.reg.Mark(f.owner.reg.Find(f.id), 1<<standAuth)
		}, func(s shard.Stats) uint64 { return s.Refused }},
	} {
		before := f.shard.Stats()
		tt.do()
		f.run(500 * time.Millisecond)
		if after := f.shard.Stats(); tt.count(after) != tt.count(before)+1 {
			t.Errorf("%s is counted %d times", tt.what, tt.count(after)-tt.count(before))
		}
		f.untouched(tt.what)
	}
	// The same of what the host drives: two grants that race have one winner, everywhere.
	h := f.host.spawn(wire.ID{8}, wire.EntityHosted, 1)
	f.run(time.Second)
	term := h.Term
	f.host.reg.Grant(h, f.looker.id, 0)
	f.host.say(wire.AppendEntity(nil, wire.MsgGrant, &wire.Entity{ID: h.ID, Inc: h.Inc, Term: term, Owner: f.rogue.id}))
	f.run(time.Second)
	for _, g := range f.guests {
		if k, _ := g.at(h.ID); k.Owner != f.looker.id || k.Drives() != (g == f.looker) {
			t.Errorf("guest %d: the owner is %x, drives %v", g.i, k.Owner[:1], k.Drives())
		}
	}
}

// P31: a host whose link stutters keeps the role, and the term with it.
func TestP31TheHostDoesNotFlap(t *testing.T) {
	f := newFoursome(t, shard.Config{}, 0)
	door := f.host.spawn(wire.ID{8}, wire.EntityHosted, 1)
	f.run(time.Second)
	f.host.step = func() { _, d := f.host.at(door.ID); d.val[standA]++ } // it plays on
	f.run(time.Second)
	changes, term := f.shard.Stats().HostChanges, door.Term
	for range 6 {
		f.host.cut = true
		f.run(4500 * time.Millisecond)
		f.host.cut = false
		f.run(time.Second)
	}
	if f.shard.Stats().HostChanges != changes || door.Term != term || !door.Drives() {
		t.Errorf("%d changes, term %x after %x", f.shard.Stats().HostChanges-changes, door.Term, term)
	}
}

// P36: who comes after a transfer is told the present owner, with the entity.
func TestP36LateObserversSeeTheOwner(t *testing.T) {
	f := newFoursome(t, shard.Config{}, 0)
	c, _ := f.owner.at(f.id)
	f.owner.reg.Grant(c, f.rogue.id, 0)
	f.run(time.Second)
	late := f.join()
	f.run(time.Second)
	for _, g := range []*guest{late, f.owner, f.looker, f.host} {
		if k, _ := g.at(f.id); k.Owner != f.rogue.id || k.Drives() {
			t.Errorf("guest %d sees %x", g.i, k.Owner[:1])
		}
	}
	if k, _ := f.rogue.at(f.id); !k.Drives() {
		t.Error("the owner does not drive")
	}
}

// P39: what the host spawns is its own and leaves with it, unless it was spawned for the host: then it migrates.
func TestP39HostSpawnedIsNotHostOwned(t *testing.T) {
	f := newFoursome(t, shard.Config{}, 0)
	f.host.spawn(wire.ID{7}, 0, 1)
	f.host.spawn(wire.ID{8}, wire.EntityHosted, 1)
	f.run(time.Second)
	if c, _ := f.looker.at(wire.ID{7}); c.Owner != f.host.id || c.Hosted() {
		t.Error("a spawn of the host's is not its own")
	}
	f.host.leave()
	f.run(time.Second)
	if f.looker.reg.Find(wire.ID{7}) != nil {
		t.Error("it stayed when its owner left")
	}
	if c, _ := f.owner.at(wire.ID{8}); !c.Drives() || !c.Hosted() {
		t.Error("the next host does not drive it")
	}
}

// B-132: requests beyond what anybody can use are dropped and counted, a session that goes on is told and ended, and the driver they
// are aimed at, and everybody else, keep their rate.
func TestB132RequestFlood(t *testing.T) {
	for name, flags := range map[string]uint16{"to the driver": 0, "granted by policy": wire.EntityAutoGrant} {
		t.Run(name, func(t *testing.T) {
			f := newFoursome(t, shard.Config{}, flags)
			asked := 0
			f.owner.asked = func(*registry.Copy, wire.PlayerID) bool { asked++; return false }
			var why error
			flooding := f.rogue.sess
			f.ended = func(o *shard.Session) {
				if o != flooding {
					t.Fatalf("another session ends: %v", o.Err())
				}
				if why = o.Err(); f.rogue.sess != nil {
					f.rogue.leave()
				}
			}
			c, _ := f.rogue.at(f.id)
			m := wire.AppendEntity(nil, wire.MsgRequest, &wire.Entity{ID: f.id, Inc: c.Inc})
			f.rogue.step = func() {
				if f.rogue.sess != nil {
					for range 40 { // 1,600 a second
						_ = f.rogue.conn.Queue(wire.StreamControl, m)
					}
				}
			}
			seen := f.looker.reg.Stats().Applied
			n := uint32(1)
			f.owner.step = func() {
				if k, d := f.owner.at(f.id); k.Drives() {
					n++
					d.val[standA] = n
				}
			}
			for range 100 {
				f.run(100 * time.Millisecond)
				if flags != 0 && why == nil { // the owner wants it back, as politely as anybody
					if k, _ := f.owner.at(f.id); !k.Drives() {
						f.owner.reg.Request(k)
					}
				}
			}
			if !errors.Is(why, shard.ErrFlood) {
				t.Fatalf("the flooding session: %v, %d dropped", why, f.shard.Stats().Floods)
			}
			if flags == 0 && (asked == 0 || asked > 500 || f.looker.reg.Stats().Applied-seen < 90 || f.shard.Stats().Floods == 0) {
				t.Errorf("the owner was asked %d times, another saw %d changes in 10 s, %d dropped", asked, f.looker.reg.Stats().Applied-seen, f.shard.Stats().Floods)
			}
		})
	}
}

// B-132: a host that corrects without end does not fill the window of whoever drives: it is refused, and goes on.
func TestB132OverrideFlood(t *testing.T) {
	f := newFoursome(t, shard.Config{}, 0)
	c, _ := f.host.at(f.id)
	f.owner.cut = true // it takes nothing for a while
	m := wire.AppendEntity(nil, wire.MsgOverrideUp, &wire.Entity{ID: f.id, Inc: c.Inc, Mask: 7, Values: make([]byte, 12)})
	f.host.step = func() {
		for range 60 {
			_ = f.host.conn.Queue(wire.StreamControl, m)
		}
	}
	f.run(3 * time.Second) // 7,200 of them
	f.host.step = nil
	f.owner.cut = false
	f.run(5 * time.Second)
	if k, d := f.owner.at(f.id); !k.Drives() || d.val[standA] != 0 || f.host.reg.Stats().Rejected == 0 {
		t.Errorf("drives %v, holds %v, the host was refused %d times", k.Drives(), d.val, f.host.reg.Stats().Rejected)
	}
	f.owner.step = func() { _, d := f.owner.at(f.id); d.val[standA] = 5 }
	f.run(time.Second)
	if _, d := f.looker.at(f.id); d.val[standA] != 5 {
		t.Errorf("the owner's next write: %d", d.val[standA])
	}
}
