package conformance

import (
	"encoding/binary"
	"flag"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/memnet"
	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/shard"
	"github.com/throng-dev/throng/internal/wire"
)

var stormFor = flag.Duration("storm", 10*time.Second, "virtual time that the ownership storm lasts")

// TestR22OwnershipStorm: a thousand entities change hands every second among sixteen clients, by requests, by grants and by both at once,
// with loss each way. At no instant do two drive one; every driver goes on from the last write of the one before; and when it is quiet
// all agree.
func TestR22OwnershipStorm(t *testing.T) {
	const things, guests, everyFrames = 1000, 16, 4
	if raced { // one goroutine: there is nothing for the detector to find, and it takes ten times as long
		*stormFor = min(*stormFor, time.Second)
	}
	link := memnet.Link{Latency: 30 * time.Millisecond, Jitter: 15 * time.Millisecond, Loss: 0.05, Duplicate: 0.02, Reorder: 0.1}
	s := newStand(t, 5, link, shard.Config{ReleaseWait: 20 * time.Second}) // nobody is forced: a lost write would be a fault
	type state struct {
		driver int    // the guest that drives now, -1: nobody
		last   uint32 // written last, by whoever drove
	}
	var all [things]state
	var ids [things]wire.ID
	for i := range all {
		all[i].driver = -1
		binary.LittleEndian.PutUint32(ids[i][:], uint32(i+1))
	}
	var copies [guests][things]*registry.Copy // remembered: looking each up costs more than all else
	held := func(g *guest, i int) *registry.Copy {
		c := copies[g.i][i]
		if c == nil || c.Gone {
			c = g.reg.Find(ids[i])
			copies[g.i][i] = c
		}
		return c
	}
	writing := true
	look := func(g *guest) { // at every tick: who drives what, and does it go on where the last left off
		turn := g.frames % everyFrames
		for i := range all {
			st := &all[i]
			c := held(g, i)
			drives := c != nil && c.Data != nil && c.Drives()
			switch {
			case !drives:
				if st.driver == g.i {
					st.driver = -1
				}
				continue
			case st.driver != g.i && st.driver >= 0:
				if o := held(s.guests[st.driver], i); o.Drives() { // it may have lost the drive since its last tick
					t.Fatalf("%v: %d and %d drive entity %d, terms %x and %x", s.Now(), st.driver, g.i, i, o.Term, c.Term)
				}
			}
			d := c.Data.(*standBody)
			if st.driver != g.i {
				st.driver = g.i
				if d.val[standA] != st.last || d.val[standOwner] != st.last {
					t.Fatalf("%v: guest %d goes on with entity %d from %d and %d, the last write was %d", s.Now(), g.i, i, d.val[standA], d.val[standOwner], st.last)
				}
			}
			if writing && i%everyFrames == turn {
				st.last++
				d.val[standA], d.val[standOwner] = st.last, st.last
			}
		}
	}
	for range guests {
		g := s.join()
		g.step = func() { look(g) }
	}
	s.run(time.Second)
	for i := range all {
		s.guests[i%guests].spawn(ids[i], wire.EntityAutoGrant, 0)
	}
	s.run(3 * time.Second)
	next := 0
	var change func()
	change = func() { // one a millisecond: each entity once a second
		i := next % things
		next++
		g := s.guests[s.rng.IntN(guests)]
		how := s.rng.IntN(3)
		if c := held(g, i); how != 1 && c != nil && !c.Drives() {
			g.reg.Request(c)
		}
		if d := all[i].driver; how != 0 && d >= 0 {
			o := s.guests[d]
			if c, to := held(o, i), s.guests[s.rng.IntN(guests)]; c.Drives() && to != o {
				o.reg.Grant(c, to.id, 1<<standA|1<<standOwner)
			}
		}
		if writing {
			s.After(time.Millisecond, change)
		}
	}
	s.After(0, change)
	began := time.Now()
	s.run(*stormFor)
	before := s.shard.Stats()
	writing = false
	s.run(15 * time.Second)
	st := s.shard.Stats()
	if st.Forced != 0 || before.Transfers < uint64(stormFor.Seconds()*things/2) {
		t.Errorf("%d transfers, %d forced", before.Transfers, st.Forced)
	}
	for i := range all {
		e := s.shard.At(ids[i])
		if got := binary.LittleEndian.Uint32(e.Value(standA)); got != all[i].last {
			t.Fatalf("entity %d: the relay holds %d, the last write was %d", i, got, all[i].last)
		}
		drivers := 0
		for _, g := range s.guests {
			c, d := g.at(ids[i])
			if c.Drives() {
				drivers++
			}
			if d.val[standA] != all[i].last || c.Owner != e.Owner || c.Term != e.Term {
				t.Fatalf("entity %d at guest %d: %d of owner %x, the relay says %d of %x", i, g.i, d.val[standA], c.Owner[:1], all[i].last, e.Owner[:1])
			}
			if own := d.val[standOwner]; !c.Drives() && own != 0 || c.Drives() && own != all[i].last {
				t.Fatalf("entity %d at guest %d: owner slot %d, drives %v", i, g.i, own, c.Drives())
			}
		}
		if drivers != 1 {
			t.Fatalf("%d drive entity %d", drivers, i)
		}
	}
	t.Logf("%v of storm in %v: %d transfers, none forced, %d packets, %d lost", *stormFor, time.Since(began).Truncate(time.Millisecond),
		before.Transfers, before.Packets, before.Lost)
}
