package trace

import (
	"errors"
	"strings"
	"testing"
)

func summary(t *testing.T, events ...Event) Summary {
	t.Helper()
	var b strings.Builder
	b.WriteString(header)
	for i := range events {
		b.Write(Append(nil, &events[i]))
	}
	r, err := NewReader(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Summarize(r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCompare(t *testing.T) {
	id, ann := ID{1}, ID{0xa}
	spawn := Event{What: Spawn, ID: id, Class: "lamp", Owner: ann}
	delta := Event{Cat: State, What: Delta, ID: id, Class: "lamp", Fields: []string{"Lit", "Fuel"}}
	lost := delta
	lost.Drop = Overtaken
	for name, tc := range map[string]struct {
		a, b []Event
		want string // "": alike
	}{
		"nothing":         {nil, nil, ""},
		"alike":           {[]Event{spawn, delta}, []Event{spawn, delta, delta}, ""},
		"one direction":   {[]Event{{What: Spawn, Dir: Out, ID: id, Owner: ann}, delta}, []Event{{What: Spawn, Dir: In, ID: id, Owner: ann}, delta}, ""},
		"a drop":          {[]Event{spawn, delta}, []Event{spawn, delta, lost}, ""},
		"entity":          {[]Event{spawn}, nil, "entity: there | not there"},
		"other entity":    {nil, []Event{spawn}, "entity: not there | there"},
		"class":           {[]Event{spawn}, []Event{{What: Spawn, ID: id, Class: "tree", Owner: ann}}, "class: lamp | tree"},
		"presence":        {[]Event{spawn}, []Event{spawn, {What: Departure, ID: id, Text: "out of reach"}}, "presence: there | left: out of reach"},
		"owner":           {[]Event{spawn}, []Event{spawn, {What: Owner, ID: id}}, "owner: 0a000000000000000000000000000000 | the host"},
		"unknown owner":   {[]Event{delta}, []Event{spawn, delta}, ""},
		"fields":          {[]Event{spawn, delta}, []Event{spawn}, "fields: only here: Fuel Lit | none that the other lacks"},
		"fields, dropped": {[]Event{spawn, delta}, []Event{spawn, lost, lost}, "fields: only here: Fuel Lit | none that the other lacks (dropped: 2 overtaken)"},
		"announced":       {[]Event{{What: Spawn, Dir: Out, ID: id, Owner: ann, Fields: []string{"Lit", "Fuel"}}}, []Event{spawn, delta}, ""},
		"came back":       {[]Event{spawn}, []Event{spawn, {What: Departure, ID: id}, spawn}, ""},
		"no entity":       {[]Event{{What: Welcome}}, nil, ""},
	} {
		got := Compare(summary(t, tc.a...), summary(t, tc.b...))
		switch {
		case tc.want == "" && len(got) != 0, tc.want != "" && len(got) != 1:
			t.Errorf("%s: %v", name, got)
		case tc.want != "" && !strings.HasSuffix(got[0].String(), " "+tc.want):
			t.Errorf("%s: %s", name, got[0])
		}
	}
}

func TestSummaryIsBounded(t *testing.T) {
	s := Summary{}
	e := Event{What: Delta}
	for i := range maxThings {
		e.ID = ID{byte(i), byte(i >> 8), byte(i >> 16), 1}
		if s[e.ID] = (&Thing{}); i == 0 {
			continue
		}
	}
	e.ID = ID{15: 9}
	if err := s.Add(&e); !errors.Is(err, ErrLarge) {
		t.Error(err)
	}
}
