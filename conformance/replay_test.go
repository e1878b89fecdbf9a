package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKeptPrograms plays what once failed.
func TestKeptPrograms(t *testing.T) {
	files, err := filepath.Glob("testdata/*.program")
	if err != nil || len(files) == 0 {
		t.Fatalf("no programs are kept: %v", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".program"), func(t *testing.T) {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			p, err := Parse(string(text))
			if err != nil {
				t.Fatal(err)
			}
			if res := Play(p, Options{Log: true, Trace: *tracing}); res.Bad != "" {
				t.Fatalf("%s\n%s", res.Bad, strings.Join(res.Log, "\n"))
			}
		})
	}
}
