package netcode

import (
	"net/netip"
	"testing"
	"time"
)

// TestStoppedProgram: what a program that was stopped past the timeout finds in its buffer is as old as the stop. It proves nothing:
// the connection is over at once, not after another timeout.
func TestStoppedProgram(t *testing.T) {
	s := newServer(t, nil)
	from := netip.MustParseAddrPort("127.0.0.1:5000")
	c, id := connect(t, s, at(0), from)
	sealed, _, ok := s.Seal(at(time.Second), id, buffer("late"), 16)
	if !ok {
		t.Fatal("cannot seal")
	}
	late := append([]byte(nil), sealed...)
	if payload, why := c.Receive(at(DefaultTimeout+2*time.Second), late); payload != nil || c.State() != Over || c.Err() != ErrTimeout {
		t.Fatalf("after the stop it took %q (%v): state %v, %v", payload, why, c.State(), c.Err())
	}
}
