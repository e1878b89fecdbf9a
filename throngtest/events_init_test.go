package throngtest_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

type Chest struct {
	throng.Entity
	Items  []string                     `rep:"init"`
	Prices map[string]int32             `rep:"init"`
	Owners map[throng.PlayerID]struct{} `rep:"init"`
	Grid   [2][2]uint8                  `rep:"init"`
	Open   bool                         `rep:""`
}

var (
	Chests = throng.NewClass[Chest]("chest", throng.ClassConfig{})
	Attic  = throng.MustSchema(Chests)
)

// TestB013InitFieldsHoldAnything: an init field holds what an event may, for those who are there and those who come later; it is too large at the
// spawn, where something can be done about it.
func TestB013InitFieldsHoldAnything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := throngtest.New(t, Attic)
		a, b := n.Join("a", hooks()), n.Join("b", hooks())
		chest := &Chest{Items: []string{"rope", "", "lamp"}, Prices: map[string]int32{"rope": 3, "lamp": 7},
			Owners: map[throng.PlayerID]struct{}{throngtest.Player("a"): {}}, Grid: [2][2]uint8{{1, 2}, {3, 4}}}
		must(t, a.Spawn(chest))
		look := func(w *throng.World) func() bool {
			return func() bool {
				c := find[Chest](w, chest.NetID())
				return c != nil && fmt.Sprint(c.Items, c.Prices, c.Owners, c.Grid, c.Open) == fmt.Sprint(chest.Items, chest.Prices, chest.Owners, chest.Grid, chest.Open)
			}
		}
		n.Until(time.Second, "b has it", look(b))
		chest.Open = true
		n.Until(time.Second, "b sees it open", look(b))
		late := n.Join("late", hooks())
		n.Until(time.Second, "who comes late has it", look(late))
		if err := a.Spawn(&Chest{Items: []string{string(make([]byte, 2000))}}); err == nil {
			t.Error("2,000 bytes were taken")
		}
	})
}
