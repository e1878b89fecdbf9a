package wire

import (
	"testing"

	"github.com/throng-dev/throng/internal/grid"
)

// slots returns a class of n slots of a width.
func slots(n int, width uint16) *Class {
	c := &Class{ID: 1, Hash: 2, Name: "c"}
	for range n {
		c.Slots = append(c.Slots, Slot{Width: width})
	}
	return c
}

// An introduction must fit one packet whatever values it brings, so a class is refused whose empty values do not.
func TestClassMustFitAnIntroduction(t *testing.T) {
	for _, tt := range []struct {
		name string
		c    *Class
		want bool
	}{
		{"largest", slots(1, MaxValues), true},
		{"too large", slots(2, MaxValues/2+1), false},
		{"64 slots", slots(64, 15), true},
		{"65 slots", slots(65, 1), false},
		{"no slots", slots(0, 0), true},
		{"64 of varying width", slots(64, 0), true},
	} {
		if got := tt.c.Index(); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
	c := slots(1, MaxValues)
	c.Slots = append(c.Slots, Slot{})
	if c.Index() {
		t.Error("a length of a varying value is a byte too")
	}
	p := &Class{Slots: []Slot{{Width: 4, Words: WordPosition}, {Width: 4, Words: WordPosition}}}
	if p.Index() {
		t.Error("two positions")
	}
	p = &Class{Slots: []Slot{{Width: 4, Words: WordPosition | WordOwner}}}
	if p.Index() {
		t.Error("a position that others may not know")
	}
}

// The largest introduction, with everything that can be in front of it, fits what a carrier takes.
func TestLargestIntroductionFitsAPacket(t *testing.T) {
	const far = 1<<62 - 1
	m := Intro{Handle: MaxHandle, Gen: 255, Num: MaxClasses, Inc: NewCount(1<<32-1, 1<<32-1), Term: NewCount(1<<32-1, 1<<32-1), Flags: 1<<16 - 1,
		Owner: PlayerID{1}, Nonce: 1<<32 - 1, Chunk: grid.Chunk{X: far, Y: far, Z: far}, Mask: 1<<64 - 1, Values: make([]byte, MaxValues)}
	base := grid.Chunk{X: -far, Y: -far, Z: -far}
	head := (&Flush{Base: base}).Append(nil)
	const session = 3 + 5 + 4*7 // number, flags, the longest ack block
	if n := session + 2 + len(head) + 3 + len(m.Append(nil, base)); n > 1200 {
		t.Fatalf("%d bytes", n)
	} else {
		t.Logf("%d bytes", n)
	}
}

// Handle 0 is no handle: who took it could never be told that the entity leaves.
func TestHandleZeroIsMalformed(t *testing.T) {
	for _, msg := range []byte{MsgBind, MsgAssign, MsgNoRoom} {
		b := AppendEntity(nil, msg, &Entity{ID: ID{1}})
		if _, err := ParseEntity(msg, b[1:]); err == nil {
			t.Errorf("message %d", msg)
		}
	}
	if _, err := ParseRole((&Role{Term: 1}).Append(nil)); err == nil {
		t.Error("role")
	}
	if _, err := ParseIntro((&Intro{}).Append(nil, grid.Chunk{}), grid.Chunk{}); err == nil {
		t.Error("intro")
	}
}

// B-029: who cannot be read to the end is not read at all.
func TestPlayersCountWholeOrNotAtAll(t *testing.T) {
	b, _ := AppendPlayers(nil, []Player{{ID: PlayerID{1}, Present: true}, {ID: PlayerID{2}}})
	for cut := range len(b) - 1 {
		n := 0
		if err := ParsePlayers(b[1:1+cut], func(Player) { n++ }); err == nil || n != 0 {
			t.Fatalf("cut to %d bytes: %d players, %v", cut, n, err)
		}
	}
	if _, rest := AppendPlayers(nil, make([]Player, MaxPlayers+3)); len(rest) != 3 {
		t.Fatalf("%d players wait for the next message", len(rest))
	}
}
