// Package throngtest runs clients with a relay in memory for tests.
//
//	func TestLantern(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) {
//			n := throngtest.New(t, game.Schema)
//			a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
//			b.SetViewpoints(throng.Vec3{}) // without an avatar or a viewpoint it sees nothing that has a position
//			lantern := &game.Lantern{Lit: true}
//			if err := a.Spawn(lantern); err != nil {
//				t.Fatal(err)
//			}
//			n.Until(time.Second, "b sees the lantern", func() bool {
//				o, ok := b.Find(lantern.NetID())
//				return ok && o.(*game.Lantern).Lit
//			})
//		})
//	}
//
// Inside testing/synctest time is virtual: an hour of play takes seconds. The network between the clients is real in all
// that matters: packets are lost, late and doubled as Shape says. The relay is package relay itself.
package throngtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/internal/memnet"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/token"
	"github.com/throng-dev/throng/transport"
)

// Link says how one direction of a client's path treats datagrams: latency, jitter, loss in bursts or single, doubles,
// reordering, rate. The zero value is perfect.
type Link = memnet.Link

// Burst is loss that comes in runs.
type Burst = memnet.Burst

// Links of common paths, for one direction.
var (
	LAN       = memnet.LAN
	WiFi      = memnet.WiFi
	Mobile    = memnet.Mobile
	BurstLoss = memnet.BurstLoss
)

// Frame is how far Run and Until let time pass between two ticks of the clients, unless SetFrame says otherwise: 60 frames
// a second.
const Frame = time.Second / 60

const addr = "relay"

// Net is a relay, the clients of a test and the network between them. It belongs to the goroutine of the test.
type Net struct {
	t      testing.TB
	schema *throng.Schema
	cfg    relay.Config
	net    *memnet.Network
	server *relay.Server
	done   chan struct{}
	worlds []*client
	joined []*throng.World // all that ever did: they are closed in the end
	names  map[string]bool // of all that ever joined: cut off or not
	frames time.Duration
	log    *logBuffer
}

type client struct {
	w    *throng.World
	name string
	step func()
	tick func(step func()) error
}

// Option changes the relay of a Net. Any function of its Config is one; World makes the usual.
type Option func(*relay.Config)

// World sets the profile of every level.
func World(w relay.World) Option { return func(c *relay.Config) { c.Default = w } }

// New starts a relay. It ends with the test, which must run inside synctest.Test.
func New(t testing.TB, s *throng.Schema, opts ...Option) *Net {
	t.Helper()
	if !inBubble() {
		t.Fatal("throng: throngtest.New outside of a bubble, where time is real and nothing waits for anything: call it within synctest.Test(t, func(t *testing.T) { … })")
	}
	n := &Net{t: t, schema: s, net: memnet.New(1), names: map[string]bool{}, frames: Frame, log: &logBuffer{}}
	n.cfg = relay.Config{Settle: -1, Key: token.InsecureDevKey(), Logger: n.Logger("relay")}
	for _, o := range opts {
		o(&n.cfg)
	}
	n.start()
	t.Cleanup(func() {
		for _, w := range n.joined {
			w.Close()
		}
		n.stop()
		if t.Failed() {
			t.Log(n.log.String())
		}
	})
	return n
}

// inBubble reports whether the caller runs inside synctest.Test.
func inBubble() (is bool) {
	if time.Now().Year() < 2020 {
		return true // a bubble's clock begins in 2000
	}
	defer func() { is = recover() == nil }()
	synctest.Wait() // panics outside of one
	return true
}

func (n *Net) start() {
	n.t.Helper()
	l, err := n.net.Listen(addr)
	if err != nil {
		n.t.Fatal(err)
	}
	if n.server, err = relay.New(n.cfg); err != nil {
		n.t.Fatal(err)
	}
	n.done = make(chan struct{})
	go func() {
		defer close(n.done)
		if err := n.server.Serve(l); err != nil {
			n.t.Error(err)
		}
	}()
}

func (n *Net) stop() {
	n.server.Close()
	<-n.done
}

// Server is the relay.
func (n *Net) Server() *relay.Server { return n.server }

// Restart ends the relay and starts a new one, which knows nothing: clients come back by themselves.
func (n *Net) Restart() {
	n.stop()
	n.start()
}

// Crash ends the relay as if its process had been killed, and starts a new one, which knows nothing. Nobody is told: clients find out
// by its silence.
func (n *Net) Crash() {
	for name := range n.names {
		n.net.Partition(name, true)
	}
	n.Restart()
	for name, cut := range n.names {
		n.net.Partition(name, cut)
	}
}

// Logger writes to a log that is shown if the test fails.
func (n *Net) Logger(who string) *slog.Logger {
	return slog.New(slog.NewTextHandler(n.log, &slog.HandlerOptions{Level: slog.LevelInfo})).With("who", who)
}

// Addr is what throng.Join dials to reach the relay.
func (n *Net) Addr() string { return addr }

// Dialer is the carrier of a player of that name, for tests that look at what it carries: wrap it, and give that to Join.
func (n *Net) Dialer(name string) transport.Dialer { return n.net.Dialer(name) }

// Player is the id that a player of that name has.
func Player(name string) throng.PlayerID {
	id := sha256.Sum256([]byte(name))
	return throng.PlayerIDFrom([16]byte(id[:16]))
}

// Authority is a source of tokens with the authority right, for a trusted server of that name: a throng.Config's TokenSource.
func Authority(name string) func(context.Context) ([]byte, error) {
	return func(context.Context) ([]byte, error) {
		c := token.Claims{Player: Player(name).Bytes(), Rights: token.Authority, Issued: time.Now()}
		return append(c.Append(nil), 1), nil // the last byte stands for the relay's authority key
	}
}

// Config completes cfg with what leads to this Net, where cfg says nothing: the carrier, a source of tokens for a player
// of that name, a logger.
func (n *Net) Config(name string, cfg throng.Config) throng.Config {
	if cfg.Dialer == nil {
		cfg.Dialer = n.net.Dialer(name)
	}
	if cfg.TokenSource == nil {
		cfg.TokenSource = func(context.Context) ([]byte, error) {
			c := token.Claims{Player: Player(name).Bytes(), Rights: token.Player | token.HostEligible, Issued: time.Now()}
			return c.Append(nil), nil
		}
	}
	if cfg.World == "" {
		cfg.World = "test"
	}
	if cfg.Logger == nil {
		cfg.Logger = n.Logger(name)
	}
	return cfg
}

// Join lets a player in, and fails the test if that does not work. Run and Until tick its World from then on.
func (n *Net) Join(name string, cfg throng.Config) *throng.World {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), 30*time.Second)
	defer cancel()
	w, err := throng.Join(ctx, addr, n.schema, n.Config(name, cfg))
	if err != nil {
		n.t.Fatalf("%s: %v", name, err)
	}
	n.Add(name, w)
	return w
}

// Add makes Run and Until tick a World that the test has joined by itself, with the Config of that name.
func (n *Net) Add(name string, w *throng.World) {
	n.AddTick(name, w, w.Tick)
}

// AddTick is Add for a World that is ticked by what stands around it, such as the Tick of an authority.Server.
func (n *Net) AddTick(name string, w *throng.World, tick func(step func()) error) {
	n.worlds = append(n.worlds, &client{w: w, name: name, tick: tick})
	n.joined = append(n.joined, w)
	n.names[name] = n.names[name]
}

// Leave closes a player's World: it says goodbye. Run and Until do not tick it any more.
func (n *Net) Leave(w *throng.World) {
	w.Close()
	n.Forget(w)
}

// Forget stops ticking a World, as if its program hung. It is closed when the test ends.
func (n *Net) Forget(w *throng.World) {
	for i, c := range n.worlds {
		if c.w == w {
			n.worlds = append(n.worlds[:i], n.worlds[i+1:]...)
			return
		}
	}
}

// Step sets what runs in every tick of a World.
func (n *Net) Step(w *throng.World, step func()) { n.client(w).step = step }

// Shape sets how a player's packets travel, from it and to it.
func (n *Net) Shape(w *throng.World, up, down Link) { n.net.Shape(n.client(w).name, up, down) }

// Partition cuts a player off, or ends that.
func (n *Net) Partition(w *throng.World, cut bool) {
	name := n.client(w).name
	n.names[name] = cut
	n.net.Partition(name, cut)
}

func (n *Net) client(w *throng.World) *client {
	n.t.Helper()
	for _, c := range n.worlds {
		if c.w == w {
			return c
		}
	}
	n.t.Fatal("throngtest: that World did not join by this Net, or has left")
	return nil
}

// SetFrame changes how far time passes between two ticks. Tests that play for hours use fewer frames.
func (n *Net) SetFrame(d time.Duration) { n.frames = d }

// Run lets d pass, with a tick of every World each frame.
func (n *Net) Run(d time.Duration) {
	n.t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		n.frame()
	}
}

// Until ticks until cond holds, and fails the test if it does not within limit.
func (n *Net) Until(limit time.Duration, what string, cond func() bool) {
	n.t.Helper()
	for end := time.Now().Add(limit); !cond(); {
		if !time.Now().Before(end) {
			n.t.Fatalf("not within %v: %s", limit, what)
		}
		n.frame()
	}
}

func (n *Net) frame() {
	n.t.Helper()
	time.Sleep(n.frames)
	for _, c := range n.worlds {
		if err := c.tick(c.step); err != nil {
			n.t.Fatalf("%s: %v", c.name, err)
		}
	}
}

// logBuffer keeps the last lines.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.b.Len() > 1<<20 {
		l.b.Reset()
	}
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
