package throng

import (
	"errors"
	"fmt"

	"github.com/throng-dev/throng/internal/wire"
)

// ErrNotGone: a placed entity was not destroyed.
var ErrNotGone = errors.New("it was not destroyed in this world: Place it")

// Respawn brings a placed entity back that was destroyed: e is its next incarnation, under the same id, driven by the host. Only the
// host may. All who had placed the name, or tried to and were told ErrGone, get a body of it as of any spawn, near or when they come
// near; who has not placed it, gets none.
func (w *World) Respawn(name string, e Object) error {
	defer w.leave(w.enter("Respawn"))
	if !w.isHost() {
		return w.wrap(ErrNotHost, "respawning %q as %T", name, e)
	}
	o := spawnOptions{delay: -1, id: StableID(name), flags: wire.EntityPlaced | wire.EntityHosted | wire.EntityRespawn}
	return w.add(fmt.Sprintf("respawning %q as", name), e, &o)
}
