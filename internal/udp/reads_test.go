package udp

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/transport"
)

// counted counts the calls of a socket.
type counted struct {
	socket
	reads int
}

func (c *counted) recv(until time.Time) (int, error) {
	c.reads++
	return c.socket.recv(until)
}

// A Receive that waits asks the system once, one that finds something as well, and one whose deadline is over does not wait.
func TestReceiveReadsOnce(t *testing.T) {
	l, s, c := pair(t, false)
	n := &counted{socket: c.socket}
	c.socket = n
	got := 0
	send := func() {
		l.Send([]transport.Datagram{{To: s.id, Buf: transport.NewBuffer()[:transport.Headroom+100]}})
	}
	take := func([]byte) { got++ }
	receive := func(deadline time.Time) {
		n.reads = 0
		if err := c.Receive(deadline, take); err != nil {
			t.Fatal(err)
		}
	}
	receive(time.Now().Add(5 * time.Millisecond))
	if n.reads != 1 || got != 0 {
		t.Errorf("an idle Receive read %d times and got %d", n.reads, got)
	}
	send()
	receive(time.Now().Add(time.Second))
	if n.reads != 1 || got != 1 {
		t.Errorf("a Receive read %d times and got %d", n.reads, got)
	}
	send()
	for until := time.Now().Add(time.Second); got < 2 && time.Now().Before(until); {
		if receive(time.Unix(1, 0)); n.reads != 1 {
			t.Fatalf("a Receive without time read %d times", n.reads)
		}
	}
	if got != 2 {
		t.Error("what was there did not come")
	}
}

// More is what a program that waits for many sockets goes by: it is false once a Receive took all that had come, true while it may not have.
func TestMoreSaysWhetherSomethingWaits(t *testing.T) {
	l, s, c := pair(t, false)
	const sent = clientBatch + 3
	for range sent {
		l.Send([]transport.Datagram{{To: s.id, Buf: transport.NewBuffer()[:transport.Headroom+100]}})
	}
	got := 0
	take := func([]byte) { got++ }
	for until := time.Now().Add(5 * time.Second); got < sent; {
		if time.Now().After(until) {
			t.Fatalf("%d of %d came", got, sent)
		}
		before := got
		if err := c.Receive(time.Now().Add(time.Second), take); err != nil {
			t.Fatal(err)
		}
		if full := got-before == clientBatch; full && !c.More() {
			t.Errorf("after %d of %d a full batch says that no more waits", got, sent)
		}
	}
	if err := c.Receive(time.Unix(1, 0), take); err != nil || c.More() {
		t.Errorf("with nothing there it says that more waits; %v", err)
	}
}
