package minion

import (
	"errors"
	"time"

	"github.com/throng-dev/throng"
)

// The messages as events of throng. All are reliable but hints: what one authority sends to one player arrives in order.
var (
	requests   = throng.NewEvent[Request]("throng.minion.request", throng.EventConfig{Reliable: true})
	syncs      = throng.NewEvent[Sync]("throng.minion.sync", throng.EventConfig{Reliable: true})
	closes     = throng.NewEvent[Close]("throng.minion.close", throng.EventConfig{Reliable: true})
	states     = throng.NewEvent[State]("throng.minion.state", throng.EventConfig{Reliable: true})
	grants     = throng.NewEvent[Grant]("throng.minion.grant", throng.EventConfig{Reliable: true})
	revokes    = throng.NewEvent[Revoke]("throng.minion.revoke", throng.EventConfig{Reliable: true})
	happenings = throng.NewEvent[Event]("throng.minion.event", throng.EventConfig{Reliable: true})
	formations = throng.NewEvent[Formation]("throng.minion.formation", throng.EventConfig{Reliable: true})
	hints      = throng.NewEvent[Hint]("throng.minion.hint", throng.EventConfig{})
)

// Items are the events of this package. A game gives them to its schema, on all sides.
func Items() []throng.Item {
	return []throng.Item{requests, syncs, closes, states, grants, revokes, happenings, formations, hints}
}

// Hooks are for the client's throng.Config: what an authority sends reaches the crew that get returns, if it is there yet. now is the clock
// that Crew.Tick is told.
func Hooks(get func() *Crew, now func() time.Duration) []throng.Hook {
	return []throng.Hook{
		heard(states, get, now), heard(grants, get, now), heard(revokes, get, now), heard(happenings, get, now),
		heard(formations, get, now), heard(hints, get, now),
	}
}

func heard[M any](e *throng.Event[M], get func() *Crew, now func() time.Duration) throng.Hook {
	return e.Handle(func(i throng.EventInfo, m M) {
		if c := get(); i.FromAuthority && c != nil {
			c.Receive(now(), m)
		}
	})
}

// passing is nil for what will be otherwise in a while: no authority is there, or the connection is down or full.
func passing(err error) error {
	if errors.Is(err, throng.ErrNoAuthority) || errors.Is(err, throng.ErrNotLive) || errors.Is(err, throng.ErrBackpressure) {
		return nil
	}
	return err
}

// Send sends what the crew has to say. Call it each tick, within the World's step. What cannot be sent now is sent with a later tick.
func (c *Crew) Send(w *throng.World) error {
	for i, m := range c.out {
		var err error
		switch m := m.(type) {
		case Request:
			err = requests.ToAuthority(w, m)
		case Sync:
			err = syncs.ToAuthority(w, m)
		}
		if err != nil {
			c.out = append(c.out[:0], c.out[i:]...) // with the next tick
			return passing(err)
		}
	}
	c.out = c.out[:0]
	for _, m := range c.guard.take() {
		if err := closes.ToAuthority(w, m); err != nil {
			return passing(err)
		}
	}
	return nil
}

// BookHooks are for the authority's throng.Config: what players ask for goes through the book that get returns. granted is called for a
// key that is to be granted: it spawns the actor and calls Book.Grant, or Book.Revoke. closed is called when a client refused a
// body; nil: nothing to do.
func BookHooks(get func() *Book, now func() time.Duration, granted func(k Key, r Request), closed func(from throng.PlayerID, m Close)) []throng.Hook {
	return []throng.Hook{
		requests.Handle(func(i throng.EventInfo, r Request) {
			b := get()
			if b == nil || i.From.IsZero() {
				return
			}
			if k, err := b.Request(now(), i.From, r); err == nil {
				granted(k, r)
			}
		}),
		syncs.Handle(func(i throng.EventInfo, _ Sync) {
			if b := get(); b != nil && !i.From.IsZero() {
				b.Sync(now(), i.From)
			}
		}),
		closes.Handle(func(i throng.EventInfo, m Close) {
			if closed != nil {
				closed(i.From, m)
			}
		}),
	}
}

// Send sends what the book has to say. Call it each tick, within the World's step. What a player cannot be sent now is sent with a later
// tick, in order, and keeps nothing from others; who has left gets a State on return. The error is the first.
func (b *Book) Send(w *throng.World) (first error) {
	var waits map[throng.PlayerID]bool
	out := b.out
	b.out = b.out[:0]
	for _, o := range out {
		if waits[o.To] {
			b.out = append(b.out, o)
			continue
		}
		err := sendTo(w, o)
		if p := b.players[o.To]; err == nil || p == nil || !p.present {
			continue
		}
		if waits == nil {
			waits, first = map[throng.PlayerID]bool{}, err
		}
		waits[o.To] = true
		b.out = append(b.out, o)
	}
	return first
}

func sendTo(w *throng.World, o Outgoing) error {
	switch m := o.Msg.(type) {
	case State:
		return states.ToPlayer(w, o.To, m)
	case Grant:
		return grants.ToPlayer(w, o.To, m)
	case Revoke:
		return revokes.ToPlayer(w, o.To, m)
	case Event:
		return happenings.ToPlayer(w, o.To, m)
	case Formation:
		return formations.ToPlayer(w, o.To, m)
	case Hint:
		_ = hints.ToPlayer(w, o.To, m) // another follows
	}
	return nil
}
