package throngtest_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/throngtest"
)

var hostPrograms = flag.Int("host-programs", 6, "random programs of the host test to play")

// party is who plays a random program about hosts.
type party struct {
	*testing.T
	n       *throngtest.Net
	rng     *rand.Rand
	members []*member
	joined  int
	quiet   bool
	last    map[string]map[throng.NetID]int32 // by level: what somebody who drove wrote last, while connected
	spawned map[string][]throng.NetID
}

type member struct {
	w       *throng.World
	name    string
	level   string
	cut     bool
	away    time.Time // cut until then
	clean   time.Time // not cut since then
	drove   map[throng.NetID]bool
	placed  bool
	arrived bool
}

var doorNames = []string{"north", "south", "gate"}

func (p *party) join() {
	p.joined++
	m := &member{name: fmt.Sprint("player ", p.joined), level: []string{"test", "castle"}[p.rng.IntN(2)], drove: map[throng.NetID]bool{}, clean: time.Now()}
	m.w = p.n.Join(m.name, throng.Config{World: m.level, OnState: func(w *throng.World, s throng.ConnState) {
		if s.Phase == throng.Live {
			m.placed, m.arrived = false, true
			clear(m.drove)
		}
	}})
	p.members = append(p.members, m)
	p.n.Shape(m.w, p.link(), p.link())
	p.n.Step(m.w, func() { p.step(m) })
}

func (p *party) link() throngtest.Link {
	return throngtest.Link{Latency: time.Duration(5+p.rng.IntN(40)) * time.Millisecond, Jitter: 5 * time.Millisecond, Loss: 0.1 * p.rng.Float64(), Reorder: 0.1}
}

// step is a frame of a member's game: it places what its level has, and whoever drives something writes.
func (p *party) step(m *member) {
	if !m.placed {
		m.placed = true
		for _, name := range doorNames {
			if err := m.w.Place(m.level+name, &Shared{}); err != nil && !errors.Is(err, throng.ErrIDHeld) {
				m.placed = false // it is not live
			}
		}
	}
	for s := range Shareds.All(m.w) {
		drives := m.w.Drives(s)
		if id := s.NetID(); drives != m.drove[id] {
			if drives && s.Role() == throng.RoleHost && !m.w.IsHost() {
				p.Fatalf("%s drives before it was told that it is host", m.name)
			}
			m.drove[id] = drives
		}
		if drives && !p.quiet && p.rng.IntN(8) == 0 {
			s.N++
		}
	}
}

func (p *party) op() {
	if len(p.members) == 0 {
		p.join()
		return
	}
	m := p.members[p.rng.IntN(len(p.members))]
	switch op := p.rng.IntN(20); {
	case op < 5 && len(p.members) < 7:
		p.join()
	case op < 8 && len(p.members) > 2:
		p.n.Leave(m.w)
		p.drop(m)
	case op < 9 && len(p.members) > 2: // a crash: nobody says goodbye
		p.n.Partition(m.w, true)
		p.n.Forget(m.w)
		p.drop(m)
	case op < 13 && !m.cut:
		m.cut, m.away = true, time.Now().Add(time.Duration(p.rng.IntN(9000))*time.Millisecond)
		p.n.Partition(m.w, true)
	case op < 17 && !m.cut:
		to := []string{"test", "castle"}[p.rng.IntN(2)]
		if to != m.level && m.w.Travel(to) == nil {
			m.level, m.arrived = to, false
		}
	default:
		if s := (&Shared{}); m.w.IsHost() && m.arrived && m.w.Spawn(s, throng.OwnedByHost()) == nil {
			p.spawned[m.level] = append(p.spawned[m.level], s.NetID())
		}
	}
}

func (p *party) drop(m *member) {
	for i, k := range p.members {
		if k == m {
			p.members = append(p.members[:i], p.members[i+1:]...)
			return
		}
	}
}

// check is what must hold at every instant: no two drive under one term, and of those that are connected no two drive at all.
func (p *party) check() {
	type key struct {
		level string
		id    throng.NetID
	}
	terms := map[key]map[uint64]string{}
	sure := map[key]string{}
	for _, m := range p.members {
		if m.cut && time.Now().After(m.away) {
			m.cut, m.clean = false, time.Now()
			p.n.Partition(m.w, false)
		}
		if !m.arrived {
			continue
		}
		for s := range Shareds.All(m.w) {
			x := m.w.Explain(s)
			if !x.Drives || !x.Bound {
				continue
			}
			k := key{m.level, x.ID}
			if terms[k] == nil {
				terms[k] = map[uint64]string{}
			}
			if o := terms[k][x.Term]; o != "" {
				p.Fatalf("%s and %s drive %v in %s under term %x", o, m.name, x.ID, m.level, x.Term)
			}
			terms[k][x.Term] = m.name
			if m.cut || time.Since(m.clean) < 2*time.Second {
				continue // it may not have heard yet that another drives
			}
			if o := sure[k]; o != "" {
				p.Fatalf("%s and %s both drive %v in %s", o, m.name, x.ID, m.level)
			}
			sure[k] = m.name
		}
	}
}

// settled checks, after quiet, that each level has one host, which is the most senior, and that it drives everything once.
func (p *party) settled() (checked int) {
	for _, level := range []string{"test", "castle"} {
		var here []*throng.World
		var host *throng.World
		for _, m := range p.members {
			if m.level == level {
				here = append(here, m.w)
				if m.w.IsHost() {
					host = m.w
				}
			}
		}
		if len(here) == 0 {
			continue
		}
		if host == nil || !hosts(host, here...)() {
			p.Fatalf("%s: no host that all know, of %d", level, len(here))
		}
		ids := p.spawned[level]
		for _, name := range doorNames {
			ids = append(ids, throng.StableID(level+name))
		}
		for _, id := range ids {
			o := find[Shared](host, id)
			if o == nil && len(here) > 0 {
				continue // its world ended in between
			}
			if !host.Drives(o) || drivers(id, here...) != 1 {
				p.Fatalf("%s: %v has %d drivers, the host drives %v", level, id, drivers(id, here...), host.Drives(o))
			}
			for _, w := range here {
				if c := find[Shared](w, id); c == nil || c.N != o.N {
					p.Fatalf("%s: %v is %d at the host, elsewhere %+v", level, id, o.N, c)
				}
			}
			checked++
		}
	}
	return checked
}

// TestB082OneDriver is B-080 to B-082 and P32: whatever joins, leaves, crashes, is cut off or travels, at every instant each host-owned
// entity has one driver or none, and after quiet one, which is the host: the senior of those there.
func TestB082OneDriver(t *testing.T) {
	checked := 0
	for seed := range uint64(*hostPrograms) {
		play(t, func(t *testing.T, n *throngtest.Net) {
			p := &party{T: t, n: n, rng: rand.New(rand.NewPCG(seed, 3)), spawned: map[string][]throng.NetID{}}
			n.SetFrame(20 * time.Millisecond)
			for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); {
				p.op()
				for stop := time.Now().Add(time.Duration(p.rng.IntN(1500)) * time.Millisecond); time.Now().Before(stop); {
					n.Run(20 * time.Millisecond)
					p.check()
				}
			}
			p.quiet = true
			for _, m := range p.members { // links deliver again
				n.Partition(m.w, false)
				n.Shape(m.w, throngtest.LAN, throngtest.LAN)
				m.cut, m.clean = false, time.Now()
				n.Step(m.w, func() {
					if !m.placed {
						p.step(m)
					}
				})
			}
			for range 1500 { // a connection that was given up is dialed again for up to 10 s
				n.Run(20 * time.Millisecond)
				p.check()
			}
			checked += p.settled()
		}, func(c *relay.Config) { c.Default = relay.World{Linger: -1}; c.Settle = 0 })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if checked < *hostPrograms {
		t.Fatalf("%d entities left to compare", checked)
	}
	t.Logf("%d programs, %d entities compared", *hostPrograms, checked)
}
