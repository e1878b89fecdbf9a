package minion

import "github.com/throng-dev/throng"

// Guard lets one body stand for a key on a client, even when the server is wrong: of an owner the dummy, of another player's
// minion the newest proxy. A body that it refuses must be hidden, must not collide and must not be steered around, so that it
// cannot hold up the other; the server is asked to close it. The zero Guard is ready.
type Guard struct {
	dummies map[slot]Key
	proxies map[slot]body
	refused map[throng.NetID]Key
	awaited map[slot]Key // proxy to come → dummy that leaves when it does
	arrived func(dummy Key)
	out     []Close

	// Suppressed counts the bodies that were refused.
	Suppressed uint64
	// Refuse, if set, is told of each body that is refused, the one at hand or one that was admitted before.
	Refuse func(k Key, id throng.NetID)
}

type body struct {
	key Key
	id  throng.NetID
}

// Admit says whether a proxy with that key may be a body here. Call it from the class's OnSpawn, and from OnRep when the key
// changed, after Gone with the old one; the actor needs its key as an auth field.
func (g *Guard) Admit(k Key, id throng.NetID) bool {
	if g.proxies == nil {
		g.proxies = map[slot]body{}
	}
	if d, ok := g.awaited[k.slot()]; ok {
		delete(g.awaited, k.slot())
		g.arrived(d) // dummy out, proxy in: one frame
	}
	if _, mine := g.dummies[k.slot()]; mine {
		g.refuse(k, id)
		return false
	}
	switch old, there := g.proxies[k.slot()]; {
	case !there || old.id == id:
	case int16(k.Gen-old.key.Gen) < 0:
		g.refuse(k, id)
		return false
	default:
		g.refuse(old.key, old.id)
	}
	g.proxies[k.slot()] = body{k, id}
	return true
}

// Gone says that a proxy left. Call it from OnDestroy, for every proxy that Admit was asked about.
func (g *Guard) Gone(k Key, id throng.NetID) {
	delete(g.refused, id)
	if g.proxies[k.slot()].id == id {
		delete(g.proxies, k.slot())
	}
}

// Bodies is how many bodies stand for a key's number: never more than one.
func (g *Guard) Bodies(k Key) int {
	n := 0
	if _, ok := g.dummies[k.slot()]; ok {
		n++
	}
	if _, ok := g.proxies[k.slot()]; ok {
		n++
	}
	return n
}

// Refused reports whether a body was refused and is still there.
func (g *Guard) Refused(id throng.NetID) bool { _, ok := g.refused[id]; return ok }

// claim makes the dummy the body of its key: a proxy that stands there, or under the key it had before, is refused from now on.
func (g *Guard) claim(k, was Key) {
	if g.dummies == nil {
		g.dummies = map[slot]Key{}
	}
	g.dummies[k.slot()] = k
	for _, s := range [...]slot{k.slot(), was.slot()} {
		if p, there := g.proxies[s]; there {
			delete(g.proxies, s)
			g.refuse(p.key, p.id)
		}
	}
}

func (g *Guard) await(proxy, dummy Key) {
	if g.awaited == nil {
		g.awaited = map[slot]Key{}
	}
	g.awaited[proxy.slot()] = dummy
}

func (g *Guard) unawait(proxy Key) {
	if !proxy.IsZero() {
		delete(g.awaited, proxy.slot())
	}
}

// standing reports whether a proxy of that key's number is here.
func (g *Guard) standing(k Key) bool { _, ok := g.proxies[k.slot()]; return ok }

func (g *Guard) release(k Key) { delete(g.dummies, k.slot()) }

func (g *Guard) refuse(k Key, id throng.NetID) {
	if g.refused == nil {
		g.refused = map[throng.NetID]Key{}
	}
	if _, before := g.refused[id]; before {
		return
	}
	g.refused[id] = k
	g.Suppressed++
	g.out = append(g.out, Close{k, id})
	if g.Refuse != nil {
		g.Refuse(k, id)
	}
}

func (g *Guard) take() []Close {
	out := g.out
	g.out = nil
	return out
}
