// Package reptype has types that cannot be replicated, each beside some that can.
package reptype

import (
	"parts"
	"time"
	"unsafe"

	"github.com/throng-dev/throng"
)

type (
	Stance uint8
	Deep   struct{ In struct{ A, B int32 } }
	Node   struct{ Next *Node }
	Forest struct{ Trees []Forest }
	Packed []byte
	Half   struct{ A, b int32 }
	Empty  struct{}
	Big    struct{ A, B, C, D, E, F, G, H Big1 }
	Big1   struct{ A, B, C, D, E, F, G, H Big2 }
	Big2   struct{ A, B, C, D, E, F, G, H Big3 }
	Big3   struct{ A, B, C, D, E, F, G, H Big4 }
	Big4   struct{ A, B float64 }
	Number = int
)

func (p *Packed) NetForm() (string, int)             { return "packed", 0 }
func (p *Packed) AppendNet(b []byte) ([]byte, error) { return b, nil }
func (p *Packed) ParseNet(b []byte) (int, error)     { return 0, nil }

type Copied []byte

func (p Copied) NetForm() (string, int)             { return "copied", 0 }
func (p Copied) AppendNet(b []byte) ([]byte, error) { return b, nil }
func (p Copied) ParseNet(b []byte) (int, error)     { return 0, nil }

type Promoted struct {
	Packed
	More []int32
}

type Named struct {
	Packed Packed
	More   int32
}

type None struct{}

func (p *None) NetForm() (string, int)             { return "none", 0 }
func (p *None) AppendNet(b []byte) ([]byte, error) { return b, nil }
func (p *None) ParseNet(b []byte) (int, error)     { return 0, nil }

type Good struct {
	throng.Entity
	A bool               `rep:""`
	B int8               `rep:""`
	C uint64             `rep:""`
	D float32            `rep:""`
	E string             `rep:""`
	F Stance             `rep:""`
	G time.Duration      `rep:""`
	H throng.NetID       `rep:""`
	I throng.PlayerID    `rep:""`
	J throng.Vec3        `rep:""`
	K Deep               `rep:""`
	L Packed             `rep:""`
	M struct{ P Packed } `rep:""`
	N struct {
		A int8
		_ [3]byte
	} `rep:""`
	O    Named               `rep:""`
	P    throng.Quat         `rep:""`
	Q    throng.Vec3Quantize `rep:"position"`
	free []int
	Open map[string]any
}

type Other struct {
	throng.Entity
	Lit  bool `rep:""`
	free []int
	Open map[string]any
}

type Bad struct {
	throng.Entity
	A int              `rep:""` // want `reptype.Bad.A \(int\) has a size that differs between machines: use int32 or int64`
	B uint             `rep:""` // want `\(uint\) has a size that differs between machines: use uint32 or uint64`
	C uintptr          `rep:""` // want `\(uintptr\) is an address`
	D complex128       `rep:""` // want `is complex`
	E *int32           `rep:""` // want `\(\*int32\) is a pointer: use a throng.NetID for an entity`
	F any              `rep:""` // want `\(any\) is an interface`
	G error            `rep:""` // want `\(error\) is an interface`
	H func()           `rep:""` // want `is a function: use an enum`
	I chan int32       `rep:""` // want `is a channel: use a field`
	J unsafe.Pointer   `rep:""` // want `is an unsafe pointer`
	K []byte           `rep:""` // want `\(\[\]byte\) is a slice: use a struct with a field per element, an entity per element, a throng.NetCodec for the type, or an init field if it never changes`
	L map[string]int   `rep:""` // want `is a map: use a struct`
	M [4]int32         `rep:""` // want `is an array: use a struct with a field per element`
	N Empty            `rep:""` // want `\(reptype.Empty\) has no size, so nothing to send`
	O Good             `rep:""` // want `reptype.Bad.O.Entity is another entity: use its throng.NetID` `reptype.Bad.O.free is not exported` `reptype.Bad.O.Open .* is a map`
	P Half             `rep:""` // want `reptype.Bad.P.b is not exported, so reptype.Half keeps its meaning to itself: export the field, or give the type a throng.NetCodec`
	Q time.Time        `rep:""` // want `Q.wall is not exported` `Q.ext is not exported` `Q.loc is not exported` `has no fields`
	R Node             `rep:""` // want `reptype.Bad.R.Next \(\*reptype.Node\) is a pointer`
	S Forest           `rep:""` // want `reptype.Bad.S.Trees \(\[\]reptype.Forest\) is a slice`
	T Big              `rep:""` // want `is too large: a value has at most 16 KiB on the wire: split it into several fields`
	U Number           `rep:""` // want `has a size that differs between machines`
	V parts.Value      `rep:""` // want `reptype.Bad.V.Where \(\*int32\) is a pointer`
	W struct{ _ int8 } `rep:""` // want `has no fields, so nothing to send`
	X struct {         // want `reptype.Bad.X.A.B.C.D \(int\) has a size`
		A struct {
			B struct{ C struct{ D int } }
		}
	} `rep:""`
	Y  []int32            `rep:"init"`
	Z  struct{ A Copied } `rep:""` // want `reptype.Bad.Z.A \(reptype.Copied\) has a ParseNet`
	AA Copied             `rep:""` // want `reptype.Bad.AA \(reptype.Copied\) has a ParseNet that sets a copy: declare it on \*reptype.Copied`
	AB Promoted           `rep:""` // want `reptype.Bad.AB \(reptype.Promoted\) gets its codec from an embedded field, which knows nothing of the others: give the field a name, or the type a codec of its own`
	AC None               `rep:""` // want `reptype.Bad.AC \(reptype.None\) has no size`
}

type Foreign struct {
	throng.Entity
	parts.Base // want `reptype.Foreign.Base.Best \(int\) has a size that differs between machines`
}

type ByPointer struct {
	*throng.Entity // want `reptype.ByPointer.Entity is embedded by pointer, so every body would need one made for it: embed throng.Entity by value`
}

// A struct without Entity may be embedded in a class.
type base struct {
	Count int `rep:""` // want `reptype.base.Count \(int\) has a size`
}

// What a type parameter stands for is known where the class is made.
type Box[T any] struct {
	throng.Entity
	V T              `rep:""`
	W struct{ In T } `rep:""`
}

var (
	_ = throng.NewClass[Box[int32]]("good", throng.ClassConfig{})
	_ = throng.NewClass[Box[[]int32]]("bad", throng.ClassConfig{}) // want `reptype.Box\[\[\]int32\].V \(\[\]int32\) is a slice` `W.In \(\[\]int32\) is a slice`
)
