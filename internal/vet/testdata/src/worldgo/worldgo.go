// Package worldgo uses worlds in goroutines.
package worldgo

import (
	"sync"
	"time"

	"github.com/throng-dev/throng"
	"golang.org/x/sync/errgroup"
)

type Lamp struct {
	throng.Entity
	Lit bool `rep:""`
}

type game struct{ w *throng.World }

func bad(w *throng.World, l *Lamp, g *game, load func()) {
	go func() {
		load()
		w.Spawn(l) // want `w is used in another goroutine: a World belongs to the goroutine that calls its Tick, use Post from others`
	}()
	go w.Close()     // want `w is used in another goroutine`
	go g.w.Tick(nil) // want `g.w is used in another goroutine`
	go func() {
		g.w.Spawn(l) // want `g.w is used in another goroutine`
		save(w)      // want `w is used in another goroutine`
	}()
	go save(w)                                 // want `w is given to a goroutine that does not call its Tick`
	go func(w *throng.World) { w.Spawn(l) }(w) // want `w is given to a goroutine that does not call its Tick`
	go elsewhere(w)                            // want `w is given to a goroutine: a World belongs`
	var wg sync.WaitGroup
	wg.Go(func() {
		w.Spawn(l) // want `w is used in another goroutine`
	})
	var eg errgroup.Group
	eg.Go(func() error {
		return w.Spawn(l) // want `w is used in another goroutine`
	})
	time.AfterFunc(time.Second, func() {
		w.Spawn(l) // want `w is used in another goroutine`
	})
}

var elsewhere func(*throng.World)

func save(w *throng.World) { w.Find(throng.NetID{}) }

func loop(w *throng.World) {
	for w.Tick(nil) == nil {
	}
}

func posted(w *throng.World) { w.Post(func() {}) }

// Post is for this, and what it runs may use the world.
func fine(w *throng.World, l *Lamp, g *game, load func()) {
	go func() {
		load()
		w.Post(func() { w.Spawn(l) })
		g.w.Post(func() { g.w.Spawn(l) })
	}()
	go w.Post(load)
	go posted(w)
	time.AfterFunc(time.Second, func() { w.Post(load) })
	for range []int{1, 2} {
		go func() {
			w, _ := throng.Join()
			w.Tick(func() { w.Spawn(l) })
			_ = game{w: w}
		}()
	}
	w.Spawn(l)
}

// A goroutine that ticks owns the world.
func handedOver(l *Lamp) {
	w, _ := throng.Join()
	w.Spawn(l)
	go loop(w)
	w.Post(func() { w.Spawn(l) })
}

func handedOverInPlace(l *Lamp, done chan bool) {
	var w *throng.World
	go func() { w, _ = throng.Join(); close(done) }()
	<-done
	go func() {
		w.Tick(func() { w.Spawn(l) })
		close(done)
	}()
	<-done
	w.Close()
}

func shared(l *Lamp) {
	w, _ := throng.Join()
	go loop(w)
	w.Spawn(l) // want `w is used after a goroutine began that calls its Tick: a World belongs to that goroutine, use Post from others`
}

func sharedInPlace(l *Lamp) {
	w, _ := throng.Join()
	go func() { w.Tick(nil) }()
	w.Spawn(l) // want `w is used after a goroutine began that calls its Tick`
}
