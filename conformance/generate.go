package conformance

import (
	"math/rand/v2"
)

// generator draws a program while it is played: what is drawn depends on what there is to act on.
type generator struct {
	rng    *rand.Rand
	until  int // ms
	gap    int
	at     int
	weight []int // by operation
	total  [away + 1]int
}

// Generate plays a random program of a mode and returns it with what came of it.
func Generate(seed uint64, mode string, opt Options) (*Program, Result) {
	m, err := modeOf(mode)
	if err != nil {
		panic("throng: generating a program: " + err.Error())
	}
	g := &generator{rng: rand.New(rand.NewPCG(seed, 1))}
	g.until, g.gap = 3000+g.rng.IntN(4000), 10+g.rng.IntN(80)
	p := &Program{Mode: mode, Seed: seed}
	for i, l := range g.seats(&m) {
		if i < 2 || g.rng.IntN(4) > 0 { // the others come later
			p.Ops = append(p.Ops, Op{Who: i, Name: "join"})
		}
		p.Seats = append(p.Seats, Seat{View: g.rng.IntN(3), Link: l})
	}
	for _, o := range ops {
		n, ok := m.More[o.name]
		if !ok {
			n = o.weight
		}
		g.weight = append(g.weight, n)
		g.total[o.when] += n
	}
	w := newWorld(p, m, opt)
	w.gen = g
	return p, w.play()
}

// seats draws how many clients there are, and over which paths: the same for all, or one for each.
func (g *generator) seats(m *Mode) []string {
	n := 2 + g.rng.IntN(4)
	switch {
	case m.Clients > 0:
		n = 2 + g.rng.IntN(m.Clients-1)
	case g.rng.IntN(12) == 0:
		n = 6 + g.rng.IntN(11)
		g.gap = max(10, g.gap*2/n)
	}
	all := links[g.rng.IntN(len(links))].name
	mixed := g.rng.IntN(4) == 0
	names := make([]string, n)
	for i := range names {
		if names[i] = all; mixed {
			names[i] = links[g.rng.IntN(len(links))].name
		}
	}
	return names
}

// wait is how long until the next operation; false if there is none.
func (g *generator) wait() (ms int, ok bool) {
	ms = 1 + g.rng.IntN(2*g.gap)
	if g.at += ms; g.at >= g.until {
		return 0, false
	}
	return ms, true
}

// next draws an operation that somebody can do now; false if the one drawn cannot be done.
func (g *generator) next(w *world) (Op, bool) {
	p := w.players[g.rng.IntN(len(w.players))]
	if g.total[p.state] == 0 {
		return Op{}, false
	}
	n := g.rng.IntN(g.total[p.state])
	for i := range ops {
		if ops[i].when != p.state {
			continue
		}
		if n -= g.weight[i]; n < 0 {
			args, ok := ops[i].draw(g, w, p)
			return Op{Who: p.i, Name: ops[i].name, Args: args}, ok
		}
	}
	panic("weights")
}
