package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/token"
)

func TestTokenInJSON(t *testing.T) {
	t.Parallel()
	var minted struct {
		Token   []byte
		Player  string
		Expires time.Time
	}
	code, out, errs := throngFor(t, "token", "--insecure-dev-key", "--player", "ada", "--relay", "127.0.0.1:1,localhost:2", "--json")
	if code != 0 {
		t.Fatal(errs)
	}
	if err := json.Unmarshal([]byte(out), &minted); err != nil || len(minted.Token) != token.Size || len(minted.Player) != 32 || !minted.Expires.After(time.Now()) {
		t.Fatal(out, err)
	}
}

// A key, a relay that uses it, a token made with it, a client that plays with the token.
func TestServeAndTokenGoTogether(t *testing.T) {
	t.Parallel()
	key := filepath.Join(t.TempDir(), "relay.key")
	if code, out, errs := throngFor(t, "key", key); code != 0 || !strings.Contains(out, key) {
		t.Fatal(code, out, errs)
	}
	if info, err := os.Stat(key); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Fatal(info.Mode(), err)
	}
	s := start(t, "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--key", key, "--flat", "--reach", "2", "--property-reach", "1", "--flush", "40ms", "--json")
	var at struct{ Listen, HTTP string }
	if err := json.Unmarshal([]byte(s.out.after(t, "")), &at); err != nil {
		t.Fatal(err)
	}
	if _, body := get(t, "http://"+at.HTTP+"/frame"); !strings.Contains(body, `"bytes_per_s":null,"packets_per_s":null`) {
		t.Errorf("the first frame knows rates: %s", body)
	}

	code, out, errs := throngFor(t, "token", "--key", key, "--player", "ada", "--relay", at.Listen, "--world", level)
	if code != 0 {
		t.Fatal(errs)
	}
	minted, err := base64.StdEncoding.DecodeString(strings.TrimSpace(out))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	w, err := throng.Join(ctx, at.Listen, schema, throng.Config{Token: minted, World: level})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if want := throng.PlayerIDFrom(idFor("development player", "ada")); w.Self() != want {
		t.Errorf("the player is %v instead of %v", w.Self(), want)
	}
	if p := w.Profile(); !p.Flat || p.Reach != 2 || p.PropertyReach != 1 || p.Flush != 40*time.Millisecond || !p.Retain {
		t.Errorf("%+v", p)
	}
	lantern := &Lantern{Pos: throng.Vec2Quantize{X: 5, Y: 6}, Lit: true}
	lantern.track = &track{}
	if err := w.Spawn(lantern); err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(frame)
	defer tick.Stop()
	for {
		if err := w.Tick(nil); err != nil {
			t.Fatal(err)
		}
		_, body := get(t, "http://"+at.HTTP+"/frame")
		var f struct{ Things [][]any }
		if err := json.Unmarshal([]byte(body), &f); err != nil {
			t.Fatal(err)
		}
		if len(f.Things) == 1 {
			state, _ := f.Things[0][5].(map[string]any)
			if f.Things[0][2] != 5.0 || f.Things[0][3] != 6.0 || state["lit"] != true {
				t.Errorf("the page shows %v", f.Things[0])
			}
			break
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("the page does not show the lantern")
		}
	}

	for _, path := range []string{"/", "/healthz", "/metrics", "/frame"} {
		resp, err := http.Head("http://" + at.HTTP + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 200 {
			t.Errorf("HEAD %s: %s", path, resp.Status)
		}
	}
	if status, body := get(t, "http://"+at.HTTP+"/healthz"); status != 200 || body != "ok\n" {
		t.Errorf("healthz: %d %q", status, body)
	}
	_, body := get(t, "http://"+at.HTTP+"/metrics")
	for _, want := range []string{"\nthrong_joined_total ", "\nthrong_sessions ", "\nthrong_replication_deltas_total ", "\nthrong_replication_host_change_total ",
		`throng_udp_datagrams_total{direction="in"}`, "\ngo_goroutines "} {
		if !strings.Contains(body, want) {
			t.Errorf("metrics lack %q", want)
		}
	}

	// A token opens one connection.
	_, err = throng.Join(ctx, at.Listen, schema, throng.Config{Token: minted, World: level})
	if err == nil || !strings.Contains(err.Error(), "token") {
		t.Errorf("the token was good twice: %v", err)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("stopped with status %d: %s", code, s.err)
	}
}

func TestServeWithTheDevelopmentKey(t *testing.T) {
	t.Parallel()
	s := start(t, "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--insecure-dev-key")
	addr := s.out.after(t, "relay on ")
	out := filepath.Join(t.TempDir(), "token")
	code, _, errs := throngFor(t, "token", "--insecure-dev-key", "--player", "0123456789abcdef0123456789abcdef", "--relay", addr, "--raw", "--out", out)
	if code != 0 {
		t.Fatal(errs)
	}
	minted, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	w, err := throng.Join(ctx, addr, schema, throng.Config{Token: minted, World: "any"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if w.Self().String() != "0123456789abcdef0123456789abcdef" {
		t.Error(w.Self())
	}
	if code := s.stop(); code != 0 || !strings.HasSuffix(s.out.String(), "stopped\n") {
		t.Errorf("status %d: %s%s", code, s.out, s.err)
	}
}

// A client with the wrong key hears nothing at all, so the relay's log has to tell.
func TestServeWarnsOfStrangeKeys(t *testing.T) {
	t.Parallel()
	key := filepath.Join(t.TempDir(), "relay.key")
	if code, _, errs := throngFor(t, "key", key); code != 0 {
		t.Fatal(errs)
	}
	s := start(t, "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--key", key, "--pass-through")
	addr := s.out.after(t, "relay on ")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := throng.Join(ctx, addr, schema, throng.Config{TokenSource: token.DevSource(addr, "ada"), World: level})
		done <- err
	}()
	s.err.after(t, "level=WARN msg=\"connect requests that this relay's key does not open: ")
	cancel()
	if err := <-done; err == nil {
		t.Error("joined with a token of another key")
	}
}

func TestStrangeKeysWarnOnceAMinute(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	s := strangeKeys{log: slog.New(slog.NewTextHandler(&out, nil))}
	at := time.Now()
	for i, c := range []struct {
		after time.Duration
		n     uint64
		want  string
	}{
		{0, 0, ""},
		{time.Second, 3, "requests=3"},
		{2 * time.Second, 9, ""},
		{61 * time.Second, 10, "requests=7"},
		{5 * time.Minute, 10, ""},
		{5*time.Minute + time.Second, 11, "requests=1"},
	} {
		out.Reset()
		s.look(at.Add(c.after), c.n)
		if got := out.String(); (got != "") != (c.want != "") || !strings.Contains(got, c.want) {
			t.Errorf("look %d: %q, want %q in it", i, got, c.want)
		}
	}
}

func TestExpiredTokenSaysSo(t *testing.T) {
	t.Parallel()
	s := start(t, "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--insecure-dev-key")
	addr := s.out.after(t, "relay on ")
	old, err := token.Mint(token.InsecureDevKey(), token.ProtocolID, []netip.AddrPort{netip.MustParseAddrPort(addr)},
		token.Claims{Player: [16]byte{1}, Issued: time.Now().Add(-time.Hour)}, 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err = throng.Join(ctx, addr, schema, throng.Config{Token: old, World: level})
	if err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("%v", err)
	}
}
