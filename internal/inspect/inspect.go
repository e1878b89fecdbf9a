// Package inspect is the web page that shows a live world.
//
//	Source.Frame ──► feed: one snapshot an interval, encoded once ──► /events  every viewer, each at its own pace
//	                                                             └──► /frame   one JSON frame
//	                                                                  /        the page that draws them
//
// Nobody asks the Source while nobody watches, and it is asked once an interval however many watch. A viewer has no
// queue: when its connection is free again it gets the newest frame, so a slow one skips frames, keeps no memory and
// delays nobody.
//
// The page is three files in the binary: no build step, no other origin, no cookies. The handler only reads, but for the
// switches of a Switcher if it is given one: /switches tells them, /switch sets one.
package inspect

import (
	"embed"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// maxViewers bounds the streams that are open at once: each is a goroutine and a socket.
	maxViewers = 64
	// defaultInterval is 5 frames a second, enough for motion that the page smooths anyway.
	defaultInterval = 200 * time.Millisecond
	// stalled is how long a write to one viewer may take until its stream ends; a page that lives comes back by itself.
	stalled = 10 * time.Second
	// retry is what a browser waits until it opens a lost stream again, in milliseconds.
	retry = 1000
)

//go:embed page
var page embed.FS

// files maps the paths of the page to what is behind them.
var files = map[string]file{
	"/":         load("page/index.html", "text/html; charset=utf-8"),
	"/page.css": load("page/page.css", "text/css; charset=utf-8"),
	"/page.js":  load("page/page.js", "text/javascript; charset=utf-8"),
}

type file struct {
	body []byte
	kind string
}

func load(name, kind string) file {
	body, err := page.ReadFile(name)
	if err != nil {
		panic("throng: the inspector is built without its page: " + err.Error())
	}
	return file{body, kind}
}

// policy lets the page load from its own origin only. The data: image is its icon.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Handler serves the page and its frames. Make one with New; it may be used by any number of goroutines, under any
// path prefix that http.StripPrefix takes away.
type Handler struct {
	feed    *feed
	hosts   []string
	viewers chan struct{} // one token each

	switcher Switcher // nil: none
}

// New returns a handler that asks src for a frame at most once an interval. An interval of zero or less is 200 ms.
//
// A request that arrives on a loopback address must name a loopback host ("localhost", 127.0.0.1, ::1): a page elsewhere
// on the web could otherwise point a name of its own at this machine and read the world through the visitor's browser.
// hosts are further names to accept, as for a proxy on the same machine, without a port. Requests that arrive on any
// other address may name any host: who listens there publishes the page.
func New(src Source, interval time.Duration, hosts ...string) *Handler {
	if interval <= 0 {
		interval = defaultInterval
	}
	h := &Handler{feed: newFeed(src, interval), viewers: make(chan struct{}, maxViewers)}
	for _, name := range hosts {
		h.hosts = append(h.hosts, canonical(name))
	}
	return h
}

// Close ends every stream and refuses new requests for frames. It does not wait: a call of Source.Frame that runs goes
// on, but no other starts. It fits http.Server.RegisterOnShutdown, without which Shutdown waits for the viewers.
func (h *Handler) Close() { h.feed.close() }

// ServeHTTP answers "/", "/page.css", "/page.js", "/frame" and "/events", with a Switcher also "/switches" and a POST to
// "/switch"; everything else is not found. It leaves it to package http to send no body where HEAD asks.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", policy)
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-store")
	sets := r.URL.Path == "/switch" && r.Method == http.MethodPost
	if !sets && r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "throng: the inspector only reads: use GET", http.StatusMethodNotAllowed)
		return
	}
	if !h.trusts(r) {
		http.Error(w, "throng: this page is open to this machine only: use http://localhost or http://127.0.0.1", http.StatusMisdirectedRequest)
		return
	}
	f, isFile := files[r.URL.Path]
	switch {
	case isFile:
		header.Set("Content-Type", f.kind)
		header.Set("Content-Length", strconv.Itoa(len(f.body)))
		w.Write(f.body)
	case r.URL.Path != "/frame" && r.URL.Path != "/events" && (h.switcher == nil || r.URL.Path != "/switches" && r.URL.Path != "/switch"):
		http.Error(w, "throng: no such page: try /, /frame or /events", http.StatusNotFound)
	case foreign(r) || sets && elsewhere(r):
		http.Error(w, "throng: frames and switches are for the inspector's own page", http.StatusForbidden)
	case sets:
		h.set(w, r)
	case r.URL.Path == "/switch":
		header.Set("Allow", "POST")
		http.Error(w, "throng: a switch is set with POST, /switches tells them all", http.StatusMethodNotAllowed)
	case r.URL.Path == "/switches":
		h.switches(w)
	case r.URL.Path == "/frame":
		h.frame(w, r)
	default:
		h.events(w, r)
	}
}

// frame answers with the newest frame, as JSON.
func (h *Handler) frame(w http.ResponseWriter, r *http.Request) {
	s, err := h.feed.after(r.Context(), nil)
	switch {
	case err != nil:
		unavailable(w, err)
	case s.err != nil:
		unavailable(w, s.err)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.Write(s.json())
	}
}

// events streams frames to a GET until the viewer leaves, stalls, or Close. A frame is a message, a fault of the source an event
// "fault" with its text as a JSON string; the stream goes on after one.
func (h *Handler) events(w http.ResponseWriter, r *http.Request) {
	const kind = "text/event-stream"
	if r.Method == http.MethodHead { // a stream without a body would take a viewer's place for nothing
		w.Header().Set("Content-Type", kind)
		return
	}
	select {
	case h.viewers <- struct{}{}:
		defer func() { <-h.viewers }()
	default:
		unavailable(w, errors.New("throng: all "+strconv.Itoa(maxViewers)+" viewers' places are taken: close another page of this inspector"))
		return
	}
	s, err := h.feed.after(r.Context(), nil)
	if err != nil {
		unavailable(w, err)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("X-Accel-Buffering", "no") // a proxy that collects output would turn motion into jumps
	out := http.NewResponseController(w)
	head := "retry: " + strconv.Itoa(retry) + "\n"
	for err == nil {
		// Not every writer has deadlines; without one a stalled viewer keeps its place until its connection breaks.
		_ = out.SetWriteDeadline(time.Now().Add(stalled))
		if head != "" {
			if _, err = w.Write([]byte(head)); err != nil {
				return
			}
			head = ""
		}
		if _, err = w.Write(s.event); err != nil {
			return
		}
		if err = out.Flush(); err != nil {
			return
		}
		s, err = h.feed.after(r.Context(), s)
	}
}

func unavailable(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
	json.NewEncoder(w).Encode(map[string]string{"error": err.Error()})
}

// trusts tells whether the host a request names is one this address may have.
func (h *Handler) trusts(r *http.Request) bool {
	// An address that is not known to be public counts as loopback: rather a refusal to explain than a hole.
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok && !local.IP.IsLoopback() {
		return true
	}
	name := canonical(r.Host)
	if name == "localhost" || strings.HasSuffix(name, ".localhost") || slices.Contains(h.hosts, name) {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Unmap().IsLoopback()
}

// canonical is a host without port, brackets and the dot at its end, in lower case.
func canonical(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// foreign tells whether a browser asks for a page of another origin. It could not read the answer, but it would take a
// viewer's place. Programs that are no browsers send no such header.
func foreign(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return false
	}
	return true
}
