package main

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/inspect"
	"github.com/throng-dev/throng/internal/quant"
	"github.com/throng-dev/throng/relay"
)

// view shows the fullest world of a relay, of which it knows only the values in wire form and what they are called.
type view struct {
	relay *relay.Server
	start time.Time
	more  func(*inspect.Counters) // nil: the relay's own numbers
	field *inspect.Rect           // nil: the page finds out by itself

	// of the previous frame
	at             time.Time
	bytes, packets uint64
}

func newView(r *relay.Server, more func(*inspect.Counters)) *view {
	return &view{relay: r, start: time.Now(), more: more}
}

// Frame is for the handler of package inspect.
func (v *view) Frame() (inspect.Frame, error) {
	snap, err := v.relay.Snapshot()
	if err != nil {
		return inspect.Frame{}, err
	}
	f := inspect.Frame{Time: snap.At, Uptime: snap.At.Sub(v.start), Bounds: v.field}
	v.count(&f.Counters, snap.At)
	var w *relay.WorldState
	for i := range snap.Worlds {
		if w == nil || len(snap.Worlds[i].Sessions) > len(w.Sessions) {
			w = &snap.Worlds[i]
		}
	}
	if w == nil {
		return f, nil
	}
	f.World, f.ChunkSize = w.Level, w.ChunkSize
	if w.Host != ([16]byte{}) {
		f.Host = hex.EncodeToString(w.Host[:])
	}
	avatars := map[[16]byte]int{} // index in Things, by player
	for i := range w.Entities {
		e := &w.Entities[i]
		t, name := thing(e, &w.Classes[e.Class])
		if name != "" {
			avatars[e.Owner] = len(f.Things)
			t.State["name"] = name
		}
		f.Things = append(f.Things, t)
	}
	for _, s := range w.Sessions {
		p := inspect.Player{ID: hex.EncodeToString(s.Player[:]), X: math.NaN(), Y: math.NaN(), Host: s.Player == w.Host}
		if i, ok := avatars[s.Player]; ok {
			p.X, p.Y = f.Things[i].X, f.Things[i].Y
			p.Name, _ = f.Things[i].State["name"].(string)
		}
		f.Players = append(f.Players, p)
	}
	return f, nil
}

// count sets the counters from those of the relay; rates are since the frame before.
func (v *view) count(c *inspect.Counters, at time.Time) {
	st := v.relay.Stats()
	c.Clients, c.Entities = st.Sessions, st.Entities
	c.BytesPerSecond, c.PacketsPerSecond = math.NaN(), math.NaN()
	if s := at.Sub(v.at).Seconds(); !v.at.IsZero() && s > 0 {
		c.BytesPerSecond = float64(st.BytesOut-v.bytes) / s
		c.PacketsPerSecond = float64(st.Out-v.packets) / s
	}
	v.at, v.bytes, v.packets = at, st.BytesOut, st.Out
	if v.more != nil {
		v.more(c)
	}
}

// thing reads what it can of an entity. A text called Name makes it somebody's avatar.
func thing(e *relay.EntityState, k *relay.ClassState) (t inspect.Thing, name string) {
	t = inspect.Thing{ID: hex.EncodeToString(e.NetID[:]), Class: k.Name, X: math.NaN(), Y: math.NaN(), State: map[string]any{}}
	if !e.Hosted {
		t.Owner = hex.EncodeToString(e.Owner[:])
	}
	for i, s := range k.Slots {
		v := e.Values[i]
		switch {
		case s.Position:
			t.X, t.Y = place(s.Type, v)
		case s.Name == "Name" && s.Type == "string":
			name = text(v)
		default:
			if v, ok := value(s.Type, v); ok {
				t.State[strings.ToLower(s.Name)] = v
			}
		}
	}
	return t, name
}

// steps are how many to a unit the quantised positions have.
var steps = map[string]float64{
	"vec2quantize": 1, "vec2quantize10": 10, "vec2quantize100": 100,
	"vec3quantize": 1, "vec3quantize10": 10, "vec3quantize100": 100,
}

// place is where a position is on a map: the first two axes of it.
func place(typ string, v []byte) (x, y float64) {
	if typ == "vec2" && len(v) == 16 || typ == "vec3" && len(v) == 24 {
		return math.Float64frombits(binary.LittleEndian.Uint64(v)), math.Float64frombits(binary.LittleEndian.Uint64(v[8:]))
	}
	if body, ok := framed(v); ok && steps[typ] > 0 {
		if strings.HasPrefix(typ, "vec2") {
			if p, err := quant.ParseVec2(body, steps[typ]); err == nil {
				return p[0], p[1]
			}
		} else if p, err := quant.ParseVec3(body, steps[typ]); err == nil {
			return p[0], p[1]
		}
	}
	return math.NaN(), math.NaN()
}

// value reads the simple types; the rest is not shown.
func value(typ string, v []byte) (any, bool) {
	var bits uint64
	for i, b := range v[:min(len(v), 8)] {
		bits |= uint64(b) << (8 * i)
	}
	if typ == "string" {
		return text(v), true
	}
	if len(v) == 0 {
		return nil, false // it was never set, or it is secret
	}
	switch typ {
	case "bool":
		return bits != 0, true
	case "uint8", "uint16", "uint32", "uint64":
		return float64(bits), true
	case "int8":
		return float64(int8(bits)), true
	case "int16":
		return float64(int16(bits)), true
	case "int32":
		return float64(int32(bits)), true
	case "int64":
		return float64(int64(bits)), true
	case "float32":
		return float64(math.Float32frombits(uint32(bits))), true
	case "float64":
		return math.Float64frombits(bits), true
	case "duration":
		return time.Duration(bits).String(), true
	}
	return nil, false
}

// text reads a string.
func text(v []byte) string {
	b, _ := framed(v)
	return string(b)
}

// framed is a value in front of which its length stands.
func framed(v []byte) (body []byte, ok bool) {
	n, k := binary.Uvarint(v)
	if k <= 0 || n > uint64(len(v)-k) {
		return nil, false
	}
	return v[k : k+int(n)], true
}
