package inspect

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// fuse is a Switcher with one switch.
type fuse struct {
	mu sync.Mutex
	on bool
}

func (f *fuse) Switches() []Switch {
	f.mu.Lock()
	defer f.mu.Unlock()
	return []Switch{{"trace.state", f.on}}
}

func (f *fuse) SetSwitch(name string, on bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if name != "trace.state" {
		return errors.New("throng: there is no such switch: use trace.state")
	}
	f.on = on
	return nil
}

// mute is a Switcher that cannot tell its switches yet.
type mute struct{ fuse }

func (*mute) Switches() []Switch { return nil }

func post(h http.Handler, url, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", url, strings.NewReader(body))
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7777}))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// Switches on the page (B-123).
func TestSwitches(t *testing.T) {
	f := &fuse{}
	h := NewSwitching(still{}, f, time.Hour)
	defer h.Close()
	const on, off = `{"name":"trace.state","on":true}`, `{"name":"trace.state","on":false}`
	kind := []string{"Content-Type", "application/json"}
	with := func(more ...string) []string { return append(kind[:2:2], more...) }
	for _, c := range []struct {
		name, host, body string
		header           []string
		code             int
		says             string
	}{
		{"from the page", "localhost:7777", on, with("Sec-Fetch-Site", "same-origin", "Origin", "http://localhost:7777"), 204, ""},
		{"off again", "127.0.0.1:7777", off, with("Sec-Fetch-Site", "same-origin", "Origin", "http://127.0.0.1:7777"), 204, ""},
		{"no browser", "localhost:7777", on, []string{"Content-Type", "application/json; charset=utf-8"}, 204, ""},
		{"another site", "localhost:7777", on, with("Sec-Fetch-Site", "cross-site"), 403, "own page"},
		{"another port", "localhost:7777", on, with("Sec-Fetch-Site", "same-site"), 403, "own page"},
		{"another origin, old browser", "localhost:7777", on, with("Origin", "http://evil.example"), 403, "own page"},
		{"another port, old browser", "localhost:7777", on, with("Origin", "http://localhost:8080"), 403, "own page"},
		{"an origin that is none", "localhost:7777", on, with("Origin", "null"), 403, "own page"},
		{"a name pointed here", "evil.example:7777", on, with("Origin", "http://evil.example:7777"), 421, "this machine only"},
		{"a form", "localhost:7777", on, []string{"Content-Type", "text/plain"}, 415, "application/json"},
		{"no type", "localhost:7777", on, nil, 415, "application/json"},
		{"unknown name", "localhost:7777", `{"name":"trace.stat","on":true}`, kind, 400, "use trace.state"},
		{"no name", "localhost:7777", `{"on":true}`, kind, 400, `{"name":`},
		{"neither on nor off", "localhost:7777", `{"name":"trace.state"}`, kind, 400, `{"name":`},
		{"no JSON", "localhost:7777", `name=trace.state`, kind, 400, `{"name":`},
		{"two", "localhost:7777", on + off, kind, 400, `{"name":`},
		{"large", "localhost:7777", on + strings.Repeat(" ", maxSwitch), kind, 413, "1 KiB"},
	} {
		before := f.on
		w := post(h, "http://"+c.host+"/switch", c.body, c.header...)
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.says) || c.code == 204 && w.Body.Len() > 0 {
			t.Errorf("%s: %d %q, want %d with %q", c.name, w.Code, w.Body, c.code, c.says)
		}
		if want := c.code == 204 && c.body == on || c.code != 204 && before; f.on != want {
			t.Errorf("%s: the switch is %v", c.name, f.on)
		}
	}
	f.on = true
	for _, c := range []struct {
		method, path, site string
		code               int
		says               string
	}{
		{"GET", "/switches", "same-origin", 200, `[{"name":"trace.state","on":true}]`},
		{"HEAD", "/switches", "", 200, ""},
		{"GET", "/switches", "cross-site", 403, "own page"},
		{"POST", "/switches", "", 405, "use GET"},
		{"GET", "/switch", "", 405, "POST"},
		{"DELETE", "/switch", "", 405, "use GET"},
		{"POST", "/frame", "", 405, "use GET"},
	} {
		w := ask(h, "127.0.0.1", c.method, "http://localhost"+c.path, "Sec-Fetch-Site", c.site)
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.says) || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s %s: %d %q, want %d with %q", c.method, c.path, w.Code, w.Body, c.code, c.says)
		}
	}
	if w := ask(NewSwitching(still{}, &mute{}, time.Hour), "127.0.0.1", "GET", "http://localhost/switches"); w.Body.String() != "[]\n" {
		t.Errorf("no switches yet: %d %q", w.Code, w.Body)
	}
}

func TestNoSwitcher(t *testing.T) {
	h := New(still{}, time.Hour)
	defer h.Close()
	if w := ask(h, "127.0.0.1", "GET", "http://localhost/switches"); w.Code != 404 {
		t.Errorf("GET /switches: %d", w.Code)
	}
	if w := ask(h, "127.0.0.1", "GET", "http://localhost/switch"); w.Code != 404 {
		t.Errorf("GET /switch: %d", w.Code)
	}
	if w := post(h, "http://localhost/switch", `{"name":"trace.state","on":true}`, "Content-Type", "application/json"); w.Code != 404 {
		t.Errorf("POST /switch: %d", w.Code)
	}
}
