package udp

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func port(n uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, 1}), n)
}

// packets reads "a1200 a1200 b300": destination and size.
func packets(text string) (ps []packet) {
	for _, f := range strings.Fields(text) {
		var size int
		fmt.Sscan(f[1:], &size)
		ps = append(ps, packet{port(uint16(f[0])), make([]byte, size)})
	}
	return ps
}

func TestPlan(t *testing.T) {
	many := strings.Repeat("a100 ", 130)
	long := strings.Repeat("a1200 ", 60)
	for text, want := range map[string]string{
		"":                                "",
		"a100":                            "1",
		"a100 a100":                       "2@100",
		"a100 b100":                       "1 1",
		"a1200 a1200 a700 b300 b300 c10":  "3@1200 2@300 1",
		"a700 a1200 a1200":                "1 2@1200",
		"a700 a600 a500":                  "2@700 1",
		"a100 b100 a100 b100":             "1 1 1 1",
		many:                              "64@100 64@100 2@100",
		long:                              "54@1200 6@1200",
		strings.TrimSpace(long) + " a100": "54@1200 7@1200",
	} {
		ps := packets(text)
		spans, used := plan(ps, true, make([]span, 0, 64))
		var got []string
		for _, s := range spans {
			if s.segment > 0 {
				got = append(got, fmt.Sprintf("%d@%d", s.count, s.segment))
			} else {
				got = append(got, fmt.Sprint(s.count))
			}
		}
		if strings.Join(got, " ") != want || used != len(ps) {
			t.Errorf("%.40s: %v, want %s", text, got, want)
		}
		if spans, _ := plan(ps, false, make([]span, 0, 200)); len(spans) != len(ps) {
			t.Errorf("%.40s: %d spans without segmentation", text, len(spans))
		}
	}
	if spans, used := plan(packets("a1 b1 c1"), true, make([]span, 0, 2)); len(spans) != 2 || used != 2 {
		t.Errorf("%v, %d used", spans, used)
	}
}

// system is a kernel that takes, refuses and fills up as told.
type system struct {
	got    []int // sizes that left, segments cut
	refuse error // of segmented messages
	narrow netip.AddrPort
	dead   netip.AddrPort
	room   int // messages until the buffer is full; negative: for ever
	atMost int // messages a call
	calls  int
}

func (k *system) write(ps []packet, spans []span) (int, error) {
	k.calls++
	for i, s := range spans {
		var err error
		switch to := ps[s.first].to; {
		case k.room == 0:
			err = syscall.EAGAIN
		case s.segment > 0 && k.refuse != nil:
			err = k.refuse
		case s.segment > 0 && to == k.narrow:
			err = syscall.EINVAL
		case to == k.dead:
			err = syscall.EHOSTUNREACH
		case i == k.atMost:
			return i, nil
		}
		if err != nil {
			if i > 0 {
				return i, nil
			}
			return 0, err
		}
		k.room--
		for _, p := range ps[s.first:][:s.count] {
			k.got = append(k.got, len(p.data))
		}
	}
	return len(spans), nil
}

func TestSendGetsPastTheSystem(t *testing.T) {
	const flush = "a100 a100 b300 b300 b200 c10 d50 d50"
	all := []int{100, 100, 300, 300, 200, 10, 50, 50}
	for name, c := range map[string]struct {
		system    system
		want      []int
		segmented bool
	}{
		"takes all":        {system{room: -1, atMost: 9}, all, true},
		"takes one a call": {system{room: -1, atMost: 1}, all, true},
		"card cannot":      {system{room: -1, atMost: 9, refuse: syscall.EIO}, all, false},
		"kernel cannot":    {system{room: -1, atMost: 9, refuse: syscall.EINVAL}, all, true},
		"one narrow path":  {system{room: -1, atMost: 9, narrow: port('b')}, all, true},
		"one dead path":    {system{room: -1, atMost: 9, dead: port('b')}, []int{100, 100, 10, 50, 50}, true},
		"full after two":   {system{room: 2, atMost: 9}, []int{100, 100, 300, 300, 200}, true},
	} {
		k := c.system
		s := newSender(true, 3, k.write)
		if n := s.send(packets(flush)); n != len(c.want) {
			t.Errorf("%s: %d sent, want %d", name, n, len(c.want))
		}
		if !slices.Equal(k.got, c.want) || s.segmented != c.segmented {
			t.Errorf("%s: %v left, segmented %v", name, k.got, s.segmented)
		}
	}

	// A kernel that refuses again and again is no longer asked; one narrow path among others does not do that.
	k := &system{room: -1, atMost: 9, refuse: syscall.EINVAL}
	s := newSender(true, 8, k.write)
	for range maxRefusals {
		s.send(packets(flush))
	}
	if s.segmented {
		t.Error("still segmented")
	}
	k.calls = 0
	s.send(packets(flush))
	if k.calls != 1 {
		t.Errorf("%d calls for a flush without segmentation", k.calls)
	}
	k = &system{room: -1, atMost: 9, narrow: port('b')}
	s = newSender(true, 8, k.write)
	for range 10 * maxRefusals {
		s.send(packets(flush))
	}
	if !s.segmented {
		t.Error("one narrow path ended segmentation for all")
	}
}

// Whatever the system does, no packet leaves twice and none out of order.
func TestSendAgainstRandomSystems(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 3))
		k := &system{room: r.IntN(200) - 20, atMost: 1 + r.IntN(5), narrow: port('a'), dead: port('c')}
		if k.room < 0 {
			k.room = -1
		}
		if r.IntN(3) == 0 {
			k.refuse = syscall.EIO
		}
		s := newSender(true, 1+r.IntN(8), k.write)
		var ps []packet
		for i := range r.IntN(100) {
			// The size is the number of the packet within runs that may be cut.
			ps = append(ps, packet{port(uint16('a' + i/7%4)), make([]byte, 20+r.IntN(2))})
		}
		if n := s.send(ps); n != len(k.got) || n > len(ps) {
			t.Fatalf("seed %d: %d sent, %d left", seed, n, len(k.got))
		}
	}
}
