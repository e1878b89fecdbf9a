package layout

import "reflect"

// Kind is how a slot's value is kept newest.
type Kind uint8

const (
	Plain Kind = iota // the newest value stands
	Keyed             // items with versions of their own: reserved for List and Map, no type has it yet
)

// Field is what others may know of a slot. It decides the layout hash.
type Field struct {
	Name  string
	Type  string // canonical: see compile.go
	Words Words
	Kind  Kind
	Width int // bytes on the wire; 0: a uvarint length comes first
}

// Slot is one replicated value: a field of the struct, or of a struct embedded in it.
type Slot struct {
	Field
	Path   string       // the field from the entity, embedded structs named
	Go     reflect.Type // of the field
	Offset uintptr      // from the start of the entity
	Size   uintptr      // in memory, padding included
	Framed bool         // a struct of varying width: the length of the whole comes first, then its fields
	Joined bool         // nothing but padding lies between the previous slot and this one
	Atoms  []Atom       // in wire order

	// XYZ reads the position slot; nil in all others.
	XYZ func(v any) (x, y, z float64)
}

// Form is how an atom is compared and written.
type Form uint8

const (
	Bool    Form = iota // one byte, 0 or 1
	Bits8               // integers, little-endian
	Bits16              //
	Bits32              //
	Bits64              //
	Float32             // little-endian, every NaN written as one, −0 as +0
	Float64             //
	String              // uvarint length, bytes
	Coded               // by its codec; a uvarint length in front if the width varies
)

// Atom is the smallest piece of a slot: one number, string, or value with a codec.
type Atom struct {
	Form   Form
	Offset uintptr      // from the start of the entity
	Type   reflect.Type // of the piece
	Finite bool         // part of a position: NaN and infinities are refused
	Codec  Codec        // of a Coded atom
	Blend  Blend        // of a Coded atom
}
