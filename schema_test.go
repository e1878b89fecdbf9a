package throng

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

type lamp struct {
	Entity
	Pos  Vec3    `rep:"position"`
	Lit  bool    `rep:""`
	Name string  `rep:"heartbeat"`
	Fuel float32 `rep:"owner"`
}

type post struct {
	Entity
	Up bool `rep:""`
}

// wantLines checks that err has exactly one line for each text, in order, each holding its text and what a message needs.
func wantLines(t *testing.T, err error, texts ...string) {
	t.Helper()
	var lines []string
	if err != nil {
		lines = strings.Split(err.Error(), "\n")
	}
	if len(lines) != len(texts) {
		t.Fatalf("%d faults, want %d:\n%v", len(lines), len(texts), err)
	}
	for i, line := range lines {
		if !strings.Contains(line, texts[i]) {
			t.Errorf("fault %d is\n %s\nand lacks\n %s", i, line, texts[i])
		}
		what, remedy, ok := strings.Cut(strings.TrimPrefix(line, "throng: "), ": ")
		if !strings.HasPrefix(line, "throng: ") || !ok || what == "" || remedy == "" {
			t.Errorf("fault %d is not of the form throng: what: remedy:\n %s", i, line)
		}
	}
}

// TestAllFaultsAtOnce proves that one run shows every fault of every class (B-011, B-013).
func TestAllFaultsAtOnce(t *testing.T) {
	type chest struct {
		Entity
		Items []int32 `rep:""`
		Count int     `rep:""`
		Lid   bool    `rep:"init,manual"`
	}
	type door struct {
		Entity
		To  *post  `rep:""`
		Key post   `rep:""`
		Sum uint64 `rep:"manul"`
		ok  bool
	}
	_ = door{ok: false}
	_, err := NewSchema(
		NewClass[chest]("chest", ClassConfig{Reach: 9}),
		NewClass[lamp]("lamp", ClassConfig{}), // nothing wrong with it
		NewClass[door]("door", ClassConfig{DestroyDelay: -time.Second, HostOverride: 2, OnOwnerGone: 2}),
		nil,
	)
	wantLines(t, err,
		`throng.chest.Items ([]int32) is a slice: use a struct`,
		`throng.chest.Count (int) has a size that differs between machines: use int32 or int64`,
		`throng.chest.Lid: word "init" cannot stand with manual`,
		`throng.door.To (*throng.post) is a pointer: use a throng.NetID`,
		`throng.door.Key`,
		`throng.door.Sum: word "manul" is no word: the words are owner, manual`,
		`class "chest" has Reach 9: use 1 to 8 chunks, or 0 for the world's`,
		`class "door" has HostOverride 2: use AllowHost or OwnerOnly`,
		`class "door" has OnOwnerGone 2ns: use Leave, ToHost, or Keep with 1s to 12h0m0s`,
		`class "door" has DestroyDelay -1s: use 0`,
		`item 4 of the schema is nil: pass the result of NewClass`,
	)
}

// TestLimitsOfAnAnnouncement proves that what a relay would refuse is refused when it is declared.
func TestLimitsOfAnAnnouncement(t *testing.T) {
	type row struct{ A, B, C, D, E, F Vec3 } // 144
	type big struct {
		Entity
		A, B, C, D, E, F, G row `rep:""`
	}
	type full struct {
		Entity
		A, B, C, D, E, F row    `rep:""` // 864
		V                [5]row // without a tag: costs nothing
		W                struct {
			A, B, C, D, E Vec3
			F             uint64
			G             uint32
			H             uint16
			I             uint8
		} `rep:""` // 135
		S string `rep:""` // its length: 1
	}
	type over struct {
		full
		One uint8 `rep:""`
	}
	_, err := NewSchema(NewClass[big]("big", ClassConfig{}), NewClass[over]("over", ClassConfig{}),
		NewClass[full]("full", ClassConfig{}), NewClass[post](strings.Repeat("n", 129), ClassConfig{}), NewClass[lamp]("", ClassConfig{}))
	wantLines(t, err,
		`class "big" has values of 1008 bytes on the wire, and an entity has at most 1000: use smaller types, or split the class`,
		`class "over" has values of 1001 bytes`,
		`has a name of 129 bytes: shorten it to at most 128`,
		`class "" of throng.lamp has no name: give NewClass one`,
	)
}

// TestOneNameOneIDOneType proves that two classes that a receiver could mistake for one another are refused, with the fix (B-018).
func TestOneNameOneIDOneType(t *testing.T) {
	lamps := NewClass[lamp]("lamp", ClassConfig{})
	_, err := NewSchema(lamps, NewClass[post]("lamp", ClassConfig{ID: 7}))
	wantLines(t, err, `class "lamp" is declared twice, with throng.lamp and with throng.post: give one another name`)

	_, err = NewSchema(lamps, NewClass[post]("post", ClassConfig{ID: lamps.class.id}))
	wantLines(t, err, fmt.Sprintf(`classes "lamp" and "post" have the same id %#x: set ClassConfig.ID of one`, lamps.class.id))

	_, err = NewSchema(lamps, NewClass[lamp]("lantern", ClassConfig{}))
	wantLines(t, err, `classes "lamp" and "lantern" are both of throng.lamp: declare a second struct that embeds it`)

	// The remedies work.
	type lantern struct{ lamp }
	_, err = NewSchema(lamps, NewClass[lantern]("lantern", ClassConfig{}), NewClass[post]("post", ClassConfig{ID: 7}))
	wantLines(t, err)
}

func TestSameClassTwice(t *testing.T) {
	lamps := NewClass[lamp]("lamp", ClassConfig{})
	s, err := NewSchema(lamps, NewClass[post]("post", ClassConfig{}), lamps)
	if err != nil || len(s.classes) != 2 || s.classes[0] != lamps.class || s.byID[lamps.class.id] != lamps.class {
		t.Errorf("%+v, %v", s, err)
	}
	if s.classOf(&lamp{}) != lamps.class || s.classOf(nil) != nil || s.classOf((*lamp)(nil)) != lamps.class {
		t.Error("classOf does not go by type")
	}
	type other struct{ lamp }
	if s.classOf(&other{}) != nil {
		t.Error("a struct that embeds a class was taken for it")
	}
}

func TestNotByNewClass(t *testing.T) {
	var none *Class[lamp]
	_, err := NewSchema(none, &Class[lamp]{})
	wantLines(t, err, "a class that was not made by NewClass: declare it as", "a class that was not made by NewClass: declare it as")
}

func TestTooManyClasses(t *testing.T) {
	items := make([]Item, 1025)
	for i := range items {
		c := *NewClass[lamp](fmt.Sprint(i), ClassConfig{}).class
		c.typ = nil // what else is wrong does not matter
		items[i] = &Class[lamp]{&c}
	}
	_, err := NewSchema(items...)
	if err == nil || !strings.Contains(err.Error(), "1025 classes in a schema, at most 1024: ") {
		t.Error(err)
	}
}

// TestLenient proves that a lenient schema goes without refused fields, says so, and keeps their neighbours in place (B-013).
func TestLenient(t *testing.T) {
	type chest struct {
		Entity
		A     int32   `rep:""`
		Items []int32 `rep:""`
		B     int16   `rep:""`
	}
	type whole struct {
		Entity
		A int32 `rep:""`
		B int16 `rep:""`
	}
	chests := NewClass[chest]("chest", ClassConfig{})
	for _, items := range [][]Item{{SchemaLenient, chests}, {chests, SchemaLenient}} {
		s, err := NewSchema(items...)
		if err != nil || len(s.classes) != 1 {
			t.Fatalf("%+v, %v", s, err)
		}
		var b bytes.Buffer
		s.logRefused(slog.New(slog.NewTextHandler(&b, nil)))
		if got := b.String(); strings.Count(got, "level=ERROR") != 1 || !strings.Contains(got, "throng.chest.Items ([]int32) is a slice") {
			t.Errorf("logged\n%s", got)
		}
	}
	if a, b := chests.LayoutHash(), NewClass[whole]("whole", ClassConfig{}).LayoutHash(); a != b {
		t.Errorf("hash %#x with a refused field, %#x without the field", a, b)
	}
	if _, err := NewSchema(chests); err == nil {
		t.Error("a lenient schema made the class lenient")
	}
	_, err := NewSchema(SchemaLenient, chests, NewClass[post]("post", ClassConfig{Reach: -1}))
	wantLines(t, err, `class "post" has Reach -1`)
}

func TestMustSchema(t *testing.T) {
	if s := MustSchema(NewClass[lamp]("lamp", ClassConfig{})); len(s.classes) != 1 {
		t.Errorf("%+v", s)
	}
	defer func() {
		if err, ok := recover().(error); !ok || !strings.Contains(err.Error(), "Reach 10") {
			t.Errorf("panicked with %v", err)
		}
	}()
	MustSchema(NewClass[lamp]("lamp", ClassConfig{Reach: 10}))
}
