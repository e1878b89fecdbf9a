package authority_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/authority"
)

// B-115: the page shows the decision on each pair, with all that went into it.
func TestB115PageShowsVerdicts(t *testing.T) {
	play(t, authority.Config{}, func(t *testing.T, p *stage) {
		ann, _ := p.player("ann", 0)
		bob, _ := p.player("bob", 0)
		m := &Minion{tank: p.tank(ann)}
		must(t, p.s.Spawn(m))
		must(t, p.s.Publish(m))
		p.Run(time.Second)
		get := func(query string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			done := make(chan bool)
			go func() {
				authority.Page(p.s).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/"+query, nil))
				close(done)
			}()
			p.Run(100 * time.Millisecond)
			<-done
			return w
		}
		html := get("").Body.String()
		for _, want := range []string{"1 actors, 2 players", m.NetID().String(), ann.Self().String(), bob.Self().String(), "its owner has a local stand-in", "published", "authority", "resolved"} {
			if !strings.Contains(html, want) {
				t.Errorf("the page lacks %q:\n%s", want, html)
			}
		}
		var d struct {
			Rows []struct {
				Viewer, Verdict, Channel string
				Shows                    bool
			}
		}
		if err := json.Unmarshal(get("?json&viewer="+bob.Self().String()).Body.Bytes(), &d); err != nil || len(d.Rows) != 1 || !d.Rows[0].Shows || d.Rows[0].Channel != "open" {
			t.Errorf("of bob alone: %+v, %v", d, err)
		}
		if html := get("?reason=%3Cscript%3E").Body.String(); strings.Contains(html, "<script>") || !strings.Contains(html, "No pair was decided that is like this") {
			t.Errorf("a query that is none: %s", html)
		}
	})
}

// An authority that hangs does not hang who looks at it.
func TestB115PageOfWhatDoesNotTick(t *testing.T) {
	play(t, authority.Config{}, func(t *testing.T, p *stage) {
		w := httptest.NewRecorder()
		authority.Page(p.s).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/", nil))
		if w.Code != 503 || !strings.Contains(w.Body.String(), "does not tick") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}
