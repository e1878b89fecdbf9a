package throngtest_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// who joins knows what stays destroyed before it is live: Place is an error at once. The host respawns it: all who placed it, or
// tried to, get the next incarnation, once.
func TestR25RespawnAndTheDestroyedList(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var atA, atB, atC, atD diary
		a := n.Join("a", hooks(atA.watch()))
		b := n.Join("b", hooks(atB.watch()))
		everywhere(a, b)
		one, two := full("door"), full("door")
		must(t, a.Place("door", one))
		must(t, b.Place("door", two))
		n.Run(time.Second)
		if err := a.Respawn("door", full("again")); !errors.Is(err, throng.ErrIDHeld) {
			t.Errorf("respawning what lives: %v", err)
		}
		if err := a.Respawn("window", full("again")); !errors.Is(err, throng.ErrNotGone) {
			t.Errorf("respawning what was never destroyed: %v", err)
		}
		must(t, a.Destroy(one))
		n.Run(time.Second)
		c := n.Join("c", hooks(atC.watch()))
		if err := c.Place("door", full("mine")); !errors.Is(err, throng.ErrGone) { // at once, with the join
			t.Fatalf("placing what is destroyed: %v", err)
		}
		d := n.Join("d", hooks(atD.watch())) // it places nothing
		everywhere(c, d)
		if err := b.Respawn("door", full("again")); !errors.Is(err, throng.ErrNotHost) {
			t.Errorf("respawning by another than the host: %v", err)
		}
		n.Run(time.Second)
		again := full("again")
		must(t, a.Respawn("door", again))
		n.Until(2*time.Second, "b and c see it", sees(again, b, c))
		n.Run(2 * time.Second)
		if again.NetID() != throng.StableID("door") || !a.Drives(again) {
			t.Errorf("id %v, driven %v", again.NetID(), a.Drives(again))
		}
		atA.want(t, "spawn door local=true", "destroy door: destroyed local=true", "spawn again local=true")
		atB.want(t, "spawn door local=true", "destroy door: destroyed local=false", "spawn again local=false")
		atC.want(t, "spawn again local=false")
		atD.want(t)
		e := n.Join("e", throng.Config{}) // the list does not name it any more
		everywhere(e)
		mine := full("mine")
		must(t, e.Place("door", mine))
		n.Until(2*time.Second, "e has it", func() bool { return mine.Text == again.Text })
		must(t, a.Destroy(again)) // and again
		n.Until(2*time.Second, "it is gone", gone(again.NetID(), a, b, c, e))
		f := n.Join("f", throng.Config{})
		if err := f.Place("door", full("mine")); !errors.Is(err, throng.ErrGone) {
			t.Errorf("destroyed again: %v", err)
		}
	})
}

// a list of any length comes before the client is live, over a bad path too.
func TestR25LongList(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		const many = 3000
		a := n.Join("a", throng.Config{})
		everywhere(a)
		var placed []*Guarded
		for i := range many {
			g := &Guarded{}
			must(t, a.Place(fmt.Sprint("g", i), g))
			placed = append(placed, g)
			if i%100 == 0 {
				n.Run(200 * time.Millisecond)
			}
		}
		n.Run(3 * time.Second)
		for i, g := range placed {
			must(t, a.Destroy(g))
			if i%100 == 0 {
				n.Run(200 * time.Millisecond)
			}
		}
		n.Run(3 * time.Second)
		b := n.Join("b", throng.Config{})
		for i := range many {
			if err := b.Place(fmt.Sprint("g", i), &Guarded{}); !errors.Is(err, throng.ErrGone) {
				t.Fatalf("%d of %d: %v", i, many, err)
			}
		}
	})
}

// of two first placements the host's wins, whoever came first; a placement after the host has driven gets what there is.
func TestR25FirstPlacementOfTheHostWins(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		everywhere(a, b)
		theirs, mine := full("door"), full("door")
		theirs.Text, mine.Text = "b's", "the host's"
		must(t, b.Place("door", theirs))
		n.Run(time.Second)
		must(t, a.Place("door", mine))
		n.Until(2*time.Second, "b follows the host", func() bool { return theirs.Text == "the host's" })
		n.Run(time.Second)
		if mine.Text != "the host's" || !a.Drives(mine) {
			t.Errorf("the host has %q, drives %v", mine.Text, a.Drives(mine))
		}
		late := n.Join("c", throng.Config{})
		everywhere(late)
		its := full("door")
		its.Text = "late"
		must(t, late.Place("door", its))
		n.Until(2*time.Second, "the late one follows", func() bool { return its.Text == "the host's" })
		if mine.Text != "the host's" {
			t.Errorf("the host has %q", mine.Text)
		}
	})
}
