package conformance

import (
	"encoding/binary"
	"fmt"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
)

// segment and deltas are what the walkers of package wire find.
type segment struct {
	Chunk   grid.Chunk
	Class   uint32
	Records []record
}

type record struct {
	Handle uint32
	Chunk  grid.Chunk
	Mask   uint64
	Values []byte
}

type deltas struct {
	Tick    uint16
	Class   uint32
	Records []delta
}

// delta has the zero chunk unless the position is in the mask.
type delta struct {
	Handle uint32
	Gen    uint8
	Term   uint32
	N      uint16
	Mask   uint64
	Chunk  grid.Chunk
	Values []byte
}

const lampNum = 5

func parseSegment(base grid.Chunk) func([]byte) (any, error) {
	return func(b []byte) (any, error) {
		chunk, num, body, err := wire.ParseSegment(b, base)
		if err != nil || num != lampNum {
			return nil, errVector
		}
		s := segment{Chunk: chunk, Class: num}
		w := wire.Walk(body, chunk, lamp())
		for r := (wire.Record{}); w.Next(&r); {
			s.Records = append(s.Records, record{r.Handle, r.Chunk, r.Mask, r.Values})
		}
		return s, w.Err()
	}
}

func appendSegment(base grid.Chunk, s segment) []byte {
	var w wire.Segment
	w.Reset(wire.AppendChunk(nil, base, s.Chunk), s.Class, lamp(), s.Chunk)
	for _, r := range s.Records {
		w.Begin(r.Handle, r.Chunk, r.Mask, wire.Sample{})
		w.B = append(w.B, r.Values...)
	}
	return w.B
}

func parseDeltas(b []byte) (any, error) {
	w, err := wire.ParseDeltas(b)
	if err != nil || w.Num != lampNum {
		return nil, errVector
	}
	d := deltas{Tick: w.Tick, Class: w.Num}
	w.Walk(lamp())
	for r := (wire.Delta{}); w.Next(&r); {
		d.Records = append(d.Records, delta{r.Handle, r.Gen, r.Term, r.N, r.Mask, r.Chunk, r.Values})
	}
	return d, w.Err()
}

func appendDeltas(base grid.Chunk, d deltas) []byte {
	var w wire.Deltas
	w.Reset(nil, uint32(d.Tick), base, d.Class, lamp())
	for _, r := range d.Records {
		w.Begin(&wire.Delta{Handle: r.Handle, Gen: r.Gen, Term: r.Term, N: r.N, Mask: r.Mask, Chunk: r.Chunk})
		w.B = append(w.B, r.Values...)
	}
	return w.B
}

func inFrame(name, about string, kind byte, kindName, with string, value any, body []byte, parse func([]byte) (any, error)) vector {
	return vector{name: name, about: about, is: fmt.Sprintf("frame 0x%02x %s", kind, kindName), with: with, value: value,
		bytes: session.AppendFrame(nil, kind, body), parse: func(b []byte) (any, error) {
			length, n := binary.Uvarint(b[1:])
			if b[0] != kind || len(b) != 1+n+int(length) {
				return nil, errVector
			}
			return parse(b[1+n:])
		}}
}

func frameVectors() (all []vector) {
	const far = 1 << 40
	base := grid.Chunk{X: 10, Y: -3, Z: 0}
	add := func(name, about string, kind byte, kindName, with string, value any, body []byte, parse func([]byte) (any, error)) {
		all = append(all, inFrame(name, about, kind, kindName, with, value, body, parse))
	}
	atBase := "base chunk: 10 -3 0"
	ofLamp := atBase + "; class 5: 102-class"

	flush := wire.Flush{Epoch: 1, Flush: 70_000, Time: 1_750_000, Base: base}
	add("301-flush", "Opens what a relay says of entities. 70,000 is 4,464 on the wire.", wire.KindFlush, "Flush", "newest flush: 69990", flush, flush.Append(nil),
		func(b []byte) (any, error) { return wire.ParseFlush(b, 69_990) })
	wrapped := wire.Flush{Epoch: 255, Flush: 65_535, Time: 1<<32 - 1, Base: grid.Chunk{X: far, Y: -far, Z: 1}}
	add("302-flush-late", "One that was overtaken: its number is below the newest, on the other side of 65,536.", wire.KindFlush, "Flush", "newest flush: 65540", wrapped, wrapped.Append(nil),
		func(b []byte) (any, error) { return wire.ParseFlush(b, 65_540) })

	seg := func(name, about string, s segment) {
		add(name, about, wire.KindSegment, "Segment", ofLamp, s, appendSegment(base, s), parseSegment(base))
	}
	seg("303-segment", "One changed bool.", segment{base, lampNum, []record{{200, base, 2, lampValues(2)}}})
	next := grid.Chunk{X: 11, Y: -3, Z: 0}
	seg("304-segment-switch", "Three records in one chunk, then a switch to the chunk of the last, which crossed a border.", segment{grid.Chunk{X: 8, Y: -1, Z: 2}, lampNum, []record{
		{3, grid.Chunk{X: 8, Y: -1, Z: 2}, 6, lampValues(6)}, {4, grid.Chunk{X: 8, Y: -1, Z: 2}, 4, []byte{0}}, {1000, grid.Chunk{X: 8, Y: -1, Z: 2}, 1, lampValues(1)},
		{2, next, 1, lampValues(1)}}})
	seg("305-segment-near", "A chunk three away: three signed bytes.", segment{grid.Chunk{X: 13, Y: -130, Z: 100}, lampNum,
		[]record{{1, grid.Chunk{X: 13, Y: -130, Z: 100}, 2, lampValues(2)}}})
	seg("306-segment-far", "A chunk far away: three zigzag varints.", segment{grid.Chunk{X: far, Y: -far, Z: 0}, lampNum,
		[]record{{wire.MaxHandle, grid.Chunk{X: far, Y: -far, Z: 0}, 2, lampValues(2)}}})

	k := lamp()
	parseIntro := func(b []byte) (any, error) { return wire.ParseIntro(b, base) }
	intro := wire.Intro{Handle: 200, Gen: 2, Num: lampNum, ClassID: k.ID, ClassHash: k.Hash, ID: lampID, Inc: wire.NewCount(3, 17), Term: wire.NewCount(3, 40),
		Flags: wire.EntityAvatar, Owner: playerA, Nonce: 300, Chunk: next, Mask: 7, Values: lampValues(7)}
	add("310-intro", "An entity with all that an observer may know: not the slot of its owner.", wire.KindIntro, "Intro", ofLamp, intro, intro.Append(nil, base), parseIntro)
	intro.Owner, intro.Flags, intro.Nonce = wire.PlayerID{}, wire.EntityHosted|wire.EntityPlaced, 0
	add("311-intro-hosted", "One that nobody owns.", wire.KindIntro, "Intro", ofLamp, intro, intro.Append(nil, base), parseIntro)

	away := wire.Depart{Handle: 200, ID: lampID, Inc: wire.NewCount(3, 17), Nonce: 300, Why: wire.WhyOutOfReach, Cert: []byte{}}
	add("320-depart", "An entity left the reach.", wire.KindDepart, "Depart", "", away, away.Append(nil), as(wire.ParseDepart))
	died := wire.Depart{Handle: 200, ID: lampID, Inc: wire.NewCount(3, 17), Nonce: 300, Why: wire.WhyDestroyed, By: playerB, Cert: cert}
	add("321-depart-destroyed", "An entity was destroyed by a player. The certificate is for a relay that restarts.", wire.KindDepart, "Depart", "", died, died.Append(nil), as(wire.ParseDepart))

	role := wire.Role{Handle: 200, Term: wire.NewCount(3, 41), Flags: wire.EntityAutoGrant, Owner: playerB}
	add("330-role", "A new owner and term.", wire.KindRole, "Role", "", role, role.Append(nil), as(wire.ParseRole))

	up := func(name, about string, d deltas) {
		add(name, about, wire.KindDeltas, "Deltas", "class 5: 102-class", d, appendDeltas(base, d), parseDeltas)
	}
	up("340-deltas", "What a driver changed: a bool; then, in another entity, position and text.", deltas{65_535, lampNum, []delta{
		{Handle: 200, Gen: 2, Term: 40, Mask: 2, Values: lampValues(2)}, {Handle: 201, Gen: 1, Term: 12, Mask: 5, Chunk: next, Values: lampValues(5)}}})
	up("341-deltas-override", "A driver that has applied override 3.", deltas{7, lampNum, []delta{{Handle: wire.MaxHandle, Gen: 255, Term: 1<<32 - 1, N: 3, Mask: 2, Values: lampValues(2)}}})
	return all
}
