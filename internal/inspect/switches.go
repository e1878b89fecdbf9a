package inspect

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxSwitch bounds the body of a request that sets a switch.
const maxSwitch = 1 << 10

// Switch is one that the page shows.
type Switch struct {
	Name string `json:"name"`
	On   bool   `json:"on"`
}

// Switcher is what the page may switch. Its methods are called by any number of goroutines, and may block for a while.
type Switcher interface {
	// Switches returns all of them; none while they cannot be told.
	Switches() []Switch
	// SetSwitch sets one. The text of its error is for who asked.
	SetSwitch(name string, on bool) error
}

// NewSwitching is New for a page that also switches. It is open to everybody to whom the page is.
func NewSwitching(src Source, sw Switcher, interval time.Duration, hosts ...string) *Handler {
	h := New(src, interval, hosts...)
	h.switcher = sw
	return h
}

// switches answers with all switches, as JSON.
func (h *Handler) switches(w http.ResponseWriter) {
	all := h.switcher.Switches()
	if all == nil {
		all = []Switch{}
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(all)
}

// set sets a switch. A page elsewhere can send no such request: a browser asks first whether it may send this type, and is told
// that it may not; and it tells where the request comes from.
func (h *Handler) set(w http.ResponseWriter, r *http.Request) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		http.Error(w, "throng: a switch is set with Content-Type application/json", http.StatusUnsupportedMediaType)
		return
	}
	// Not every writer has deadlines.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(stalled))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxSwitch))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		http.Error(w, "throng: a switch is set with at most 1 KiB", http.StatusRequestEntityTooLarge)
		return
	case err != nil:
		http.Error(w, "throng: the request broke off", http.StatusBadRequest)
		return
	}
	var want struct {
		Name string `json:"name"`
		On   *bool  `json:"on"`
	}
	if json.Unmarshal(body, &want) != nil || want.Name == "" || want.On == nil {
		http.Error(w, `throng: a switch is set with {"name":"…","on":true}`, http.StatusBadRequest)
		return
	}
	if err := h.switcher.SetSwitch(want.Name, *want.On); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// elsewhere tells whether a request names an origin that is not the host it was sent to.
func elsewhere(r *http.Request) bool {
	for _, origin := range r.Header.Values("Origin") {
		if u, err := url.Parse(origin); err != nil || !strings.EqualFold(u.Host, r.Host) {
			return true
		}
	}
	return false
}
