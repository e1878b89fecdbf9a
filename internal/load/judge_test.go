package load

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng"
)

// puppet is a client that holds what the test says.
type puppet struct {
	name string
	at   Cell
	has  []holding
}

func (p *puppet) join(context.Context, *gate) error { return nil }
func (p *puppet) enter(time.Duration) error         { return nil }
func (p *puppet) tick(time.Duration)                {}
func (p *puppet) leave()                            {}
func (p *puppet) base() *seat                       { return nil }
func (p *puppet) title() string                     { return p.name }
func (p *puppet) failed() error                     { return nil }
func (p *puppet) place() (Cell, bool)               { return p.at, true }
func (p *puppet) be(bool)                           {}
func (p *puppet) watches() bool                     { return false }
func (p *puppet) walkIn(float64)                    {}
func (p *puppet) connected() bool                   { return true }
func (p *puppet) holdings(yield func(holding) bool) {
	for _, h := range p.has {
		if !yield(h) {
			return
		}
	}
}

// scene is a driver with an entity, and two who hold it as they should.
func scene() (driver, near, other *puppet, id throng.NetID) {
	id = throng.StableID("it")
	owner := throng.PlayerIDFrom([16]byte{1})
	truth := holding{id: id, slots: [4]int64{1, 2, 3}, n: 3, cell: Cell{5, 5}, owner: owner, term: 7, role: throng.RoleOwner, drives: true}
	copied := truth
	copied.role, copied.drives = throng.RoleProxy, false
	return &puppet{"driver", Cell{5, 5}, []holding{truth}}, &puppet{"near", Cell{6, 5}, []holding{copied}}, &puppet{"other", Cell{4, 4}, []holding{copied}}, id
}

func TestJudgeFindsEachFault(t *testing.T) {
	for name, c := range map[string]struct {
		spoil                      func(driver, near, other *puppet)
		wrong, pairs, zombie, lost int
		says                       string
	}{
		"all is right":            {func(d, n, o *puppet) {}, 0, 2, 0, 0, ""},
		"missing":                 {func(d, n, o *puppet) { n.has = nil }, 1, 2, 0, 0, "missing"},
		"not held a chunk beyond": {func(d, n, o *puppet) { n.at, n.has = Cell{7, 5}, nil }, 0, 1, 0, 0, ""},
		"held a chunk beyond":     {func(d, n, o *puppet) { n.at = Cell{7, 5} }, 0, 2, 0, 0, ""},
		"held too far":            {func(d, n, o *puppet) { n.at = Cell{8, 5} }, 1, 2, 1, 0, "3 chunks away"},
		"nobody drives it":        {func(d, n, o *puppet) { d.has = nil }, 2, 2, 2, 0, "nobody drives it"},
		"a value":                 {func(d, n, o *puppet) { n.has[0].slots[1] = 9 }, 1, 2, 0, 0, "slot 1 is 9"},
		"a value everywhere":      {func(d, n, o *puppet) { n.has[0].slots[1], o.has[0].slots[1] = 9, 9 }, 2, 2, 0, 1, "slot 1 is 9"},
		"the owner":               {func(d, n, o *puppet) { n.has[0].owner = throng.PlayerID{} }, 1, 2, 0, 0, "its owner"},
		"the role":                {func(d, n, o *puppet) { n.has[0].role = throng.RoleHost }, 1, 2, 0, 0, "its role"},
		"the term":                {func(d, n, o *puppet) { n.has[0].term = 6 }, 1, 2, 0, 0, "its term"},
		"two drivers":             {func(d, n, o *puppet) { n.has[0].drives = true }, 1, 2, 0, 0, "second client drives"},
		"other fields":            {func(d, n, o *puppet) { n.has[0].n = 2 }, 3, 2, 0, 0, "slot 0"},
	} {
		t.Run(name, func(t *testing.T) {
			d, n, o, _ := scene()
			c.spoil(d, n, o)
			f := judge([]client{d, n, o})
			if name == "two drivers" { // which of them is right nobody knows
				f.wrong = min(f.wrong, 1)
			}
			if f.wrong != c.wrong || f.pairs != c.pairs || f.zombies != c.zombie || f.lost != c.lost {
				t.Errorf("%d wrong of %d pairs, %d zombies, %d lost; want %d, %d, %d, %d\n%s", f.wrong, f.pairs, f.zombies, f.lost,
					c.wrong, c.pairs, c.zombie, c.lost, strings.Join(f.texts, "\n"))
			}
			if c.says != "" && !slices.ContainsFunc(f.texts, func(s string) bool { return strings.Contains(s, c.says) }) {
				t.Errorf("nothing says %q: %q", c.says, f.texts)
			}
		})
	}
}

func TestWhatNobodyWatchesIsNotLost(t *testing.T) {
	d, _, _, _ := scene()
	if f := judge([]client{d}); f.wrong+f.lost+f.pairs != 0 {
		t.Errorf("%+v", f)
	}
}

func TestReportsThatDoNotCountSaySo(t *testing.T) {
	good := func() *run {
		return &run{Options: &Options{Scenario: "crowd"}, m: newMeter(1), faults: &Faults{Out: new(strings.Builder)},
			rep: &Report{Clients: 3, Joined: 3, Pairs: 1, Pinned: true}}
	}
	for want, spoil := range map[string]func(r *run){
		"":                 func(r *run) {},
		"1 errors":         func(r *run) { r.faults.Add("x") },
		"only 2 of 3":      func(r *run) { r.rep.Joined = 2 },
		"core was 91 %":    func(r *run) { r.rep.ClientCPU = 0.91 },
		"Ticks were left":  func(r *run) { r.rep.LateTicks = 0.06 },
		"nothing was comp": func(r *run) { r.rep.Pairs = 0 },
		"no driver sent":   func(r *run) { r.m.strange = 1 },
	} {
		r := good()
		spoil(r)
		r.verdict()
		said := strings.Join(r.rep.Why, "; ") + r.faults.Out.(*strings.Builder).String()
		if !strings.Contains(said, want) || r.rep.Valid != (want == "") || (r.rep.Verdict() == nil) != (want == "") {
			t.Errorf("valid %v, %q; want %q", r.rep.Valid, said, want)
		}
	}
	for _, wrong := range []Report{{Wrong: 1}, {LostLast: 1}, {Duplicates: 1}, {Zombies: 1}} {
		if wrong.Valid = true; wrong.Verdict() == nil {
			t.Errorf("%+v passes", wrong)
		}
	}
}
