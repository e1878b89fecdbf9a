package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/load"
)

// asMain makes this test binary the program itself: the vettool that go vet runs is then what was compiled for the test.
const asMain = "THRONG_MAIN"

func TestMain(m *testing.M) {
	// So is the child that throng load starts.
	if os.Getenv(asMain) != "" || len(os.Args) == 2 && os.Args[1] == load.ChildCommand {
		main()
	}
	os.Exit(m.Run())
}

// TestVet proves that throng vet needs no second program: go vet calls this one back.
func TestVet(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	dir := t.TempDir()
	stub := filepath.Join("..", "..", "internal", "vet", "testdata", "src", "github.com", "throng-dev", "throng")
	for _, from := range []string{filepath.Join("..", "throng-vet", "testdata"), stub} {
		if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module github.com/throng-dev/throng\n\ngo 1.26\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const mend = "throng: vet: mend what is listed above"
	for _, tc := range []struct {
		args, want string
		status     int
	}{
		{"vet ./good", "", 0},
		{"vet ./nowhere", "nowhere: ", 1},
		{"vet -nonsense ./good", "-nonsense", 1},
		{"vet ./bad", "bad.Lamp.Count (int) has a size that differs between machines: use int32 or int64", 1},
		{"vet ./...", mend, 1},
		{"vet -keepchanges ./bad", "last: throng.Changes are for the hook", 1},
		{"vet --help", "-worldgo", 0},
	} {
		cmd := exec.CommandContext(t.Context(), self, strings.Fields(tc.args)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), asMain+"=1", "GOWORK=off", "GOFLAGS=")
		out, err := cmd.CombinedOutput()
		status := 0
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			status = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if status != tc.status || tc.want == "" && len(out) > 0 || !strings.Contains(string(out), tc.want) {
			t.Errorf("throng %s: status %d, want %d with %q\n%s", tc.args, status, tc.status, tc.want, out)
		}
		if found := strings.Contains(string(out), ".go:"); strings.Contains(string(out), mend) != found {
			t.Errorf("throng %s: go vet looked at code: %v\n%s", tc.args, found, out)
		}
	}
}
