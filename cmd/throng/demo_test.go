package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// screen is what a command prints, to be read while it runs.
type screen struct {
	mu  sync.Mutex
	buf bytes.Buffer
	new chan struct{} // a token when something was printed
}

func newScreen() *screen { return &screen{new: make(chan struct{}, 1)} }

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.new <- struct{}{}:
	default:
	}
	return s.buf.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// after waits until a line contains text, and returns what stands behind it.
func (s *screen) after(t *testing.T, text string) string {
	t.Helper()
	timeout := time.After(20 * time.Second)
	for {
		if _, rest, ok := strings.Cut(s.String(), text); ok {
			if line, _, ok := strings.Cut(rest, "\n"); ok {
				return line
			}
		}
		select {
		case <-s.new:
		case <-timeout:
			t.Fatalf("%q was not printed within 20 s, but:\n%s", text, s)
		}
	}
}

// throngFor runs a command to its end.
func throngFor(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e screen
	code = run(t.Context(), args, console{&o, &e})
	return code, o.String(), e.String()
}

// started is a command that runs until stop, which returns its exit status.
type started struct {
	out, err *screen
	stop     func() int
}

func start(t *testing.T, args ...string) *started {
	ctx, cancel := context.WithCancel(t.Context())
	s := &started{out: newScreen(), err: newScreen()}
	code := make(chan int, 1)
	go func() { code <- run(ctx, args, console{s.out, s.err}) }()
	s.stop = sync.OnceValue(func() int { cancel(); return <-code })
	t.Cleanup(func() { s.stop() })
	return s
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// The main job, on real sockets.
func TestDemoEndsWithEverybodyRight(t *testing.T) {
	t.Parallel()
	code, out, errs := throngFor(t, "demo", "--bots", "20", "--for", "5s", "--addr", "127.0.0.1:0", "--json")
	if code != 0 {
		t.Fatalf("status %d\n%s%s", code, out, errs)
	}
	if n := strings.Count(out, "\n"); n != 1 {
		t.Errorf("%d lines on standard output, want the summary only:\n%s", n, out)
	}
	if !strings.Contains(errs, "after all was quiet: 0 wrong of ") {
		t.Errorf("no summary for readers:\n%s", errs)
	}
	var s summary
	d := json.NewDecoder(strings.NewReader(out))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		t.Fatal(err)
	}
	if s.Clients != 20 || s.Entities < 30 || s.Wrong != 0 || s.Errors != 0 {
		t.Errorf("%+v", s)
	}
	if s.Pairs < 20*19 || s.Slots < 3*s.Pairs || s.Updates == 0 || s.BytesPerUpdate == 0 || s.Latency.P50 == 0 || s.Latency.P99 < s.Latency.P50 || s.Freshness == nil || *s.Freshness == 0 {
		t.Errorf("something was not measured: %+v", s)
	}
	var fields map[string]any
	if err := json.Unmarshal([]byte(out), &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields("clients entities updates_per_s bytes_per_update latency_ms freshness wrong_after_quiet pairs_checked slots_checked errors") {
		if _, ok := fields[name]; !ok {
			t.Errorf("the summary has no %s: %s", name, out)
		}
	}
}

func TestDemoShowsItself(t *testing.T) {
	t.Parallel()
	d := start(t, "demo", "--bots", "5", "--addr", "127.0.0.1:0")
	url := d.out.after(t, "open ")
	d.out.after(t, "5 clients")
	if status, body := get(t, url); status != 200 || !strings.Contains(body, "<canvas") {
		t.Errorf("%d %s", status, body)
	}
	_, body := get(t, url+"/frame")
	var f struct {
		World    string
		Host     string
		Players  [][]any
		Things   [][]any
		Counters map[string]any
	}
	if err := json.Unmarshal([]byte(body), &f); err != nil {
		t.Fatal(err, body)
	}
	if f.World != level || f.Host == "" || len(f.Players) != 5 || len(f.Things) < 10 {
		t.Errorf("%+v", f)
	}
	for _, p := range f.Players {
		if name, _ := p[1].(string); !strings.HasPrefix(name, "bot-00") || p[2] == nil || p[3] == nil {
			t.Errorf("player %v", p)
		}
	}
	for _, name := range []string{"updates_per_s", "bytes_per_s", "freshness"} {
		if _, ok := f.Counters[name]; !ok {
			// The first second may have nothing to show of it.
			t.Logf("no %s: %v", name, f.Counters)
		}
	}
	if code := d.stop(); code != 0 {
		t.Errorf("stopped with status %d: %s", code, d.err)
	}
	if s := d.out.String(); !strings.HasSuffix(s, "\nstopped; --for 20s ends with a check\n") || !strings.Contains(s, "\nover ") {
		t.Error(s)
	}
}

func TestDemoOfOneChecksNothing(t *testing.T) {
	t.Parallel()
	code, out, errs := throngFor(t, "demo", "--bots", "1", "--for", "300ms", "--addr", "127.0.0.1:0")
	if code != 1 || !strings.Contains(errs, "checked nothing") {
		t.Errorf("status %d: %s", code, errs)
	}
	if !strings.Contains(out, "after all was quiet: 0 wrong of 0 ") || strings.Contains(errs, "after all was quiet") {
		t.Errorf("the summary is not on standard output, or not on it alone:\n%s%s", out, errs)
	}
}

// What could not be judged is not shown as the worst that could be.
// Twenty, so that somebody has somebody in reach: with nothing to compare the demo fails, which is another test.
func TestDemoThatIsTooShortHasNoFreshness(t *testing.T) {
	t.Parallel()
	code, out, errs := throngFor(t, "demo", "--bots", "20", "--for", "400ms", "--addr", "127.0.0.1:0", "--json")
	if code != 0 || !strings.Contains(out, `"freshness":null`) || !strings.Contains(errs, "freshness not measured") {
		t.Errorf("status %d: %s%s", code, out, errs)
	}
}

func TestDemoStoppedBeforeItsEndSaysSo(t *testing.T) {
	t.Parallel()
	d := start(t, "demo", "--bots", "2", "--for", "1h", "--addr", "127.0.0.1:0", "--json")
	d.err.after(t, "2 clients")
	if code := d.stop(); code != 0 || !strings.HasSuffix(d.err.String(), "\nstopped before the check that --for 1h0m0s ends with\n") || d.out.String() != "" {
		t.Errorf("status %d: %s%s", code, d.out, d.err)
	}
}

// Mistakes are one line that says what to do.
func TestMistakes(t *testing.T) {
	t.Parallel()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	dir := t.TempDir()
	for _, c := range []struct {
		args string
		want string
	}{
		{"demo --addr " + tcp.Addr().String(), "port is in use: stop the other program or choose another port with --addr 127.0.0.1:PORT"},
		{"demo --addr 127.0.0.1:0 --listen-udp " + udp.LocalAddr().String(), "port is in use: stop the other program or choose another port with --listen-udp 127.0.0.1:PORT"},
		{"demo --addr 127.0.0.1:0 --listen-udp 0.0.0.0:0", "other machines could reach it"},
		{"demo --addr nonsense", "write it as HOST:PORT"},
		{"demo --bots 0", "between 1 and 10000"},
		{"demo --nonsense", "`throng demo --help` lists"},
		{"nonsense", "`throng --help` lists"},
		{"", "`throng --help` lists"},
		{"serve", "make one with `throng key relay.key`"},
		{"serve --insecure-dev-key --listen :9091", "listen on 127.0.0.1, or make a key"},
		{"serve --insecure-dev-key --key x", "use one of both"},
		{"serve --key " + dir + "/none", "make one with `throng key "},
		{"serve --insecure-dev-key --listen 127.0.0.1:0 --http " + tcp.Addr().String(), "port is in use: stop the other program or choose another port with --http 127.0.0.1:PORT"},
		{"serve --insecure-dev-key --http 127.0.0.1:0 --listen " + udp.LocalAddr().String(), "port is in use: stop the other program or choose another port with --listen 127.0.0.1:PORT"},
		{"serve --insecure-dev-key --listen 127.0.0.1:0 --http 127.0.0.1:0 --reach 9", "each"},
		{"token --player ada --relay 127.0.0.1:1", "pass --key FILE"},
		{"token --insecure-dev-key --player ada --relay 192.0.2.1:1", "other machines"},
		{"token --insecure-dev-key --player ada --relay 127.0.0.1:1 --rights king", "there is no such right"},
		{"token --insecure-dev-key --player ada --relay 127.0.0.1:1 --life 2m", "life"},
		{"token --insecure-dev-key --player ada --relay 127.0.0.1:1 --life 0s", "has expired when it is made"},
		{"key " + dir, "exists"},
	} {
		t.Run(c.args, func(t *testing.T) {
			code, out, errs := throngFor(t, strings.Fields(c.args)...)
			if code != 1 || !strings.Contains(errs, c.want) || !strings.HasPrefix(errs, "throng: ") {
				t.Errorf("status %d, want 1 and %q:\n%s%s", code, c.want, out, errs)
			}
			if strings.Count(errs, "throng: ") != 1 || strings.Contains(errs, "goroutine ") {
				t.Errorf("not one plain error:\n%s", errs)
			}
		})
	}
}

func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	if code, out, _ := throngFor(t, "--help"); code != 0 || !strings.Contains(out, "serve") || !strings.Contains(out, "demo") {
		t.Errorf("%d %s", code, out)
	}
	if code, out, _ := throngFor(t, "demo", "--help"); code != 0 || !strings.Contains(out, "--bots") {
		t.Errorf("%d %s", code, out)
	}
	code, out, _ := throngFor(t, "version")
	if code != 0 || !strings.HasPrefix(out, "throng ") {
		t.Errorf("%d %s", code, out)
	}
	if code, flagged, errs := throngFor(t, "--version"); code != 0 || flagged != out {
		t.Errorf("--version: %d %s%s", code, flagged, errs)
	}
	var b build
	if code, out, _ := throngFor(t, "version", "--json"); code != 0 || json.Unmarshal([]byte(out), &b) != nil || b.Go == "" {
		t.Errorf("%d %s", code, out)
	}
}
