package conformance

import (
	"encoding/binary"
	"fmt"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
)

// walker is the class of the vectors about motion: a bool, and a motion struct that says where the entity is.
func walker() *wire.Class {
	c := &wire.Class{ID: 0x2b3c4d5e, Hash: 0x1112131415161718, Flags: wire.ClassDynamic, Name: "game.Walker", Slots: []wire.Slot{
		{Width: 1, Name: "Armed", Type: "bool"},
		{Width: 4, Words: wire.WordMotion | wire.WordPosition, Name: "(motion)", Type: "struct{Pos vec2quantize10; Yaw uint8}"},
	}}
	if !c.Index() {
		panic("class")
	}
	return c
}

type timedSegment struct {
	Chunk   grid.Chunk
	Class   uint32
	Records []timedRecord
}

// timedRecord has no age and no cut unless the motion is in the mask.
type timedRecord struct {
	Handle uint32
	Chunk  grid.Chunk
	Mask   uint64
	Age    uint16
	Cut    bool
	Still  bool
	Values []byte
}

type motion struct {
	Time    uint32
	Tick    uint16
	Class   uint32
	Records []cutDelta
}

type cutDelta struct {
	Handle uint32
	Gen    uint8
	Term   uint32
	Still  bool
	Cut    bool
	N      uint16
	Mask   uint64
	Chunk  grid.Chunk
	Values []byte
}

const walkerNum = 6

func motionVectors() (all []vector) {
	base := grid.Chunk{X: 10, Y: -3, Z: 0}
	frame := func(name, about string, kind byte, kindName, with string, value any, body []byte, parse func([]byte) (any, error)) {
		all = append(all, vector{name: name, about: about, is: fmt.Sprintf("frame 0x%02x %s", kind, kindName), with: with + "class 6: 360-class-motion", value: value,
			bytes: session.AppendFrame(nil, kind, body), parse: func(b []byte) (any, error) {
				length, n := binary.Uvarint(b[1:])
				if b[0] != kind || len(b) != 1+n+int(length) {
					return nil, errVector
				}
				return parse(b[1+n:])
			}})
	}
	k := walker()
	announced := class{Num: walkerNum, ID: k.ID, Hash: k.Hash, Flags: k.Flags, Name: k.Name, Slots: k.Slots}
	all = append(all, vector{name: "360-class-motion", about: "A class with motion.", is: fmt.Sprintf("message %d Class", wire.MsgClass), value: announced,
		bytes: wire.AppendClass(nil, walkerNum, k), parse: func(b []byte) (any, error) {
			num, c, err := wire.ParseClass(b[1:])
			if err != nil || b[0] != wire.MsgClass {
				return nil, errVector
			}
			return class{num, c.ID, c.Hash, c.Flags, c.Reach, c.Name, c.Slots}, nil
		}})
	seg := timedSegment{base, walkerNum, []timedRecord{
		{200, base, 1, 0, false, false, []byte{1}},
		{201, base, 2, 42, false, false, []byte{1, 2, 3, 4}},
		{202, base, 3, 63, true, false, []byte{0, 5, 6, 7, 8}},
		{203, base, 2, 1000, false, false, []byte{9, 10, 11, 12}},
		{204, base, 2, 6, true, true, []byte{13, 14, 15, 16}},
	}}
	frame("361-segment-motion", "A record without motion has no age. An age of 64 ms or more takes two bytes, as does one of an entity that stands.", wire.KindSegment, "Segment", "base chunk: 10 -3 0; ", seg,
		appendTimed(base, seg), func(b []byte) (any, error) { return parseTimed(b, base) })
	up := motion{1_750_123 & 0xffff, 9, walkerNum, []cutDelta{
		{200, 2, 40, false, false, 0, 2, base, []byte{1, 2, 3, 4}},
		{201, 1, 12, true, true, 3, 3, grid.Chunk{X: 11, Y: -3}, []byte{1, 5, 6, 7, 8}},
		{202, 1, 7, false, false, 0, 0, grid.Chunk{}, []byte{}},
	}}
	frame("362-motion", "What a driver captured at 1,750,123 ms: a step, a jump to where it stands, behind override 3, and an entity of which there is nothing new.", wire.KindMotion, "Motion", "", up,
		appendMotion(base, up), parseMotion)
	return all
}

func parseTimed(b []byte, base grid.Chunk) (any, error) {
	chunk, num, body, err := wire.ParseSegment(b, base)
	if err != nil || num != walkerNum {
		return nil, errVector
	}
	s := timedSegment{Chunk: chunk, Class: num}
	w := wire.Walk(body, chunk, walker())
	for r := (wire.Record{}); w.Next(&r); {
		if r.Timed != (r.Mask&2 != 0) {
			return nil, errVector
		}
		s.Records = append(s.Records, timedRecord{r.Handle, r.Chunk, r.Mask, r.Age, r.Cut, r.Still, r.Values})
	}
	return s, w.Err()
}

func appendTimed(base grid.Chunk, s timedSegment) []byte {
	var w wire.Segment
	w.Reset(wire.AppendChunk(nil, base, s.Chunk), s.Class, walker(), s.Chunk)
	for _, r := range s.Records {
		w.Begin(r.Handle, r.Chunk, r.Mask, wire.SampleOf(uint32(r.Age), r.Cut, r.Still))
		w.B = append(w.B, r.Values...)
	}
	return w.B
}

func parseMotion(b []byte) (any, error) {
	at, rest, err := wire.ParseMotion(b, 1_750_200)
	if err != nil {
		return nil, err
	}
	w, err := wire.ParseDeltas(rest)
	if err != nil || w.Num != walkerNum {
		return nil, errVector
	}
	m := motion{Time: at & 0xffff, Tick: w.Tick, Class: w.Num}
	w.Walk(walker())
	for r := (wire.Delta{}); w.Next(&r); {
		m.Records = append(m.Records, cutDelta{r.Handle, r.Gen, r.Term, r.Still, r.Cut, r.N, r.Mask, r.Chunk, r.Values})
	}
	return m, w.Err()
}

func appendMotion(base grid.Chunk, m motion) []byte {
	var w wire.Deltas
	w.Reset(wire.AppendMotion(nil, m.Time), uint32(m.Tick), base, m.Class, walker())
	for _, r := range m.Records {
		w.Begin(&wire.Delta{Handle: r.Handle, Gen: r.Gen, Term: r.Term, Still: r.Still, Cut: r.Cut, N: r.N, Mask: r.Mask, Chunk: r.Chunk})
		w.B = append(w.B, r.Values...)
	}
	return w.B
}
