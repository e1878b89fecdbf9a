package wire

import (
	"reflect"
	"strings"
	"testing"
)

func FuzzAuthority(f *testing.F) {
	a := Audience{ID: ID{1}, Group: "judged", Players: []PlayerID{{2}, {3}}}
	m := Member{Player: PlayerID{4}, In: true, Name: "judged"}
	f.Add(a.Append(nil)[1:])
	f.Add(m.Append(nil)[1:])
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := ParseAudience(b); err == nil {
			again, err := ParseAudience(a.Append(nil)[1:])
			if err != nil || !reflect.DeepEqual(a, again) || len(a.Players) > MaxAudience || len(a.Players)*16 > len(b) {
				t.Fatalf("%+v came back as %+v: %v", a, again, err)
			}
		}
		if m, err := ParseMember(b); err == nil {
			if again, err := ParseMember(m.Append(nil)[1:]); err != nil || again != m || m.Name == "" {
				t.Fatalf("%+v came back as %+v: %v", m, again, err)
			}
		}
	})
}

func TestAuthorityMessagesThatAreNone(t *testing.T) {
	good := Audience{ID: ID{1}, Players: []PlayerID{{2}}}
	long := Audience{ID: ID{1}, Group: strings.Repeat("g", MaxName+1)}
	many := Audience{ID: ID{1}, Players: make([]PlayerID, MaxAudience+1)}
	for name, b := range map[string][]byte{
		"nothing": nil, "no id": (&Audience{}).Append(nil)[1:], "a player cut off": good.Append(nil)[1 : len(good.Append(nil))-1],
		"more than it says": append(good.Append(nil)[1:], 0), "a long group": long.Append(nil)[1:], "too many players": many.Append(nil)[1:],
	} {
		if m, err := ParseAudience(b); err == nil {
			t.Errorf("%s was read as %+v", name, m)
		}
	}
	if _, err := ParseMember((&Member{Player: PlayerID{1}, In: true}).Append(nil)[1:]); err == nil {
		t.Error("a member of no group was read")
	}
}
