package vet

import (
	"reflect"
	"time"

	"github.com/throng-dev/throng"
)

// The corpus: classes, right and wrong, that the running game and the analyzers must judge alike.

type (
	stance uint8
	node   struct{ Next *node }
	half   struct{ A, b int32 }
	deep   struct {
		A struct{ B struct{ C struct{ D int } } }
	}
	tagged struct {
		A int32 `rep:"owner"`
		B int32 `rep:""`
	}
	part struct {
		P int8 `rep:""`
		x int
		Q []int8 `rep:"manual"`
	}
	Outer struct {
		part
		R string `rep:"ownr"`
	}
	big1   struct{ A, B, C, D, E, F, G, H [1]int8 }
	big2   struct{ A, B, C, D, E, F, G, H float64 }
	big3   struct{ A, B, C, D, E, F, G, H big2 }
	big4   struct{ A, B, C, D, E, F, G, H big3 }
	alias  = int32
	list   []int32
	object interface{ M() }
)

type packed []byte

func (p *packed) NetForm() (string, int)             { return "packed", 0 }
func (p *packed) AppendNet(b []byte) ([]byte, error) { return append(b, *p...), nil }
func (p *packed) ParseNet(b []byte) (int, error)     { *p = append((*p)[:0], b...); return len(b), nil }

type copied []byte

func (p copied) NetForm() (string, int)             { return "copied", 0 }
func (p copied) AppendNet(b []byte) ([]byte, error) { return append(b, p...), nil }
func (p copied) ParseNet(b []byte) (int, error)     { return copy(p, b), nil }

type promoted struct {
	packed
	More []int32
}

type none struct{}

func (p *none) NetForm() (string, int)             { return "none", 0 }
func (p *none) AppendNet(b []byte) ([]byte, error) { return b, nil }
func (p *none) ParseNet(b []byte) (int, error)     { return 0, nil }

type cCoded struct {
	throng.Entity
	A packed `rep:""`
	B copied `rep:""`
	C struct {
		P packed
		Q promoted
	} `rep:""`
	D promoted `rep:"owner"`
	E none     `rep:""`
	F *packed  `rep:""`
	G []packed `rep:""`
}

// cLeaves has every type that is replicated as a whole, alone and as a position.
type cLeaves struct {
	throng.Entity
	A throng.Vec2            `rep:""`
	B throng.Vec3            `rep:""`
	C throng.NetID           `rep:""`
	D throng.PlayerID        `rep:""`
	E throng.Vec2Quantize    `rep:""`
	F throng.Vec2Quantize10  `rep:""`
	G throng.Vec2Quantize100 `rep:""`
	H throng.Vec3Quantize    `rep:""`
	I throng.Vec3Quantize10  `rep:""`
	J throng.Vec3Quantize100 `rep:""`
	K throng.Vec3Normal      `rep:""`
	L throng.Rotator         `rep:""`
	M throng.RotatorByte     `rep:""`
	N throng.Quat            `rep:""`

	PosA throng.Vec2            `rep:"position"`
	PosB throng.Vec3            `rep:"position"`
	PosC throng.NetID           `rep:"position"`
	PosD throng.PlayerID        `rep:"position"`
	PosE throng.Vec2Quantize    `rep:"position"`
	PosF throng.Vec2Quantize10  `rep:"position"`
	PosG throng.Vec2Quantize100 `rep:"position"`
	PosH throng.Vec3Quantize    `rep:"position"`
	PosI throng.Vec3Quantize10  `rep:"position"`
	PosJ throng.Vec3Quantize100 `rep:"position"`
	PosK throng.Vec3Normal      `rep:"position"`
	PosL throng.Rotator         `rep:"position"`
	PosM throng.RotatorByte     `rep:"position"`
	PosN throng.Quat            `rep:"position"`
}

type cFine struct {
	throng.Entity
	A bool            `rep:"heartbeat"`
	B int8            `rep:"owner"`
	C uint64          `rep:"manual,owner"`
	D float64         `rep:"auth,persist"`
	E string          `rep:"init"`
	F stance          `rep:"init,auth"`
	G time.Duration   `rep:""`
	H throng.NetID    `rep:""`
	I throng.PlayerID `rep:""`
	J throng.Vec3     `rep:"position"`
	K struct {
		A int8
		_ [3]byte
		B struct{ C stance }
	} `rep:""`
	L alias `rep:""`
	M complex128
	n *int
	O throng.Vec2 `rep:""`
}

type cKinds struct {
	throng.Entity
	A int                    `rep:""`
	B uint                   `rep:""`
	C uintptr                `rep:""`
	D complex64              `rep:""`
	E complex128             `rep:""`
	F *int32                 `rep:""`
	G any                    `rep:""`
	H object                 `rep:""`
	I func(int) bool         `rep:""`
	J chan<- int             `rep:""`
	K []byte                 `rep:""`
	L list                   `rep:""`
	M map[string]any         `rep:""`
	N [4]int32               `rep:""`
	O [0]int32               `rep:""`
	P struct{}               `rep:""`
	Q struct{ _ int }        `rep:""`
	R node                   `rep:""`
	S half                   `rep:""`
	T deep                   `rep:""`
	U time.Time              `rep:""`
	V tagged                 `rep:""`
	W throng.Entity          `rep:""`
	X cFine                  `rep:""`
	Y *cFine                 `rep:""`
	Z struct{ A, B []int32 } `rep:""`
}

type cWords struct {
	throng.Entity
	A int32 `rep:"ownr"`
	B int32 `rep:"owner,owner"`
	C int32 `rep:"manual=false"`
	D int32 `rep:"owner, manual"`
	E int32 `rep:","`
	F int32 `rep:"-"`
	G int32 `rep:"init,manual,heartbeat"`
	H int32 `rep:"persist"`
	I int32 `rep:"auth,heartbeat"`
	J int   `rep:"auth,manual"`
	K []int `rep:"init"`
	_ int32 `rep:""`
	l int32 `rep:""`
	O int32 `json:"rep:x"`
}

type halves struct{ A, b []int8 }

type tree struct {
	Name string
	Kids []tree
	By   map[string]tree
}

// cInit has init fields, which may hold what an event may, and some that may not.
type cInit struct {
	throng.Entity
	A []int32                      `rep:"init"`
	B map[string]map[int8]struct{} `rep:"init"`
	C [4]throng.NetID              `rep:"init"`
	D tree                         `rep:"init"`
	E []packed                     `rep:"init"`
	F map[throng.PlayerID]stance   `rep:"init,auth"`
	G []throng.Vec3Quantize10      `rep:"init"`
	H []byte                       `rep:"init,owner"`
	K []int                        `rep:"init"`
	L map[string]*int32            `rep:"init"`
	M []struct{}                   `rep:"init"`
	N map[any]bool                 `rep:"init"`
	O [][0]int8                    `rep:"init"`
	P []struct{ A, B []uint }      `rep:"init"`
	Q halves                       `rep:"init"`
	R []half                       `rep:"init"`
	S []tagged                     `rep:"init"`
	T []cFine                      `rep:"init"`
	U []throng.Entity              `rep:"init"`
	V [20000]int8                  `rep:"init"`
	W []copied                     `rep:"init"`
	X []promoted                   `rep:"init"`
	Y []none                       `rep:"init"`
	Z []struct {
		A throng.Vec3
		B string
		C [40]bool
	} `rep:"init"`
}

type cPlaces struct {
	throng.Entity
	A           throng.Vec2               `rep:"position"`
	B           throng.Vec3               `rep:"position"`
	C           throng.Vec3               `rep:"position,owner"`
	D           struct{ X, Y, Z float64 } `rep:"position"`
	E           throng.NetID              `rep:"position"`
	F           time.Duration             `rep:"position"`
	G           [3]float64                `rep:"position"`
	H           struct{ P throng.Vec3 }   `rep:"position"`
	throng.Vec3 `rep:"position"`
}

type cEmbeds struct {
	throng.Entity
	Outer
	*part
	tagged `rep:""`
	throng.Vec2
	stance
	Whole struct{ P throng.Vec3 } `rep:"manual"`
}

type cPlaced struct {
	Outer
	throng.Entity
	S struct {
		throng.Vec3
		half
	} `rep:""`
}

type cLarge struct {
	throng.Entity
	A big4                         `rep:""`
	B struct{ A, B, C, D, E big4 } `rep:""`
	C big1                         `rep:""`
}

type eight struct {
	A, B, C, D, E, F, G, H int8 `rep:""`
}

type (
	row1 struct{ eight }
	row2 struct{ eight }
	row3 struct{ eight }
	row4 struct{ eight }
	row5 struct{ eight }
	row6 struct{ eight }
	row7 struct{ eight }
	row8 struct{ eight }
)

type cFull struct {
	throng.Entity
	row1
	row2
	row3
	row4
	row5
	row6
	row7
	row8
}

type cOver struct {
	cFull
	Last  int8 `rep:""`
	Bad   int  `rep:""`
	After int8 `rep:""`
}

// corpus is what the running game is asked.
var corpus = []throng.Item{
	throng.NewClass[cFine]("fine", throng.ClassConfig{}),
	throng.NewClass[cCoded]("coded", throng.ClassConfig{}),
	throng.NewClass[cLeaves]("leaves", throng.ClassConfig{}),
	throng.NewClass[cKinds]("kinds", throng.ClassConfig{}),
	throng.NewClass[cWords]("words", throng.ClassConfig{}),
	throng.NewClass[cInit]("init", throng.ClassConfig{}),
	throng.NewClass[cPlaces]("places", throng.ClassConfig{}),
	throng.NewClass[cEmbeds]("embeds", throng.ClassConfig{}),
	throng.NewClass[cPlaced]("placed", throng.ClassConfig{}),
	throng.NewClass[cLarge]("large", throng.ClassConfig{}),
	throng.NewClass[cFull]("full", throng.ClassConfig{}),
	throng.NewClass[cOver]("over", throng.ClassConfig{}),
}

// What the corpus declares and nothing reads.
var _ = []any{half{b: 0}, part{x: 0}, cFine{n: nil}.n, cWords{l: 0}.l, cInit{}.Q.b, reflect.TypeFor[node]()}
