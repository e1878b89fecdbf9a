package inspect

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/frame.json anew")

const golden = "testdata/frame.json"

type glow uint8
type named string

func (g glow) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "glow %d", uint8(g)), nil }

// sample is a frame with one of everything.
func sample() Frame {
	return Frame{
		World: "lantern-grove", Host: "aa01", ChunkSize: 100, Bounds: &Rect{-500, -400, 500, 400},
		Players: []Player{
			{ID: "aa01", Name: "Ada", X: 12.34, Y: -56.78, Host: true},
			{ID: "bb02", Name: "</script>\n\"Bri\\n\" ünï", X: -0.04, Y: 1e6},
			{ID: "cc03", X: math.NaN(), Y: math.NaN()},
		},
		Things: []Thing{
			{ID: "00e1", Class: "walker", X: 12.34, Y: -56.78, Owner: "aa01"},
			{ID: "00e2", Class: "lantern", X: 99.96, Y: 100.04, Owner: "bb02", State: map[string]any{"lit": true, "lits": int32(3)}},
			{ID: "00e3", Class: "lantern", X: 1, Y: 2, Owner: "gone", State: map[string]any{"lit": false}},
			{ID: "00e4", Class: "crate", State: map[string]any{
				"fuel": 0.12345, "bad": math.Inf(1), "glow": glow(7), "tag": named("red"), "pos": []int{1, 2}, "none": nil, "worse": func() {},
			}},
		},
		Counters: Counters{
			Clients: 3, Entities: 4, UpdatesPerSecond: new(1234.56), BytesPerSecond: 13000, PacketsPerSecond: 30,
			Latency: &Latency{P50: 12345 * time.Microsecond, P99: 45678 * time.Microsecond}, Freshness: new(0.9994999),
			More: map[string]float64{"wrong_after_quiet": 0, "dropped": 2},
		},
		Time: time.UnixMilli(1_700_000_000_123), Uptime: 61_500 * time.Millisecond,
	}
}

func TestShape(t *testing.T) {
	f := sample()
	line := f.appendJSON(nil)
	if bytes.ContainsAny(line, "\n\r") {
		t.Error("a message of the stream is one line")
	}
	var got bytes.Buffer
	if err := json.Indent(&got, line, "", "\t"); err != nil {
		t.Fatalf("no JSON: %v\n%s", err, line)
	}
	got.WriteByte('\n')
	if *rewrite {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")), got.Bytes()) {
		t.Errorf("the shape changed; if the page knows of it, run with -rewrite\n%s", got.Bytes())
	}
}

// TestBareFrame has nothing optional: absent, not zero, is what the page must be told.
func TestBareFrame(t *testing.T) {
	var f Frame
	f.Time = time.UnixMilli(0)
	const want = `{"world":"","host":"","chunk_size":0,"players":[],"classes":[],"things":[],"omitted":0,` +
		`"counters":{"clients":0,"entities":0,"bytes_per_s":0,"packets_per_s":0},"time_ms":0,"uptime_s":0}`
	if got := string(f.appendJSON(nil)); got != want {
		t.Errorf("got %s", got)
	}
	f.Counters.BytesPerSecond, f.Counters.PacketsPerSecond = math.NaN(), math.NaN()
	if got := string(f.appendJSON(nil)); !strings.Contains(got, `"bytes_per_s":null,"packets_per_s":null}`) {
		t.Errorf("rates that are not known yet: %s", got)
	}
}

func TestFrameIsBounded(t *testing.T) {
	long := strings.Repeat("é<", 5000)
	f := Frame{World: long}
	state := map[string]any{long: long}
	for i := range 100 {
		state[fmt.Sprint(i)] = i
	}
	for range maxPlayers + 7 {
		f.Players = append(f.Players, Player{ID: "p", Name: long})
	}
	for range maxThings + 5 {
		f.Things = append(f.Things, Thing{ID: "t", Class: "c", State: state})
	}
	b := f.appendJSON(nil)
	var got struct {
		World   string
		Players []json.RawMessage
		Things  [][]json.RawMessage
		Omitted int
	}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Players) != maxPlayers || len(got.Things) != maxThings || got.Omitted != 12 {
		t.Errorf("%d players, %d things, %d omitted", len(got.Players), len(got.Things), got.Omitted)
	}
	if len(got.World) > maxText+len("…") || strings.ContainsRune(got.World, '\uFFFD') {
		t.Errorf("a text is %d bytes: %q", len(got.World), got.World)
	}
	var kept map[string]any
	if err := json.Unmarshal(got.Things[0][5], &kept); err != nil || len(kept) != maxState {
		t.Errorf("a state keeps %d values: %v", len(kept), err)
	}
}

// crowd is what the page is meant for.
func crowd() *Frame {
	f := &Frame{World: "crowd", ChunkSize: 100, Time: time.UnixMilli(1_700_000_000_000)}
	for i := range 600 {
		f.Players = append(f.Players, Player{ID: fmt.Sprintf("%032x", i), Name: fmt.Sprint("player ", i), X: float64(i) * 1.37, Y: float64(i) * -2.11})
	}
	for i := range 2000 {
		f.Things = append(f.Things, Thing{ID: fmt.Sprintf("%032x", i), Class: "lantern", X: float64(i) * 0.77, Y: float64(i) * 0.33,
			Owner: f.Players[i%600].ID, State: map[string]any{"lit": i%2 == 0}})
	}
	return f
}

func TestCrowdIsCompact(t *testing.T) {
	if n := len(crowd().appendJSON(nil)); n > 200_000 {
		t.Errorf("600 players with 2,000 lanterns take %d bytes", n)
	} else {
		t.Logf("600 players with 2,000 lanterns take %d bytes", n)
	}
}

func BenchmarkCrowd(b *testing.B) {
	f := crowd()
	buf := f.appendJSON(nil)
	b.ReportAllocs()
	for b.Loop() {
		buf = f.appendJSON(buf[:0])
	}
	b.ReportMetric(float64(len(buf)), "bytes/frame")
}
