package throng

import (
	"encoding"
	"encoding/json"
	"strings"
	"testing"
)

var (
	_ encoding.TextAppender    = NetID{}
	_ encoding.TextMarshaler   = PlayerID{}
	_ encoding.TextUnmarshaler = (*NetID)(nil)
	_ encoding.TextUnmarshaler = (*PlayerID)(nil)
)

// TestNetIDForms proves that all written forms of an id agree and read back.
func TestNetIDForms(t *testing.T) {
	b := [16]byte{0: 0x01, 1: 0x23, 7: 0x45, 8: 0xab, 15: 0xef}
	id, p := NetIDFrom(b), PlayerIDFrom(b)
	const text = "0123000000000045ab000000000000ef"
	if id.Bytes() != b || p.Bytes() != b || id.String() != text || p.String() != text {
		t.Fatalf("%x is %x, %s, %x, %s", b, id.Bytes(), id, p.Bytes(), p)
	}
	if got, err := ParseNetID(strings.ToUpper(text)); got != id || err != nil {
		t.Errorf("ParseNetID: %v, %v", got, err)
	}
	if got, err := ParsePlayerID(text); got != p || err != nil {
		t.Errorf("ParsePlayerID: %v, %v", got, err)
	}
	in := map[NetID]PlayerID{id: p}
	raw, err := json.Marshal(in)
	if want := `{"` + text + `":"` + text + `"}`; err != nil || string(raw) != want {
		t.Errorf("as JSON: %s, %v", raw, err)
	}
	var out map[NetID]PlayerID
	if err := json.Unmarshal(raw, &out); err != nil || out[id] != p {
		t.Errorf("from JSON: %v, %v", out, err)
	}
	for range 100 {
		id := NewID()
		if back, err := ParseNetID(id.String()); back != id || err != nil {
			t.Fatal(id, back, err)
		}
	}
}

func TestParseIDRefuses(t *testing.T) {
	for _, s := range []string{"", "0", strings.Repeat("0", 31), strings.Repeat("0", 33), strings.Repeat("g", 32), strings.Repeat("é", 16), strings.Repeat("x", 1<<20)} {
		id, player := NewID(), PlayerID(NewID())
		before, was := id, player
		if _, err := ParseNetID(s); err == nil || len(err.Error()) > 200 || !strings.Contains(err.Error(), "NetID: write its 32 hexadecimal digits") {
			t.Errorf("ParseNetID(%.40q): %v", s, err)
		}
		if err := id.UnmarshalText([]byte(s)); err == nil || id != before {
			t.Errorf("UnmarshalText(%.40q) = %v, now %v", s, err, id)
		}
		if err := player.UnmarshalText([]byte(s)); err == nil || player != was {
			t.Errorf("UnmarshalText(%.40q) = %v, now %v", s, err, player)
		}
	}
}

// TestDerivedIDs pins ids that every build must agree on, and keeps the ways to derive them apart (B-050).
func TestDerivedIDs(t *testing.T) {
	p := PlayerIDFrom([16]byte{15: 1})
	for got, want := range map[NetID]string{
		StableID("gate"): "07ff5fe194a43d492e433766489497e9",
		StableID(""):     "a526101f0189724fc84847fad2b4cbfb",
		p.AvatarID():     "3b60db7e02e614489290c11b8d566892",
	} {
		if got.String() != want {
			t.Errorf("derived %s, want %s", got, want)
		}
	}
	b := p.Bytes()
	if StableID(string(b[:])) == p.AvatarID() || StableID("gate") == StableID("Gate") || StableID("gate") == StableID("gate ") {
		t.Error("two sources, one id")
	}
	if id := (PlayerID{}).AvatarID(); !id.IsZero() {
		t.Errorf("nobody has the avatar %v", id)
	}
	if NewID().IsZero() || NewID() == NewID() || !(NetID{}).IsZero() || (p).IsZero() || !(PlayerID{}).IsZero() {
		t.Error("NewID or IsZero is wrong")
	}
}
