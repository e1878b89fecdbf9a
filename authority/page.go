package authority

import (
	"cmp"
	"context"
	"encoding/json"
	"html/template"
	"net/http"
	"slices"
	"time"
)

// A page about verdicts: request ─► Post: gather on the Server's goroutine ─► a table, or JSON

const (
	pageRows = 500             // most of the pairs that one request shows
	pageWait = 2 * time.Second // for the Server to tick
)

// pageRow is one decision as the page shows it.
type pageRow struct {
	Actor, Class, Life, Role string
	Owner, How               string
	Viewer                   string
	Verdict, Reason          string
	Channel                  string
	Shows                    bool
}

type pageData struct {
	Stats Stats
	Rows  []pageRow
	More  int // pairs that are not shown
	Query struct{ Actor, Viewer, Class, Reason string }
}

// Page is what the Server decided last of each pair, for people: a table, or with ?json its data. ?actor, ?viewer, ?class and ?reason show
// only the pairs that have these. It may be served on any goroutine; what it shows is gathered in the next Tick. It tells who knows of what, so
// serve it to operators alone.
func Page(s *Server) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var d pageData
		q := r.URL.Query()
		d.Query.Actor, d.Query.Viewer, d.Query.Class, d.Query.Reason = q.Get("actor"), q.Get("viewer"), q.Get("class"), q.Get("reason")
		ctx, cancel := context.WithTimeout(r.Context(), pageWait)
		defer cancel()
		done := make(chan pageData, 1) // the Server may be later than we wait
		s.world.Post(func() { done <- s.gather(d) })
		select {
		case d = <-done:
		case <-ctx.Done():
			http.Error(w, "throng: the authority does not tick", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if q.Has("json") {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(d)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'")
		_ = page.Execute(w, d)
	})
}

// gather runs on the Server's goroutine.
func (s *Server) gather(d pageData) pageData {
	d.Stats = s.Stats()
	viewers := make([]*Viewer, 0, len(s.viewers))
	for _, v := range s.viewers {
		viewers = append(viewers, v)
	}
	slices.SortFunc(viewers, func(a, b *Viewer) int { return cmp.Compare(a.Player.String(), b.Player.String()) })
	is := func(want, got string) bool { return want == "" || want == got }
	for _, a := range s.byN {
		if a == nil || !is(d.Query.Class, a.class) || !is(d.Query.Actor, idOf(a.o).String()) {
			continue
		}
		for _, v := range viewers {
			if !is(d.Query.Viewer, v.Player.String()) {
				continue
			}
			r, ok := s.Explain(v.Player, a.o)
			if !ok || !is(d.Query.Reason, r.Reason) {
				continue
			}
			if len(d.Rows) == pageRows {
				d.More++
				continue
			}
			row := pageRow{Actor: r.Actor.String(), Class: r.Class, Life: r.Life.String(), Role: r.Role.String(), Owner: "nobody", How: r.OwnerHow,
				Viewer: r.Viewer.String(), Verdict: r.Verdict, Reason: r.Reason, Channel: r.After, Shows: r.Shows}
			if !r.Owner.IsZero() {
				row.Owner = r.Owner.String()
			}
			d.Rows = append(d.Rows, row)
		}
	}
	return d
}

var page = template.Must(template.New("verdicts").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Verdicts</title>
<style>
body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem; color: #1b1f24; background: #fff }
table { border-collapse: collapse; width: 100% } th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #d8dee4; vertical-align: top }
th { font-weight: 600 } code { font: 12px ui-monospace, monospace } .no { color: #a40e26 } .yes { color: #116329 }
form { margin: 1rem 0 } input { font: inherit; margin-right: .5rem }
@media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117 } th, td { border-color: #30363d } .no { color: #ff7b72 } .yes { color: #7ee787 } }
</style>
<h1>Who may know of what</h1>
<p>{{.Stats.Actors}} actors, {{.Stats.Viewers}} players. Asked {{.Stats.Asked}}, owners kept away {{.Stats.Excluded}}, owners unknown {{.Stats.Unknown}};
opened {{.Stats.Opened}}, closed {{.Stats.Closed}}; alarms {{.Stats.Alarms}}, without a reason {{.Stats.Mute}}, lost to another program {{.Stats.Lost}}.</p>
<form><input name="actor" placeholder="actor" value="{{.Query.Actor}}"><input name="viewer" placeholder="viewer" value="{{.Query.Viewer}}"><input name="class" placeholder="class" value="{{.Query.Class}}"><input name="reason" placeholder="reason" value="{{.Query.Reason}}"><button>Show</button></form>
<table><tr><th>actor<th>life<th>owner<th>viewer<th>verdict<th>reason<th>channel
{{range .Rows}}<tr><td>{{.Class}}<br><code>{{.Actor}}</code><td>{{.Life}}<br>{{.Role}}<td><code>{{.Owner}}</code><br>{{.How}}<td><code>{{.Viewer}}</code><td class="{{if .Shows}}yes{{else}}no{{end}}">{{.Verdict}}<td>{{.Reason}}<td>{{.Channel}}
{{else}}<tr><td colspan="7">No pair was decided{{if or .Query.Actor .Query.Viewer .Query.Class .Query.Reason}} that is like this{{end}}.
{{end}}</table>
{{if .More}}<p>{{.More}} more are not shown.</p>{{end}}
</html>
`))
