package relay

import (
	"errors"
	"fmt"

	"github.com/throng-dev/throng/internal/wire"
)

// WorldName names a world: a level, for one realm.
type WorldName struct {
	Realm [16]byte
	Level string
}

// ErrNoWorld is returned for a world that does not exist: nobody is in it, nor was lately.
var ErrNoWorld = errors.New("throng: there is no such world: it begins with the first player who enters")

// SetGroup puts a player into a group of players of a world, or takes it out. The player need not be there; it holds as long as the world
// exists, through reconnects, and the client cannot undo it. What is kept to a group is sent to nobody else.
func (s *Server) SetGroup(w WorldName, player [16]byte, group string, in bool) error {
	var fail error
	err := s.Do(func() {
		switch w := s.loop.byKey[worldKey{w.Realm, w.Level}]; {
		case w == nil:
			fail = ErrNoWorld
		case !w.shard.SetGroup(player, group, in):
			fail = fmt.Errorf("throng: putting a player into group %.40q: use a name of 1 to %d bytes, and at most 64 groups for each player", group, wire.MaxName)
		}
	})
	if err == nil {
		err = fail
	}
	return err
}

// mayJoin is what a world asks of its configuration.
func (r *loop) mayJoin(key worldKey, w World) func(wire.PlayerID, string) bool {
	f := r.cfg.MayJoin
	switch {
	case w.OpenGroups:
		return func(wire.PlayerID, string) bool { return true }
	case f == nil:
		return nil
	}
	return func(p wire.PlayerID, group string) bool { return f(WorldName{key.realm, key.level}, p, group) }
}
