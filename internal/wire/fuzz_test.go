package wire

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/grid"
)

// Every parser: whatever comes, no panic; what parses is worth no more bytes than came; appended again it parses to the same.
// The seeds are the golden vectors, so that both stay alive.

// vector is the bytes of a golden vector behind its kind, length and type.
type vector struct {
	is   string // "frame 0x11" or "message 35"
	typ  byte
	body []byte
}

func goldenVectors(f *testing.F) (all []vector) {
	files, err := filepath.Glob("../../conformance/vectors/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatal("no vectors")
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		_, is, _ := strings.Cut(string(text), "\nis: ")
		is, _, _ = strings.Cut(is, "\n")
		_, digits, _ := strings.Cut(string(text), "\nbytes:\n")
		b, err := hex.DecodeString(strings.Join(strings.Fields(digits), ""))
		if err != nil {
			f.Fatal(err)
		}
		switch kind, _, _ := strings.Cut(is, " "); kind {
		case "frame":
			_, n := uvarint(b[1:])
			all = append(all, vector{"frame", b[0], b[1+n:]})
		case "message":
			all = append(all, vector{"message", b[0], b[1:]})
		}
	}
	return all
}

// seed adds the vectors of one type.
func seed(f *testing.F, is string, typ byte, add func(body []byte)) {
	n := 0
	for _, v := range goldenVectors(f) {
		if v.is == is && v.typ == typ {
			add(v.body)
			n++
		}
	}
	if n == 0 {
		f.Fatalf("no vector of %s %d", is, typ)
	}
}

// roundTrip checks one parser with one input. slack is how many bytes the encoder may need more: it does not use the form
// of three signed bytes for −128.
func roundTrip[T any](t *testing.T, b []byte, slack int, parse func([]byte) (T, error), encode func(*T) []byte) {
	t.Helper()
	v, err := parse(b)
	if err != nil {
		return
	}
	out := encode(&v)
	again, err := parse(out)
	if err != nil || !reflect.DeepEqual(v, again) {
		t.Fatalf("%x → %+v → %x → %+v, %v", b, v, out, again, err)
	}
	if len(out) > len(b)+slack {
		t.Fatalf("%d bytes became %d: %x → %x", len(b), len(out), b, out)
	}
}

const chunkSlack = 3

// near makes any three numbers a valid chunk.
func near(x, y, z int64) grid.Chunk {
	c := grid.Chunk{X: x, Y: y, Z: z}
	for !c.Valid() {
		c = grid.Chunk{X: c.X >> 1, Y: c.Y >> 1, Z: c.Z >> 1}
	}
	return c
}

// layouts are the classes that records are cut by.
func layouts() []*Class {
	class := func(widths ...uint16) *Class {
		c := &Class{ID: 1, Hash: 2, Name: "c"}
		for _, w := range widths {
			c.Slots = append(c.Slots, Slot{Width: w})
		}
		return c
	}
	lamp := class(12, 1, 0, 4)
	lamp.Slots[0].Words, lamp.Slots[3].Words = WordPosition, WordOwner
	late := class(0, 0, 8)
	late.Slots[2].Words = WordPosition
	walker := class(1, 0)
	walker.Slots[1].Words = WordMotion | WordPosition
	all := []*Class{lamp, late, class(), class(0), class(MaxValues), slots(64, 1), slots(9, 0), slots(8, 2), walker}
	for _, c := range all {
		if !c.Index() {
			panic("class")
		}
	}
	return all
}

func FuzzChunk(f *testing.F) {
	for code := range 256 {
		f.Add([]byte{byte(code), 200, 100, 3}, int64(code), int64(-code), int64(code)<<55)
	}
	f.Fuzz(func(t *testing.T, b []byte, x, y, z int64) {
		base := near(x, y, z)
		c, n := ParseChunk(b, base)
		if n == 0 {
			return
		}
		if n > len(b) || !c.Valid() {
			t.Fatalf("%d bytes of %d, %v", n, len(b), c)
		}
		out := AppendChunk(nil, base, c)
		if again, m := ParseChunk(out, base); again != c || m != len(out) || m > n+chunkSlack {
			t.Fatalf("%x → %v → %x → %v", b[:n], c, out, again)
		}
	})
}

func FuzzFlush(f *testing.F) {
	seed(f, "frame", KindFlush, func(b []byte) { f.Add(b, uint32(70_000)) })
	f.Fuzz(func(t *testing.T, b []byte, newest uint32) {
		parse := func(b []byte) (Flush, error) { return ParseFlush(b, newest) }
		roundTrip(t, b, 0, parse, func(m *Flush) []byte { return m.Append(nil) })
		if m, err := parse(b); err == nil && int32(m.Flush-newest)+1<<15 < 0 {
			t.Fatalf("%d is not near %d", m.Flush, newest)
		}
	})
}

func FuzzIntro(f *testing.F) {
	seed(f, "frame", KindIntro, func(b []byte) { f.Add(b, int64(10), int64(-3), int64(0)) })
	f.Fuzz(func(t *testing.T, b []byte, x, y, z int64) {
		base := near(x, y, z)
		roundTrip(t, b, chunkSlack, func(b []byte) (Intro, error) { return ParseIntro(b, base) }, func(m *Intro) []byte { return m.Append(nil, base) })
	})
}

func FuzzDepart(f *testing.F) {
	seed(f, "frame", KindDepart, func(b []byte) { f.Add(b) })
	f.Fuzz(func(t *testing.T, b []byte) {
		roundTrip(t, b, 0, ParseDepart, func(m *Depart) []byte { return m.Append(nil) })
	})
}

func FuzzRole(f *testing.F) {
	seed(f, "frame", KindRole, func(b []byte) { f.Add(b) })
	f.Fuzz(func(t *testing.T, b []byte) {
		roundTrip(t, b, 0, ParseRole, func(m *Role) []byte { return m.Append(nil) })
	})
}

// segment is what a walk finds.
type segment struct {
	chunk grid.Chunk
	num   uint32
	recs  []Record
}

func FuzzSegment(f *testing.F) {
	all := layouts()
	for i := range all {
		seed(f, "frame", KindSegment, func(b []byte) { f.Add(b, uint8(i), int64(10), int64(-3), int64(0)) })
	}
	f.Fuzz(func(t *testing.T, b []byte, layout uint8, x, y, z int64) {
		c, base := all[int(layout)%len(all)], near(x, y, z)
		records := 0
		parse := func(b []byte) (segment, error) {
			chunk, num, body, err := ParseSegment(b, base)
			if err != nil {
				return segment{}, err
			}
			s, size := segment{chunk: chunk, num: num}, 0
			w := Walk(body, chunk, c)
			for rec := (Record{}); w.Next(&rec); {
				if rec.Handle == 0 || rec.Handle > MaxHandle || !rec.Chunk.Valid() || rec.Mask&^c.All != 0 || c.ValuesLen(rec.Mask, rec.Values) != len(rec.Values) {
					t.Fatalf("%+v", rec)
				}
				size += 1 + c.MaskLen() + len(rec.Values)
				s.recs = append(s.recs, rec)
			}
			if records = max(records, len(s.recs)); size > len(body) {
				t.Fatalf("%d bytes of records in %d", size, len(body))
			}
			return s, w.Err()
		}
		_, _ = parse(b)
		roundTrip(t, b, chunkSlack*(records+1), parse, func(s *segment) []byte {
			var w Segment
			w.Reset(AppendChunk(nil, base, s.chunk), s.num, c, s.chunk)
			for _, r := range s.recs {
				w.Begin(r.Handle, r.Chunk, r.Mask, r.Sample)
				w.B = append(w.B, r.Values...)
			}
			if w.N != len(s.recs) {
				t.Fatalf("%d records of %d", w.N, len(s.recs))
			}
			return w.B
		})
	})
}

// deltas is what a walk finds.
type deltas struct {
	tick uint16
	base grid.Chunk
	num  uint32
	recs []Delta
}

func FuzzDeltas(f *testing.F) {
	all := layouts()
	for i := range all {
		seed(f, "frame", KindDeltas, func(b []byte) { f.Add(b, uint8(i)) })
	}
	f.Fuzz(func(t *testing.T, b []byte, layout uint8) {
		c := all[int(layout)%len(all)]
		records := 0
		parse := func(b []byte) (deltas, error) {
			w, err := ParseDeltas(b)
			if err != nil {
				return deltas{}, err
			}
			d, last := deltas{tick: w.Tick, base: w.base, num: w.Num}, uint32(0)
			w.Walk(c)
			for m := (Delta{}); w.Next(&m); {
				if m.Handle <= last || m.Handle > MaxHandle || !m.Chunk.Valid() || m.Mask&^c.All != 0 || c.ValuesLen(m.Mask, m.Values) != len(m.Values) {
					t.Fatalf("%+v", m)
				}
				last = m.Handle
				d.recs = append(d.recs, m)
			}
			records = max(records, len(d.recs))
			return d, w.Err()
		}
		_, _ = parse(b)
		roundTrip(t, b, chunkSlack*records, parse, func(d *deltas) []byte {
			var w Deltas
			w.Reset(nil, uint32(d.tick), d.base, d.num, c)
			for i := range d.recs {
				w.Begin(&d.recs[i])
				w.B = append(w.B, d.recs[i].Values...)
			}
			return w.B
		})
	})
}

func FuzzClass(f *testing.F) {
	seed(f, "message", MsgClass, func(b []byte) { f.Add(b) })
	for _, c := range layouts() {
		f.Add(AppendClass(nil, 7, c)[1:])
	}
	type class struct {
		Num uint32
		C   *Class
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		roundTrip(t, b, 0, func(b []byte) (class, error) {
			num, c, err := ParseClass(b)
			if err == nil && (4*len(c.Slots) > len(b) || c.Fixed > MaxValues) {
				t.Fatalf("%d slots of %d bytes from %d", len(c.Slots), c.Fixed, len(b))
			}
			return class{num, c}, err
		}, func(v *class) []byte { return AppendClass(nil, v.Num, v.C)[1:] })
	})
}

func FuzzEntity(f *testing.F) {
	for _, v := range goldenVectors(f) {
		if v.is == "message" && int(v.typ) < len(entityFields) && entityFields[v.typ] != 0 {
			f.Add(v.typ, v.body)
		}
	}
	f.Fuzz(func(t *testing.T, msg byte, b []byte) {
		roundTrip(t, b, 0, func(b []byte) (Entity, error) {
			m, err := ParseEntity(msg, b)
			if err == nil && (len(m.Cert) > MaxCert || len(m.Cert)+len(m.Values) > len(b)) {
				t.Fatalf("%+v from %d bytes", m, len(b))
			}
			return m, err
		}, func(m *Entity) []byte { return AppendEntity(nil, msg, m)[1:] })
	})
}

// FuzzJoin feeds the messages about sessions and worlds, by their first byte.
func FuzzJoin(f *testing.F) {
	for _, v := range goldenVectors(f) {
		if v.is == "message" && (int(v.typ) >= len(entityFields) || entityFields[v.typ] == 0) {
			f.Add(v.typ, v.body)
		}
	}
	type view struct {
		Follow bool
		Views  []grid.Chunk
	}
	f.Fuzz(func(t *testing.T, msg byte, b []byte) {
		switch msg {
		case MsgHello:
			roundTrip(t, b, 0, ParseHello, func(m *Hello) []byte { return m.Append(nil)[1:] })
		case MsgWelcome:
			roundTrip(t, b, 0, ParseWelcome, func(m *Welcome) []byte { return m.Append(nil)[1:] })
		case MsgRefuse:
			roundTrip(t, b, 0, ParseRefuse, func(m *Refuse) []byte { return m.Append(nil)[1:] })
		case MsgHost:
			roundTrip(t, b, 0, ParseHost, func(m *Host) []byte { return m.Append(nil)[1:] })
		case MsgTravel:
			roundTrip(t, b, 0, ParseTravel, func(world *string) []byte { return AppendTravel(nil, *world)[1:] })
		case MsgTravelRefused:
			roundTrip(t, b, 0, ParseRefuse, func(m *Refuse) []byte { return m.AppendTravel(nil)[1:] })
		case MsgView:
			roundTrip(t, b, 0, func(b []byte) (v view, err error) {
				v.Follow, v.Views, err = ParseView(b, nil)
				if len(v.Views) > MaxViews {
					t.Fatal(len(v.Views))
				}
				return v, err
			}, func(v *view) []byte { return AppendView(nil, v.Follow, v.Views)[1:] })
		case MsgPlayer:
			roundTrip(t, b, 0, func(b []byte) (list []Player, err error) {
				err = ParsePlayers(b, func(p Player) { list = append(list, p) })
				return list, err
			}, func(list *[]Player) []byte {
				out, rest := AppendPlayers(nil, *list)
				if len(rest) > 0 {
					t.Fatal("too many players")
				}
				return out[1:]
			})
		}
	})
}

// What comes with every packet is read without an allocation.
func TestParsingDoesNotAllocate(t *testing.T) {
	c := layouts()[0]
	base := grid.Chunk{X: 1 << 40, Y: -5, Z: 3}
	values := append(make([]byte, 13), append([]byte{3}, "abc"...)...)
	var seg Segment
	seg.Reset(AppendChunk(nil, base, base), 5, c, base)
	var up Deltas
	up.Reset(nil, 7, base, 5, c)
	for h := uint32(1); h < 10; h++ {
		seg.Begin(h, base, 7, Sample{})
		seg.B = append(seg.B, values...)
		up.Begin(&Delta{Handle: h, Gen: 1, Term: 400, N: 2, Mask: 7, Chunk: base})
		up.B = append(up.B, values...)
	}
	flush := (&Flush{Epoch: 1, Flush: 99, Base: base}).Append(nil)
	intro := append((&Intro{Handle: 9, Owner: PlayerID{1}, Mask: 7}).Append(nil, base), values...)
	depart := (&Depart{Handle: 9, By: PlayerID{1}, Cert: make([]byte, 16)}).Append(nil)
	role := (&Role{Handle: 9, Owner: PlayerID{1}}).Append(nil)
	spawn := AppendEntity(nil, MsgSpawn, &Entity{ID: ID{1}, Mask: 7, Values: values})[1:]
	records := 0
	out := make([]byte, 0, 2000)
	for name, f := range map[string]func(){
		"flush":  func() { ParseFlush(flush, 98) },
		"intro":  func() { ParseIntro(intro, base) },
		"depart": func() { ParseDepart(depart) },
		"role":   func() { ParseRole(role) },
		"spawn":  func() { ParseEntity(MsgSpawn, spawn) },
		"segment": func() {
			chunk, _, body, _ := ParseSegment(seg.B, base)
			w := Walk(body, chunk, c)
			for rec := (Record{}); w.Next(&rec); records++ {
			}
		},
		"deltas": func() {
			w, _ := ParseDeltas(up.B)
			w.Walk(c)
			for m := (Delta{}); w.Next(&m); records++ {
			}
		},
		"append": func() {
			m := Intro{Handle: 9, Owner: PlayerID{1}, Mask: 7, Values: values}
			out = m.Append(out[:0], base)
		},
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	if records != 2*9*101 {
		t.Fatalf("%d records", records)
	}
}

// The codes of every chunk near its base, of those that take three bytes, and of those beyond.
func TestChunkCodes(t *testing.T) {
	for _, base := range []grid.Chunk{{}, {X: -7, Y: 1 << 40, Z: 3}, {X: 1<<62 - 3, Y: -(1<<62 - 3), Z: 0}} {
		seen := map[string]grid.Chunk{}
		check := func(dx, dy, dz int64, want int) {
			t.Helper()
			c := grid.Chunk{X: base.X + dx, Y: base.Y + dy, Z: base.Z + dz}
			b := AppendChunk(nil, base, c)
			if was, ok := seen[string(b)]; ok && was != c {
				t.Fatalf("%v and %v are both %x", was, c, b)
			}
			seen[string(b)] = c
			got, n := ParseChunk(append(b, 0xff), base)
			if !c.Valid() {
				if n != 0 {
					t.Fatalf("%v is outside and was read", c)
				}
				return
			}
			if got != c || n != len(b) || want > 0 && n != want {
				t.Fatalf("%v from %v: %x is %v in %d bytes, want %d", c, base, b, got, n, want)
			}
			for cut := range len(b) {
				if _, n := ParseChunk(b[:cut], base); n != 0 {
					t.Fatalf("%x cut to %d bytes was read", b, cut)
				}
			}
		}
		for dx := int64(-4); dx <= 4; dx++ {
			for dy := int64(-4); dy <= 4; dy++ {
				for dz := int64(-4); dz <= 4; dz++ {
					want := 4
					if max(dx, -dx, dy, -dy, dz, -dz) <= 2 {
						want = 1
					}
					check(dx, dy, dz, want)
				}
			}
		}
		for _, d := range []int64{127, -127} {
			check(d, 0, -d, 4)
		}
		for _, d := range []int64{128, -128, 1 << 20, -(1 << 40)} {
			check(d, 0, 1, 0)
			check(0, d, 0, 0)
			check(1, -1, d, 0)
		}
	}
	for code := 127; code < 256; code++ {
		if _, n := ParseChunk([]byte{byte(code), 0, 0, 0, 0}, grid.Chunk{}); n != 0 {
			t.Errorf("code %d", code)
		}
	}
	// A difference that wraps around leads outside, not to the other end of space.
	for _, v := range []string{"\x7e\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00", "\x7e\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00"} {
		if c, n := ParseChunk([]byte(v), grid.Chunk{X: 1<<62 - 1}); n != 0 && c.Distance(grid.Chunk{X: 1<<62 - 1}) > 1<<62 {
			t.Errorf("%x: %v", v, c)
		}
	}
}

// a number of 16 bits is the one nearest to what is known, across every wrap.
func TestR02Expand(t *testing.T) {
	for _, near := range []uint32{0, 1, 32767, 32768, 65535, 65536, 1 << 31, 1<<32 - 1} {
		for _, d := range []int32{0, 1, -1, 100, -100, 32767, -32768} {
			want := near + uint32(d)
			if got := Expand16(uint16(want), near); got != want {
				t.Errorf("near %d: %d, want %d", near, got, want)
			}
		}
	}
}
