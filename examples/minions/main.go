// Command minions shows why a server must gate what it replicates. One player has a local stand-in of a minion, all others a proxy of
// the server's. Who has both sees the one held up by the other.
//
// It runs a server, the owner and an observer as three processes over loopback, and prints what happened when. -policy gated, the
// default, is right; legacy is how an engine that replicates early and denies late gets it wrong for five seconds; rule-only,
// gate-only, never and direct-owner leave one part out. See docs/guide/minions.md.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/throng-dev/throng"
)

// order is what a player's process is told on its standard input.
type order struct {
	Policy, Addr string
	Owner        bool
	Start        time.Time
	Token        []byte
	Hold, Limit  time.Duration
}

// line is what a process says, one JSON object a line.
type line struct {
	At     time.Duration
	Who    string
	Text   string  `json:",omitempty"`
	Result *result `json:",omitempty"`
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("minions: ")
	name := flag.String("policy", "gated", "gated, legacy, rule-only, gate-only, never or direct-owner")
	hold := flag.Duration("hold", time.Second, "how long the stand-in is watched after it has arrived")
	limit := flag.Duration("limit", 9*time.Second, "how long it may take to arrive")
	asJSON := flag.Bool("json", false, "print one JSON object and nothing else")
	child := flag.Bool("player", false, "be a player's process: for this program itself")
	flag.Parse()
	p, ok := policyOf(*name)
	if !ok {
		log.Fatalf("there is no policy %q", *name)
	}
	var err error
	if *child {
		err = play()
	} else {
		err = run(p, *hold, *limit, *asJSON)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// run is the server's process: it starts the players, plays, and prints what all of them said.
func run(p policy, hold, limit time.Duration, asJSON bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit+hold+20*time.Second)
	defer cancel()
	var mu sync.Mutex
	var said []line
	start := time.Now()
	tell := func(l line) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, l)
	}
	g := newWarden(p, func(f string, a ...any) {
		tell(line{At: time.Since(start), Who: "server", Text: fmt.Sprintf(f, a...)})
	})
	tokens, err := g.open(ctx)
	if err != nil {
		return err
	}
	defer g.server.Close()

	ended := make(chan error, 2)
	results := map[string]*result{}
	for _, who := range []string{"observer", "owner"} {
		o := order{Policy: p.name, Addr: g.addr, Owner: who == "owner", Start: start, Hold: hold, Limit: limit}
		if o.Token, err = tokens(who); err != nil {
			return err
		}
		go func() {
			ended <- child(ctx, o, who, func(l line) {
				if tell(l); l.Result != nil {
					mu.Lock()
					defer mu.Unlock()
					results[who] = l.Result
				}
			})
		}()
	}
	frames := time.NewTicker(time.Second / 30)
	defer frames.Stop()
	for left := 2; left > 0; {
		select {
		case err := <-ended:
			if left--; err != nil {
				return err
			}
		case <-frames.C:
			if err := g.server.Tick(g.step); err != nil {
				return err
			}
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if !asJSON {
		slices.SortStableFunc(said, func(a, b line) int { return int(a.At - b.At) })
		for _, l := range said {
			if l.Text != "" {
				fmt.Printf("%7.3f s  %-8s  %s\n", l.At.Seconds(), l.Who, l.Text)
			}
		}
	}
	return report(p, results["owner"], results["observer"])
}

// report prints the measures, as one JSON object.
func report(p policy, owner, observer *result) error {
	if owner == nil || observer == nil {
		return errors.New("a player ended without a result")
	}
	out := struct {
		Policy    string   `json:"policy"`
		BodiesMax int      `json:"owner_bodies_max"`
		Overlap   float64  `json:"owner_overlap_s"`
		BlockedAt *float64 `json:"blocked_at"`
		Arrival   *float64 `json:"arrival_s"`
		Proxies   int      `json:"observer_proxies"`
		Naming    int64    `json:"owner_messages_naming_actor"`
	}{Policy: p.name, BodiesMax: owner.BodiesMax, Overlap: round(owner.Overlap), BlockedAt: owner.BlockedAt, Proxies: observer.ProxiesMax, Naming: owner.Naming}
	if owner.BlockedAt != nil {
		at := float64(int(*owner.BlockedAt*10+0.5)) / 10
		out.BlockedAt = &at
	}
	if owner.Arrival > 0 {
		s := round(owner.Arrival)
		out.Arrival = &s
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

func round(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }

// child runs a player's process to its end.
func child(ctx context.Context, o order, who string, tell func(line)) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	in, err := json.Marshal(o)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, "-player")
	cmd.Stdin = strings.NewReader(string(in)) // not an argument: it holds a token
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	for s := bufio.NewScanner(out); s.Scan(); {
		var l line
		if json.Unmarshal(s.Bytes(), &l) == nil {
			tell(l)
		}
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("the %s's process: %w", who, err)
	}
	return nil
}

// play is a player's process.
func play() error {
	in, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	var o order
	if err := json.Unmarshal(in, &o); err != nil {
		return err
	}
	p, ok := policyOf(o.Policy)
	if !ok {
		return fmt.Errorf("no policy %q", o.Policy)
	}
	who := map[bool]string{true: "owner", false: "observer"}[o.Owner]
	out := json.NewEncoder(os.Stdout)
	pl := newPlayer(p, o.Owner, func(f string, a ...any) {
		_ = out.Encode(line{At: time.Since(o.Start), Who: who, Text: fmt.Sprintf(f, a...)})
	})
	tap := &wire{Dialer: throng.UDP()}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	w, err := throng.Join(ctx, o.Addr, schema, pl.config(throng.Config{Dialer: tap, Token: o.Token, Logger: quiet}))
	if err != nil {
		return err
	}
	defer w.Close()
	if err := pl.joined(w); err != nil {
		return err
	}
	frames := time.NewTicker(time.Second / 60)
	defer frames.Stop()
	for over := false; !over; <-frames.C {
		var wrong error
		err := w.Tick(func() {
			if pl.asked == 0 && o.Owner && players(w) == 2 {
				pl.ask()
			}
			wrong = pl.step()
			over = pl.over(o.Hold, o.Limit, players(w))
		})
		if err := errors.Join(err, wrong); err != nil {
			return err
		}
	}
	pl.result.Naming = tap.naming.Load()
	return out.Encode(line{At: time.Since(o.Start), Who: who, Result: &pl.result})
}

// players are those in the world, but for the server.
func players(w *throng.World) (n int) {
	for p := range w.Players() {
		if !p.Authority {
			n++
		}
	}
	return n
}
