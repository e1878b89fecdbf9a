package minion

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng"
)

func player(n byte) throng.PlayerID { return throng.PlayerIDFrom([16]byte{15: n}) }

var ann, bob = player(1), player(2)

func at(x float64) Pose { return Pose{At: throng.Vec3Quantize10{X: x}} }

// client is a crew with the bodies it made.
type client struct {
	*Crew
	bodies map[Key]Pose
	log    []string
	moved  []string
}

func newClient(p throng.PlayerID) *client {
	c := &client{bodies: map[Key]Pose{}}
	c.Crew = NewCrew(p, 0, CrewConfig{
		Make: func(k Key, kind uint32, p Pose) { c.bodies[k] = p; c.say("make %d.%d", k.Seq%FirstUnasked, k.Gen) },
		Drop: func(k Key, why Reason, text string) { delete(c.bodies, k); c.say("drop %v %s", why, text) },
		Renamed: func(old, now Key) {
			c.bodies[now] = c.bodies[old]
			delete(c.bodies, old)
			c.say("granted %d.%d", now.Seq%FirstUnasked, now.Gen)
		},
		Told:    func(k Key, what uint16, health float32) { c.say("told %d %v", what, health) },
		Placed:  func(k Key, slot uint16, point throng.Vec3Quantize10) { c.say("placed %d %v", slot, point.X) },
		Pose:    func(k Key) Pose { return c.bodies[k] },
		Correct: func(k Key, p Pose, soft bool) { c.bodies[k] = p; c.moved = append(c.moved, fmt.Sprint(p.At.X, soft)) },
		Radius:  34,
	})
	return c
}

func (c *client) say(format string, args ...any) {
	c.log = append(c.log, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

func (c *client) said(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(c.log, want) {
		t.Errorf("the crew said %q, want %q", c.log, want)
	}
	c.log = nil
}

// deliver carries everything between a book and crews at once, granting what is asked.
func deliver(now time.Duration, b *Book, crews ...*client) {
	for again := true; again; {
		again = false
		for _, c := range crews {
			for _, m := range c.Out() {
				again = true
				switch r := m.(type) {
				case Sync:
					b.Sync(now, c.self)
				case Request:
					if k, err := b.Request(now, c.self, r); err == nil {
						_ = b.Grant(k, throng.NewID(), r.Pose, 100)
					}
				}
			}
		}
		for _, o := range b.Out() {
			again = true
			for _, c := range crews {
				if c.self == o.To {
					c.Receive(now, o.Msg)
				}
			}
		}
	}
}

func TestB114RequestMakesADummyAtOnceAndTheGrantNamesIt(t *testing.T) {
	b, c := NewBook(BookConfig{}), newClient(ann)
	b.Present(ann, true)
	k := c.Request(0, 7, at(5))
	c.said(t, "make 1.0")
	deliver(0, b, c)
	c.said(t, "granted 1.1")
	k = c.Keys()[0]
	g := b.Find(k)
	if g == nil || g.Kind != 7 || g.Actor.IsZero() || !c.Has(k) || c.bodies[k] != at(5) {
		t.Fatalf("granted %+v, the crew has %v", g, c.Keys())
	}
	// V48: what happens to the actor reaches the owner by the key.
	b.Tell(k, 3, 40)
	b.Assign(k, 2, throng.Vec3Quantize10{X: 9})
	deliver(0, b, c)
	c.said(t, "told 3 40", "placed 2 9")
	// V46: the actor's end is the dummy's.
	if !b.Revoke(k, Died, "") || b.Revoke(k, Died, "") {
		t.Error("a grant ends once")
	}
	deliver(0, b, c)
	c.said(t, "drop died")
	if len(c.bodies) != 0 || len(b.Grants(ann)) != 0 {
		t.Error("something is left")
	}
}

func TestB114GrantsUnaskedMakeADummyOnArrival(t *testing.T) {
	b, c := NewBook(BookConfig{}), newClient(ann)
	b.Present(ann, true)
	k := b.Reserve(ann, 7)
	if k.Asked() {
		t.Error("a key of the authority looks like one of the client")
	}
	if err := b.Grant(k, throng.NewID(), at(5), 100); err != nil {
		t.Fatal(err)
	}
	deliver(0, b, c)
	c.said(t, "make 1.1")
	if err := b.Grant(Key{Player: ann, Seq: 9, Gen: 1}, throng.NewID(), at(5), 100); err == nil {
		t.Error("granted what nobody asked for")
	}
}

// V33, V22: grants are state. A player that loads, or comes back with a program that knows nothing, gets all of them.
func TestB114GrantsAreSentAgainOnJoin(t *testing.T) {
	b := NewBook(BookConfig{})
	early := b.Reserve(ann, 7)
	if err := b.Grant(early, throng.NewID(), at(5), 100); err != nil {
		t.Fatal(err)
	}
	if out := b.Out(); len(out) != 0 {
		t.Fatalf("sent to a player who is not there: %v", out)
	}
	c := newClient(ann)
	b.Present(ann, true)
	deliver(0, b, c)
	c.said(t, "make 1.1")

	asked := c.Request(0, 8, at(6))
	deliver(0, b, c)
	c.said(t, "make 1.0", "granted 1.1")
	b.Present(ann, false)
	b.Tell(early, 1, 50)
	b.Revoke(early, Died, "")
	// The same program comes back: what ended meanwhile goes, what it asked for while away is asked for again.
	lost := c.Request(0, 9, at(7))
	c.Out()
	b.Present(ann, true)
	deliver(0, b, c)
	c.said(t, "make 2.0", "drop forgotten", "granted 2.1")
	// Another program of the same player: no number is used twice.
	d := newClient(ann)
	b.Present(ann, true)
	deliver(0, b, d)
	d.said(t, "make 1.1", "make 2.1")
	if k := d.Request(0, 1, at(1)); k.Seq <= lost.Seq || k.Seq <= asked.Seq {
		t.Errorf("number %d was used before", k.Seq)
	}
}

func TestB114RefusalsAndLimits(t *testing.T) {
	b := NewBook(BookConfig{PerPlayer: 3, Rate: 1, Burst: 7, Validate: func(_ throng.PlayerID, r Request) error {
		if r.Kind == 13 {
			return errors.New("not in this season")
		}
		return nil
	}})
	b.Present(ann, true)
	c := newClient(ann)
	deliver(0, b, c)
	c.Request(0, 13, at(0)) // V47
	deliver(0, b, c)
	c.said(t, "make 1.0", "drop refused not in this season")
	for range 4 {
		c.Request(0, 1, at(0))
	}
	deliver(0, b, c)
	if n := len(b.Grants(ann)); n != 3 || len(c.bodies) != 3 {
		t.Errorf("%d granted, %d bodies, 3 are allowed", n, len(c.bodies))
	}
	c.log = nil
	b.Revoke(b.Grants(ann)[0], Ended, "")
	for range 3 { // one token is left, of seven
		c.Request(0, 1, at(0))
	}
	deliver(0, b, c)
	if n := b.Stats().Limited; n != 3 {
		t.Errorf("%d requests were limited, want 3: %q", n, c.log)
	}
	if last := c.log[len(c.log)-1]; last != "drop too fast" {
		t.Errorf("V53: the last request: %q", last)
	}
	// Bad input.
	for name, r := range map[string]Request{
		"no number": {}, "a number of the authority": {Seq: FirstUnasked + 1}, "a pose that is none": {Seq: 99, Pose: Pose{At: throng.Vec3Quantize10{X: 1 / zero}}},
	} {
		if _, err := b.Request(time.Hour, ann, r); err == nil {
			t.Errorf("accepted %s", name)
		}
	}
	if _, err := b.Request(time.Hour, throng.PlayerID{}, Request{Seq: 1}); err == nil {
		t.Error("accepted a request of nobody")
	}
	if b.Stats().Invalid != 4 {
		t.Errorf("%+v", b.Stats())
	}
}

var zero float64

// V52: a number that is used again, or a message that comes late, resurrects nothing.
func TestB114StaleMessagesChangeNothing(t *testing.T) {
	c := newClient(ann)
	g := Grant{Key: Key{Player: ann, Seq: FirstUnasked + 1, Gen: 3}, Version: 1, Kind: 1}
	c.Receive(0, Revoke{Key: g.Key}) // overtook its grant
	c.Receive(0, g)
	c.said(t)
	g.Key.Gen = 2
	c.Receive(0, g)
	c.said(t)
	g.Key.Gen = 4
	c.Receive(0, g)
	c.Receive(0, g)
	c.said(t, "make 1.4")
	c.Receive(0, Revoke{Key: Key{Player: ann, Seq: FirstUnasked + 1, Gen: 3}})
	c.Receive(0, Event{Key: g.Key, Version: 5, Health: 5})
	c.Receive(0, Event{Key: g.Key, Version: 4, Health: 4})
	c.Receive(0, Event{Key: g.Key, Version: 5, Health: 5})
	c.said(t, "told 0 5")
	// What names another player is not ours, whoever sent it.
	for _, m := range []any{Grant{Key: Key{Player: bob, Seq: 1, Gen: 1}}, Revoke{Key: Key{Player: bob, Seq: 1, Gen: 1}}, Event{Key: Key{Player: bob, Seq: 1, Gen: 1}, Version: 9}} {
		c.Receive(0, m)
	}
	c.said(t)
	if c.Stats().Foreign != 3 {
		t.Errorf("%+v", c.Stats())
	}
	// A book: the request of a minion that ended.
	b := NewBook(BookConfig{})
	b.Present(ann, true)
	k, err := b.Request(0, ann, Request{Seq: 1})
	if err != nil {
		t.Fatal(err)
	}
	b.Revoke(k, Ended, "")
	if _, err := b.Request(0, ann, Request{Seq: 1}); err == nil || b.Stats().Stale != 1 {
		t.Errorf("a number was granted twice: %v", err)
	}
}

func TestB114UnansweredRequestsEnd(t *testing.T) {
	c := newClient(ann)
	c.Request(0, 1, at(0))
	c.Tick(AnswerWithin)
	c.said(t, "make 1.0")
	c.Tick(AnswerWithin + 1)
	c.said(t, "drop no answer")
}

// V49: beyond two radii for a second the dummy is corrected on its way, beyond ten at once.
func TestB114DriftIsBounded(t *testing.T) {
	b, c := NewBook(BookConfig{}), newClient(ann)
	b.Present(ann, true)
	k := b.Reserve(ann, 1)
	if err := b.Grant(k, throng.NewID(), at(0), 1); err != nil {
		t.Fatal(err)
	}
	deliver(0, b, c)
	step := func(from, to time.Duration, dummy, actor float64) {
		for now := from; now < to; now += 50 * time.Millisecond {
			c.bodies[k] = at(dummy)
			b.Place(now, k, at(actor))
			deliver(now, b, c)
			c.Tick(now)
		}
	}
	step(0, 5*time.Second, 68, 0)
	if len(c.moved) != 0 {
		t.Errorf("corrected within two radii: %v", c.moved)
	}
	step(5*time.Second, 5900*time.Millisecond, 69, 0)
	if len(c.moved) != 0 {
		t.Errorf("corrected before a second was over: %v", c.moved)
	}
	step(5900*time.Millisecond, 6100*time.Millisecond, 69, 0)
	if fmt.Sprint(c.moved) != "[0 true]" {
		t.Errorf("after a second: %v", c.moved)
	}
	c.moved = nil
	step(7*time.Second, 7050*time.Millisecond, 341, 0)
	if fmt.Sprint(c.moved) != "[0 false]" {
		t.Errorf("beyond ten radii: %v", c.moved)
	}
	if n := countHints(b, k); n < 12 || n > 16 {
		t.Errorf("%d hints in 7 s, want two a second", n)
	}
}

func countHints(b *Book, k Key) uint32 { return b.Find(k).Version - 1 }

// V55: whatever the server sends, one body stands for a key.
func TestB114GuardRefusesASecondBody(t *testing.T) {
	c := newClient(ann)
	g := c.Guard()
	var refused []throng.NetID
	g.Refuse = func(_ Key, id throng.NetID) { refused = append(refused, id) }
	id := func(n byte) throng.NetID { return throng.NetIDFrom([16]byte{n}) }
	k := c.Request(0, 1, at(0))
	k.Gen = 1
	if g.Admit(k, id(1)) || !g.Refused(id(1)) || g.Bodies(k) != 1 || g.Suppressed != 1 {
		t.Error("the owner has a dummy and a proxy")
	}
	other := Key{Player: bob, Seq: 5, Gen: 2}
	if !g.Admit(other, id(2)) || !g.Admit(other, id(2)) {
		t.Error("another player's minion is refused")
	}
	if g.Admit(Key{Player: bob, Seq: 5, Gen: 1}, id(3)) || g.Bodies(other) != 1 {
		t.Error("an older generation is admitted beside a newer")
	}
	if !g.Admit(Key{Player: bob, Seq: 5, Gen: 3}, id(4)) || g.Bodies(other) != 1 || !g.Refused(id(2)) {
		t.Error("a newer generation does not replace an older")
	}
	if fmt.Sprint(refused) != fmt.Sprint([]throng.NetID{id(1), id(3), id(2)}) {
		t.Errorf("refused %v", refused)
	}
	var closes []throng.NetID
	for _, m := range c.Out() {
		if m, ok := m.(Close); ok {
			closes = append(closes, m.Body)
		}
	}
	if fmt.Sprint(closes) != fmt.Sprint(refused) {
		t.Errorf("asked to close %v", closes)
	}
	g.Gone(k, id(1))
	g.Gone(Key{Player: bob, Seq: 5, Gen: 3}, id(4))
	if g.Refused(id(1)) || g.Bodies(other) != 0 {
		t.Error("what is gone is remembered")
	}
}

// V25: a change of owner shows one body in every frame, on both sides.
func TestB116GivenAwayShowsOneBodyInEveryFrame(t *testing.T) {
	b, a, c := NewBook(BookConfig{}), newClient(ann), newClient(bob)
	b.Present(ann, true)
	b.Present(bob, true)
	body := throng.NewID()
	k := b.Reserve(ann, 1)
	if err := b.Grant(k, body, at(0), 1); err != nil {
		t.Fatal(err)
	}
	deliver(0, b, a, c)
	c.Guard().Admit(k, body) // bob's proxy
	next, err := b.Give(k, bob)
	if err != nil {
		t.Fatal(err)
	}
	deliver(0, b, a, c)
	// Bob: the dummy stands, the proxy is hidden with the same call, and leaves later.
	if len(c.bodies) != 1 || !c.Guard().Refused(body) {
		t.Errorf("bob has %d dummies, his proxy is refused: %v", len(c.bodies), c.Guard().Refused(body))
	}
	c.Guard().Gone(k, body)
	// Ann: the dummy stands until the proxy does.
	if len(a.bodies) != 1 {
		t.Error("ann has no body between")
	}
	a.Tick(SwapWithin / 2)
	if !a.Guard().Admit(next, body) || len(a.bodies) != 0 {
		t.Errorf("ann has her proxy and %d dummies", len(a.bodies))
	}
	// If the proxy never comes, the dummy goes.
	back, err := b.Give(next, ann)
	if err != nil {
		t.Fatal(err)
	}
	a.Guard().Gone(next, body)
	deliver(time.Second, b, a, c)
	if len(c.bodies) != 1 || len(a.bodies) != 1 || !a.Has(back) {
		t.Errorf("given back: ann has %v, bob %v", a.bodies, c.bodies)
	}
	c.Tick(time.Second + SwapWithin)
	if len(c.bodies) != 0 {
		t.Error("bob's dummy waits for ever")
	}
	if same, err := b.Give(back, ann); err != nil || same != back {
		t.Errorf("given to who has it: %v, %v", same, err)
	}
	if _, err := b.Give(k, bob); err == nil {
		t.Error("gave what ended")
	}
}

func ExampleCrew() {
	self := player(1)
	crew := NewCrew(self, 0, CrewConfig{
		Make: func(k Key, kind uint32, p Pose) { fmt.Println("a dummy of kind", kind, "stands at", p.At.X) },
		Drop: func(k Key, why Reason, text string) { fmt.Println("it goes:", why) },
	})
	book := NewBook(BookConfig{})
	book.Present(self, true)
	crew.Request(0, 3, at(12)) // the dummy is there, before any message

	// The authority's tick: spawn an actor for each key, keep it from the owner, grant.
	for _, m := range crew.Out() {
		if r, ok := m.(Request); ok {
			if key, err := book.Request(0, self, r); err == nil {
				_ = book.Grant(key, throng.NewID(), r.Pose, 100)
			}
		}
	}
	book.Revoke(book.Grants(self)[0], Died, "")
	for _, o := range book.Out() {
		crew.Receive(0, o.Msg)
	}
	// Output:
	// a dummy of kind 3 stands at 12
	// it goes: died
}

// V34: who travels leaves its stand-ins; who lost the connection asks for what there is.
func TestV34TravelAndResync(t *testing.T) {
	b, c := NewBook(BookConfig{}), newClient(ann)
	b.Present(ann, true)
	k := b.Reserve(ann, 1)
	if err := b.Grant(k, throng.NewID(), at(0), 1); err != nil {
		t.Fatal(err)
	}
	deliver(0, b, c)
	c.Travel()
	c.said(t, "make 1.1", "drop ended")
	c.Resync() // back again, in a world that still grants it
	deliver(0, b, c)
	c.said(t, "make 1.1")
	b.Revoke(k, Died, "")
	b.Out() // lost with the connection
	c.Resync()
	deliver(0, b, c)
	c.said(t, "drop forgotten")
}
