package layout

import (
	"reflect"
	"strings"
	"testing"
)

// TestWords proves the words of B-011 one by one.
func TestWords(t *testing.T) {
	for tag, want := range map[string]Words{
		"": 0, "owner": Owner, "manual": Manual, "heartbeat": Heartbeat, "init": Init, "position": Position, "auth": Auth,
		"owner,manual,heartbeat": Owner | Manual | Heartbeat, "heartbeat,owner": Owner | Heartbeat,
		"init,auth": Init | Auth, "auth,persist": Auth | Persist, "owner,auth,persist": Owner | Auth | Persist,
		"position,heartbeat": Position | Heartbeat, "position,auth,persist": Position | Auth | Persist, "owner,init,auth": Owner | Init | Auth,
	} {
		got, faults := ParseWords(tag)
		if got != want || len(faults) != 0 {
			t.Errorf("ParseWords(%q) = %v, %v; want %v", tag, got, faults, want)
		}
		if back, _ := ParseWords(got.String()); back != got {
			t.Errorf("%v written and read again is %v", got, back)
		}
	}
}

// TestWordPairs proves every pair of words of B-011, in both orders.
func TestWordPairs(t *testing.T) {
	bad := map[[2]string]bool{
		{"init", "manual"}: true, {"init", "heartbeat"}: true, {"init", "position"}: true, {"init", "persist"}: true,
		{"position", "owner"}: true, {"position", "manual"}: true, {"auth", "manual"}: true, {"auth", "heartbeat"}: true,
		// persist without auth
		{"persist", "owner"}: true, {"persist", "manual"}: true, {"persist", "heartbeat"}: true, {"persist", "position"}: true,
	}
	for _, a := range wordNames {
		for _, b := range wordNames {
			want := bad[[2]string{a, b}] || bad[[2]string{b, a}] || a == b
			_, faults := ParseWords(a + "," + b)
			if a == "persist" && b == "persist" {
				if len(faults) != 2 { // twice, and without auth
					t.Errorf("persist,persist: %v", faults)
				}
				continue
			}
			if got := len(faults) == 1; got != want {
				t.Errorf("%s,%s: faults %v; want one: %v", a, b, faults, want)
			}
			for _, f := range faults {
				if f.Word == "" || f.Problem == "" || f.Remedy == "" {
					t.Errorf("%s,%s: a fault lacks a part: %+v", a, b, f)
				}
			}
		}
	}
}

func TestWordsRefused(t *testing.T) {
	for tag, want := range map[string]string{
		"manual=false":            "has a value",
		"owner=true,manual":       "has a value",
		"ownr":                    "is no word",
		"Owner":                   "is no word",
		"-":                       "remove the tag",
		"owner, manual":           "has spaces",
		"owner,":                  "extra comma",
		",":                       "extra comma",
		"owner,owner":             "stands twice",
		"persist":                 "without auth",
		"init,persist":            "cannot stand with persist",
		"auth,heartbeat":          "cannot stand with heartbeat",
		"omitempty":               "the words are owner, manual, heartbeat, init, position, auth, persist",
		"init,position,heartbeat": "cannot stand with",
	} {
		_, faults := ParseWords(tag)
		if len(faults) == 0 {
			t.Errorf("%q was accepted", tag)
			continue
		}
		if got := faults[0].Problem + ": " + faults[0].Remedy; !strings.Contains(got, want) {
			t.Errorf("%q: %q does not say %q", tag, got, want)
		}
	}
}

// TestWordErrorNames proves that an error names type, field, word and remedy, and that none hides another (B-011, B-013).
func TestWordErrorNames(t *testing.T) {
	type inner struct {
		C int32 `rep:"auth,manual"`
	}
	type lamp struct {
		A int32 `rep:"init,manual"`
		B int32 `rep:"glow"`
		inner
		E int32 `rep:""`
	}
	l, err := Of(reflect.TypeFor[lamp](), "lamp", testConfig)
	wantFaults(t, err,
		`throng: layout.lamp.A: word "init" cannot stand with manual: an init field leaves once, with the spawn: drop init if it changes later, else drop manual`,
		`throng: layout.lamp.B: word "glow" is no word: the words are owner`,
		`throng: layout.lamp.inner.C: word "auth" cannot stand with manual`)
	if len(l.Slots) != 1 || l.Slots[0].Name != "E" {
		t.Errorf("the fields without fault are %v; want E", l.Fields())
	}
}

// TestMalformedTag proves that a tag which reflection cannot see is not silently no tag.
func TestMalformedTag(t *testing.T) {
	for _, tag := range []reflect.StructTag{`rep: "owner"`, `rep:owner`, `rep`, `rep:`} {
		_, err := ofField(reflect.TypeFor[int32](), tag)
		wantFaults(t, err, "is no well-formed tag: write `rep:\"\"` with the words between the quotes")
	}
	if _, err := ofField(reflect.TypeFor[int32](), `json:"rep:x"`); err != nil {
		t.Error(err)
	}
}

// TestMasks proves what each word means for the tick (B-011, B-024..B-027).
func TestMasks(t *testing.T) {
	type lamp struct {
		Plain  int32 `rep:""`                       // 0
		Own    int32 `rep:"owner"`                  // 1
		Man    int32 `rep:"manual"`                 // 2
		Beat   int32 `rep:"heartbeat"`              // 3
		Start  int32 `rep:"init"`                   // 4
		Pos    vec3  `rep:"position"`               // 5
		Srv    int32 `rep:"auth"`                   // 6
		Kept   int32 `rep:"auth,persist"`           // 7
		Seeds  int32 `rep:"owner,manual,heartbeat"` // 8
		Expose int32 `rep:"init,auth"`              // 9
	}
	l := mustOf[lamp](t)
	for _, m := range []struct {
		name      string
		got, want uint64
	}{
		{"All", l.All, 0b11_1111_1111}, {"Auto", l.Auto, 0b00_0010_1011}, {"Owner", l.Owner, 0b01_0000_0010},
		{"Manual", l.Manual, 0b01_0000_0100}, {"Heartbeat", l.Heartbeat, 0b01_0000_1000}, {"Keyframe", l.Keyframe, 0b00_0000_1000},
		{"Init", l.Init, 0b10_0001_0000}, {"Auth", l.Auth, 0b10_1100_0000}, {"Persist", l.Persist, 0b00_1000_0000},
	} {
		if m.got != m.want {
			t.Errorf("%s = %010b, want %010b", m.name, m.got, m.want)
		}
	}
	if l.Position != 5 || l.Slots[5].XYZ == nil {
		t.Errorf("Position = %d", l.Position)
	}
}

func TestPositionRefused(t *testing.T) {
	type twice struct {
		A vec3 `rep:"position"`
		B vec2 `rep:"position"`
	}
	type number struct {
		A float64 `rep:"position"`
	}
	type lookalike struct {
		A struct{ X, Y, Z float64 } `rep:"position"`
	}
	type name struct {
		A id `rep:"position"`
	}
	_, err := Of(reflect.TypeFor[twice](), "", testConfig)
	wantFaults(t, err, `twice.B: word "position" stands a second time, after A: an entity is in one place`)
	for _, typ := range []reflect.Type{reflect.TypeFor[number](), reflect.TypeFor[lookalike](), reflect.TypeFor[name]()} {
		_, err := Of(typ, "", testConfig)
		wantFaults(t, err, `.A: word "position" does not fit type`)
	}
}
