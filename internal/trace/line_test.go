package trace

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"
)

func sample() Event {
	return Event{Time: 1612 * time.Microsecond, Cat: State, Dir: In, What: Delta, ID: ID{0x4c, 15: 1}, Class: "lantern", Fields: []string{"Lit", "Base.Fuel"},
		Bytes: 5, Path: Spatial, Drop: Overtaken, Owner: ID{0xaa}, Version: 88, Term: 1<<32 | 7, N: 3, Text: "why"}
}

// The names of the fields are what scripts read: they stay.
func TestLineIsStable(t *testing.T) {
	e := sample()
	const want = `{"t":1612,"cat":"state","dir":"in","what":"delta","id":"4c000000000000000000000000000001","class":"lantern",` +
		`"fields":["Lit","Base.Fuel"],"bytes":5,"path":"spatial","drop":"overtaken","owner":"aa000000000000000000000000000000",` +
		`"ver":88,"term":4294967303,"n":3,"text":"why"}` + "\n"
	if got := string(Append(nil, &e)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	small := Event{Cat: Net, What: Welcome}
	if got := string(Append(nil, &small)); got != `{"t":0,"cat":"net","what":"welcome"}`+"\n" {
		t.Error(got)
	}
	h := Header{Version: 1, Start: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), By: "throng-go"}
	if got := string(AppendHeader(nil, &h)); got != `{"trace":1,"start":"2026-11-30T12:00:00Z","by":"throng-go"}`+"\n" {
		t.Error(got)
	}
	if got, want := e.String(), `      0.002  state  in  delta      4c000000 lantern       5 B  spatial  Lit Base.Fuel  v88  player aa000000  #3  why  DROPPED: overtaken`; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestRoundTrip(t *testing.T) {
	many := sample()
	many.Class, many.Fields = strings.Repeat("\x01", 128), nil
	for range MaxFields {
		many.Fields = append(many.Fields, strings.Repeat("\u2028", 128/3))
	}
	odd := Event{Cat: Events, Dir: Out, What: "a kind of later", Class: `q"\` + "\u00e9\u4e16\U0001F3EE\x1b[2J\x7f\u202e"}
	for _, e := range []Event{sample(), many, odd} {
		b := Append(nil, &e)
		if len(b) > MaxLine {
			t.Errorf("a line of %d bytes", len(b))
		}
		got, h, err := Parse(b)
		if err != nil || h != nil || !reflect.DeepEqual(got, e) {
			t.Errorf("%v %v\ngot  %+v\nwant %+v", err, h, got, e)
		}
	}
	// No name of another client's can do anything to a terminal.
	for _, out := range []string{string(Append(nil, &odd)), odd.String()} {
		if strings.ContainsAny(out, "\x1b\x7f\u202e") {
			t.Errorf("%q", out)
		}
	}
}

func TestRefusedLines(t *testing.T) {
	for name, s := range map[string]string{
		"no JSON":         `spawn a`,
		"group":           `{"t":1,"cat":"weather","what":"rain"}`,
		"direction":       `{"t":1,"cat":"net","dir":"up","what":"join"}`,
		"nothing":         `{"t":1,"cat":"net"}`,
		"short id":        `{"t":1,"cat":"net","what":"join","id":"4c"}`,
		"id of no digits": `{"t":1,"cat":"net","what":"join","id":"zz000000000000000000000000000001"}`,
		"before":          `{"t":-1,"cat":"net","what":"join"}`,
		"too late":        `{"t":9223372036854775807,"cat":"net","what":"join"}`,
		"fields":          `{"t":1,"cat":"net","what":"join","fields":[""` + strings.Repeat(`,""`, MaxFields) + `]}`,
		"version":         `{"trace":2}`,
		"negative":        `{"t":1,"cat":"net","what":"packet","bytes":-1}`,
		"long":            `{"t":1,"cat":"net","what":"` + strings.Repeat("x", MaxLine) + `"}`,
	} {
		if _, _, err := Parse([]byte(s)); !errors.Is(err, ErrLine) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if e, _, err := Parse([]byte(`{"t":1,"cat":"net","what":"join","weather":{"rain":[1,2]}}`)); err != nil || e.What != Join {
		t.Error("a field of a later version: ", err)
	}
}

func TestAppendDoesNotAllocate(t *testing.T) {
	e, b := sample(), make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() { b = Append(b[:0], &e) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAppend(b *testing.B) {
	e, buf := sample(), make([]byte, 0, 1024)
	for b.Loop() {
		buf = Append(buf[:0], &e)
	}
}

// read reads a capture to its end.
func read(s string) (events []Event, r *Reader, err error) {
	if r, err = NewReader(strings.NewReader(s)); err != nil {
		return nil, nil, err
	}
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return events, r, nil
		}
		if err != nil {
			return events, r, err
		}
		events = append(events, e)
	}
}

const header = `{"trace":1,"start":"2026-11-30T12:00:00Z","by":"test"}` + "\n"

func TestReader(t *testing.T) {
	e := sample()
	one := string(Append(nil, &e))
	events, r, err := read(header + one + "\n" + header + one) // two captures, one appended to the other
	if err != nil || len(events) != 2 || r.Cut() || r.Header().By != "test" || r.Header().Start.Year() != 2026 {
		t.Errorf("%v, %d events, cut %v, %+v", err, len(events), r.Cut(), r.Header())
	}
	events, r, err = read(header + one + one[:40])
	if err != nil || len(events) != 1 || !r.Cut() {
		t.Errorf("a capture that was cut: %v, %d events", err, len(events))
	}
	for name, s := range map[string]string{"empty": "", "no header": one, "not a capture": "ELF\n"} {
		if _, _, err := read(s); err == nil {
			t.Errorf("%s: read", name)
		}
	}
	if _, _, err := read(header + one + "rubbish\n"); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("a line in between: %v", err)
	}
	if _, err := NewReader(endless{}); !errors.Is(err, ErrLine) {
		t.Errorf("a line without an end: %v", err)
	}
}

// endless is a file of one line.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '{'
	}
	return len(b), nil
}

func FuzzParse(f *testing.F) {
	e := sample()
	f.Add(Append(nil, &e))
	f.Add([]byte(header))
	f.Add([]byte(`{"t":1,"cat":"net","what":"j","text":"\ud800\u0000\u202e"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, h, err := Parse(b)
		if err != nil || h != nil {
			return
		}
		out := Append(nil, &e)
		if len(b) < MaxLine/8 && len(out) > MaxLine { // an escape takes six bytes at most
			t.Fatalf("%d bytes became %d", len(b), len(out))
		}
		if len(out) > MaxLine {
			return
		}
		again, _, err := Parse(out)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if twice := Append(nil, &again); string(twice) != string(out) {
			t.Fatalf("%s became %s", out, twice)
		}
		_ = e.String()
		s := Summary{}
		if err := s.Add(&e); err != nil {
			t.Fatal(err)
		}
		if d := Compare(s, s); len(d) != 0 {
			t.Fatalf("it differs from itself: %v", d)
		}
	})
}

func FuzzReader(f *testing.F) {
	e := sample()
	f.Add(header + string(Append(nil, &e)))
	f.Add(header + "\n\n{")
	f.Fuzz(func(t *testing.T, s string) {
		events, _, _ := read(s)
		if len(events) > strings.Count(s, "\n") {
			t.Fatalf("%d events in %d bytes", len(events), len(s))
		}
	})
}
