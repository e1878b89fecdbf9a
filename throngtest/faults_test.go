package throngtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// faults are known from systems of this kind. Each is made impossible here by at least one test that names it, in its own name or in the
// comment above it. Some have another shape here than where they were met:
//
//	P13  there is no late filter: whoever may not know is decided before the entity is offered to anybody
//	P46  enums travel as numbers; the layout guard sees another width, and names never travel
//	P50  there are no C arrays: arrays without a codec are refused when the schema is made
//	P57  a value that fits no datagram is refused where it is written, with its field; all else is split by entity
//	P77  there is no pool of slots on the wire; a full tracker asks the relay again when there is room
//	P79  the world makes the bodies, and every hook is given the one that stands
//	P100 channels do not exist: a kind of event stands in the schema, or sending it is an error at the call
var faults = strings.Fields(`
	P01 P04 P05 P06 P07 P09 P10 P12 P13 P14 P15 P16 P17 P18
	P21 P22 P23 P24 P25 P26 P27 P28 P29 P30 P31 P32 P35 P36 P37 P39
	P40 P41 P42 P43 P44 P46 P47 P48 P49 P50 P52 P55 P56 P57 P60
	P61 P63 P64 P65 P67 P68 P69 P70 P72 P74 P76 P77 P78 P79
	P99 P100`)

// testNames returns the tests of the module by their name, with name and comment.
func testNames(t *testing.T) map[string]string {
	tests := map[string]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && (strings.HasPrefix(d.Name.Name, "Test") || strings.HasPrefix(d.Name.Name, "Fuzz")) {
				tests[d.Name.Name] += d.Name.Name + " " + d.Doc.Text()
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests
}

var faultNumber = regexp.MustCompile(`P[0-9]+`)

// TestEveryFaultIsNamed keeps the list of faults true: each is named by another test than this one.
func TestEveryFaultIsNamed(t *testing.T) {
	named := map[string]bool{}
	for name, text := range testNames(t) {
		if name != "TestEveryFaultIsNamed" {
			for _, n := range faultNumber.FindAllString(text, -1) {
				named[n] = true
			}
		}
	}
	for _, f := range faults {
		if !named[f] {
			t.Errorf("no test names %s", f)
		}
	}
	if named["P02"] || len(faults) != 61 {
		t.Errorf("%d faults; P02 is none of them", len(faults))
	}
}

// P79: whoever listens in every way there is, class hooks, world hooks and raw updates, over loss and in and out of reach, is shown one body an
// id: every hook is given the body that OnSpawn was given, until it leaves. Nothing but the world makes bodies.
func TestP79OneBodyWhoeverListens(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		body := map[throng.NetID]*Thing{}
		hooks, appeared := 0, 0
		is := func(what string, e throng.Object) {
			hooks++
			if x := e.(*Thing); body[x.NetID()] != x {
				t.Errorf("%s is given another body of %v than stands", what, x.NetID())
			}
		}
		cfg := throng.Config{
			Hooks: []throng.Hook{Things.Bind(throng.Hooks[Thing]{
				OnSpawn: func(w *throng.World, e *Thing, local bool) {
					if body[e.NetID()] != nil {
						t.Errorf("a second body of %v", e.NetID())
					}
					body[e.NetID()] = e
				},
				OnRep:     func(e *Thing, c throng.Changes) { is("OnRep", e) },
				OnDestroy: func(w *throng.World, e *Thing, d throng.Departure) { is("OnDestroy", e); delete(body, e.NetID()) },
			})},
			OnRegistered: func(w *throng.World, e throng.Object) { is("OnRegistered", e) },
			OnAppeared:   func(w *throng.World, e throng.Object) { is("OnAppeared", e); appeared++ },
			OnTimedOut:   func(w *throng.World, e throng.Object) { is("OnTimedOut", e) },
			OnUpdates: func(w *throng.World, batch []throng.Update) {
				for _, u := range batch {
					if o, ok := w.Find(u.ID); ok && body[u.ID] != o.(*Thing) {
						t.Errorf("an update of another body of %v", u.ID)
					}
				}
			},
		}
		a, b := n.Join("a", throng.Config{}), n.Join("b", cfg)
		n.Shape(b, throngtest.Link{Loss: 0.1, Latency: 20 * time.Millisecond}, throngtest.Link{Loss: 0.2, Latency: 20 * time.Millisecond, Duplicate: 0.1, Reorder: 0.1})
		everywhere(b)
		var things []*Thing
		for range 20 {
			things = append(things, full("x"))
			must(t, a.Spawn(things[len(things)-1]))
		}
		for range 5 {
			n.Until(10*time.Second, "b sees them", func() bool { return len(body) == len(things) && sees(things[19], b)() })
			for _, x := range things {
				x.Big++
			}
			n.Run(time.Second)
			b.SetViewpoints(throng.Vec3{X: 1e6})
			n.Until(10*time.Second, "out of reach", func() bool { return len(body) == 0 })
			everywhere(b)
		}
		if appeared < 100 || hooks < 3*appeared {
			t.Errorf("%d appeared, %d hooks ran", appeared, hooks)
		}
	})
}
