package conformance

import (
	"fmt"
	"time"

	"github.com/throng-dev/throng/internal/wire"
)

// Mode is a kind of world that programs run in.
type Mode struct {
	Name                 string
	Reach, PropertyReach int
	PassThrough          bool // keeps no values: Safety, presence and who drives hold as ever, values are not compared
	Restarts             int  // at most, of the relay
	Handles              int  // bound of the handle space: 1 more than there may be entities makes every spawn reuse one; 0: wide
	Entities             int  // at most, in the world
	Room                 int  // copies a client holds; 0: all
	Budget               int  // bytes a second that an observer is sent; 0: the default
	Rest                 time.Duration
	Decay                uint8 // of motion with distance: wire.Decay…
	Levels               int   // worlds of the relay that clients travel between; 0: one
	Clients              int   // at most; 0: 2 to 5, sometimes up to 16
	// More changes the weight of operations by name: 0 leaves one out.
	More map[string]int
}

var modes = []Mode{
	{Name: "one lane", Reach: 1, PropertyReach: 1},
	{Name: "two lanes", Reach: 2, PropertyReach: 1},
	{Name: "restarts", Reach: 1, PropertyReach: 1, Restarts: 2, More: map[string]int{"restart": 2}},
	{Name: "pass-through", Reach: 1, PropertyReach: 1, PassThrough: true},
	{Name: "hand-overs", Reach: 1, PropertyReach: 1, More: map[string]int{"request": 30, "grant": 15, "override": 20, "stall": 6}},
	{Name: "comings and goings", Reach: 1, PropertyReach: 1, More: map[string]int{"avatar": 15, "leave": 6, "crash": 4, "reconnect": 6, "replace": 4, "cut": 5, "destroy": 8}},
	{Name: "audiences", Reach: 1, PropertyReach: 1, More: map[string]int{"audience": 20, "group": 6}},
	{Name: "travel", Reach: 1, PropertyReach: 1, Levels: 2, Restarts: 1, More: map[string]int{"travel": 12, "restart": 1}},
	{Name: "attached", Reach: 1, PropertyReach: 1, Restarts: 2, More: map[string]int{"attach": 20, "audience": 10, "group": 3, "restart": 1}},
	{Name: "placed", Reach: 1, PropertyReach: 1, More: map[string]int{"respawn": 20, "spawn": 20, "destroy": 15, "leave": 4}},
	{Name: "decay", Reach: 3, PropertyReach: 3, Decay: wire.DecayLinear5},
	{Name: "decay lanes", Reach: 2, PropertyReach: 1, Decay: wire.DecayExponential},
	{Name: "one handle", Reach: 2, PropertyReach: 2, Handles: 5, Entities: 4, Rest: 50 * time.Millisecond, More: map[string]int{"spawn": 25, "destroy": 15}},
	{Name: "tiny budget", Reach: 2, PropertyReach: 2, Budget: 1200},
	{Name: "tiny budget, lanes", Reach: 2, PropertyReach: 1, Budget: 1200},
	{Name: "tiny budget, decay", Reach: 3, PropertyReach: 2, Decay: wire.DecayLinear5, Budget: 1200},
	{Name: "events", Reach: 2, PropertyReach: 2, More: map[string]int{"event": 60, "spawn": 12, "destroy": 8, "reconnect": 3}},
	{Name: "no room", Reach: 2, PropertyReach: 2, Room: 4},
}

// least is the shortest of the long values: as much as nearly fills a record.
const least = 850

// long draws the length of a long value, 0 for one in so many that is short. It takes nothing from the generator's chance, so that programs
// stay what they are.
func (g *generator) long(w *world, oneIn uint64) int {
	r := mix(w.prog.Seed, uint64(w.writes)+1)
	most := uint64(16 << 10)
	if b := w.mode.Budget; b > 0 && b < 16<<10 { // it would take minutes
		most = 2 << 10
	}
	switch {
	case r%oneIn != 0:
		return 0
	case r>>8%4 == 0:
		return least + int(r>>16%200)
	}
	return least + int(r>>16%(most-least+1))
}

// Modes are the kinds of worlds there are.
func Modes() []Mode { return modes }

func modeOf(name string) (Mode, error) {
	for _, m := range modes {
		if m.Name == name {
			return m, nil
		}
	}
	return Mode{}, fmt.Errorf("no mode is called %q", name)
}
