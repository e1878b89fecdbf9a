package layout

import (
	"testing"
	"time"
)

// base is what the others in this file are compared with.
type base struct {
	entity
	Pos  vec3    `rep:"position"`
	Lit  bool    `rep:"heartbeat"`
	Kind stance  `rep:""`
	Fuel float32 `rep:"owner"`
	Glow struct {
		Colour uint32
		Power  float32
	} `rep:""`
	HP int32 `rep:"auth"`
}

// TestHashIsStable pins the hash: a new version of this package must not make old clients strangers.
func TestHashIsStable(t *testing.T) {
	if got, want := mustOf[base](t).Hash, uint64(0x481f6fdb20fcbeee); got != want {
		t.Errorf("Hash = %#x, want %#x: if that is meant, raise the protocol version", got, want)
	}
}

// TestHashIgnores proves what two builds may differ in.
func TestHashIgnores(t *testing.T) {
	type posture byte
	type glow struct {
		Colour uint32
		_      int32
		Power  float32
	}
	type Front struct {
		Pos vec3 `rep:"position"`
		Lit bool `rep:"heartbeat,manual"` // manual is the driver's affair
	}
	type moved struct {
		own map[string]int
		Front
		Kind posture `rep:""`
		entity
		Fuel float32 `rep:"owner"`
		Glow glow    `rep:""`
		HP   int32   `rep:"auth,persist"` // persist the authority's
	}
	_ = moved{own: nil}
	ours, theirs := mustOf[base](t), mustOf[moved](t)
	if ours.Hash != theirs.Hash {
		t.Errorf("hashes differ: %s", FirstDifference(ours.Fields(), theirs.Fields()))
	}
	if d := FirstDifference(ours.Fields(), theirs.Fields()); d != "" {
		t.Errorf("a difference is named: %s", d)
	}
}

// TestHashSees proves B-028, and that the kind reserved for containers is another layout: names, canonical types, order, enum width, wire words; and that the difference is named.
func TestHashSees(t *testing.T) {
	type small struct {
		Lit  bool    `rep:""`
		Kind stance  `rep:""`
		Fuel float32 `rep:""`
	}
	ours := mustOf[small](t)
	for _, tc := range []struct {
		what   string
		theirs *Layout
		want   string
	}{
		{"name", mustOf[struct {
			On   bool    `rep:""`
			Kind stance  `rep:""`
			Fuel float32 `rep:""`
		}](t), "slot 0 is Lit bool here and On bool there"},
		{"type", mustOf[struct {
			Lit  bool    `rep:""`
			Kind stance  `rep:""`
			Fuel float64 `rep:""`
		}](t), "slot 2, Fuel, is float32 here and float64 there"},
		{"enum width", mustOf[struct {
			Lit  bool    `rep:""`
			Kind uint16  `rep:""`
			Fuel float32 `rep:""`
		}](t), "slot 1, Kind, is uint8 here and uint16 there"},
		{"order", mustOf[struct {
			Kind stance  `rep:""`
			Lit  bool    `rep:""`
			Fuel float32 `rep:""`
		}](t), "slot 0 is Lit bool here and Kind uint8 there"},
		{"words", mustOf[struct {
			Lit  bool    `rep:""`
			Kind stance  `rep:"owner,heartbeat"`
			Fuel float32 `rep:""`
		}](t), `slot 1, Kind, has the words "" here and "owner,heartbeat" there`},
		{"shorter", mustOf[struct {
			Lit  bool   `rep:""`
			Kind stance `rep:""`
		}](t), "slot 2, Fuel float32, is missing there"},
		{"longer", mustOf[struct {
			Lit  bool          `rep:""`
			Kind stance        `rep:""`
			Fuel float32       `rep:""`
			Left time.Duration `rep:""`
		}](t), "slot 3, Left duration, is missing here"},
	} {
		if tc.theirs.Hash == ours.Hash {
			t.Errorf("%s: same hash", tc.what)
		}
		if got := FirstDifference(ours.Fields(), tc.theirs.Fields()); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.what, got, tc.want)
		}
	}

	wider := ours.Fields()
	wider[0].Width = 0
	if got, want := FirstDifference(ours.Fields(), wider), "slot 0, Lit bool, takes 1 bytes here and a varying number of bytes there"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	keyed := ours.Fields()
	keyed[0].Kind = Keyed
	if HashOf(keyed) == ours.Hash || FirstDifference(ours.Fields(), keyed) == "" {
		t.Error("a container looks like a plain value")
	}
}

// TestHashQuotes proves that no field name can pose as two fields.
func TestHashQuotes(t *testing.T) {
	a := HashOf([]Field{{Name: "A", Type: "bool", Width: 1}, {Name: "B", Type: "bool", Width: 1}})
	b := HashOf([]Field{{Name: "A\" \"bool\" 0 0 1\n\"B", Type: "bool", Width: 1}})
	if a == b {
		t.Error("two lists of fields have one hash")
	}
}
