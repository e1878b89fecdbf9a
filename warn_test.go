package throng

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Warnings that others cause are logged at a bounded rate, each kind by itself.
func TestWarningsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		w := &World{start: time.Now(), log: slog.New(slog.NewTextHandler(&b, nil))}
		for range 1000 {
			w.warn("one", "id", 7)
			w.warn("two")
		}
		if one, two := strings.Count(b.String(), "msg=one"), strings.Count(b.String(), "msg=two"); one != warnMost || two != warnMost {
			t.Errorf("%d and %d lines", one, two)
		}
		b.Reset()
		time.Sleep(time.Second)
		w.warn("one", "id", 8)
		w.warn("one", "id", 9)
		if s := b.String(); strings.Count(s, "\n") != 2 || strings.Count(s, `"not logged before"=990`) != 1 {
			t.Error(s)
		}
	})
}
