package throng

import (
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
)

// B-122: classes of the schema are replicated, nothing else is.
func TestIsReplicated(t *testing.T) {
	type bare struct{ Entity }
	bares, others := NewClass[bare]("bare", ClassConfig{}), NewClass[stageLamp]("other lamp", ClassConfig{})
	s := MustSchema(stageLamps, bares)
	for name, c := range map[string]struct {
		what any
		want bool
	}{
		"class":               {stageLamps, true},
		"object":              {&stageLamp{}, true},
		"class of no field":   {bares, false},
		"object of no field":  {&bare{}, false},
		"class of another":    {others, false},
		"something else":      {7, false},
		"nothing":             {nil, false},
		"nil class":           {(*Class[stageLamp])(nil), false},
		"object not a struct": {&struct{ Entity }{}, false},
	} {
		if got := s.IsReplicated(c.what); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// B-122: what a client knows of an entity, and the bytes it sent last: -1 of what it does not drive.
func TestExplain(t *testing.T) {
	s := newStage(t, Config{})
	w := s.w
	l := &stageLamp{Name: "x", Text: "abc"}
	if x := w.Explain(l); x.Class != "" || x.LastSent != -1 || !strings.HasSuffix(x.String(), ": in no world") || w.LastSentBytes(l) != -1 {
		t.Error(x)
	}
	s.quiet = true
	if err := w.Spawn(l, WithID(StableID("lamp"))); err != nil {
		t.Fatal(err)
	}
	if x := w.Explain(l); !x.Pending || x.Bound || !x.Drives || x.Role != RoleOwner || x.LastSent != 24+1+4+4+4+4+2 || !strings.Contains(x.String(), "driven here, announced, not answered, last sent 43 B") {
		t.Error(x)
	}
	s.quiet = false
	for range 30 { // the announcement is sent again
		s.frame(nil)
	}
	x := w.Explain(l)
	if x.Pending || !x.Bound || x.Incarnation != 1 || x.Term != 1 || x.LastSent != 4 || w.LastSentBytes(l) != 4 { // a keyframe of Beat
		t.Error(x)
	}
	if err := w.MarkDirty(l); err != nil {
		t.Fatal(err)
	}
	if f := w.Explain(l).Fields[4]; f.Name != "Push" || !f.Marked || f.Received {
		t.Errorf("%+v", f)
	}

	// What the relay does not apply.
	s.say(wire.AppendEntity(nil, wire.MsgRejected, &wire.Entity{ID: l.id.Bytes(), Inc: 1, Reason: wire.RefusedLimit, Mask: 2}))
	s.frame(nil)
	s.frame(nil)
	x = w.Explain(l)
	if f := x.Fields[1]; f.Name != "Lit" || f.Rejected == "" || x.Fields[0].Rejected != "" || !f.Written || w.Stats().Rejected != 1 ||
		!strings.Contains(x.String(), "\n  Lit              written here, not applied by the relay: ") {
		t.Error(x)
	}

	// A proxy, as far away as it can be seen: its fields may be old, its position is not.
	p := s.proxy("proxy")
	x = w.Explain(p)
	if x.Drives || x.Role != RoleProxy || x.LastSent != -1 || w.LastSentBytes(p) != -1 || !x.Far || x.Fields[0].Far || !x.Fields[1].Far || !x.Fields[1].Received || x.Fields[1].Written || x.Fields[1].Version != 101 {
		t.Errorf("%+v", x)
	}
	if text := x.String(); !strings.Contains(text, "proxy, owned by 0200") || !strings.Contains(text, "beyond the property reach") ||
		!strings.Contains(text, "\n  Lit              version 101, may be older than its driver's") {
		t.Error(text)
	}
	w.SetViewpoints(Vec3{X: 500})
	if w.Explain(p).Far {
		t.Error("it is near")
	}
	if err := w.Destroy(l); err != nil {
		t.Fatal(err)
	}
	s.frame(nil)
	if x := w.Explain(l); x.Class != "" {
		t.Error(x)
	}
}

// proxy introduces an entity of another player's, five chunks away.
func (s *stage) proxy(name string) *stageLamp {
	s.t.Helper()
	k := stageLamps.core()
	values, _ := k.plan.Append(nil, k.plan.Pointer(&stageLamp{}), 3)
	m := wire.Intro{Handle: 50, Gen: 1, Num: 1, ClassID: k.id, ClassHash: k.wire.Hash, ID: StableID(name).Bytes(), Inc: 1, Term: 1, Owner: wire.PlayerID{2},
		Chunk: grid.Chunk{X: 5}, Mask: 3, Values: values}
	head := wire.Flush{Epoch: 1, Flush: 101}
	s.extra = session.AppendFrame(session.AppendFrame(nil, wire.KindFlush, head.Append(nil)), wire.KindIntro, m.Append(nil, grid.Chunk{}))
	s.frame(nil)
	s.frame(nil)
	o, ok := s.w.Find(StableID(name))
	if !ok {
		s.t.Fatal("no proxy")
	}
	return o.(*stageLamp)
}
