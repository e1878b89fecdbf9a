package main

import (
	"bytes"
	"context"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Two processes over UDP on loopback: the second sees the first one's lantern go on.
func TestSecondSeesTheLantern(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "lantern.exe")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("building it: %v\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, bin)
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second // its child may hold the pipes
	err := cmd.Run()
	if err != nil || !strings.Contains(out.String(), "second: the first one's lantern at {10 20} is on: true\n") {
		t.Fatalf("%v\n%s\n%s", err, out.String(), errs.String())
	}
	t.Log("\n" + out.String())
}

// It is what people read first: short, and nothing to install.
func TestItIsShort(t *testing.T) {
	src, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(src, []byte("\n")); lines >= 150 {
		t.Errorf("main.go has %d lines: keep it under 150", lines)
	}
	f, err := parser.ParseFile(token.NewFileSet(), "main.go", src, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range f.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		if strings.Contains(path, ".") && !strings.HasPrefix(path, "github.com/throng-dev/throng") || strings.Contains(path, "/internal/") {
			t.Errorf("main.go imports %s", path)
		}
	}
}
