package throng

import (
	"reflect"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/layout"
	"github.com/throng-dev/throng/internal/wire"
)

// TestClassID proves that ids are FNV-1a of the name in every build (B-018). The values are from the definition's own list.
func TestClassID(t *testing.T) {
	for name, want := range map[string]uint32{"a": 0xe40c292c, "foobar": 0xbf9cf968} {
		if c := NewClass[lamp](name, ClassConfig{}); c.class.id != want || c.Name() != name {
			t.Errorf("%s has id %#x, want %#x", c.Name(), c.class.id, want)
		}
	}
	// A name whose hash is 0, which means none.
	if id := idOf("c5offi9"); id != 1 {
		t.Errorf("id %#x, want 1", id)
	}
	if c := NewClass[lamp]("a", ClassConfig{ID: 9}); c.class.id != 9 || c.class.wire.ID != 9 {
		t.Errorf("id %d, want the one that was set", c.class.id)
	}
}

// TestAnnouncement proves that a relay learns of a class what it must know.
func TestAnnouncement(t *testing.T) {
	c := NewClass[lamp]("lamp", ClassConfig{Reach: 3}).class
	want := wire.Class{ID: c.id, Hash: c.layout.Hash, Reach: 3, Name: "lamp", Slots: []wire.Slot{
		{Width: 24, Words: wire.WordPosition, Name: "Pos", Type: "vec3"},
		{Width: 1, Name: "Lit", Type: "bool"},
		{Width: 0, Words: wire.WordHeartbeat, Name: "Name", Type: "string"},
		{Width: 4, Words: wire.WordOwner, Name: "Fuel", Type: "float32"},
	}}
	if !want.Index() || !reflect.DeepEqual(c.wire, want) {
		t.Errorf("announces\n%+v, want\n%+v", c.wire, want)
	}
	num, back, err := wire.ParseClass(wire.AppendClass(nil, 5, &c.wire)[1:])
	if num != 5 || err != nil || !reflect.DeepEqual(*back, c.wire) {
		t.Errorf("%d, %+v, %v came back", num, back, err)
	}
}

func TestFlags(t *testing.T) {
	for _, tc := range []struct {
		cfg  ClassConfig
		want uint16
	}{
		{ClassConfig{}, 0},
		{ClassConfig{HostOverride: AllowHost, OnOwnerGone: Leave}, 0},
		{ClassConfig{HostOverride: OwnerOnly}, wire.ClassOwnerOnly},
		{ClassConfig{AutoGrant: true}, wire.ClassAutoGrant},
		{ClassConfig{OnOwnerGone: ToHost}, wire.ClassToHost},
		{ClassConfig{AutoDiffHosted: true}, wire.ClassAutoDiffHost},
		{ClassConfig{NotifyDriver: true, DestroyDelay: time.Second}, 0}, // nobody else's business
	} {
		if c := NewClass[post]("post", tc.cfg); c.class.wire.Flags != tc.want {
			t.Errorf("%+v: flags %b, want %b", tc.cfg, c.class.wire.Flags, tc.want)
		}
	}
}

// TestWireWords proves that the words of a tag and those of an announcement are the same numbers.
func TestWireWords(t *testing.T) {
	for word, want := range map[layout.Words]uint16{
		layout.Owner: wire.WordOwner, layout.Manual: wire.WordManual, layout.Heartbeat: wire.WordHeartbeat, layout.Init: wire.WordInit,
		layout.Position: wire.WordPosition, layout.Auth: wire.WordAuth, layout.Persist: wire.WordPersist,
	} {
		if uint16(word) != want {
			t.Errorf("%v is %d in a tag, %d on the wire", word, word, want)
		}
	}
}

// TestPosition proves that the position says how many axes the class has, none making it global.
func TestPosition(t *testing.T) {
	type flat struct {
		Entity
		Up bool `rep:""`
		At Vec2 `rep:"position"`
	}
	for _, tc := range []struct {
		c              *class
		axes, position int
	}{
		{NewClass[lamp]("lamp", ClassConfig{}).class, 3, 0},
		{NewClass[flat]("flat", ClassConfig{}).class, 2, 1},
		{NewClass[post]("post", ClassConfig{}).class, 0, -1},
	} {
		if tc.c.axes != tc.axes || tc.c.position != tc.position || tc.c.wire.Position != tc.position {
			t.Errorf("%s: %d axes, slot %d, want %d and %d", tc.c.name, tc.c.axes, tc.c.position, tc.axes, tc.position)
		}
	}
}

// TestLayoutHash proves what a layout depends on. Its value is pinned: two releases must meet.
func TestLayoutHash(t *testing.T) {
	type renamed struct{ lamp }
	a, b := NewClass[lamp]("lamp", ClassConfig{}), NewClass[renamed]("other", ClassConfig{AutoGrant: true})
	if a.LayoutHash() != b.LayoutHash() || a.LayoutHash() == NewClass[post]("post", ClassConfig{}).LayoutHash() {
		t.Error("the hash depends on something else than the fields")
	}
	const want uint64 = 0x571b96e1c99e535a
	if a.LayoutHash() != want {
		t.Errorf("hash %#x, want %#x", a.LayoutHash(), want)
	}
}

type (
	byPointer   struct{ *Entity }
	byPointer2  struct{ *post }
	byInterface struct{ Object }
	hidden      struct {
		post
		Object // shadows the one in post
	}
)

// TestEntityByValue proves that structs which pass the compiler without holding an Entity are refused.
func TestEntityByValue(t *testing.T) {
	const want = ", which embeds throng.Entity behind a pointer or an interface: embed it by value"
	_, err := NewSchema(NewClass[byPointer]("a", ClassConfig{}), NewClass[byInterface]("c", ClassConfig{}), NewClass[hidden]("d", ClassConfig{}),
		NewClass[Entity]("e", ClassConfig{}))
	wantLines(t, err, `class "a" is of throng.byPointer`+want, `class "c" is of throng.byInterface`+want, `class "d" is of throng.hidden`+want,
		`class "e" is of throng.Entity itself: declare a struct that embeds it`)

	_, err = NewSchema(NewClass[byPointer2]("b", ClassConfig{}))
	wantLines(t, err, "throng.byPointer2.post is embedded by pointer and holds fields with rep tags", `class "b" is of throng.byPointer2`+want)
}

func TestNewObject(t *testing.T) {
	c := NewClass[lamp]("lamp", ClassConfig{}).class
	a, b := c.newObject(), c.newObject()
	if l, ok := a.(*lamp); !ok || a == b || a.entity() != &l.Entity || *l != (lamp{}) {
		t.Errorf("made %T %p and %p", a, a, b)
	}
}
