package memnet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/transport"
)

// sink notes what a listener tells.
type sink struct {
	log   []string
	ids   []transport.ID
	peers []transport.Peer
	hook  func(id transport.ID, payload []byte)
}

func (s *sink) Opened(id transport.ID, p transport.Peer) {
	s.ids = append(s.ids, id)
	p.UserData = bytes.Clone(p.UserData)
	s.peers = append(s.peers, p)
	s.log = append(s.log, "opened")
}

func (s *sink) Received(id transport.ID, payload []byte) {
	s.log = append(s.log, string(payload))
	if s.hook != nil {
		s.hook(id, payload)
	}
}

func (s *sink) Closed(id transport.ID, why error) { s.log = append(s.log, "closed: "+why.Error()) }

// poll polls until d has passed.
func poll(t *testing.T, l *Listener, s *sink, d time.Duration) {
	t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		if err := l.Poll(end, s); err != nil {
			t.Fatal(err)
		}
	}
}

func packet(text string) []byte { return append(transport.NewBuffer(), text...) }

func token(fill byte) []byte { return bytes.Repeat([]byte{fill}, transport.UserDataSize) }

// join dials and polls until the client is in.
func join(t *testing.T, n *Network, l *Listener, s *sink, name string) transport.Conn {
	t.Helper()
	var c transport.Conn
	done := make(chan error, 1)
	go func() {
		var err error
		c, err = n.Dialer(name).Dial(t.Context(), l.Addr().String(), token(1))
		done <- err
	}()
	for {
		synctest.Wait()
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Poll(time.Now(), s); err != nil {
				t.Fatal(err)
			}
			return c
		default:
			poll(t, l, s, 10*time.Millisecond)
		}
	}
}

func start(t *testing.T) (*Network, *Listener, *sink) {
	n := New(1)
	l, err := n.Listen("")
	if err != nil {
		t.Fatal(err)
	}
	return n, l, &sink{}
}

// receive collects what arrives until d has passed or the connection is over.
func receive(c transport.Conn, d time.Duration) (got []string, err error) {
	for end := time.Now().Add(d); err == nil && time.Now().Before(end); {
		err = c.Receive(end, func(b []byte) { got = append(got, string(b)) })
	}
	return got, err
}

func TestDialAndTalk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l, s := start(t)
		n.Shape("ann", Link{Latency: 30 * time.Millisecond}, Link{Latency: 50 * time.Millisecond})
		began := time.Now()
		c := join(t, n, l, s, "ann")
		if took := time.Since(began); took != 80*time.Millisecond {
			t.Errorf("dial took %v", took)
		}
		if p := s.peers[0]; !bytes.Equal(p.UserData, token(1)) || p.Privileged || p.Addr.String() != "ann" {
			t.Errorf("%+v", p)
		}
		began = time.Now()
		if err := c.Send([][]byte{packet("one"), packet("two")}); err != nil {
			t.Fatal(err)
		}
		for len(s.log) < 3 {
			if err := l.Poll(began.Add(time.Second), s); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took != 30*time.Millisecond || !slices.Equal(s.log, []string{"opened", "one", "two"}) {
			t.Errorf("%q after %v", s.log, took)
		}
		l.Send([]transport.Datagram{{To: s.ids[0], Buf: packet("three")}, {To: s.ids[0] + 99, Buf: packet("nobody")}})
		if got, err := receive(c, time.Second); err != nil || !slices.Equal(got, []string{"three"}) {
			t.Errorf("%q, %v", got, err)
		}
	})
}

func TestPrivilegedToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l, s := start(t)
		for _, tok := range [][]byte{append(token(2), 1), append(token(3), 0)} {
			if _, err := n.Dialer("x").Dial(t.Context(), l.Addr().String(), tok); err != nil {
				t.Fatal(err)
			}
		}
		poll(t, l, s, time.Second)
		if !s.peers[0].Privileged || s.peers[1].Privileged || s.ids[0] == s.ids[1] || s.ids[0] == 0 {
			t.Errorf("%+v", s.peers)
		}
		if _, err := n.Dialer("x").Dial(t.Context(), l.Addr().String(), []byte("short")); err == nil {
			t.Error("a short token passed")
		}
	})
}

func TestDialFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l, s := start(t)
		address := l.Addr().String()
		began := time.Now()
		if _, err := n.Dialer("x").Dial(t.Context(), "nowhere", token(1)); !errors.Is(err, transport.ErrTimeout) || time.Since(began) != dialTimeout {
			t.Errorf("nobody listens: %v after %v", err, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		n.Partition("cut", true)
		if _, err := n.Dialer("cut").Dial(ctx, address, token(1)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("context: %v", err)
		}
		n.Shape("small", Link{MTU: 1000}, Link{})
		if _, err := n.Dialer("small").Dial(t.Context(), address, token(1)); !errors.Is(err, transport.ErrTimeout) {
			t.Errorf("small MTU: %v", err)
		}
		n.Refuse("full", transport.ErrRefused)
		if _, err := n.Dialer("full").Dial(t.Context(), address, token(1)); !errors.Is(err, transport.ErrRefused) {
			t.Errorf("refused: %v", err)
		}
		// The answers are lost, so the listener believes in a client that gave up.
		n.Shape("deaf", Link{}, Link{Loss: 1})
		if _, err := n.Dialer("deaf").Dial(t.Context(), address, token(1)); !errors.Is(err, transport.ErrTimeout) {
			t.Errorf("deaf: %v", err)
		}
		if poll(t, l, s, time.Minute); len(s.log) != 2 || !strings.Contains(s.log[1], "does not answer") {
			t.Errorf("%q", s.log)
		}
		if _, err := n.Listen(address); err == nil {
			t.Error("two listeners at one address")
		}
	})
}

func TestDialThroughLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l, s := start(t)
		for i := range 20 {
			name := fmt.Sprint(i)
			n.Shape(name, Link{Loss: 0.5, Latency: 20 * time.Millisecond}, Link{Loss: 0.5, Duplicate: 0.5, Latency: 20 * time.Millisecond})
			join(t, n, l, s, name)
		}
		if len(s.log) != 20 {
			t.Errorf("%d opened", len(s.log))
		}
	})
}

func TestLossRatioEndToEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l, s := start(t)
		c := join(t, n, l, s, "x")
		n.Shape("x", Link{Loss: 0.1, Duplicate: 0.05, Latency: 10 * time.Millisecond, Jitter: 5 * time.Millisecond}, Link{})
		const sent = 5000
		for i := range sent {
			if err := c.Send([][]byte{packet(fmt.Sprint(i))}); err != nil {
				t.Fatal(err)
			}
			poll(t, l, s, time.Millisecond)
		}
		poll(t, l, s, time.Second)
		seen := map[string]int{}
		for _, text := range s.log[1:] {
			seen[text]++
		}
		near(t, "arrived", float64(len(seen))/sent, 0.9, 0.02)
		near(t, "arrivals", float64(len(s.log)-1)/sent, 0.9*1.05, 0.02)
		if up, _ := n.Traffic("x"); up.Packets != sent+1 || up.Lost != sent-uint64(len(seen)) {
			t.Errorf("%+v, %d seen", up, len(seen))
		}
	})
}

// Deliveries of one instant come in the order they were sent, whoever sent them.
func TestTiesKeepOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l, s := start(t)
		var conns []transport.Conn
		for i := range 10 {
			name := fmt.Sprint(i)
			conns = append(conns, join(t, n, l, s, name))
			n.Shape(name, Link{Latency: 10 * time.Millisecond}, Link{})
		}
		s.log = nil
		var want []string
		for i := range 200 {
			text := fmt.Sprint(i)
			want = append(want, text)
			if err := conns[i*7%10].Send([][]byte{packet(text)}); err != nil {
				t.Fatal(err)
			}
		}
		if poll(t, l, s, time.Second); !slices.Equal(s.log, want) {
			t.Errorf("%q", s.log)
		}
	})
}

func TestPartition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l, s := start(t)
		c := join(t, n, l, s, "x")
		other := join(t, n, l, s, "other")
		n.Shape("x", Link{Latency: 10 * time.Millisecond}, Link{})
		s.log = nil
		send := func(c transport.Conn, text string) {
			t.Helper()
			if err := c.Send([][]byte{packet(text)}); err != nil {
				t.Fatal(err)
			}
		}
		send(c, "on its way")
		n.Cut("x", 16*time.Second)
		send(c, "lost")
		send(other, "passes")
		poll(t, l, s, 20*time.Second)
		send(c, "healed")
		if poll(t, l, s, time.Second); !slices.Equal(s.log, []string{"passes", "healed"}) {
			t.Fatalf("%q", s.log)
		}
		n.Partition("x", true)
		began := time.Now()
		if _, err := receive(c, time.Minute); !errors.Is(err, transport.ErrTimeout) || time.Since(began) != Timeout {
			t.Errorf("client: %v after %v", err, time.Since(began))
		}
		if err := c.Send([][]byte{packet("dead")}); !errors.Is(err, transport.ErrTimeout) {
			t.Error(err)
		}
		if poll(t, l, s, time.Second); len(s.log) != 3 || s.log[2] != "closed: "+transport.ErrTimeout.Error() {
			t.Errorf("%q", s.log)
		}
	})
}

func TestPollWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, l, s := start(t)
		began := time.Now()
		took := func() time.Duration {
			d := time.Since(began)
			began = time.Now()
			return d
		}
		if err := l.Poll(began.Add(time.Second), s); err != nil || took() != time.Second {
			t.Error("deadline", err)
		}
		if err := l.Poll(began.Add(-time.Second), s); err != nil || took() != 0 {
			t.Error("past deadline", err)
		}
		l.Wake()
		l.Wake()
		if err := l.Poll(began.Add(time.Second), s); err != nil || took() != 0 {
			t.Error("woken before", err)
		}
		time.AfterFunc(300*time.Millisecond, l.Wake)
		if err := l.Poll(began.Add(time.Second), s); err != nil || took() != 300*time.Millisecond {
			t.Error("woken while waiting", err)
		}
		time.AfterFunc(300*time.Millisecond, func() { l.Close() })
		if err := l.Poll(began.Add(time.Second), s); !errors.Is(err, transport.ErrClosed) || took() != 300*time.Millisecond {
			t.Error("closed", err)
		}
		if err := l.Poll(began.Add(time.Second), s); !errors.Is(err, transport.ErrClosed) || took() != 0 {
			t.Error("closed before", err)
		}
	})
}

func TestClosing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l, s := start(t)
		a, b, d := join(t, n, l, s, "a"), join(t, n, l, s, "b"), join(t, n, l, s, "d")
		n.Shape("a", Link{Loss: 0.5}, Link{})
		s.log = nil
		time.AfterFunc(time.Second, func() { a.Close() })
		if _, err := receive(a, time.Minute); !errors.Is(err, transport.ErrClosed) {
			t.Errorf("own close: %v", err)
		}
		if err := a.Send([][]byte{packet("x")}); !errors.Is(err, transport.ErrClosed) {
			t.Errorf("send after close: %v", err)
		}
		if poll(t, l, s, time.Second); len(s.log) != 1 || s.log[0] != "closed: "+transport.ErrClosed.Error() {
			t.Fatalf("%q", s.log)
		}

		// Disconnect inside a callback: nothing more of it is told, and the client hears it after what came before.
		s.log, s.hook = nil, func(id transport.ID, _ []byte) {
			l.Send([]transport.Datagram{{To: id, Buf: packet("bye")}})
			l.Disconnect(id)
		}
		if err := b.Send([][]byte{packet("1"), packet("2"), packet("3")}); err != nil {
			t.Fatal(err)
		}
		if poll(t, l, s, time.Second); !slices.Equal(s.log, []string{"1"}) {
			t.Errorf("%q", s.log)
		}
		if got, err := receive(b, time.Minute); !errors.Is(err, transport.ErrClosed) || !slices.Equal(got, []string{"bye"}) {
			t.Errorf("disconnected: %q, %v", got, err)
		}

		// A listener that dies says nothing; its address is free at once.
		began := time.Now()
		l.Close()
		if _, err := n.Listen(l.Addr().String()); err != nil {
			t.Error(err)
		}
		if _, err := receive(d, time.Minute); !errors.Is(err, transport.ErrTimeout) || time.Since(began) != Timeout {
			t.Errorf("dead listener: %v after %v", err, time.Since(began))
		}
		for name, cl := range n.clients {
			if len(cl.conns) != 0 {
				t.Errorf("%s is remembered", name)
			}
		}
	})
}

// A goodbye that is lost ten times ends in a timeout, like silence.
func TestLostGoodbye(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l, s := start(t)
		c := join(t, n, l, s, "x")
		n.Shape("x", Link{Loss: 1}, Link{})
		s.log = nil
		c.Close()
		if poll(t, l, s, Timeout-1); len(s.log) != 0 {
			t.Fatalf("%q", s.log)
		}
		if poll(t, l, s, time.Second); len(s.log) != 1 || !strings.Contains(s.log[0], "does not answer") {
			t.Fatalf("%q", s.log)
		}
	})
}

func TestBuffersAreHeldToTheContract(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l, s := start(t)
		c := join(t, n, l, s, "x")
		buf := packet("text")
		if err := c.Send([][]byte{buf}); err != nil || string(buf[transport.Headroom:]) == "text" {
			t.Error("the buffer was not sealed in place", err)
		}
		var kept []byte
		s.hook = func(_ transport.ID, b []byte) { kept = b }
		if poll(t, l, s, time.Second); string(kept) == "text" || s.log[1] != "text" {
			t.Error("a kept payload stayed readable")
		}
		for name, bad := range map[string][]byte{
			"empty": transport.NewBuffer(), "no tailroom": make([]byte, 100, 110), "large": make([]byte, 1300, 1400),
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic", name)
					}
				}()
				c.Send([][]byte{bad})
			}()
		}
	})
}

// Equal seeds and calls give equal runs, to the byte and the nanosecond.
func TestRunsRepeat(t *testing.T) {
	run := func() (log []string) {
		synctest.Test(t, func(t *testing.T) {
			n, l, s := start(t)
			n.Shape("x", Mobile, BurstLoss)
			c := join(t, n, l, s, "x")
			began := time.Now()
			s.hook = func(_ transport.ID, b []byte) { log = append(log, fmt.Sprint(time.Since(began), string(b))) }
			for i := range 500 {
				if err := c.Send([][]byte{packet(fmt.Sprint(i))}); err != nil {
					t.Fatal(err)
				}
				poll(t, l, s, 3*time.Millisecond)
			}
		})
		return log
	}
	if a, b := run(), run(); len(a) < 400 || !slices.Equal(a, b) {
		t.Errorf("%d and %d arrivals", len(a), len(b))
	}
}

// Outside of a bubble a network runs in real time. (That none of its goroutines stays behind, the bubbles of the other
// tests check: they do not end before.)
func TestRealTime(t *testing.T) {
	n, l, s := start(t)
	n.Shape("x", Link{Latency: time.Millisecond}, Link{Latency: time.Millisecond})
	c, err := n.Dialer("x").Dial(t.Context(), l.Addr().String(), token(1))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan []string)
	go func() {
		got, _ := receive(c, 10*time.Second)
		done <- got
	}()
	for i := range 50 {
		c.Send([][]byte{packet(fmt.Sprint(i))})
	}
	for len(s.log) < 51 {
		if err := l.Poll(time.Now().Add(10*time.Second), s); err != nil {
			t.Fatal(err)
		}
	}
	l.Send([]transport.Datagram{{To: s.ids[0], Buf: packet("bye")}})
	l.Disconnect(s.ids[0])
	if got := <-done; !slices.Equal(got, []string{"bye"}) {
		t.Errorf("%q", got)
	}
	l.Close()
}
