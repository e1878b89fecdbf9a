package authority_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/authority"
	"github.com/throng-dev/throng/authority/minion"
	"github.com/throng-dev/throng/throngtest"
)

// A Soldier is a minion with a stand-in at its owner.
type Soldier struct {
	throng.Entity
	Pos throng.Vec3 `rep:"position"`
	Key minion.Key  `rep:"auth"`
	HP  float32     `rep:"auth"`
}

var (
	Soldiers = throng.NewClass[Soldier]("soldier", throng.ClassConfig{})
	Barracks = throng.MustSchema(append(minion.Items(), Tanks, Soldiers)...)
)

// seat is a player with a crew.
type seat struct {
	name    string
	w       *throng.World
	crew    *minion.Crew
	dummies map[minion.Key]*Soldier
	proxies map[*Soldier]minion.Key // admitted
	clock   time.Time
}

// drill is the whole pattern in virtual time: a server with a book, players with crews.
type drill struct {
	*throngtest.Net
	t     *testing.T
	s     *authority.Server
	book  *minion.Book
	alive map[minion.Key]*Soldier
	seats []*seat
	start time.Time
}

func (d *drill) now() time.Duration { return time.Since(d.start) }

func (d *drill) enter(name string) *seat {
	d.t.Helper()
	p := &seat{name: name, dummies: map[minion.Key]*Soldier{}, proxies: map[*Soldier]minion.Key{}, clock: time.Now()}
	admit := func(m *Soldier) {
		if p.crew.Guard().Admit(m.Key, m.NetID()) {
			p.proxies[m] = m.Key
		} else {
			delete(p.proxies, m)
		}
	}
	p.w = d.Join(name, throng.Config{Hooks: append(minion.Hooks(func() *minion.Crew { return p.crew }, d.now), Soldiers.Bind(throng.Hooks[Soldier]{
		OnSpawn: func(_ *throng.World, m *Soldier, _ bool) { admit(m) },
		OnRep: func(m *Soldier, c throng.Changes) {
			if c.Has(&m.Key) {
				admit(m)
			}
		},
		OnDestroy: func(_ *throng.World, m *Soldier, _ throng.Departure) {
			p.crew.Guard().Gone(m.Key, m.NetID())
			delete(p.proxies, m)
		},
	}))})
	p.crew = minion.NewCrew(p.w.Self(), uint32(time.Now().Unix()), minion.CrewConfig{
		Make: func(k minion.Key, _ uint32, at minion.Pose) {
			m := &Soldier{Pos: throng.Vec3(at.At), Key: k}
			throng.MakeStandIn(m, true)
			p.dummies[k] = m
		},
		Drop:    func(k minion.Key, _ minion.Reason, _ string) { delete(p.dummies, k) },
		Renamed: func(old, now minion.Key) { p.dummies[now] = p.dummies[old]; delete(p.dummies, old) },
	})
	p.crew.Guard().Refuse = func(k minion.Key, id throng.NetID) { // one that stood before
		for m := range p.proxies {
			if m.NetID() == id {
				delete(p.proxies, m)
			}
		}
	}
	p.crew.Guard().Show = func(k minion.Key, id throng.NetID) {
		if o, ok := p.w.Find(id); ok {
			p.proxies[o.(*Soldier)] = k
		}
	}
	if err := p.w.Spawn(&Tank{}, throng.AsAvatar()); err != nil {
		d.t.Fatal(err)
	}
	d.Step(p.w, func() {
		p.crew.Tick(d.now())
		_ = p.crew.Send(p.w) // while reconnecting it waits
		d.check(p)
	})
	return p
}

// check holds the invariants that are true in every frame: one body for every minion at every client (I1), the owner's is a stand-in with
// authority over itself (I2), others' are simulated proxies (I3).
func (d *drill) check(p *seat) {
	bodies := map[throng.NetID]int{}
	for m := range p.proxies {
		bodies[m.NetID()]++
		if m.Role() != throng.RoleSimulatedProxy {
			d.t.Errorf("I3: %s has a proxy in the role %v", p.name, m.Role())
		}
	}
	for k, m := range p.dummies {
		if m.Role() != throng.RoleAuthority || !m.NetID().IsZero() {
			d.t.Errorf("I2: the stand-in %v of %s has role %v", k, p.name, m.Role())
		}
		if g := d.book.Find(k); g != nil {
			bodies[g.Actor]++
		}
	}
	for id, n := range bodies {
		if n > 1 {
			d.t.Errorf("I1: %s shows %d bodies of %v at %v", p.name, n, id, d.now())
		}
	}
}

func TestB116InvariantsInRandomPrograms(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { program(t, seed) })
		})
	}
}

func program(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 11))
	d := &drill{Net: throngtest.New(t, Barracks), t: t, book: minion.NewBook(minion.BookConfig{Rate: 50, Burst: 50, PerPlayer: 6}), alive: map[minion.Key]*Soldier{},
		start: time.Now()}
	d.SetFrame(33 * time.Millisecond)
	d.s = (&stage{Net: d.Net, t: t}).authorityOf(Barracks, "server", authority.Config{
		Config: throng.Config{
			Hooks: minion.BookHooks(func() *minion.Book { return d.book }, d.now, func(k minion.Key, q minion.Request) { d.grant(k, q.Pose) }, nil),
			OnPlayer: func(_ *throng.World, p throng.PlayerInfo, present bool) {
				if !p.Authority {
					d.book.Present(p.ID, present)
				}
			},
		},
		Rules: []authority.Rule{authority.For(Soldiers, authority.Rules[Soldier]{HideFromOwner: true, Relevant: func(v *authority.Viewer, m *Soldier) authority.Verdict {
			return authority.ByDistance(v, m)
		}})},
	}, func() { _ = d.book.Send(d.s.World()) })
	link := throngtest.Link{Latency: time.Duration(10+r.IntN(60)) * time.Millisecond, Jitter: 15 * time.Millisecond, Loss: 0.1 * r.Float64(), Duplicate: 0.02}
	for _, name := range []string{"ann", "bob", "cid"} {
		d.seats = append(d.seats, d.enter(name))
	}
	for _, p := range d.seats {
		d.Shape(p.w, link, link)
	}
	d.Shape(d.s.World(), link, link)
	d.Run(2 * time.Second)
	keys := func() (all []minion.Key) {
		for _, p := range d.seats {
			all = append(all, d.book.Grants(p.w.Self())...)
		}
		return all
	}
	for range 40 {
		p := d.seats[r.IntN(len(d.seats))]
		all := keys()
		switch op := r.IntN(10); {
		case op < 3:
			p.crew.Request(d.now(), 1, minion.Pose{})
		case op == 3:
			d.grant(d.book.Reserve(p.w.Self(), 1), minion.Pose{})
		case op < 6 && len(all) > 0: // it changes hands: grant, verdict and key in one tick
			k := all[r.IntN(len(all))]
			m := d.alive[k]
			if next, err := d.book.Give(k, p.w.Self()); err == nil && next != k && m != nil {
				delete(d.alive, k)
				d.alive[next] = m
				m.Key = next
				must(t, d.s.SetOwner(m, p.w.Self()))
			}
		case op == 6 && len(all) > 0:
			k := all[r.IntN(len(all))]
			d.book.Revoke(k, minion.Died, "")
			must(t, d.s.Destroy(d.alive[k]))
			delete(d.alive, k)
		case op == 7:
			for i, s := range d.seats {
				if s == p {
					d.Leave(s.w)
					d.Run(time.Duration(r.IntN(4)) * time.Second)
					d.seats[i] = d.enter(s.name)
					d.Shape(d.seats[i].w, link, link)
				}
			}
		case op == 8 && len(all) > 0:
			k := all[r.IntN(len(all))]
			d.alive[k].HP--
			d.book.Tell(k, 1, d.alive[k].HP)
		}
		d.Run(time.Duration(r.IntN(900)) * time.Millisecond)
	}
	d.Run(20 * time.Second) // quiet: what is given away waits two seconds for its proxy
	total := 0
	for _, p := range d.seats {
		mine := d.book.Grants(p.w.Self())
		others := len(d.alive) - len(mine)
		if len(p.dummies) != len(mine) || len(p.proxies) != others {
			t.Errorf("I3, I6: %s has %d stand-ins of %d, %d proxies of %d", p.name, len(p.dummies), len(mine), len(p.proxies), others)
		}
		if n := p.crew.Guard().Suppressed; n > 0 && len(p.proxies) > others {
			t.Errorf("%d bodies were refused and stay", n)
		}
		total += len(mine)
	}
	if total != len(d.alive) {
		t.Errorf("I4: %d granted, %d actors", total, len(d.alive))
	}
	for _, m := range d.alive {
		if m.Role() != throng.RoleAuthority {
			t.Errorf("I4: the server's actor has the role %v", m.Role())
		}
		must(t, d.s.Destroy(m))
	}
	for _, k := range keys() {
		d.book.Revoke(k, minion.Ended, "")
	}
	d.Run(10 * time.Second)
	if st := d.s.Stats(); st.Actors != 0 || st.Mute != 0 {
		t.Errorf("I8, I9: %d actors are left, %d verdicts had no reason", st.Actors, st.Mute)
	}
	for _, p := range d.seats {
		if len(p.dummies)+len(p.proxies) != 0 {
			t.Errorf("I8: %s has %d stand-ins and %d proxies left", p.name, len(p.dummies), len(p.proxies))
		}
	}
}

func (d *drill) grant(k minion.Key, at minion.Pose) {
	m, id := &Soldier{Key: k, HP: 100}, throng.NewID()
	must(d.t, d.s.Spawn(m, authority.OwnedBy(k.Player), authority.With(throng.WithID(id))))
	d.alive[k] = m
	must(d.t, d.book.Grant(k, id, at, m.HP))
}
