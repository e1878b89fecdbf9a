package throng_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/throng-dev/throng"
)

// Glow is a part of a Lantern. A struct is one field: colour and strength arrive together.
type Glow struct {
	Colour   uint32
	Strength float32
}

// Lantern is an entity: its fields with a rep tag are the same for everybody near enough.
type Lantern struct {
	throng.Entity
	Pos    throng.Vec3     `rep:"position"`
	Lit    bool            `rep:"heartbeat"`
	Glow   Glow            `rep:""`
	Fuel   float32         `rep:"owner"`
	Lits   int32           `rep:"manual"`
	Maker  throng.PlayerID `rep:"init"`
	smokes bool            // without a tag: stays here
}

var Lanterns = throng.NewClass[Lantern]("lantern", throng.ClassConfig{AutoGrant: true})

func ExampleNewClass() {
	type Gate struct {
		throng.Entity
		Pos  throng.Vec2 `rep:"position"`
		Open bool        `rep:""`
	}
	gates := throng.NewClass[Gate]("gate", throng.ClassConfig{
		HostOverride: throng.OwnerOnly, // nobody corrects a gate,
		OnOwnerGone:  throng.ToHost,    // which stays when its owner leaves
		DestroyDelay: time.Second,      // and takes a moment to fall
	})
	fmt.Println(gates.Name())
	// Output: gate
}

func ExampleMustSchema() {
	schema := throng.MustSchema(Lanterns) // in a package variable, for all programs of the game
	fmt.Println(schema != nil)
	// Output: true
}

// All faults of all classes are told at once.
func ExampleNewSchema() {
	type Chest struct {
		throng.Entity
		Items []int32 `rep:""`
		Count int     `rep:""`
	}
	type Door struct {
		throng.Entity
		Open bool `rep:"init,manual"`
	}
	_, err := throng.NewSchema(
		throng.NewClass[Chest]("chest", throng.ClassConfig{}),
		throng.NewClass[Door]("door", throng.ClassConfig{Reach: 20}),
	)
	for _, fault := range err.(interface{ Unwrap() []error }).Unwrap() {
		fmt.Println(fault)
	}
	// Output:
	// throng: throng_test.Chest.Items ([]int32) is a slice: use a struct with a field per element, an entity per element, a throng.NetCodec for the type, or an init field if it never changes
	// throng: throng_test.Chest.Count (int) has a size that differs between machines: use int32 or int64
	// throng: throng_test.Door.Open: word "init" cannot stand with manual: an init field leaves once, with the spawn: drop init if it changes later, else drop manual
	// throng: class "door" has Reach 20: use 1 to 8 chunks, or 0 for the world's
}

// A lenient schema goes without what cannot be replicated.
func ExampleSchemaLenient() {
	type Chest struct {
		throng.Entity
		Open  bool             `rep:""`
		Items map[string]int32 `rep:""`
	}
	_, err := throng.NewSchema(throng.SchemaLenient, throng.NewClass[Chest]("chest", throng.ClassConfig{}))
	fmt.Println(err)
	// Output: <nil>
}

func ExampleClass_Bind() {
	behaviour := Lanterns.Bind(throng.Hooks[Lantern]{
		OnSpawn: func(w *throng.World, l *Lantern, local bool) {
			fmt.Println("a lantern, made by", l.Maker)
		},
		OnRep: func(l *Lantern, c throng.Changes) {
			if c.Has(&l.Lit, &l.Glow) {
				l.smokes = l.Lit && l.Glow.Strength > 1
			}
			fmt.Println(c, "changed:", slices.Collect(c.Names()))
		},
		OnOwner: func(w *throng.World, l *Lantern, was throng.PlayerID) {
			if l.Role() == throng.RoleHost {
				fmt.Println(was, "put it down")
			}
		},
		OnDestroy: func(w *throng.World, l *Lantern, d throng.Departure) {
			switch d.Why {
			case throng.Destroyed:
				fmt.Println(d.By, "broke it; was that me?", d.Local)
			case throng.OutOfReach:
				fmt.Println("it may come back")
			default:
				fmt.Println(d.Why)
			}
		},
	})
	_ = throng.Config{Hooks: []throng.Hook{behaviour}}
}

func ExampleClass_OnRep() {
	lit := Lanterns.OnRep(func(l *Lantern) any { return &l.Lit }, func(l *Lantern) {
		fmt.Println("lit:", l.Lit)
	})
	_ = throng.Config{Hooks: []throng.Hook{lit}}
}

func ExampleClass_LayoutHash() {
	type Lamp struct {
		throng.Entity
		Lit bool `rep:""`
	}
	type Light struct { // another name, the same fields
		throng.Entity
		Lit bool `rep:""`
	}
	type Torch struct { // another field
		throng.Entity
		Burns bool `rep:""`
	}
	lamps := throng.NewClass[Lamp]("lamp", throng.ClassConfig{})
	lights := throng.NewClass[Light]("light", throng.ClassConfig{})
	torches := throng.NewClass[Torch]("torch", throng.ClassConfig{})
	fmt.Println(lamps.LayoutHash() == lights.LayoutHash(), lamps.LayoutHash() == torches.LayoutHash())
	// Output: true false
}

func ExampleEntity() {
	var l Lantern // in no world until World.Spawn
	fmt.Println(l.NetID().IsZero(), l.Owner().IsZero(), l.Role())
	// Output: true true none
}

func ExampleClass_All() {
	draw := func(w *throng.World) {
		for l := range Lanterns.All(w) {
			fmt.Println(l.NetID(), l.Pos, l.Lit)
		}
	}
	_ = draw // after each World.Tick
}
