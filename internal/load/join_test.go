package load

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// late is a client that gets in at some try only.
type late struct {
	puppet
	fails int
}

func (l *late) join(context.Context, *gate) error {
	if l.fails--; l.fails >= 0 {
		return errors.New("no answer")
	}
	return nil
}

func TestClientsThatDoNotGetInAreLeftOut(t *testing.T) {
	m := newMeter(1)
	w := newWheel(m)
	defer w.ready.close()
	a, b, c := &late{puppet: puppet{name: "a"}}, &late{puppet{name: "b"}, joinTries - 1}, &late{puppet{name: "c"}, joinTries}
	f := &Faults{Out: new(strings.Builder)}
	out, err := w.join(t.Context(), nil, []client{a, b, c}, func(err error) { f.Add(err.Error()) })
	if err != nil || len(out) != 1 || out[0] != client(c) || f.Count() != 1 {
		t.Errorf("left out %v, %v, %s", out, err, f.Out)
	}
	in := 0
	for _, s := range w.spokes {
		in += len(s.riders)
	}
	if in != 2 {
		t.Errorf("%d are in", in)
	}
}
