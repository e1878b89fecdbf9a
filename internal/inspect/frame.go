package inspect

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

const (
	// maxPlayers and maxThings bound a frame: what is beyond is counted in Omitted. A browser draws about that many
	// smoothly, and a frame of things with a value or two stays below half a megabyte.
	maxPlayers = 2000
	maxThings  = 5000
	// maxText bounds every text from a game, in bytes.
	maxText = 64
	// maxState bounds the values of one thing.
	maxState = 8
)

// A Frame is the world at one instant, seen from above.
type Frame struct {
	World     string  // name of the world
	Host      string  // id of the host; empty: there is none
	ChunkSize float64 // edge of a chunk in units; zero: the page draws no grid
	Bounds    *Rect   // what the page fits to its window; nil: what the things take up
	Players   []Player
	Things    []Thing
	Counters  Counters
	Time      time.Time     // of the frame
	Uptime    time.Duration // since the world began
}

// A Rect is a part of the map.
type Rect struct{ MinX, MinY, MaxX, MaxY float64 }

// A Player is somebody with a session.
type Player struct {
	ID   string // same text as in Frame.Host and Thing.Owner
	Name string // empty: the page shows the id
	// X and Y are the place on the map; Y grows downwards, a world with a height leaves it out. NaN: nowhere.
	X, Y float64
	Host bool
}

// A Thing is an entity. The page knows how classes named "lantern" look (State["lit"], a bool), draws "walker" and
// "player" as their owner's dot, and everything else as a square.
type Thing struct {
	ID    string // its NetID
	Class string
	X, Y  float64 // as a Player's
	Owner string  // id of a player; empty: nobody, the host drives it
	// State is what a reader wants to see of it: at most 8 bools, numbers or short texts. Others are shown as text.
	State map[string]any
}

// Counters are the numbers beside the map. Their JSON names mean what docs and summaries of the demo mean by them. Rates
// are those of about the last second.
type Counters struct {
	Clients  int
	Entities int
	// UpdatesPerSecond counts records that changed something at an observer. Nil: not measured.
	UpdatesPerSecond *float64
	// BytesPerSecond is all UDP payload from the relay to its clients, PacketsPerSecond the datagrams of it. NaN: not yet
	// measured.
	BytesPerSecond   float64
	PacketsPerSecond float64
	// Latency is from the Tick that wrote a value to the end of the observer's Tick that saw it. Nil: not measured.
	Latency *Latency
	// Freshness is the share, 0 to 1, of sampled values that were as new as they have to be. Nil: not measured.
	Freshness *float64
	// More are further numbers by their name, such as "wrong_after_quiet"; the page lists them in order of the name.
	More map[string]float64
}

// Latency is a distribution in two numbers.
type Latency struct{ P50, P99 time.Duration }

// appendJSON appends the frame as one line of JSON:
//
//	{"world":"w","host":"id","chunk_size":100,"bounds":[minx,miny,maxx,maxy],
//	 "players":[["id","name",x,y,1 if host else 0],…],
//	 "classes":["lantern",…],
//	 "things":[["id",index of its class,x,y,owner,{"lit":true}],…],
//	 "omitted":0,"counters":{"clients":1,…},"time_ms":…,"uptime_s":…}
//
// An owner is an index of players, the id of one that is not there, or null. Places are rounded to 0.1; null is nowhere.
// A thing without state ends at its owner; bounds and counters that are not known are absent.
func (f *Frame) appendJSON(b []byte) []byte {
	players, things := f.Players, f.Things
	omitted := max(len(players)-maxPlayers, 0) + max(len(things)-maxThings, 0)
	players, things = players[:min(len(players), maxPlayers)], things[:min(len(things), maxThings)]

	b = appendText(append(b, `{"world":`...), f.World)
	b = appendText(append(b, `,"host":`...), f.Host)
	b = appendNumber(append(b, `,"chunk_size":`...), f.ChunkSize, 1000)
	if r := f.Bounds; r != nil {
		b = append(b, `,"bounds":[`...)
		for i, v := range [4]float64{r.MinX, r.MinY, r.MaxX, r.MaxY} {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendNumber(b, v, 10)
		}
		b = append(b, ']')
	}

	index := make(map[string]int, len(players))
	b = append(b, `,"players":[`...)
	for i, p := range players {
		index[p.ID] = i
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(append(b, '['), p.ID)
		b = appendText(append(b, ','), p.Name)
		b = appendPlace(b, p.X, p.Y)
		if p.Host {
			b = append(b, ",1]"...)
		} else {
			b = append(b, ",0]"...)
		}
	}

	var classes []string
	number := make(map[string]int)
	for i := range things {
		if class := things[i].Class; !has(number, class) {
			number[class] = len(classes)
			classes = append(classes, class)
		}
	}
	b = append(b, `],"classes":[`...)
	for i, class := range classes {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, class)
	}

	b = append(b, `],"things":[`...)
	for i := range things {
		t := &things[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(append(b, '['), t.ID)
		b = strconv.AppendInt(append(b, ','), int64(number[t.Class]), 10)
		b = append(appendPlace(b, t.X, t.Y), ',')
		if owner, ok := index[t.Owner]; t.Owner == "" {
			b = append(b, "null"...)
		} else if ok {
			b = strconv.AppendInt(b, int64(owner), 10)
		} else {
			b = appendText(b, t.Owner)
		}
		if len(t.State) > 0 {
			b = appendState(append(b, ','), t.State)
		}
		b = append(b, ']')
	}

	b = strconv.AppendInt(append(b, `],"omitted":`...), int64(omitted), 10)
	b = f.Counters.append(append(b, `,"counters":`...))
	b = strconv.AppendInt(append(b, `,"time_ms":`...), f.Time.UnixMilli(), 10)
	b = appendNumber(append(b, `,"uptime_s":`...), f.Uptime.Seconds(), 10)
	return append(b, '}')
}

func (c *Counters) append(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"clients":`...), int64(c.Clients), 10)
	b = strconv.AppendInt(append(b, `,"entities":`...), int64(c.Entities), 10)
	if c.UpdatesPerSecond != nil {
		b = appendNumber(append(b, `,"updates_per_s":`...), *c.UpdatesPerSecond, 10)
	}
	b = appendNumber(append(b, `,"bytes_per_s":`...), c.BytesPerSecond, 10)
	b = appendNumber(append(b, `,"packets_per_s":`...), c.PacketsPerSecond, 10)
	if l := c.Latency; l != nil {
		b = appendNumber(append(b, `,"p50_ms":`...), float64(l.P50)/float64(time.Millisecond), 100)
		b = appendNumber(append(b, `,"p99_ms":`...), float64(l.P99)/float64(time.Millisecond), 100)
	}
	if c.Freshness != nil {
		b = appendNumber(append(b, `,"freshness":`...), *c.Freshness, 1e5)
	}
	for _, name := range slices.Sorted(maps.Keys(c.More)) {
		b = append(appendText(append(b, ','), name), ':')
		b = appendNumber(b, c.More[name], 1000)
	}
	return append(b, '}')
}

func appendPlace(b []byte, x, y float64) []byte {
	b = appendNumber(append(b, ','), x, 10)
	return appendNumber(append(b, ','), y, 10)
}

// appendNumber appends v rounded to 1/per, or null if JSON has no such number.
func appendNumber(b []byte, v, per float64) []byte {
	if r := math.Round(v * per); !math.IsInf(r, 0) {
		v = r / per
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(b, "null"...)
	}
	if v == 0 {
		v = 0 // not -0
	}
	return strconv.AppendFloat(b, v, 'f', -1, 64)
}

// appendText appends s as a JSON string, cut to maxText bytes.
func appendText(b []byte, s string) []byte {
	if len(s) > maxText {
		cut := maxText
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, _ := json.Marshal(s) // a string always can
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

func appendState(b []byte, state map[string]any) []byte {
	var room [maxState]string // a frame has thousands of these: sort on the stack
	names := slices.AppendSeq(room[:0], maps.Keys(state))
	slices.Sort(names)
	b = append(b, '{')
	for i, name := range names[:min(len(names), maxState)] {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, name), ':')
		b = appendValue(b, state[name])
	}
	return append(b, '}')
}

// appendValue appends a value of any type; what is no bool, number or text is shown as the text of its JSON.
func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case string:
		return appendText(b, v)
	case float64:
		return appendNumber(b, v, 1000)
	case float32:
		return appendNumber(b, float64(v), 1000)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return appendText(b, err.Error())
	}
	if c := text[0]; c == 't' || c == 'f' || c == 'n' || (c == '-' || '0' <= c && c <= '9') && len(text) <= 24 {
		return append(b, text...) // a bool, null or number under a name of its own
	}
	var s string
	if json.Unmarshal(text, &s) != nil { // a text of its own type is shown without further quotes
		s = string(text)
	}
	return appendText(b, s)
}

func has[V any](m map[string]V, key string) bool {
	_, ok := m[key]
	return ok
}
