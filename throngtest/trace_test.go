package throngtest_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/internal/trace"
	"github.com/throng-dev/throng/throngtest"
	"github.com/throng-dev/throng/token"
)

// capture is what a World traced.
type capture struct {
	t  *testing.T
	mu sync.Mutex
	b  bytes.Buffer
	tr *throng.Tracer
}

func newCapture(t *testing.T, groups ...throng.TraceGroup) *capture {
	c := &capture{t: t}
	c.tr = throng.NewTracer(c, groups...)
	return c
}

func everything(t *testing.T) *capture {
	return newCapture(t, throng.TraceEntity, throng.TraceState, throng.TraceEvent, throng.TraceNet)
}

func (c *capture) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.Write(b)
}

func (c *capture) bytes() []byte {
	must(c.t, c.tr.Flush())
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.b.Bytes())
}

// count counts the events that f holds for.
func (c *capture) count(f func(e *trace.Event) bool) (n int) {
	r, err := trace.NewReader(bytes.NewReader(c.bytes()))
	must(c.t, err)
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return n
		}
		must(c.t, err)
		if f(&e) {
			n++
		}
	}
}

func (c *capture) summary() trace.Summary {
	r, err := trace.NewReader(bytes.NewReader(c.bytes()))
	must(c.t, err)
	s, err := trace.Summarize(r)
	must(c.t, err)
	return s
}

// secrets collects what must be in no capture.
type secrets struct {
	mu  sync.Mutex
	all map[string][]byte
}

func (s *secrets) add(what string, b []byte) {
	s.mu.Lock()
	s.all[fmt.Sprintf("%s %d", what, len(s.all))] = bytes.Clone(b)
	s.mu.Unlock()
}

// found names what a text holds, in any of the usual forms.
func (s *secrets) found(text []byte) (all []string) {
	for what, b := range s.all {
		for form, p := range map[string][]byte{
			"raw": b, "hex": []byte(hex.EncodeToString(b)), "capital hex": []byte(strings.ToUpper(hex.EncodeToString(b))),
			// Inside a longer text the first bytes stand at any of three places, and the last ones are mixed with what follows.
			"base64": []byte(base64.RawStdEncoding.EncodeToString(b[:len(b)/3*3])), "base64 url": []byte(base64.RawURLEncoding.EncodeToString(b[:len(b)/3*3])),
			"base64 + 1": []byte(base64.RawStdEncoding.EncodeToString(b[1 : 1+(len(b)-1)/3*3])), "base64 + 2": []byte(base64.RawStdEncoding.EncodeToString(b[2 : 2+(len(b)-2)/3*3])),
			"quoted": []byte(fmt.Sprintf("%q", b))[1:],
		} {
			if len(p) > 0 && bytes.Contains(text, p) {
				all = append(all, what+" "+form)
			}
		}
	}
	return all
}

// certificates finds, in what came down, those that the relay gave for an entity: they stand behind its owner.
func (s *secrets) certificates(payloads [][]byte, id throng.NetID, owner throng.PlayerID) {
	entity, player := id.Bytes(), owner.Bytes()
	for _, b := range payloads {
		for {
			i := bytes.Index(b, entity[:])
			if i < 0 {
				break
			}
			b = b[i+16:]
			if j := bytes.Index(b[:min(len(b), 64)], player[:]); j >= 0 && len(b) > j+17 && (b[j+16] == 16 || b[j+16] == 32) {
				if n := int(b[j+16]); len(b) >= j+17+n {
					s.add("certificate", b[j+17:j+17+n])
				}
			}
		}
	}
}

// A capture can be given away: a whole session, with all groups on, holds neither a token nor a certificate (B-120).
func TestTraceHoldsNoSecrets(t *testing.T) {
	hidden := &secrets{all: map[string][]byte{}}
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := everything(t), everything(t)
		log := &logbook{}
		wire := &tap{Dialer: n.Dialer("a")}
		joinA := throng.Config{Tracer: a.tr, Dialer: wire, TokenSource: func(context.Context) ([]byte, error) {
			c := token.Claims{Player: throngtest.Player("a").Bytes(), Rights: token.Player | token.HostEligible, Issued: time.Now()}
			tok := c.Append(nil)
			rand.Read(tok[len(tok)-64:]) // a reader of claims ignores what stands behind them
			hidden.add("token", tok)
			hidden.add("end of a token", tok[len(tok)-64:])
			return tok, nil
		}}
		wa := n.Join("a", joinA)
		wb := n.Join("b", throng.Config{Tracer: throng.NewLogTracer(log.logger(), throng.TraceEntity, throng.TraceState, throng.TraceNet)})
		wc := n.Join("c", throng.Config{Tracer: b.tr})
		everywhere(wa, wb, wc)
		thing := full("x")
		must(t, wa.Spawn(thing))
		n.Until(time.Second, "all see it", sees(thing, wb, wc))
		thing.Text, thing.Secret = "changed", "game-secret-value"
		n.Until(time.Second, "all see it change", sees(thing, wb, wc))
		n.Partition(wa, true)
		n.Run(20 * time.Second)
		thing.Text = "while away"
		n.Partition(wa, false)
		n.Until(30*time.Second, "it is back", sees(thing, wb, wc))
		n.Restart()
		thing.Text = "after the restart"
		n.Until(40*time.Second, "all are back", sees(thing, wb, wc))
		id := thing.NetID()
		must(t, wa.Destroy(thing))
		n.Until(5*time.Second, "it is gone", gone(id, wa, wb, wc))

		wire.mu.Lock()
		hidden.certificates(wire.down, id, wa.Self())
		wire.mu.Unlock()
		certs := 0
		for what := range hidden.all {
			if strings.HasPrefix(what, "certificate") {
				certs++
			}
		}
		if certs == 0 || len(hidden.all) < 5 {
			t.Fatalf("%d certificates among %d secrets: this test proves nothing", certs, len(hidden.all))
		}
		hidden.add("value", []byte("game-secret-value"))
		for name, text := range map[string][]byte{"a": a.bytes(), "c": b.bytes(), "log of b": []byte(log.text())} {
			if len(text) < 5_000 || !bytes.Contains(text, []byte(id.String())) {
				t.Errorf("the capture of %s has %d bytes", name, len(text))
			}
			if found := hidden.found(text); len(found) > 0 {
				t.Errorf("the capture of %s holds: %v", name, found)
			}
		}
		for what, min := range map[string]int{trace.Join: 3, trace.Welcome: 3, trace.Phase: 3, trace.Spawn: 1, trace.Bind: 3, trace.Repeat: 2, trace.Destroy: 1, trace.Register: 1,
			trace.Unregister: 1, trace.Packet: 50, trace.Host: 1, trace.Player: 3, trace.View: 1, trace.Loss: 1} {
			if got := a.count(func(e *trace.Event) bool { return e.What == what }); got < min {
				t.Errorf("%d lines %q, want %d or more", got, what, min)
			}
		}
		if got := b.count(func(e *trace.Event) bool { return e.What == trace.Departure && e.ID == id.Bytes() }); got < 1 {
			t.Error("c was told of no departure")
		}
	})
	if !contains(hidden.found([]byte("x"+hex.EncodeToString(hidden.all["token 0"])+"y")), "token 0 hex") ||
		!contains(hidden.found([]byte(base64.StdEncoding.EncodeToString(append([]byte("x"), hidden.all["token 0"]...)))), "token 0 base64") {
		t.Error("the search finds nothing: this test proves nothing")
	}
}

func contains(all []string, start string) bool {
	for _, s := range all {
		if strings.HasPrefix(s, start) {
			return true
		}
	}
	return false
}

// One line for each delta, at both ends, with its fields and its path; what a lossy link drops is told with the reason.
func TestTraceTellsDeltas(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := newCapture(t, throng.TraceState), newCapture(t, throng.TraceState)
		wa, wb := n.Join("a", throng.Config{Tracer: a.tr}), n.Join("b", throng.Config{Tracer: b.tr})
		everywhere(wa, wb)
		thing := full("x")
		must(t, wa.Spawn(thing))
		n.Until(time.Second, "b sees it", sees(thing, wb))
		is := func(dir trace.Dir, path, fields string) func(e *trace.Event) bool {
			return func(e *trace.Event) bool {
				return e.Cat == trace.State && e.What == trace.Delta && e.Dir == dir && e.ID == thing.NetID().Bytes() && e.Class == "thing" && e.Path == path &&
					strings.Join(e.Fields, " ") == fields && e.Bytes > 0 && e.Drop == ""
			}
		}
		n.Run(3 * time.Second)
		keyframes := func() int { return a.count(is(trace.Out, trace.Keyframe, "Beat Pulse")) }
		before := keyframes()
		n.Until(3*time.Second, "a keyframe", func() bool { return keyframes() > before }) // the next is two seconds away
		thing.Lit, thing.Big = false, 12
		n.Run(500 * time.Millisecond)
		thing.Fuel++
		n.Run(500 * time.Millisecond)
		for _, c := range []struct {
			at           *capture
			dir          trace.Dir
			path, fields string
			n            int
		}{
			{a, trace.Out, trace.Spatial, "Lit Big", 1},
			{b, trace.In, trace.Spatial, "Lit Big", 1},
			{a, trace.Out, trace.ToOwner, "Fuel", 1},
			{b, trace.In, trace.ToOwner, "Fuel", 0},
			{b, trace.In, trace.Baseline, "Pos Lit Glow Text Big Wait Other Holder Beat Push Pulse Name Maker", 1},
		} {
			if got := c.at.count(is(c.dir, c.path, c.fields)); got != c.n {
				t.Errorf("%v %s %q: %d lines, want %d\n%s", c.dir, c.path, c.fields, got, c.n, c.at.bytes())
			}
		}
		if before == 0 {
			t.Error("no keyframe for three seconds")
		}
		if a.count(func(e *trace.Event) bool { return e.Cat != trace.State }) > 0 {
			t.Error("a group that is off has lines")
		}

		// Switched on and off while the game runs.
		wasA := len(a.bytes())
		a.tr.Set(throng.TraceState, false)
		thing.Big++
		n.Run(time.Second)
		if len(a.bytes()) != wasA {
			t.Error("it is off and writes")
		}
		a.tr.Set(throng.TraceState, true)

		// Packets that come late hold what is overtaken by then; those that do not come are told as lost.
		n.Shape(wa, lossy(0.3), throngtest.Link{})
		n.Shape(wb, throngtest.Link{}, throngtest.Link{Latency: 20 * time.Millisecond, Jitter: 200 * time.Millisecond, Reorder: 0.5})
		for range 300 {
			thing.Big++
			n.Run(50 * time.Millisecond)
		}
		if got := a.count(func(e *trace.Event) bool {
			return e.Drop == trace.Lost && e.ID == thing.NetID().Bytes() && e.Dir == trace.Out
		}); got == 0 {
			t.Error("no loss is told")
		}
		late := b.count(func(e *trace.Event) bool {
			return e.Drop == trace.Overtaken && e.ID == thing.NetID().Bytes() && e.Dir == trace.In
		})
		if got := wb.Stats().Overtaken; late == 0 || uint64(late) != got {
			t.Errorf("%d told as overtaken, %d counted", late, got)
		}
	})
}

// Two observers that saw the same compare as equal, and with the driver all but the owner's fields do.
func TestTracesCompare(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		group := []throng.TraceGroup{throng.TraceEntity, throng.TraceState}
		a, b, c := newCapture(t, group...), newCapture(t, group...), newCapture(t, group...)
		wa, wb := n.Join("a", throng.Config{Tracer: a.tr}), n.Join("b", throng.Config{Tracer: b.tr})
		wc := n.Join("c", throng.Config{Tracer: c.tr})
		everywhere(wa, wb, wc)
		thing, blind := full("x"), full("y")
		must(t, wa.Spawn(thing))
		n.Until(time.Second, "both see it", sees(thing, wb, wc))
		thing.Big++
		n.Until(time.Second, "both see it change", sees(thing, wb, wc))
		if d := trace.Compare(b.summary(), c.summary()); len(d) > 0 {
			t.Error(d)
		}
		n.Partition(wc, true)
		must(t, wa.Spawn(blind))
		n.Until(time.Second, "b sees it", sees(blind, wb))
		d := trace.Compare(b.summary(), c.summary())
		if len(d) != 1 || d[0].What != "entity" || d[0].ID != blind.NetID().Bytes() || d[0].A != "there" || d[0].B != "not there" {
			t.Error(d)
		}
		n.Partition(wc, false)
	})
}
