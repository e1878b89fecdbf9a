package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// still is a world in which nothing happens.
type still struct{ err error }

func (s still) Frame() (Frame, error) { return Frame{World: "still"}, s.err }

// ask sends one request to the handler, as if it came in at the given address of this machine.
func ask(h http.Handler, local, method, url string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, url, nil)
	if local != "" {
		addr := &net.TCPAddr{IP: net.ParseIP(local), Port: 7777}
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, addr))
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestRoutes(t *testing.T) {
	h := New(still{}, time.Hour)
	defer h.Close()
	for _, c := range []struct {
		method, path string
		code         int
		kind, says   string
	}{
		{"GET", "/", 200, "text/html; charset=utf-8", "<!doctype html>"},
		{"GET", "/page.css", 200, "text/css; charset=utf-8", "--ground"},
		{"GET", "/page.js", 200, "text/javascript; charset=utf-8", "EventSource"},
		{"GET", "/frame", 200, "application/json", `"world":"still"`},
		{"GET", "/index.html", 404, "text/plain; charset=utf-8", "try /"},
		{"GET", "/page/../frame", 404, "text/plain; charset=utf-8", "try /"},
		{"POST", "/frame", 405, "text/plain; charset=utf-8", "use GET"},
		{"HEAD", "/", 200, "text/html; charset=utf-8", ""},
		{"HEAD", "/frame", 200, "application/json", ""},
		{"HEAD", "/events", 200, "text/event-stream", ""}, // and it ends
		{"HEAD", "/nothing", 404, "text/plain; charset=utf-8", ""},
		{"OPTIONS", "/events", 405, "text/plain; charset=utf-8", "use GET"},
	} {
		w := ask(h, "127.0.0.1", c.method, "http://localhost:7777"+c.path)
		if w.Code != c.code || w.Header().Get("Content-Type") != c.kind || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s %s: %d %s %.60q, want %d %s with %q", c.method, c.path, w.Code, w.Header().Get("Content-Type"), w.Body, c.code, c.kind, c.says)
		}
		if w.Code == 405 && w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s %s does not tell what is allowed", c.method, c.path)
		}
		for name, part := range map[string]string{
			"X-Content-Type-Options":       "nosniff",
			"Content-Security-Policy":      "default-src 'none'",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Cache-Control":                "no-store",
		} {
			if got := w.Header().Get(name); !strings.Contains(got, part) {
				t.Errorf("%s %s: %s is %q, want %q in it", c.method, c.path, name, got, part)
			}
		}
	}
}

// TestHosts plays a page elsewhere whose host name was pointed at this machine.
func TestHosts(t *testing.T) {
	h := New(still{}, time.Hour, "World.Example.com")
	defer h.Close()
	for _, c := range []struct {
		local, host string
		ok          bool
	}{
		{"127.0.0.1", "localhost:7777", true},
		{"127.0.0.1", "LOCALHOST", true},
		{"127.0.0.1", "localhost.", true},
		{"127.0.0.1", "throng.localhost:7777", true},
		{"127.0.0.1", "127.0.0.1:7777", true},
		{"127.0.0.1", "127.8.0.1", true},
		{"::1", "[::1]:7777", true},
		{"::1", "[::1]", true},
		{"127.0.0.1", "[::ffff:127.0.0.1]:7777", true},
		{"127.0.0.1", "world.example.com", true},
		{"127.0.0.1", "evil.example", false},
		{"127.0.0.1", "evil.example:7777", false},
		{"127.0.0.1", "127.0.0.1.evil.example", false},
		{"127.0.0.1", "localhost.evil.example", false},
		{"127.0.0.1", "notlocalhost", false},
		{"127.0.0.1", "192.0.2.1", false},
		{"127.0.0.1", "0.0.0.0:7777", false},
		{"127.0.0.1", "x.world.example.com", false},
		{"::1", "evil.example", false},
		{"", "evil.example", false}, // an address that is not known
		{"192.0.2.7", "anything.example", true},
	} {
		for _, path := range []string{"/", "/frame"} {
			w := ask(h, c.local, "GET", "http://"+c.host+path)
			if (w.Code == 200) != c.ok || !c.ok && w.Code != http.StatusMisdirectedRequest {
				t.Errorf("%s as %q at %q: %d", path, c.host, c.local, w.Code)
			}
		}
	}
}

func TestOtherOriginsGetNoFrames(t *testing.T) {
	h := New(still{}, time.Hour)
	defer h.Close()
	for _, c := range []struct {
		path, site string
		code       int
	}{
		{"/frame", "same-origin", 200},
		{"/frame", "none", 200},
		{"/frame", "cross-site", 403},
		{"/frame", "same-site", 403}, // another port of this machine
		{"/events", "cross-site", 403},
		{"/", "cross-site", 200}, // a link to the page
	} {
		if w := ask(h, "127.0.0.1", "GET", "http://localhost"+c.path, "Sec-Fetch-Site", c.site); w.Code != c.code {
			t.Errorf("%s from %s: %d, want %d", c.path, c.site, w.Code, c.code)
		}
	}
}

func TestFrameTellsWhatFails(t *testing.T) {
	told := func(h *Handler) string {
		t.Helper()
		w := ask(h, "127.0.0.1", "GET", "http://localhost/frame")
		var body struct{ Error string }
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != 503 || w.Header().Get("Retry-After") == "" {
			t.Fatalf("got %d %q", w.Code, w.Body)
		}
		return body.Error
	}
	h := New(still{errors.New("throng: the world is \"gone\"")}, time.Hour)
	if got := told(h); got != "throng: the world is \"gone\"" {
		t.Errorf("told %q", got)
	}
	h.Close()
	h.Close()
	if got := told(h); got != errClosed.Error() {
		t.Errorf("closed, told %q", got)
	}
}
