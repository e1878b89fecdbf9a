package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/vet"
)

// asMain makes this test binary the command itself: what go vet runs is then what was compiled for the test.
const asMain = "THRONG_VET_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asMain) != "" {
		main()
	}
	os.Exit(m.Run())
}

// game makes a small module with the packages of testdata. In the place of throng it has what the analyzers must know of
// it: a vettool is run on everything that is imported, which the real one has much of.
func game(t *testing.T) (dir string) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the go command")
	}
	dir = t.TempDir()
	stub := filepath.Join("..", "..", "internal", "vet", "testdata", "src", "github.com", "throng-dev", "throng")
	for _, from := range []string{"testdata", stub} {
		if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module github.com/throng-dev/throng\n\ngo 1.26\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// run runs a program in dir that may call this binary as the command, and returns all that it wrote, with its status.
func run(t *testing.T, dir, name string, args ...string) (out string, status int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), asMain+"=1", "GOWORK=off", "GOFLAGS=")
	b, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return string(b), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(b), 0
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestGoVet proves that go vet with this vettool, and the command alone, report every kind of mistake where it is, and end
// with a status that says so.
func TestGoVet(t *testing.T) {
	dir, want := game(t), comments(t, "testdata/bad/bad.go")
	if len(want) != len(vet.Analyzers) {
		t.Fatalf("%d mistakes in testdata/bad, want one for each of %d checks", len(want), len(vet.Analyzers))
	}
	for _, command := range [][]string{
		{"go", "vet", "-vettool=" + self(t), "./bad"},
		{self(t), "./bad"},
	} {
		out, status := run(t, dir, command[0], command[1:]...)
		if status == 0 {
			t.Errorf("%v ends with status 0", command[1:])
		}
		got := regexp.MustCompile(`(?m)bad\.go:(\d+):\d+: `).FindAllStringSubmatch(out, -1)
		found := map[int]bool{}
		for _, m := range got {
			line, _ := strconv.Atoi(m[1])
			if found[line] = true; want[line] == "" {
				t.Errorf("%v reports line %d, where nothing is wrong", command[1:], line)
			}
		}
		for line, check := range want {
			if !found[line] {
				t.Errorf("%v does not report line %d, for %s", command[1:], line, check)
			}
		}
		if t.Failed() {
			t.Log(out)
		}
	}
}

// comments reads the lines with a comment that begins with want.
func comments(t *testing.T, file string) map[int]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := map[int]string{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		if _, check, ok := strings.Cut(lines.Text(), "// want "); ok {
			want[n] = check
		}
	}
	return want
}

// TestOff proves that a check can be turned off, and one alone be asked for.
func TestOff(t *testing.T) {
	out, status := run(t, game(t), self(t), "-rephint=false", "-reptag=false", "./bad")
	if status == 0 || strings.Contains(out, "keyframe") || strings.Contains(out, "is no word") || !strings.Contains(out, "differs between machines") {
		t.Errorf("without rephint and reptag: status %d\n%s", status, out)
	}
	out, status = run(t, game(t), self(t), "-worldgo", "./bad")
	if status == 0 || strings.Count(out, "bad.go:") != 1 || !strings.Contains(out, "use Post") {
		t.Errorf("worldgo alone: status %d\n%s", status, out)
	}
}

func TestNothingToReport(t *testing.T) {
	if out, status := run(t, game(t), self(t), "./good"); out != "" || status != 0 {
		t.Errorf("status %d\n%s", status, out)
	}
}

func TestNotRun(t *testing.T) {
	if out, status := run(t, game(t), self(t), "./nowhere"); status == 0 || !strings.Contains(out, "nowhere") {
		t.Errorf("a package that is not there: status %d\n%s", status, out)
	}
}

func TestHelp(t *testing.T) {
	out, status := run(t, game(t), self(t), "help")
	for _, a := range vet.Analyzers {
		if status != 0 || !strings.Contains(out, a.Name) {
			t.Errorf("help ends with status %d and lacks %s:\n%s", status, a.Name, out)
		}
	}
}
