package minion

import "github.com/throng-dev/throng"

// Guard lets one body stand for a minion on a client, even when the server is wrong: of an owner the dummy, of another player's
// minion the newest proxy. A body that it refuses must be hidden, must not collide and must not be steered around, so that it
// cannot hold up the other; the server is asked to close it. The zero Guard is ready.
type Guard struct {
	dummies map[subject]Key
	leaving map[subject]bool // dummies that were given away: the proxy takes their place
	proxies map[subject]body
	refused map[throng.NetID]Key
	arrived func(dummy Key)
	out     []Close

	// Suppressed counts the bodies that were refused.
	Suppressed uint64
	// Refuse, if set, is told of each body that is refused, the one at hand or one that was admitted before.
	Refuse func(k Key, id throng.NetID)
	// Show, if set, is told of a body that was refused and may stand now: the dummy that stood there is gone.
	Show func(k Key, id throng.NetID)
}

type body struct {
	key Key
	id  throng.NetID
}

// subject is what one body may stand for: a minion, or what was asked for and not granted yet.
type subject struct {
	line uint64
	slot slot
}

func (k Key) subject() subject {
	if k.Line != 0 {
		return subject{line: k.Line}
	}
	return subject{slot: k.slot()}
}

// Admit says whether a proxy with that key may be a body here. Call it from the class's OnSpawn, and from OnRep when the key
// changed; the actor needs its key as an auth field.
func (g *Guard) Admit(k Key, id throng.NetID) bool {
	if g.proxies == nil {
		g.proxies = map[subject]body{}
	}
	at := k.subject()
	if g.leaving[at] {
		g.arrived(g.dummies[at]) // dummy out, proxy in: one frame
	}
	if _, mine := g.dummies[at]; mine {
		g.refuse(k, id)
		return false
	}
	switch old, there := g.proxies[at]; {
	case !there || old.id == id:
	case int16(k.Gen-old.key.Gen) < 0:
		g.refuse(k, id)
		return false
	default:
		g.refuse(old.key, old.id)
	}
	g.proxies[at] = body{k, id}
	return true
}

// Gone says that a proxy left. Call it from OnDestroy, for every proxy that Admit was asked about.
func (g *Guard) Gone(k Key, id throng.NetID) {
	delete(g.refused, id)
	if g.proxies[k.subject()].id == id {
		delete(g.proxies, k.subject())
	}
}

// Bodies is how many bodies stand for a minion: never more than one.
func (g *Guard) Bodies(k Key) int {
	n := 0
	if _, ok := g.dummies[k.subject()]; ok {
		n++
	}
	if _, ok := g.proxies[k.subject()]; ok {
		n++
	}
	return n
}

// Refused reports whether a body was refused and is still there.
func (g *Guard) Refused(id throng.NetID) bool { _, ok := g.refused[id]; return ok }

// claim makes the dummy the body of its minion: a proxy that stands there is refused from now on.
func (g *Guard) claim(k Key) {
	if g.dummies == nil {
		g.dummies = map[subject]Key{}
	}
	at := k.subject()
	g.dummies[at] = k
	delete(g.leaving, at)
	if p, there := g.proxies[at]; there {
		delete(g.proxies, at)
		g.refuse(p.key, p.id)
	}
}

// await lets the next proxy take the dummy's place.
func (g *Guard) await(k Key) {
	if g.leaving == nil {
		g.leaving = map[subject]bool{}
	}
	g.leaving[k.subject()] = true
	for _, p := range g.refused {
		if p.subject() == k.subject() {
			g.arrived(k) // the proxy was faster
			return
		}
	}
}

// release ends a dummy, unless another of the same minion has its place.
func (g *Guard) release(k Key) {
	if at := k.subject(); g.dummies[at].names(k) {
		delete(g.dummies, at)
		delete(g.leaving, at)
		g.promote(at)
	}
}

// promote lets a body stand that was refused for the sake of one that is gone.
func (g *Guard) promote(at subject) {
	if _, there := g.proxies[at]; there {
		return
	}
	for id, k := range g.refused {
		if k.subject() == at {
			delete(g.refused, id)
			if g.proxies == nil {
				g.proxies = map[subject]body{}
			}
			g.proxies[at] = body{k, id}
			if g.Show != nil {
				g.Show(k, id)
			}
			return
		}
	}
}

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
