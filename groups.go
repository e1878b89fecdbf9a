package throng

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"unicode/utf8"

	"github.com/throng-dev/throng/internal/wire"
)

// Who may know of an entity:
//
//	Groups.Join ─► the relay decides ─► OnGroup            players in a group
//	InGroup, Groups.Restrict ─► the relay checks ─► only clients of the group are sent anything of it
//	ClassConfig.Audience ─► OwnerAlone                     nobody but who drives it

// Audience says who may know of the entities of a class.
type Audience uint8

const (
	Everyone   Audience = iota // all in reach; entities may be kept to a group, see [Groups]
	OwnerAlone                 // only who drives the entity: an inventory, a quest log
)

// String returns everyone or owner alone.
func (a Audience) String() string { return nameOf("Audience", int(a), "everyone", "owner alone") }

var (
	// ErrNotInGroup: only who is in a group may keep entities to it.
	ErrNotInGroup = errors.New("this client is not in that group: Groups().Join it first")
	// ErrGroupName: no group has such a name.
	ErrGroupName = fmt.Errorf("that is no name of a group: use 1 to %d bytes of text", wire.MaxName)
)

// Groups are sets of players of a world, by name: a team, a party, who has the map open. An entity that is kept to a group is, for
// everybody else, as if it were out of reach: the relay sends them nothing that names it.
//
// Who is in a group the relay decides: its owner puts players into groups, or lets them join by themselves; see MayJoin and SetGroup of
// package relay. A Groups belongs to its World and to the goroutine of that.
type Groups struct{ w *World }

// Groups returns the groups of players of this world.
func (w *World) Groups() Groups { return Groups{w} }

// Join asks to be in a group, for as long as this client plays, through reconnects. The relay's answer runs Config.OnGroup. What is kept
// to the group may be spawned at once: if the relay refuses the one it refuses the other.
func (g Groups) Join(name string) error { return g.want("joining", name, true) }

// Leave asks to be in a group no more. What the relay's owner decided stays.
func (g Groups) Leave(name string) error { return g.want("leaving", name, false) }

func (g Groups) want(doing, name string, in bool) error {
	w := g.w
	defer w.leave(w.enter("Groups"))
	switch {
	case name == "" || len(name) > wire.MaxName || !utf8.ValidString(name):
		return w.wrap(ErrGroupName, "%s group %.40q", doing, name)
	case w.phase == Closed:
		return w.wrap(ErrClosed, "%s group %q", doing, name)
	}
	w.mu.Lock()
	if in {
		w.reg.JoinGroup(name)
	} else {
		w.reg.LeaveGroup(name)
	}
	w.mu.Unlock()
	return nil
}

// Has reports whether this client is in a group, as the relay last said.
func (g Groups) Has(name string) bool {
	g.w.reads("Groups")
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	return g.w.reg.InGroup(name)
}

// All iterates over the groups that this client is in, by name.
func (g Groups) All() iter.Seq[string] {
	g.w.reads("Groups")
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	return slices.Values(g.w.reg.Groups())
}

// Restrict keeps an entity that this client drives to a group it is in; with "" it is for everyone again. Who may know of it no more
// gets OnDestroy with OutOfReach, who now may, OnSpawn. It goes with the entity: whoever drives it next may change it.
func (g Groups) Restrict(o Object, name string) error {
	w := g.w
	defer w.leave(w.enter("Groups"))
	b := w.bodyOf(o)
	fail := func(err error) error { return w.wrap(err, "keeping %T to group %q", o, name) }
	switch {
	case b == nil || b.gone:
		return fail(ErrForeign)
	case !b.drives:
		return fail(ErrNotDriver)
	case b.hooks.class.cfg.Audience == OwnerAlone:
		return fail(ErrOwnerAlone)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.mayKeepTo(name) {
		return fail(ErrNotInGroup)
	}
	w.reg.Restrict(b.e.c, name)
	return nil
}

// ErrOwnerAlone: the class of the entity is OwnerAlone.
var ErrOwnerAlone = errors.New("its class is OwnerAlone: nobody else knows of it anyway")

// Of is the group that an entity is kept to, as far as this client knows: of what it drives. "" is everyone.
func (g Groups) Of(o Object) string {
	w := g.w
	w.reads("Groups")
	b := w.bodyOf(o)
	if b == nil || !b.drives {
		return ""
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return b.e.c.Group()
}

// mayKeepTo is called under mu.
func (w *World) mayKeepTo(group string) bool {
	return group == "" || w.reg.InGroup(group) || w.reg.WantsGroup(group)
}

// InGroup keeps the entity to a group of players that this client is in, from before anybody can see it. It is for Spawn.
func InGroup(name string) SpawnOption {
	return func(o *spawnOptions) { o.group = name }
}

// groupNews tells the game what the relay said of groups.
func (w *World) groupNews() {
	w.mu.Lock()
	news := w.reg.GroupNews
	w.reg.GroupNews = nil
	w.mu.Unlock()
	for _, m := range news {
		if m.Reason != 0 {
			w.warn("throng: the relay does not let this client into a group, or out of it", "group", m.Name, "reason", refusedText(m.Reason),
				"remedy", "relay.World.OpenGroups, relay.Config.MayJoin, or Server.SetGroup")
		}
		if w.cfg.OnGroup != nil {
			w.user(func() { w.cfg.OnGroup(w, m.Name, m.In) })
		}
	}
}
