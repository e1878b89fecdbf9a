package shard

import (
	"fmt"
	"testing"

	"github.com/throng-dev/throng/internal/wire"
)

func (c *seat) joins(group string, in bool) {
	m := wire.Group{In: in, Name: group}
	c.say(m.Append(nil, wire.MsgGroup))
}

func (c *seat) restricts(id wire.ID, inc wire.Count, nonce uint32, group string) {
	c.say(wire.AppendEntity(nil, wire.MsgRestrict, &wire.Entity{ID: id, Inc: inc, Nonce: nonce, Group: group}))
}

// A group that comes before the announcement holds from the first moment; who is not in it may not announce for it; what is announced
// for nobody is not kept.
func TestR31RestrictBeforeTheSpawn(t *testing.T) {
	w, id := lamps(t, Config{SessionEntities: 8, MayJoin: func(_ wire.PlayerID, g string) bool { return g != "closed" }}, 3)
	driver, other, member := w.seats[0], w.seats[1], w.seats[2]
	n := w.names(id)
	driver.joins("red", true)
	member.joins("red", true)
	other.joins("closed", true)
	driver.restricts(id, 0, 1, "red")
	driver.spawnLamp(id, 0)
	w.rounds(5)
	if n[other] != 0 || !member.seen[id] || len(driver.sess.foretold) != 0 {
		t.Fatalf("told %d times, seen %v, kept %d", n[other], member.seen[id], len(driver.sess.foretold))
	}
	if other.sess.in("closed") || !member.sess.in("red") {
		t.Fatal("MayJoin was not asked")
	}
	// Another's entity, and one that it drives no more.
	other.restricts(id, w.s.At(id).Inc, 0, "")
	w.rounds(3)
	if n[other] != 0 || len(other.sess.foretold) != 0 {
		t.Fatal("somebody else changed it")
	}
	// A group that one is not in: refused, with the announcement.
	bad := bid(2, 2)
	other.restricts(bad, 0, 1, "red")
	other.spawnLamp(bad, 0)
	w.rounds(3)
	if w.s.At(bad) != nil || other.refused[bad] != wire.RefusedRights || len(other.sess.foretold) != 0 {
		t.Fatalf("refused with %d", other.refused[bad])
	}
	// A million words about what never comes.
	for i := range 1000 {
		other.restricts(bid(3, i), 0, 1, "x")
		if i%50 == 0 {
			w.round()
		}
	}
	w.rounds(20)
	if len(other.sess.foretold) > 8 {
		t.Fatalf("%d are kept", len(other.sess.foretold))
	}
	for i := range 3 * maxGroups {
		other.joins(fmt.Sprint("g", i), true)
	}
	w.rounds(20)
	if len(other.sess.joined) != maxGroups {
		t.Fatalf("it is in %d groups", len(other.sess.joined))
	}
}
