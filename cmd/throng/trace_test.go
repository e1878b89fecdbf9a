package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/token"
)

// A game traces itself, an observer records the same world without its classes, and the two captures are shown and compared.
func TestTraceRecordShowDiff(t *testing.T) {
	t.Parallel()
	s := start(t, "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--insecure-dev-key", "--flat", "--json")
	var at struct{ Listen string }
	if err := json.Unmarshal([]byte(s.out.after(t, "")), &at); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	game, seen := filepath.Join(dir, "game.jsonl"), filepath.Join(dir, "seen.jsonl")
	f, err := os.Create(game)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tracer := throng.NewTracer(f, throng.TraceEntity, throng.TraceState)
	w, err := throng.Join(t.Context(), at.Listen, schema, throng.Config{TokenSource: token.DevSource(at.Listen, "ada"), World: level, Tracer: tracer})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	rec := start(t, "trace", "record", "--relay", at.Listen, "--world", level, "--insecure-dev-key", "--at", "0,0", "--at", "1600,-20,5", "--out", seen, "--for", "20s", "--json")
	lantern := &Lantern{Lit: true}
	lantern.track = &track{}
	if err := w.Spawn(lantern); err != nil {
		t.Fatal(err)
	}
	id := lantern.NetID().String()
	tick := time.NewTicker(frame)
	defer tick.Stop()
	for start := time.Now(); time.Since(start) < 1500*time.Millisecond; <-tick.C {
		err := w.Tick(func() {
			lantern.Fuel++
			lantern.Lit = !lantern.Lit
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if code := rec.stop(); code != 0 {
		t.Fatal(rec.err)
	}
	var summary struct {
		File             string
		Events, Entities int
	}
	if err := json.Unmarshal([]byte(rec.out.String()), &summary); err != nil || summary.File != seen || summary.Events < 5 || summary.Entities != 1 {
		t.Fatalf("%v: %s", err, rec.out)
	}
	if err := tracer.Flush(); err != nil {
		t.Fatal(err)
	}

	show := func(args ...string) (lines []string) {
		t.Helper()
		code, out, errs := throngFor(t, append([]string{"trace", "show"}, args...)...)
		if code != 0 || errs != "" {
			t.Fatal(errs)
		}
		return strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	}
	all := show(seen, "--id", id[:8], "--class", "lantern")
	if len(all) < 4 || !strings.Contains(strings.Join(all, "\n"), "state  in  delta      "+id[:8]+" lantern       1 B  spatial  Lit  v") {
		t.Errorf("%s", strings.Join(all, "\n"))
	}
	for _, line := range all {
		if !strings.Contains(line, " "+id[:8]+" ") {
			t.Errorf("not about it: %s", line)
		}
	}
	if got := show(seen, "--class", "walker"); len(got) != 1 || got[0] != "" {
		t.Errorf("%q", got)
	}
	if got := show(seen, "--cat", "entity", "--json", "--class", "lantern"); len(got) != 1 || !strings.Contains(got[0], `"what":"spawn"`) || !strings.Contains(got[0], id) {
		t.Errorf("%q", got)
	}
	if drops := show(game, "--drops", "--cat", "state"); !strings.HasSuffix(drops[0], "DROPPED: echo") && drops[0] != "" {
		t.Errorf("%q", drops)
	}

	// The observer does not get the owner's field, and has no body of it that could leave.
	code, out, errs := throngFor(t, "trace", "diff", game, seen, "--json")
	var found []jsonDifference
	if err := json.Unmarshal([]byte(out), &found); err != nil || code != 1 || len(found) != 1 || !strings.Contains(errs, "the captures differ in 1 places") {
		t.Fatalf("status %d, %v: %s%s", code, err, out, errs)
	}
	if d := found[0]; d.ID != id || d.What != "fields" || !strings.HasPrefix(d.A, "only here: Fuel") {
		t.Errorf("%+v", d)
	}
	if code, out, errs = throngFor(t, "trace", "diff", seen, seen); code != 0 || out != "the captures say the same of 1 entities\n" {
		t.Errorf("status %d: %s%s", code, out, errs)
	}
	if code, out, _ = throngFor(t, "trace", "diff", game, seen); code != 1 || !strings.Contains(out, id+` "lantern": fields`+"\n  "+game+": only here: Fuel") {
		t.Errorf("status %d: %s", code, out)
	}
}

func TestTraceMistakes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const head = `{"trace":1,"start":"2026-11-30T12:00:00Z"}` + "\n"
	rubbish, middle, newer := file("rubbish", "ELF\n"), file("middle", head+"{}\n"), file("newer", `{"trace":9}`+"\n")
	dead := "--relay 127.0.0.1:1 --world w --insecure-dev-key"
	for _, c := range []struct{ args, want string }{
		{"trace", "`throng trace --help` lists"},
		{"trace show --nonsense", "`throng trace show --help` lists"},
		{"trace show " + filepath.Join(dir, "none"), "make one with `throng trace record`"},
		{"trace show " + dir, "directory"},
		{"trace show " + rubbish, "no line of a capture"},
		{"trace show " + middle, "line 2"},
		{"trace show " + newer, "use a newer one"},
		{"trace show --cat weather " + middle, "there is no such group"},
		{"trace diff " + middle + " " + middle, "line 2"},
		{"trace record --relay 127.0.0.1:1 --world w", "pass --key FILE"},
		{"trace record --relay 192.0.2.1:1 --world w --insecure-dev-key", "other machines"},
		{"trace record " + dead + " --at 1", "X,Y,Z"},
		{"trace record " + dead + " --at 1,x", "is no number"},
		{"trace record " + dead + strings.Repeat(" --at 1,1", 9), "at most 8"},
		{"trace record " + dead + " --cat weather", "there is no such group"},
		{"trace record " + dead + " --for 200ms", "127.0.0.1:1"},
		{"trace record " + dead + " --out " + filepath.Join(dir, "no", "dir"), "writing the capture"},
	} {
		code, out, errs := throngFor(t, strings.Fields(c.args)...)
		if code != 1 || !strings.Contains(errs, c.want) || strings.Count(errs, "throng: ") != 1 {
			t.Errorf("%s: status %d, want 1 and %q:\n%s%s", c.args, code, c.want, out, errs)
		}
	}
	// What was cut is shown as far as it goes.
	cut := file("cut", head+`{"t":1,"cat":"net","what":"join"}`+"\n"+`{"t":2,"c`)
	code, out, errs := throngFor(t, "trace", "show", cut)
	if code != 0 || strings.Count(out, "\n") != 1 || !strings.Contains(errs, "ends in the middle of a line") {
		t.Errorf("status %d: %s%s", code, out, errs)
	}
}
