package throng_test

import (
	"fmt"

	"github.com/throng-dev/throng"
)

// A console in the game, whose lines come from another goroutine.
func ExampleWorld_SetSwitch() {
	command := func(w *throng.World, name string, on bool) {
		w.Post(func() {
			if err := w.SetSwitch(name, on); err != nil {
				fmt.Println(err)
				return
			}
			for _, s := range w.Switches() {
				fmt.Println(s.Name, s.On)
			}
		})
	}
	_ = command // as in command(w, "trace.state", true)
}
