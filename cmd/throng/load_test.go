package main

import (
	"encoding/json"
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
		r.Age.P99 == 0 || r.RelayCPU == nil || *r.RelayCPU == 0 || r.RSS == nil || r.DeliveredOf == 0 || r.Delivered < 0.5 {
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
