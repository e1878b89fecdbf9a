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
	if n[other] != 0 || !member.seen[id] {
		t.Fatalf("told %d times, seen %v", n[other], member.seen[id])
	}
	if other.sess.in("closed") || !member.sess.in("red") {
		t.Fatal("MayJoin was not asked")
	}
	// Another's entity, and one that it drives no more.
	other.restricts(id, w.s.At(id).Inc, 0, "")
	w.rounds(3)
	if n[other] != 0 {
		t.Fatal("somebody else changed it")
	}
	// A group that one is not in: refused, with the announcement.
	bad := bid(2, 2)
	other.restricts(bad, 0, 1, "red")
	other.spawnLamp(bad, 0)
	w.rounds(3)
	if w.s.At(bad) != nil || other.refused[bad] != wire.RefusedRights {
		t.Fatalf("refused with %d", other.refused[bad])
	}
	// What is not announced at once is forgotten.
	other.restricts(bid(3, 1), 0, 1, "red")
	other.joins("blue", true)
	other.spawnLamp(bid(3, 1), 0)
	w.rounds(3)
	if !driver.seen[bid(3, 1)] {
		t.Fatal("an old word holds still")
	}
	for i := range 3 * maxGroups {
		other.joins(fmt.Sprint("g", i), true)
	}
	w.rounds(20)
	if len(other.sess.joined) != maxGroups {
		t.Fatalf("it is in %d groups", len(other.sess.joined))
	}
}
