package main

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/load"
)

// loaded plays a scenario that must end well, and returns its report.
func loaded(t *testing.T, args ...string) *load.Report {
	t.Helper()
	code, out, errs := throngFor(t, append([]string{"load", "--no-pin", "--json"}, args...)...)
	if code != 0 {
		t.Fatalf("status %d\n%s%s", code, out, errs)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	r := new(load.Report)
	d := json.NewDecoder(strings.NewReader(lines[len(lines)-1]))
	d.DisallowUnknownFields()
	if err := d.Decode(r); err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(`clients joined updates_per_s delivered_ratio freshness record_bytes bytes_per_update
		wire_bytes_per_update relay_cpu_us_per_update floor_cpu_us_per_update latency_ms age_ms baseline_ms wrong_after_quiet pairs_checked
		slots_checked lost_last_writes duplicates zombies rss_bytes errors valid`) {
		if _, ok := fields[name]; !ok {
			t.Errorf("the report has no %s", name)
		}
	}
	if !r.Valid || r.Errors != 0 || r.Joined != r.Clients || r.Wrong != 0 || r.LostLast != 0 || r.Duplicates != 0 || r.Zombies != 0 {
		t.Errorf("%+v", r)
	}
	return r
}

// moved wants the measures of a scenario in which clients walk.
func moved(t *testing.T, r *load.Report) {
	t.Helper()
	if r.Pairs < r.Clients || r.Slots < 3*r.Pairs || r.Updates == 0 || r.UpdatesPerS == 0 || r.Freshness == 0 || r.Samples == 0 ||
		r.RecordBytes < 3 || r.Bytes < r.RecordBytes || r.WireBytes < r.Bytes || r.Latency.P50 == 0 || r.Latency.P99 < r.Latency.P50 ||
		r.Age.P99 == 0 || r.RelayCPU == nil || *r.RelayCPU == 0 || r.RSS == nil || r.DeliveredOf == 0 || r.Delivered == 0 {
		t.Errorf("something was not measured: %+v", r)
	}
}

func TestLoadOfACrowd(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"sdk", "sink"} {
		t.Run(kind, func(t *testing.T) {
			args := []string{"crowd", "--clients", "30", "--for", "2s", "--warm", "1s"}
			if kind == "sink" {
				args = append(args, "--sink")
			}
			r := loaded(t, args...)
			if moved(t, r); r.Kind != kind {
				t.Errorf("clients of kind %s", r.Kind)
			}
		})
	}
}

func TestLoadOfAHotspot(t *testing.T) {
	t.Parallel()
	r := loaded(t, "hotspot", "--clients", "30", "--for", "4s", "--warm", "1s", "--sink")
	if moved(t, r); r.InReach != 29 || r.NearFreshness == nil {
		t.Errorf("not everybody met everybody: %+v", r)
	}
}

func TestLoadOfChurnEndsWithEverybodyRight(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"--loss", "0.05", "--delay", "25ms", "--jitter", "5ms"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			r := loaded(t, append([]string{"churn", "--clients", "30", "--for", "4s", "--warm", "1s"}, args...)...)
			moved(t, r)
			c := r.Churn
			if c == nil || c.Late != 30 || c.Kills != 5 || c.Hosts < 5 || c.Moves < 10*30 || c.Requested == 0 || c.Transferred == 0 || c.Silent == 0 || r.Newcomer == 0 {
				t.Errorf("something did not happen: %+v", c)
			}
		})
	}
}

func TestLoadThroughABadNetwork(t *testing.T) {
	t.Parallel()
	r := loaded(t, "crowd", "--clients", "30", "--for", "2s", "--warm", "1s", "--loss", "0.1", "--delay", "40ms", "--jitter", "10ms")
	moved(t, r)
	if r.Latency.P50 < 60 || !strings.Contains(r.Network, "10 % lost") {
		t.Errorf("the network was not bad: %s, latency %v", r.Network, r.Latency)
	}
}

func TestLoadMeasuresTheFloor(t *testing.T) {
	t.Parallel()
	r := loaded(t, "crowd", "--clients", "30", "--for", "1s", "--warm", "1s", "--floor")
	if f := r.Floor; f == nil || f.Batched == 0 || f.Plain == 0 {
		t.Errorf("%+v", f)
	}
}

func TestLoadOfIdleSessions(t *testing.T) {
	t.Parallel()
	r := loaded(t, "idle", "--clients", "100", "--for", "3s", "--warm", "1s")
	if i := r.Idle; i == nil || i.Up == 0 || i.Down == 0 || i.Through.P50 == 0 || i.Past.P50 == 0 || i.MemoryMiB <= 0 {
		t.Errorf("%+v", i)
	}
}

func TestLoadOfHandshakes(t *testing.T) {
	t.Parallel()
	r := loaded(t, "handshake", "--clients", "4", "--for", "1s", "--warm", "0s")
	if h := r.Handshake; h == nil || h.PerS == 0 || h.CPU == 0 || h.PerCore == 0 {
		t.Errorf("%+v", h)
	}
}

// Phase lock can be left out, and a relay that runs elsewhere be measured, but for what only its process knows.
func TestLoadOfARelayThatRuns(t *testing.T) {
	t.Parallel()
	s := start(t, "serve", "--insecure-dev-key", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--chunk", "33.333333333333336", "--reach", "1", "--flat")
	addr := s.out.after(t, "relay on ")
	r := loaded(t, "crowd", "--clients", "20", "--for", "1s", "--warm", "1s", "--relay", addr, "--no-phase-lock", "--floor")
	if r.Pairs == 0 || r.Updates == 0 || r.Bytes == 0 || r.RelayCPU != nil || r.RSS != nil || r.FloorCPU != nil {
		t.Errorf("%+v", r)
	}
}

func TestLoadIsStopped(t *testing.T) {
	t.Parallel()
	s := start(t, "load", "--no-pin", "--clients", "10", "--for", "1m")
	s.err.after(t, "10 clients are in")
	if code := s.stop(); code != 1 || !strings.Contains(s.err.String(), "stopped before the end") {
		t.Errorf("status %d: %s", code, s.err)
	}
}

// The relay's process must not outlive the one that started it, however that ended.
func TestLoadChildEndsWithItsInput(t *testing.T) {
	t.Parallel()
	p, err := load.Start(t.Context(), &load.Order{Job: "echo", CPU: -1}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Read(""); err != nil {
		t.Error(err)
	}
	if err := p.Abandon(); err != nil {
		t.Errorf("the child did not end by itself: %v", err)
	}
}

func TestLoadMistakes(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--clients 1":                        "between 2 and 20000",
		"--for 1ms":                          "measure for",
		"--warm=-1s":                         "warm up for",
		"--loss 2":                           "a share",
		"--jitter 5ms":                       "up to the delay",
		"--key x":                            "--key is for --relay",
		"--relay 192.0.2.1:1":                "other machines",
		"--relay 127.0.0.1:1 --cpuprofile x": "leave --relay out",
		"churn --sink":                       "leave --sink out",
		"churn --clients 3":                  "play more clients",
		"nonsense":                           "load --help",
	} {
		code, _, errs := throngFor(t, append([]string{"load"}, strings.Fields(args)...)...)
		if code != 1 || !strings.Contains(errs, want) {
			t.Errorf("load %s: status %d, want 1 and %q:\n%s", args, code, want, errs)
		}
	}
}
