package throng

import (
	"errors"
	"fmt"

	"github.com/throng-dev/throng/internal/wire"
)

// Why an entity could not be registered (B-056). At a call they are wrapped in its error; when only the relay knows, the struct leaves again
// and they are in the [Departure].
var (
	// ErrInvalidID: no entity can have that id.
	ErrInvalidID = errors.New("the zero id names nothing: leave WithID out for a random one, or use NewID or StableID")
	// ErrInvalid: the relay could not make anything of what was announced.
	ErrInvalid = errors.New("the relay takes its id, class, values or place for malformed")
	// ErrLimit: the player has as many entities in the world as it may, or the world is full.
	ErrLimit = errors.New("the player or the world has as many entities as it may: destroy some, or raise relay.World.SessionEntities or MaxEntities")
	// ErrRights: this client may not.
	ErrRights = errors.New("this client may not: its token, or the group it is not in, does not allow it")
)

// registerError is the error for a reason of the relay; nil for none.
func registerError(r uint8) error {
	switch r {
	case 0:
		return nil
	case wire.RefusedIDHeld:
		return ErrIDHeld
	case wire.RefusedInvalid:
		return ErrInvalid
	case wire.RefusedDead:
		return ErrGone
	case wire.RefusedLimit:
		return ErrLimit
	case wire.RefusedNoHost:
		return ErrNoHost
	case wire.RefusedRights:
		return ErrRights
	case wire.RefusedNotDriver:
		return ErrNotDriver
	}
	return fmt.Errorf("the relay refused it: %s", refusedText(r))
}
