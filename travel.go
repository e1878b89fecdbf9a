package throng

import (
	"fmt"
	"unicode/utf8"

	"github.com/throng-dev/throng/internal/wire"
)

// Travel, on the game's goroutine:
//
//	Travel ─► OnState Traveling ─► this Tick's last diff ─► registry.Travel ─┬► Arrived: OnDestroy(Traveled) of all, OnHost, OnState Live
//	                                                                         └► refused: OnState Live with the reason

// Travel leaves this world for another one of the same realm, on the same connection. It starts: Config.OnState tells Traveling now, and
// Live when this client is there, or, with an error, when the relay refused and it is where it was. Until then the entities stay, nothing
// new can be spawned, and what is written does not leave; what was written in the Tick of the call still does. In the Tick of the
// arrival every entity of the old world gets OnDestroy with Traveled, before OnHost and OnState; then the world is as after Join.
//
// Nothing comes along by itself: an avatar, and what else the game needs, is spawned anew, in OnState for example. What the player
// owned in the old world is treated as if its session had ended: it leaves, goes to the host or is kept, see [OwnerGone].
// Viewpoints stay as they are set. Seniority belongs to the realm, so that the host of a party is host wherever the party goes.
//
// A connection that is lost on the way is made again, to the old world first. Before Live, and while another Travel is under way,
// Travel is an error.
func (w *World) Travel(world string) error {
	defer w.leave(w.enter("Travel"))
	switch {
	case world == "" || len(world) > wire.MaxName || !utf8.ValidString(world):
		return fmt.Errorf("throng: traveling to %.40q, which is no name of a level: use 1 to %d bytes of text", world, wire.MaxName)
	case w.phase == Closed:
		return w.wrap(ErrClosed, "traveling to %q", world)
	case w.phase != Live || w.travelTo != "":
		return w.wrap(ErrNotLive, "traveling to %q", world)
	}
	w.travelTo = world
	w.state(Traveling, nil)
	return nil
}

// depart sends the last changes to the world that is left, and asks for the other. A connection that was made again asks anew.
func (w *World) depart() {
	if w.travelTo == "" || w.phase != Live && w.phase != Traveling {
		return
	}
	w.mu.Lock()
	asked := w.reg.Traveling() || w.reg.Arrived || w.reg.TravelRefused != nil || w.conn == nil
	w.mu.Unlock()
	if asked {
		return
	}
	now := w.now()
	w.diff(now)
	w.send(now, true)
	w.mu.Lock()
	w.reg.Travel(w.travelTo)
	w.mu.Unlock()
	if w.phase == Live {
		w.state(Traveling, nil)
	}
}

// arrived ends the world before, if the relay let this client into another, and reports whether it did.
func (w *World) arrived() bool {
	w.mu.Lock()
	there, no := w.reg.Arrived, w.reg.TravelRefused
	w.reg.Arrived, w.reg.TravelRefused = false, nil
	for _, c := range w.reg.Departed {
		w.applyCopy(c)
	}
	w.reg.Departed = nil
	w.mu.Unlock()
	if no != nil {
		to := w.travelTo
		w.travelTo = ""
		err := refusal(w.addr, no.Code, no.Text)
		err.World = to
		w.state(Live, err)
	}
	if there {
		w.travelTo = ""
		w.happen()
		w.blindly = false
	}
	return there
}
