package minion

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/throng-dev/throng"
)

// BookConfig bounds what players may have. The zero value has the defaults.
type BookConfig struct {
	PerPlayer int     // minions; 0: DefaultPerPlayer
	Rate      float64 // requests a second; 0: DefaultRate
	Burst     int     // requests at once; 0: DefaultBurst
	// Validate says whether a player may have what it asks for. The error's text reaches the player. Nil: everything.
	Validate func(from throng.PlayerID, r Request) error
}

// Book is the authority's side: who has been granted what. It keeps a generation for every number a player ever used, up to a
// window, so that nothing stale is taken for new.
type Book struct {
	cfg     BookConfig
	players map[throng.PlayerID]*owner
	out     []Outgoing
	stats   BookStats
}

type owner struct {
	present bool
	tokens  float64
	refill  time.Duration
	grants  map[uint32]*Granted
	gens    map[uint32]uint16 // of all numbers used within the window
	newest  uint32            // greatest number the client used
	unasked uint32
	number  uint32 // of the last grant or state
}

// Granted is what the Book holds of a grant. Actor is the game's: the server's body for it.
type Granted struct {
	Grant
	Actor    throng.NetID
	hinted   time.Duration
	everHint bool
}

// Outgoing is a message for a player: one of Grant, Revoke, Event, Hint, Formation, State.
type Outgoing struct {
	To  throng.PlayerID
	Msg any
}

// BookStats counts from the start.
type BookStats struct {
	Requests, Granted, Refused, Limited, Repeated, Stale, Invalid uint64
}

// window is how far back the numbers of a player are remembered: a request with an older one is stale.
const window = 4096

// NewBook returns an empty Book.
func NewBook(cfg BookConfig) *Book {
	cfg.PerPlayer = cmp.Or(cfg.PerPlayer, DefaultPerPlayer)
	cfg.Rate = cmp.Or(cfg.Rate, DefaultRate)
	cfg.Burst = cmp.Or(cfg.Burst, DefaultBurst)
	return &Book{cfg: cfg, players: map[throng.PlayerID]*owner{}}
}

// Stats returns the counters.
func (b *Book) Stats() BookStats { return b.stats }

func (b *Book) owner(p throng.PlayerID) *owner {
	o := b.players[p]
	if o == nil {
		o = &owner{tokens: float64(b.cfg.Burst), grants: map[uint32]*Granted{}, gens: map[uint32]uint16{}}
		b.players[p] = o
	}
	return o
}

// Request handles a player's request. It returns the key to grant, or an error after which there is nothing to do: the player
// has been answered. From is the sender that the relay stamped. Call Grant, or Refuse, for every key returned.
func (b *Book) Request(now time.Duration, from throng.PlayerID, r Request) (Key, error) {
	b.stats.Requests++
	if from.IsZero() || r.Seq == 0 || r.Seq >= FirstUnasked || !r.Pose.finite() {
		b.stats.Invalid++
		return Key{}, errors.New("throng: a minion request that no client of ours makes: ignored")
	}
	o := b.owner(from)
	if g := o.grants[r.Seq]; g != nil { // asked again: the grant was lost, or the request doubled
		b.stats.Repeated++
		if g.Key.Gen != 0 {
			b.send(from, g.Grant)
		}
		return Key{}, errors.New("throng: that minion is granted already: said so again")
	}
	key := Key{Player: from, Seq: r.Seq, Gen: o.gens[r.Seq]}
	if key.Gen != 0 || r.Seq+window < o.newest {
		b.stats.Stale++
		b.send(from, Revoke{Key: key, Reason: Ended})
		return Key{}, fmt.Errorf("throng: a request for minion %v that ended before: refused", key)
	}
	switch {
	case !o.take(now, &b.cfg):
		b.stats.Limited++
		return Key{}, b.refuse(o, key, TooFast, "")
	case len(o.grants) >= b.cfg.PerPlayer:
		b.stats.Limited++
		return Key{}, b.refuse(o, key, TooMany, "")
	}
	if b.cfg.Validate != nil {
		if err := b.cfg.Validate(from, r); err != nil {
			b.stats.Refused++
			return Key{}, b.refuse(o, key, Refused, err.Error())
		}
	}
	o.used(r.Seq)
	key.Gen, key.Line = 1, rand.Uint64()|1
	o.gens[r.Seq] = 1
	o.grants[r.Seq] = &Granted{Grant: Grant{Key: key, Kind: r.Kind, Pose: r.Pose}}
	return key, nil
}

// take takes a token of the player's rate, if there is one.
func (o *owner) take(now time.Duration, cfg *BookConfig) bool {
	o.tokens = min(o.tokens+cfg.Rate*(now-o.refill).Seconds(), float64(cfg.Burst))
	if o.refill = now; o.tokens < 1 {
		return false
	}
	o.tokens--
	return true
}

// refuse answers a request that is not granted. Its number may be used again: nothing was made.
func (b *Book) refuse(o *owner, k Key, why Reason, text string) error {
	b.send(k.Player, Revoke{Key: k, Reason: why, Text: text})
	return fmt.Errorf("throng: minion %v is not granted: %v", k, cmp.Or(text, why.String()))
}

// used remembers the number, and forgets those out of the window.
func (o *owner) used(seq uint32) {
	if seq <= o.newest {
		return
	}
	o.newest = seq
	if len(o.gens) > 2*window {
		for s := range o.gens {
			if s < FirstUnasked && s+window < o.newest && o.grants[s] == nil {
				delete(o.gens, s)
			}
		}
	}
}

// Sync answers a player's program that would like to know all of its grants. It is bounded like requests.
func (b *Book) Sync(now time.Duration, from throng.PlayerID) {
	o := b.owner(from)
	if !o.take(now, &b.cfg) {
		b.stats.Limited++
		return
	}
	b.state(o, from)
}

// Reserve makes a key for a minion that the authority gives unasked. Call Grant next.
func (b *Book) Reserve(to throng.PlayerID, kind uint32) Key {
	o := b.owner(to)
	o.unasked++
	seq := FirstUnasked + o.unasked
	o.gens[seq]++
	key := Key{to, seq, o.gens[seq], rand.Uint64() | 1}
	o.grants[seq] = &Granted{Grant: Grant{Key: key, Kind: kind}}
	delete(o.gens, seq-window)
	return key
}

// Grant says that the player has the minion, and which actor it is.
func (b *Book) Grant(k Key, actor throng.NetID, pose Pose, health float32) error {
	g := b.find(k)
	if g == nil {
		return fmt.Errorf("throng: grant of minion %v: it was not asked for or has ended: use a key of Request or Reserve", k)
	}
	g.Actor, g.Pose, g.Health = actor, pose, health
	g.Version++
	b.players[k.Player].number++
	g.Number = b.players[k.Player].number
	b.stats.Granted++
	b.send(k.Player, g.Grant)
	return nil
}

// Find is what is granted under a key, or nil. Do not change it.
func (b *Book) Find(k Key) *Granted { return b.find(k) }

func (b *Book) find(k Key) *Granted {
	if o := b.players[k.Player]; o != nil {
		if g := o.grants[k.Seq]; g != nil && g.Key.names(k) {
			return g
		}
	}
	return nil
}

// Revoke ends a grant. It reports false if there is none.
func (b *Book) Revoke(k Key, why Reason, text string) bool {
	if b.find(k) == nil {
		return false
	}
	delete(b.players[k.Player].grants, k.Seq)
	b.send(k.Player, Revoke{Key: k, Reason: why, Text: text})
	return true
}

// Give moves a minion to another player, in one step: the old key ends and a new one is granted, so both clients hear of it with
// the same tick. The actor stays; keep it from the new owner with the same tick.
func (b *Book) Give(k Key, to throng.PlayerID) (Key, error) {
	g := b.find(k)
	if g == nil || to.IsZero() {
		return Key{}, fmt.Errorf("throng: give minion %v to %v: there is no such grant or player", k, to)
	}
	if to == k.Player {
		return k, nil
	}
	held := *g
	key := b.Reserve(to, held.Kind)
	key.Line = held.Key.Line
	b.find(key).Key.Line = key.Line
	delete(b.players[k.Player].grants, k.Seq)
	b.send(k.Player, Revoke{Key: held.Key, Reason: GivenAway})
	return key, b.Grant(key, held.Actor, held.Pose, held.Health)
}

// Tell sends an event: what happened to the actor and the health it has now.
func (b *Book) Tell(k Key, what uint16, health float32) bool {
	g := b.find(k)
	if g == nil {
		return false
	}
	g.Health = health
	g.Version++
	b.send(k.Player, Event{Key: k, Version: g.Version, Health: health, What: what})
	return true
}

// Place says where the actor is. Call it as often as you like: a Hint leaves every HintEvery.
func (b *Book) Place(now time.Duration, k Key, p Pose) bool {
	g := b.find(k)
	if g == nil || !p.finite() {
		return false
	}
	g.Pose = p
	if g.everHint && now-g.hinted < HintEvery {
		return true
	}
	g.hinted, g.everHint = now, true
	g.Version++
	b.send(k.Player, Hint{Key: k, Version: g.Version, Pose: p})
	return true
}

// Assign gives the minion a place in a formation.
func (b *Book) Assign(k Key, slot uint16, point throng.Vec3Quantize10) bool {
	g := b.find(k)
	if g == nil {
		return false
	}
	g.Slot = slot
	g.Version++
	b.send(k.Player, Formation{Key: k, Version: g.Version, Slot: slot, Point: point})
	return true
}

// Present says that a player is in the world (again), or left it. A player that comes gets all of its grants.
func (b *Book) Present(p throng.PlayerID, present bool) {
	o := b.owner(p)
	if o.present = present; !present {
		if len(o.grants) == 0 && len(o.gens) == 0 {
			delete(b.players, p)
		}
		return
	}
	b.state(o, p)
}

// state queues all grants of a player.
func (b *Book) state(o *owner, p throng.PlayerID) {
	o.number++
	st := State{Number: o.number}
	for _, g := range o.grants {
		if g.Version > 0 { // granted, not only asked for
			st.Grants = append(st.Grants, g.Grant)
		}
	}
	slices.SortFunc(st.Grants, func(x, y Grant) int { return cmp.Compare(x.Key.Seq, y.Key.Seq) })
	b.send(p, st)
}

// Grants are the keys a player has, in the order of their numbers.
func (b *Book) Grants(p throng.PlayerID) []Key {
	o := b.players[p]
	if o == nil {
		return nil
	}
	keys := make([]Key, 0, len(o.grants))
	for _, g := range o.grants {
		keys = append(keys, g.Key)
	}
	slices.SortFunc(keys, func(x, y Key) int { return cmp.Compare(x.Seq, y.Seq) })
	return keys
}

// send queues for who is present: for others there is the State when they come.
func (b *Book) send(to throng.PlayerID, msg any) {
	if o := b.players[to]; o != nil && (o.present || isState(msg)) {
		b.out = append(b.out, Outgoing{to, msg})
	}
}

func isState(msg any) bool { _, ok := msg.(State); return ok }

// Out returns what is to be sent, reliably and in this order, and forgets it. Hints may be sent unreliably.
func (b *Book) Out() []Outgoing {
	out := b.out
	b.out = nil
	return out
}
