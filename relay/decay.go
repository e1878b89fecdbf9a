package relay

import "github.com/throng-dev/throng/internal/wire"

// Decay says how much of the motion of an entity reaches those who are farther away. What they get of a moving entity is less often
// new; all else arrives as ever, and so does the last value of an entity that stops.
//
// At a share of a half an observer gets motion every 200 ms at most, at a quarter every 400 ms, down to a sixteenth.
type Decay uint8

// The decays.
const (
	DecayNone        Decay = wire.DecayNone        // all of it, everywhere
	DecayExponential Decay = wire.DecayExponential // half as much with each chunk of distance from the second on
	DecayLinear50    Decay = wire.DecayLinear50    // falling evenly to a half at the edge of the reach
	DecayLinear25    Decay = wire.DecayLinear25    // to a quarter
	DecayLinear10    Decay = wire.DecayLinear10    // to a tenth
	DecayLinear5     Decay = wire.DecayLinear5     // to a twentieth
)
