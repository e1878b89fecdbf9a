// Command lantern is a whole game of two players in two processes.
//
// The first runs the relay and starts the second. When it sees the second one's lantern, it lights its own; when the second
// sees that, it says so and leaves. In a real game the relay runs on a server, as "throng serve" does, and tokens come from
// your backend.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/token"
)

// Lantern is what the players share. Fields with a rep tag are the same for everybody in reach.
type Lantern struct {
	throng.Entity
	Pos throng.Vec2 `rep:"position"`
	Lit bool        `rep:""`
}

// Lanterns is the class: its name is what makes the lanterns of two programs the same kind of thing.
var Lanterns = throng.NewClass[Lantern]("lantern", throng.ClassConfig{})

func main() {
	log.SetFlags(0)
	addr := flag.String("second", "", "be the second player, at the relay with this address")
	flag.Parse()
	var err error
	if *addr == "" {
		err = first()
	} else {
		err = second(*addr)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// first runs the relay, starts the second player, and lights a lantern.
func first() error {
	server, err := relay.New(relay.Config{Key: token.InsecureDevKey()})
	if err != nil {
		return err
	}
	listener, err := server.ListenUDP("127.0.0.1:0")
	if err != nil {
		return err
	}
	go server.Serve(listener)
	defer server.Close()
	addr := listener.Addr().String()

	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel() // the second one ends with us
	other := exec.CommandContext(ctx, self, "-second", addr)
	other.Stdout, other.Stderr = os.Stdout, os.Stderr
	if err := other.Start(); err != nil {
		return err
	}

	seen := false // the other player's lantern
	w, err := join(addr, "first", throng.Hooks[Lantern]{
		OnSpawn: func(_ *throng.World, _ *Lantern, local bool) { seen = seen || !local },
	})
	if err != nil {
		return err
	}
	mine := &Lantern{Pos: throng.Vec2{X: 10, Y: 20}}
	if err := w.Spawn(mine, throng.AsAvatar()); err != nil {
		return err
	}

	var left error
	over := false
	go func() {
		err := other.Wait()
		w.Post(func() { left, over = err, true }) // on the goroutine that ticks
	}()
	err = run(w, func() bool {
		if seen && !mine.Lit {
			fmt.Println("first: I light my lantern")
			mine.Lit = true // that is all: it leaves with this tick
		}
		return over
	})
	return errors.Join(err, left)
}

// second waits until the first player's lantern goes on.
func second(addr string) error {
	lit := false
	look := func(l *Lantern) {
		fmt.Printf("second: the first one's lantern at %v is on: %v\n", l.Pos, l.Lit)
		lit = l.Lit
	}
	w, err := join(addr, "second", throng.Hooks[Lantern]{
		OnSpawn: func(_ *throng.World, l *Lantern, local bool) {
			if !local {
				look(l)
			}
		},
		OnRep: func(l *Lantern, _ throng.Changes) { look(l) },
	})
	if err != nil {
		return err
	}
	if err := w.Spawn(&Lantern{Pos: throng.Vec2{X: 12, Y: 20}}, throng.AsAvatar()); err != nil {
		return err
	}
	return run(w, func() bool { return lit })
}

// join enters the world as the player with a name.
func join(addr, player string, hooks throng.Hooks[Lantern]) (*throng.World, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return throng.Join(ctx, addr, throng.MustSchema(Lanterns), throng.Config{
		World:       "meadow",
		TokenSource: token.DevSource(addr, player),
		Hooks:       []throng.Hook{Lanterns.Bind(hooks)},
	})
}

// run is the game loop: 60 frames a second, until step says that it is over.
func run(w *throng.World, step func() (over bool)) error {
	defer w.Close()
	frames := time.NewTicker(time.Second / 60)
	defer frames.Stop()
	for over := false; !over; <-frames.C {
		if err := w.Tick(func() { over = step() }); err != nil {
			return err
		}
	}
	return nil
}
