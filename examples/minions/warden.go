package main

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/netip"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/authority"
	"github.com/throng-dev/throng/authority/minion"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/token"
)

// warden is the authority's side of the game:
//
//	a player asks ─► granted: Spawn (staged) ─► possessed ─► the tank is assigned ─► published ─► the rules decide
type warden struct {
	policy policy
	server *authority.Server
	addr   string // of the relay
	book   *minion.Book
	start  time.Time
	tanks  map[throng.PlayerID]*Tank
	minion *Minion
	queue  []func() // runs with the next tick
	ready  []func()
	say    func(string, ...any)
}

func newWarden(p policy, say func(string, ...any)) *warden {
	return &warden{policy: p, book: minion.NewBook(minion.BookConfig{}), start: time.Now(), tanks: map[throng.PlayerID]*Tank{}, say: say}
}

func (g *warden) now() time.Duration { return time.Since(g.start) }

// quiet keeps the relay's and the client's own words out of the timeline.
var quiet = slog.New(slog.DiscardHandler)

// open starts a relay with the server in it, and returns how tokens for players are made.
func (g *warden) open(ctx context.Context) (tokens func(player string) ([]byte, error), err error) {
	var key token.Key
	if _, err := rand.Read(key[:]); err != nil {
		return nil, err
	}
	if g.server, err = authority.Embed(ctx, relay.Config{Key: key, Logger: quiet}, "127.0.0.1:0", [16]byte{}, schema, g.config(throng.Config{Logger: quiet})); err != nil {
		return nil, err
	}
	at, err := netip.ParseAddrPort(g.server.RelayAddr())
	g.addr = at.String()
	return func(player string) ([]byte, error) {
		var id [16]byte
		copy(id[:], player)
		return token.Mint(key, token.ProtocolID, []netip.AddrPort{at}, token.Claims{Player: id, Rights: token.Player}, 0)
	}, err
}

// config completes how the Server joins.
func (g *warden) config(c throng.Config) authority.Config {
	c.World = level
	c.Hooks = append(minion.BookHooks(func() *minion.Book { return g.book }, g.now, g.granted, nil), tanks.Bind(throng.Hooks[Tank]{
		OnSpawn: func(_ *throng.World, t *Tank, _ bool) { g.tanks[t.Owner()] = t },
	}))
	c.OnPlayer = func(_ *throng.World, p throng.PlayerInfo, present bool) { g.book.Present(p.ID, present) }
	return authority.Config{
		Config: c,
		Policy: authority.Policy{Legacy: g.policy.legacy, Timeout: g.policy.timeout, Seed: uint64(time.Now().UnixNano())},
		Rules:  []authority.Rule{authority.For(minions, g.rules())},
		OnVerdict: func(r authority.Record) {
			g.say("%s: viewer %v, %s (%s > %s)", r.Verdict, r.Viewer, r.Reason, r.Before, r.After)
		},
		OnLife: func(_ *authority.Server, _ throng.Object, was, is authority.Life) { g.say("%v > %v", was, is) },
	}
}

// rules say whom the minion is kept from. They are what the policies differ in.
func (g *warden) rules() authority.Rules[Minion] {
	owner := func(m *Minion) (p throng.PlayerID) {
		switch {
		case g.policy.rule == byDirect && m.by != nil:
			return m.by.(*Brain).Owner() // an AI controller has none: nobody is excluded
		case g.policy.rule == byTank && m.tank != nil:
			return m.tank.Owner()
		}
		return p
	}
	return authority.Rules[Minion]{Relevant: func(v *authority.Viewer, m *Minion) authority.Verdict {
		switch {
		case g.policy.rule == byTank && m.tank == nil && !g.policy.early:
			return authority.Unresolved("owner unresolved")
		case v.Is(owner(m)):
			return authority.Hidden("tank ownership")
		}
		return authority.ByDistance(v, m) // early: also while the tank is not assigned, which is the fault
	}}
}

// granted spawns the actor for a key. The tank is assigned one tick later, as in a game where something else decides it.
func (g *warden) granted(k minion.Key, r minion.Request) {
	place := slots(formation, 1)[0]
	m := &Minion{Pos: place, Key: k, HP: 100}
	g.minion = m
	g.must(g.server.Spawn(m, authority.With(throng.WithID(actorID))))
	if g.policy.early {
		g.must(g.server.Publish(m, authority.Ownerless()))
	}
	m.by = &Brain{}
	g.must(g.server.Possess(m.by, m))
	g.queue = append(g.queue, func() {
		m.tank = g.tanks[k.Player]
		if !g.policy.early && !g.policy.never {
			g.must(g.server.Publish(m, authority.OwnedBy(k.Player)))
		}
	})
	g.must(g.book.Grant(k, actorID, r.Pose, m.HP))
	g.book.Assign(k, 0, throng.Vec3Quantize10{X: place.X, Y: place.Y})
}

func (g *warden) step() {
	ready := g.ready
	g.ready, g.queue = g.queue, nil // what was asked for in this tick comes a tick late
	for _, f := range ready {
		f()
	}
	if err := g.book.Send(g.server.World()); err != nil {
		g.say("sending: %v", err)
	}
}

func (g *warden) must(err error) {
	if err != nil {
		g.say("%v", err)
		panic(err) // an example stops where it is wrong
	}
}
