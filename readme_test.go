package throng

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestGoInDocumentsCompiles: what a document shows as Go is a whole file that builds in this module.
func TestGoInDocumentsCompiles(t *testing.T) {
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	docs := []string{"README.md"}
	filepath.WalkDir("docs", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			docs = append(docs, path)
		}
		return err
	})
	blocks := 0
	for _, doc := range docs {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
			blocks++
			file := filepath.Join(t.TempDir(), "main.go")
			if err := os.WriteFile(file, []byte(m[1]), 0o600); err != nil {
				t.Fatal(err)
			}
			// The overlay puts the file into a directory of the module that does not exist.
			overlay, _ := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "internal", "fromdocs", "main.go"): file}})
			overlayFile := filepath.Join(t.TempDir(), "overlay.json")
			if err := os.WriteFile(overlayFile, overlay, 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("go", "build", "-o", os.DevNull, "-overlay", overlayFile, "./internal/fromdocs")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: a Go block does not build: %v\n%s\n%s", doc, err, out, m[1])
			}
		}
	}
	if blocks == 0 {
		t.Fatal("no Go block found, not even the README's game")
	}
}
