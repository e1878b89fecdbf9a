package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/throng-dev/throng/internal/load"
	"github.com/throng-dev/throng/token"
)

// loadCommand measures a relay.
type loadCommand struct {
	Scenario string        `arg:"" optional:"" default:"crowd" enum:"crowd,hotspot,churn,idle,handshake" help:"What is played: crowd, hotspot, churn, idle or handshake."`
	Clients  int           `placeholder:"N" help:"How many clients; 0: 500, for hotspot 200, for churn 100, for idle 10000, for handshake 64 at a time."`
	Sink     bool          `help:"Clients that decode and check without game structs, for more than ordinary ones on one core can serve."`
	For      time.Duration `default:"20s" help:"How long is measured."`
	Warm     time.Duration `default:"6s" help:"How long is played before."`
	Floor    bool          `help:"Measure in the same run what the bare datagrams cost."`

	Relay string        `placeholder:"ADDR" help:"A relay that runs already, on this machine; its CPU time and memory stay unknown. It must be served with --chunk 33.333333333333336 --reach 1 --flat."`
	Key   string        `placeholder:"FILE" help:"Its key file; without one, the key of --insecure-dev-key."`
	Flush time.Duration `default:"50ms" help:"How long changes wait at the relay that is started, so that they travel together."`

	Loss   float64       `help:"Share of datagrams that are lost each way, 0 to 0.5."`
	Delay  time.Duration `help:"How long each datagram takes each way, up to 1s."`
	Jitter time.Duration `help:"By how much that varies, up to the delay."`

	PhaseLock  bool   `default:"true" negatable:"" help:"Clients send shortly before the relay flushes."`
	Pin        bool   `default:"true" negatable:"" help:"The relay has CPU 0 to itself and the clients CPU 1, where the system can do that."`
	Seed       uint64 `help:"Of the walks; 0: another one each time."`
	CPUProfile string `name:"cpuprofile" placeholder:"FILE" help:"Write a CPU profile of the relay while it is measured."`
	MemProfile string `name:"memprofile" placeholder:"FILE" help:"Write a profile of the relay's memory when it was measured."`
	Own        string `name:"clients-profile" hidden:"" placeholder:"FILE" help:"The same of the clients."`
	JSON       bool   `name:"json" help:"The last line of standard output is one object with every measure."`
}

// Run plays the scenario, and ends with an error unless all was right and the numbers count.
func (c *loadCommand) Run(ctx context.Context, con console) error {
	o := &load.Options{Scenario: c.Scenario, Clients: c.Clients, Sink: c.Sink, Warm: c.Warm, Window: c.For, Flush: c.Flush, Addr: c.Relay,
		Loss: c.Loss, Delay: c.Delay, Jitter: c.Jitter, NoPhaseLock: !c.PhaseLock, Floor: c.Floor, Pin: c.Pin, Profile: c.CPUProfile, HeapProfile: c.MemProfile, OwnProfile: c.Own,
		Seed: c.Seed, Log: con.err}
	if err := c.check(o); err != nil {
		return err
	}
	report, err := load.Run(ctx, o)
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return errors.New("stopped before the end: nothing was measured")
		}
		return err
	}
	if err := report.Write(con.out); err != nil {
		return err
	}
	if c.JSON {
		if err := json.NewEncoder(con.out).Encode(report); err != nil {
			return err
		}
	}
	return report.Verdict()
}

// check refuses what cannot be played, and fills in what was left out.
func (c *loadCommand) check(o *load.Options) (err error) {
	if o.Clients == 0 {
		o.Clients = map[string]int{"hotspot": 200, "churn": 100, "idle": 10_000, "handshake": 64}[c.Scenario]
		if o.Clients == 0 {
			o.Clients = 500
		}
	}
	if o.Seed == 0 {
		o.Seed = uint64(time.Now().UnixNano())
	}
	switch {
	case o.Clients < 2 || o.Clients > 20_000:
		return fmt.Errorf("--clients %d: between 2 and 20000 fit one process", o.Clients)
	case o.Window < time.Second || o.Window > 5*time.Minute:
		return fmt.Errorf("--for %v: measure for 1s to 5m", o.Window)
	case o.Warm < 0 || o.Warm > 5*time.Minute:
		return fmt.Errorf("--warm %v: warm up for 0s to 5m", o.Warm)
	case o.Loss < 0 || o.Loss > 0.5:
		return fmt.Errorf("--loss %v: it is a share, 0 to 0.5", o.Loss)
	case o.Delay < 0 || o.Delay > time.Second || o.Jitter < 0 || o.Jitter > o.Delay:
		return fmt.Errorf("--delay %v --jitter %v: use 0s to 1s, and a jitter up to the delay", o.Delay, o.Jitter)
	case c.Key != "" && c.Relay == "":
		return errors.New("--key is for --relay: a relay that is started gets a key of its own")
	case c.Relay != "" && (c.CPUProfile != "" || c.MemProfile != ""):
		return errors.New("--cpuprofile and --memprofile are for a relay that is started here: leave --relay out")
	}
	if c.Relay != "" {
		if err := loopbackOnly("--relay", c.Relay); err != nil {
			return err
		}
	}
	o.Key = token.InsecureDevKey()
	if c.Key != "" {
		o.Key, err = readKey(c.Key)
	}
	return err
}

// loadChildCommand is the relay's process of loadCommand.
type loadChildCommand struct{}

// Run obeys what comes on standard input, until it ends.
func (c *loadChildCommand) Run(ctx context.Context, con console) error {
	return load.Child(ctx, os.Stdin, con.out, con.err)
}
