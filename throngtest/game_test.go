package throngtest_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
	"github.com/throng-dev/throng/token"
	"github.com/throng-dev/throng/transport"
)

// The game that the tests of this package play: a Thing has a slot of every kind, the other classes differ in policy.

type Colour uint8

type Glow struct {
	Colour   Colour
	Strength float32
}

type Thing struct {
	throng.Entity
	Pos    throng.Vec2     `rep:"position"`
	Lit    bool            `rep:""`
	Glow   Glow            `rep:""`
	Text   string          `rep:""`
	Big    int64           `rep:""`
	Wait   time.Duration   `rep:""`
	Other  throng.NetID    `rep:""`
	Holder throng.PlayerID `rep:""`
	Beat   int32           `rep:"heartbeat"`
	Push   int32           `rep:"manual"`
	Pulse  int32           `rep:"manual,heartbeat"`
	Fuel   float32         `rep:"owner"`
	Secret string          `rep:"owner"`
	Name   string          `rep:"init"`
	Maker  throng.PlayerID `rep:"init"`
	local  int             // not replicated
}

// state is what others must see of t: all but what is the owner's alone.
func (t *Thing) state() string {
	return fmt.Sprint(t.Pos, t.Lit, t.Glow, t.Text, t.Big, t.Wait, t.Other, t.Holder, t.Beat, t.Push, t.Pulse, t.Name, t.Maker)
}

type Guarded struct {
	throng.Entity
	N int32 `rep:""`
}

type Told struct {
	throng.Entity
	N int32 `rep:""`
	M int32 `rep:""`
}

type Shared struct {
	throng.Entity
	N int32 `rep:""`
}

type Ghost struct {
	throng.Entity
	N int32 `rep:""`
}

type Kept struct {
	throng.Entity
	N int32 `rep:""`
}

var (
	Things   = throng.NewClass[Thing]("thing", throng.ClassConfig{})
	Guardeds = throng.NewClass[Guarded]("guarded", throng.ClassConfig{HostOverride: throng.OwnerOnly})
	Tolds    = throng.NewClass[Told]("told", throng.ClassConfig{NotifyDriver: true})
	Shareds  = throng.NewClass[Shared]("shared", throng.ClassConfig{AutoDiffHosted: true, OnOwnerGone: throng.ToHost})
	Ghosts   = throng.NewClass[Ghost]("ghost", throng.ClassConfig{DestroyDelay: time.Second})
	Kepts    = throng.NewClass[Kept]("kept", throng.ClassConfig{OnOwnerGone: throng.Keep(10 * time.Second)})
	Game     = throng.MustSchema(Things, Guardeds, Tolds, Shareds, Ghosts, Kepts)
)

// full is a Thing with a value in every slot.
func full(name string) *Thing {
	return &Thing{Pos: throng.Vec2{X: 10, Y: -20}, Lit: true, Glow: Glow{3, 0.5}, Text: "text", Big: -1 << 40, Wait: time.Minute,
		Other: throng.StableID("other"), Holder: throngtest.Player("holder"), Beat: 7, Push: 8, Pulse: 9, Fuel: 0.25, Secret: "secret",
		Name: name, Maker: throngtest.Player("maker")}
}

// diary notes what hooks were told, one line each.
type diary struct{ lines []string }

func (d *diary) note(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *diary) count(prefix string) (n int) {
	for _, l := range d.lines {
		if strings.HasPrefix(l, prefix) {
			n++
		}
	}
	return n
}

func (d *diary) want(t *testing.T, lines ...string) {
	t.Helper()
	if !slices.Equal(d.lines, lines) {
		t.Errorf("the hooks were told\n\t%s\nwant\n\t%s", strings.Join(d.lines, "\n\t"), strings.Join(lines, "\n\t"))
	}
}

func (d *diary) clear() { d.lines = nil }

// watch notes all that happens to Things.
func (d *diary) watch() throng.Hook { return watch(d, Things, func(t *Thing) string { return t.Name }) }

func watch[T any](d *diary, c *throng.Class[T], name func(*T) string) throng.Hook {
	return c.Bind(throng.Hooks[T]{
		OnSpawn: func(w *throng.World, e *T, local bool) { d.note("spawn %s local=%v", name(e), local) },
		OnRep:   func(e *T, c throng.Changes) { d.note("rep %s: %v", name(e), c) },
		OnOwner: func(w *throng.World, e *T, was throng.PlayerID) { d.note("owner %s", name(e)) },
		OnDestroy: func(w *throng.World, e *T, dep throng.Departure) {
			d.note("destroy %s: %v local=%v", name(e), dep.Why, dep.Local)
		},
	})
}

func hooks(h ...throng.Hook) throng.Config { return throng.Config{Hooks: h} }

// everywhere lets a client see what is near the origin.
func everywhere(ws ...*throng.World) {
	for _, w := range ws {
		w.SetViewpoints(throng.Vec3{})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// find returns the copy of an entity in a world.
func find[T any](w *throng.World, id throng.NetID) *T {
	o, ok := w.Find(id)
	if !ok {
		return nil
	}
	return any(o).(*T)
}

// sees reports that all worlds hold what t is now.
func sees(t *Thing, ws ...*throng.World) func() bool {
	return func() bool {
		for _, w := range ws {
			if c := find[Thing](w, t.NetID()); c == nil || c.state() != t.state() {
				return false
			}
		}
		return true
	}
}

// gone reports that no world holds the entity.
func gone(id throng.NetID, ws ...*throng.World) func() bool {
	return func() bool {
		for _, w := range ws {
			if _, ok := w.Find(id); ok {
				return false
			}
		}
		return true
	}
}

// drivers counts the worlds that drive an entity.
func drivers(id throng.NetID, ws ...*throng.World) (n int) {
	for _, w := range ws {
		if o, ok := w.Find(id); ok && w.Drives(o) {
			n++
		}
	}
	return n
}

// tap is a carrier that shows what it carries.
type tap struct {
	transport.Dialer
	mu       sync.Mutex
	up, down [][]byte // payloads
	fail     error    // of the next dials
	dials    int
}

type tapped struct {
	transport.Conn
	t *tap
}

func (t *tap) Dial(ctx context.Context, addr string, token []byte) (transport.Conn, error) {
	t.mu.Lock()
	t.dials++
	err := t.fail
	t.mu.Unlock()
	if err != nil {
		return nil, err
	}
	c, err := t.Dialer.Dial(ctx, addr, token)
	if err != nil {
		return nil, err
	}
	return &tapped{c, t}, nil
}

func (c *tapped) Send(bufs [][]byte) error {
	c.t.mu.Lock()
	for _, b := range bufs {
		c.t.up = append(c.t.up, slices.Clone(b[transport.Headroom:]))
	}
	c.t.mu.Unlock()
	return c.Conn.Send(bufs)
}

func (c *tapped) Receive(deadline time.Time, f func([]byte)) error {
	return c.Conn.Receive(deadline, func(payload []byte) {
		c.t.mu.Lock()
		c.t.down = append(c.t.down, slices.Clone(payload))
		c.t.mu.Unlock()
		f(payload)
	})
}

// sent returns the payloads sent since the last call.
func (t *tap) sent() [][]byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := t.up
	t.up = nil
	return out
}

// carried reports whether text came down since the start.
func (t *tap) carried(text string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, b := range t.down {
		if strings.Contains(string(b), text) {
			return true
		}
	}
	return false
}

// logbook keeps the lines of a logger.
type logbook struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logbook) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func (l *logbook) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), text)
}

// play runs a test in virtual time.
func play(t *testing.T, f func(t *testing.T, n *throngtest.Net), opts ...throngtest.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, throngtest.New(t, Game, opts...)) })
}

// guest is a token source of a player that may not become host.
func guest(name string) func(context.Context) ([]byte, error) { return tokens(name, token.Player) }

func tokens(name string, rights token.Rights) func(context.Context) ([]byte, error) {
	return func(context.Context) ([]byte, error) {
		return token.Claims{Player: throngtest.Player(name).Bytes(), Rights: rights, Issued: time.Now()}.Append(nil), nil
	}
}

func (l *logbook) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
