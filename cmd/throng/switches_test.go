package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng"
)

func post(t *testing.T, url, body string, header ...string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// Switches by flag and on the page (B-123).
func TestDemoSwitches(t *testing.T) {
	t.Parallel()
	d := start(t, "demo", "--bots", "2", "--addr", "127.0.0.1:0", "--switch", "trace.entity,loopback.state")
	url := d.out.after(t, "open ")
	d.out.after(t, "2 clients")
	d.err.after(t, "cat=entity")
	_, all := get(t, url+"/switches")
	if want := `[{"name":"trace.entity","on":true},{"name":"trace.state","on":false},{"name":"trace.event","on":false},{"name":"trace.net","on":false},{"name":"loopback.state","on":true},{"name":"loopback.event","on":false},{"name":"tracker.backlog","on":true},{"name":"track.self","on":false},{"name":"updates.batch","on":false}]` + "\n"; all != want {
		t.Errorf("got %s, want %s", all, want)
	}
	if strings.Contains(d.err.String(), "cat=state") {
		t.Errorf("trace.state is off:\n%s", d.err)
	}
	if code := post(t, url+"/switch", `{"name":"trace.state","on":true}`, "Sec-Fetch-Site", "cross-site"); code != 403 {
		t.Errorf("from another site: %d", code)
	}
	if code := post(t, url+"/switch", `{"name":"trace.state","on":true}`, "Origin", url); code != 204 {
		t.Errorf("%d", code)
	}
	d.err.after(t, "cat=state")
	if code := post(t, url+"/switch", `{"name":"trace.stat","on":true}`); code != 400 {
		t.Errorf("unknown: %d", code)
	}
	if code := d.stop(); code != 0 {
		t.Errorf("stopped with status %d: %s", code, d.err)
	}
}

// Mirrors are neither wrong nor noise.
func TestDemoIsRightWithLoopback(t *testing.T) {
	t.Parallel()
	code, _, errs := throngFor(t, "demo", "--bots", "4", "--for", "2s", "--addr", "127.0.0.1:0", "--json", "--switch", "loopback.state")
	if code != 0 || !strings.Contains(errs, "after all was quiet: 0 wrong of ") {
		t.Errorf("status %d\n%s", code, errs)
	}
}

func TestDemoKnowsItsSwitches(t *testing.T) {
	t.Parallel()
	code, _, errs := throngFor(t, "demo", "--bots", "2", "--addr", "127.0.0.1:0", "--switch", "trace.stat")
	if code != 1 || !strings.Contains(errs, `--switch: throng: there is no switch "trace.stat": use one of trace.entity, `) {
		t.Errorf("status %d: %s", code, errs)
	}
}

// A bot that hangs gathers nothing.
func TestSwitchesOfBotThatHangs(t *testing.T) {
	t.Parallel()
	s := &switches{}
	if err := s.SetSwitch("trace.state", true); err == nil || !strings.Contains(err.Error(), "not joined") || s.Switches() != nil {
		t.Errorf("no bot: %v, %v", err, s.Switches())
	}
	s.world.Store(new(throng.World)) // nobody ticks it
	if err := s.SetSwitch("trace.state", true); err == nil || !strings.Contains(err.Error(), "does not move") {
		t.Errorf("a bot that hangs: %v", err)
	}
	begin := time.Now()
	if s.Switches() != nil || time.Since(begin) > switchWait/2 {
		t.Error("it waits behind one that hangs")
	}
}
