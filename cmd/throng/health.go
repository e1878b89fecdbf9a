package main

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/throng-dev/throng/relay"
)

// stuck is how long an answer of the relay's loop may take. A relay that needs longer for a turn serves nobody.
const stuck = 2 * time.Second

// health answers whether the relay's loop turns.
type health struct {
	relay *relay.Server

	mu   sync.Mutex
	open *question // one at most: a relay that hangs must not gather goroutines
}

type question struct {
	answered chan struct{}
	err      error
}

func (h *health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	timer := time.NewTimer(stuck)
	defer timer.Stop()
	q := h.ask()
	select {
	case <-q.answered:
		if q.err != nil {
			http.Error(w, q.err.Error(), http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintln(w, "ok")
	case <-timer.C:
		http.Error(w, "throng: the relay does not answer", http.StatusServiceUnavailable)
	case <-r.Context().Done():
	}
}

func (h *health) ask() *question {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open != nil {
		return h.open
	}
	q := &question{answered: make(chan struct{})}
	h.open = q
	go func() {
		q.err = h.relay.Do(func() {})
		h.mu.Lock()
		h.open = nil
		h.mu.Unlock()
		close(q.answered)
	}()
	return q
}
