package throngtest_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// Coffer holds more than fits a record.
type Coffer struct {
	throng.Entity
	Open    bool   `rep:""`
	Content string `rep:""`
	Diary   string `rep:"owner"`
}

// a value that does not fit a record reaches everybody, whole, with one OnRep: those who are there, those who come later, the owner
// alone if it is the owner's, the next driver, and the relay that starts anew; the last of many wins.
func TestR06LargeValues(t *testing.T) {
	chests := throng.NewClass[Coffer]("chest", throng.ClassConfig{AutoGrant: true})
	type rep struct {
		who string
		n   int
	}
	for _, link := range []throngtest.Link{throngtest.LAN, throngtest.Mobile} {
		synctest.Test(t, func(t *testing.T) {
			n := throngtest.New(t, throng.MustSchema(chests))
			var reps []rep
			join := func(name string) *throng.World {
				w := n.Join(name, throng.Config{Hooks: []throng.Hook{chests.Bind(throng.Hooks[Coffer]{OnRep: func(c *Coffer, what throng.Changes) {
					if what.Has(&c.Content) {
						reps = append(reps, rep{name, len(c.Content)})
					}
				}})}})
				n.Shape(w, link, link)
				return w
			}
			a, b := join("a"), join("b")
			c := &Coffer{Content: strings.Repeat("coal ", 600), Diary: strings.Repeat("dear diary ", 300)}
			must(t, a.Spawn(c))
			at := func(w *throng.World) *Coffer { return find[Coffer](w, c.NetID()) }
			n.Until(2*time.Second, "b sees the chest", func() bool { return at(b) != nil })
			n.Until(5*time.Second, "b sees what it holds", func() bool { return at(b).Content == c.Content })
			n.Run(time.Second)
			if want := []rep{{"b", 3000}}; len(reps) > 0 && !slices.Equal(reps, want) { // none: it came before b's game looked
				t.Errorf("told %v, want %v", reps, want)
			}
			if at(b).Diary != "" {
				t.Error("an owner's value reached somebody else")
			}
			late := join("late")
			n.Until(5*time.Second, "who comes later sees it too", func() bool { return at(late) != nil && at(late).Content == c.Content })

			for i := range 40 { // more than the path carries: the last one arrives
				c.Content = strings.Repeat("gem", 5000+i)
				n.Run(20 * time.Millisecond)
			}
			n.Until(10*time.Second, "both have the last", func() bool { return at(b).Content == c.Content && at(late).Content == c.Content })
			for i, r := range reps {
				if r.n == 0 || i > 0 && r.who == reps[i-1].who && r.n < reps[i-1].n && r.n > 3000 {
					t.Errorf("a value that is older after one that is newer: %v", reps)
				}
			}
			c.Content = "nothing"
			n.Until(3*time.Second, "small again", func() bool { return at(b).Content == "nothing" && at(late).Content == "nothing" })

			c.Content = strings.Repeat("silver ", 2000)
			b.RequestOwnership(at(b))
			n.Until(5*time.Second, "b drives", func() bool { return b.Drives(at(b)) })
			if at(b).Content != strings.Repeat("silver ", 2000) || len(at(b).Diary) != 3300 {
				t.Errorf("the next driver has %d bytes, and %d of the owner's", len(at(b).Content), len(at(b).Diary))
			}
			at(b).Content = strings.Repeat("gold ", 3000)
			n.Until(5*time.Second, "the first follows", func() bool { return c.Content == at(b).Content && c.Diary == "" })
		})
	}
}

// A value above the bound of its class stays where it was made, is reported once, and all else goes on.
func TestR06ClassMaxValue(t *testing.T) {
	chests := throng.NewClass[Coffer]("chest", throng.ClassConfig{MaxValue: 2000})
	synctest.Test(t, func(t *testing.T) {
		n := throngtest.New(t, throng.MustSchema(chests))
		var log logbook
		a, b := n.Join("a", throng.Config{Logger: log.logger()}), n.Join("b", throng.Config{})
		if err := a.Spawn(&Coffer{Content: strings.Repeat("x", 2001)}); err == nil || !strings.Contains(err.Error(), "at most 2000 bytes") {
			t.Errorf("Spawn: %v", err)
		}
		c := &Coffer{Content: strings.Repeat("x", 2000)}
		must(t, a.Spawn(c))
		at := func() *Coffer { return find[Coffer](b, c.NetID()) }
		n.Until(2*time.Second, "b has it", func() bool { return at() != nil && at().Content == c.Content })
		c.Content += "!"
		c.Open = true
		n.Until(time.Second, "the other field", func() bool { return at().Open })
		n.Run(3 * time.Second)
		if got := log.count("level=WARN"); got != 1 || len(at().Content) != 2000 {
			t.Errorf("%d lines, b has %d bytes", got, len(at().Content))
		}
	})
}
