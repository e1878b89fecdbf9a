package throngtest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// B-056: the same entity again is fine: a call that names the id the struct has, and stands for, changes nothing and says nothing. All else is
// refused: a struct is one entity, and what is another's is not mine for being spawned.
func TestB056TheSameEntityAgain(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var atA, atB diary
		a, b := n.Join("a", hooks(atA.watch(), watch(&atA, Ghosts, func(*Ghost) string { return "ghost" }))), n.Join("b", hooks(atB.watch()))
		everywhere(a, b)
		id := throng.StableID("named")
		named, avatar, door, plain := full("named"), full("avatar"), full("door"), full("plain")
		for range 3 {
			must(t, a.Spawn(named, throng.WithID(id)))
			must(t, a.Spawn(avatar, throng.AsAvatar()))
			must(t, a.Place("door", door))
			n.Run(time.Second)
		}
		must(t, a.Spawn(plain))
		atA.want(t, "spawn named local=true", "spawn avatar local=true", "spawn door local=true", "spawn plain local=true")
		n.Until(time.Second, "b sees them", sees(plain, b))
		if len(atB.lines) != 3 || atB.count("spawn") != 3 {
			t.Errorf("b was told %q", atB.lines)
		}

		ghost, theirs := &Ghost{}, find[Thing](b, id)
		must(t, a.Spawn(ghost, throng.WithID(throng.StableID("ghost"))))
		must(t, a.Destroy(ghost)) // its body stands for a second
		for what, err := range map[string]error{
			"without a name":    a.Spawn(plain),
			"under another id":  a.Spawn(named, throng.WithID(throng.StableID("other"))),
			"under another way": a.Place("named", named),
			"as avatar":         a.Spawn(named, throng.AsAvatar()),
			"placed elsewhere":  a.Place("gate", door),
			"another's":         b.Spawn(theirs, throng.WithID(id)),
			"destroyed":         a.Spawn(ghost, throng.WithID(throng.StableID("ghost"))),
			"respawned":         a.Respawn("door", door),
		} {
			if !errors.Is(err, throng.ErrSpawned) {
				t.Errorf("%s: %v, want %v", what, err, throng.ErrSpawned)
			}
		}
		a.Close()
		if err := a.Spawn(named, throng.WithID(id)); err == nil {
			t.Error("a closed world takes it")
		}
	})
}
