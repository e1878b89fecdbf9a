package archtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
)

// quiet is a module that passes the gate. Its fuzz target accepts everything, and does not begin a line of this file:
// the gate finds targets by that.
const quiet = `
-- go.mod --
module m.test/m

go 1.26
-- m.go --
// Package m is small.
package m

// F adds nothing.
func F(n int) int { return n }
-- m_test.go --
package m

import "testing"

` + "func FuzzF(f *testing.F) {" + `
	f.Add(1)
	f.Fuzz(func(t *testing.T, n int) { F(n) })
}
`

// TestGateStepsCanFail breaks the quiet module in one way a case and runs the step that must notice. It runs within the
// gate only: it compiles for five platforms, which the gate has just done and a newcomer's first test run has not.
func TestGateStepsCanFail(t *testing.T) {
	if os.Getenv("GATE_SELFTEST") == "" {
		t.Skip("runs within the gate: .ci/run selftest")
	}
	for _, c := range []struct {
		name  string
		steps string
		says  string // "" when the steps must pass
		shows string // what is printed then
		files string
	}{
		{name: "quiet module", steps: "test format vet tidy fix fuzz unchanged"},
		{
			name: "failing test", steps: "test", says: "<== test: FAILED",
			files: "-- n_test.go --\npackage m\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) { t.Error(1) }\n",
		},
		{name: "unformatted file", steps: "format", says: "<== format: FAILED", files: "-- n.go --\npackage m\nvar  x int\n"},
		{
			name: "test that is skipped", steps: "test", shows: "ok, 1 SKIPPED",
			files: "-- n_test.go --\npackage m\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) { t.Skip(\"why\") }\n",
		},
		{
			name: "vet", steps: "vet", says: "<== vet: FAILED",
			files: "-- n.go --\npackage m\n\nimport \"fmt\"\n\nfunc f() { fmt.Printf(\"%d\", \"x\") }\n",
		},
		{
			name: "untidy go.sum", steps: "tidy", says: "<== tidy: FAILED",
			files: "-- go.sum --\na.test/a v1.0.0/go.mod h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n",
		},
		{name: "old Go", steps: "fix", says: "<== fix: FAILED", files: "-- n.go --\npackage m\n\nvar X interface{}\n"},
		{
			name: "fuzz target that fails", steps: "fuzz", says: "<== fuzz: FAILED",
			files: "-- n_test.go --\npackage m\n\nimport \"testing\"\n\nfunc FuzzG(f *testing.F) {\n\tf.Add(1)\n" +
				"\tf.Fuzz(func(t *testing.T, n int) { t.Error(n) })\n}\n",
		},
		{
			name: "fuzz target that does not run", steps: "fuzz", says: "FAIL  ./ FuzzG",
			files: "-- n_test.go --\n//go:build never\n\npackage m\n\nimport \"testing\"\n\nfunc FuzzG(f *testing.F) {}\n",
		},
		{name: "no fuzz target", steps: "fuzz", says: "no fuzz target found", files: "-- m_test.go --\npackage m\n"},
		{
			name: "test that writes into the tree", steps: "test unchanged", says: "<== unchanged: FAILED",
			files: "-- n_test.go --\npackage m\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\n" +
				"func TestF(t *testing.T) { os.WriteFile(\"dropping\", nil, 0o600) }\n",
		},
		{name: "step that is none", steps: "tests", says: "no step tests"},
		{
			name: "race", steps: "race", says: "<== race: FAILED",
			files: "-- n_test.go --\npackage m\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tn, done := 0, make(chan int)\n" +
				"\tgo func() { n++; close(done) }()\n\tn++\n\t<-done\n}\n",
		},
		{name: "64-bit constant", steps: "linux-386", says: "<== linux-386: FAILED", files: "-- n.go --\npackage m\n\nvar X int = 1 << 40\n"},
		{name: "darwin", steps: "darwin", says: "<== darwin: FAILED", files: "-- n_darwin.go --\npackage m\n\nvar X int = \"\"\n"},
		{name: "windows", steps: "windows", says: "<== windows: FAILED", files: "-- n_windows_test.go --\npackage m\n\nvar X int = \"\"\n"},
		{name: "wasm", steps: "wasm", says: "<== wasm: FAILED", files: "-- n_js.go --\npackage m\n\nvar X int = \"\"\n"},
		{
			name: "example", steps: "examples", says: "<== examples: FAILED",
			files: "-- examples/e/main.go --\npackage main\n\nvar X int = \"\"\n\nfunc main() {}\n",
		},
		{
			name: "nested module that passes", steps: "nested",
			files: "-- n/go.mod --\nmodule m.test/m/n\n\ngo 1.26\n-- n/n.go --\npackage n\n",
		},
		{
			name: "nested module that fails", steps: "nested", says: "<== nested: FAILED",
			files: "-- n/go.mod --\nmodule m.test/m/n\n\ngo 1.26\n-- n/n_test.go --\npackage n\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) { t.Error(1) }\n",
		},
		{
			name: "nested module that skips", steps: "nested", shows: "n: ok, 1 SKIPPED",
			files: "-- n/go.mod --\nmodule m.test/m/n\n\ngo 1.26\n-- n/n_test.go --\npackage n\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) { t.Skip() }\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := module(t, quiet+c.files)
			args := append([]string{filepath.Join(dir, gateFile)}, strings.Fields(c.steps)...)
			cmd := exec.CommandContext(t.Context(), "bash", args...)
			cmd.Env = append(os.Environ(), "FUZZTIME=1x")
			out, err := cmd.CombinedOutput()
			switch {
			case c.says == "" && (err != nil || !strings.Contains(string(out), c.shows)):
				t.Errorf("must pass and show %q: %v\n%s", c.shows, err, out)
			case c.says != "" && (err == nil || !strings.Contains(string(out), c.says)):
				t.Errorf("must fail and say %q, ended with %v\n%s", c.says, err, out)
			}
		})
	}
}

// module writes a module with the gate into a repository of its own, everything committed.
func module(t *testing.T, files string) string {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil || runtime.GOOS == "windows" {
		t.Skip("the gate is a bash script")
	}
	dir := t.TempDir()
	fsys := fstest.MapFS{}
	unpack(t, fsys, files)
	gate, err := os.ReadFile("../../" + gateFile)
	if err != nil {
		t.Fatal(err)
	}
	fsys[gateFile] = &fstest.MapFile{Data: gate, Mode: 0o755}
	if err := os.CopyFS(dir, fsys); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"init -q", "add -A", "-c user.name=gate -c user.email=gate@m.test -c commit.gpgsign=false commit -qm all"} {
		cmd := exec.CommandContext(t.Context(), "git", strings.Fields(args)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	return dir
}
