package archtest

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// sound is a small module that keeps every rule; each case below breaks one.
const sound = `
-- go.mod --
module m.test/m

go 1.26
-- .ci/run --
step test go test ./...
-- docs/architecture.md --
## Packages
| package | is |
|---|---|
| ` + "`.`" + ` | root |
| ` + "`cmd/m`" + ` | program |
| ` + "`internal/delta`" + ` | core |
## Planned
| ` + "`later`" + ` | not yet |
-- m.go --
// Package m is the root.
package m

import "m.test/m/internal/delta"

var X = delta.X
-- m_test.go --
package m_test

import (
	_ "m.test/m"
	_ "m.test/m/internal/memnet"
	_ "time"
)
-- cmd/m/main.go --
// Command m runs it all.
package main

import _ "m.test/m"
-- internal/delta/delta.go --
// Package delta is core.
package delta

import (
	_ "net/netip"
	"time"
)

var X time.Duration
-- internal/delta/offset.go --
package delta

import _ "unsafe"
-- internal/memnet/testdata/ignored.go --
package broken (
-- nested/go.mod --
module m.test/m/nested
-- nested/util.go --
package util
`

// soundRules are the rules of the sound module, made anew for each case.
func soundRules() *Rules {
	return &Rules{
		Packages: map[string]Rule{
			".":              may("internal/delta"),
			"cmd/m":          may("*"),
			"internal/delta": core(),
		},
		TestsMay: []string{"internal/memnet"},
		Unsafe:   map[string]string{"internal/delta/offset.go": "fields by offset"},
	}
}

// TestEveryCheckCanFail breaks the sound module in one way a case: exactly the named check must say so.
func TestEveryCheckCanFail(t *testing.T) {
	cases := []struct {
		name  string
		check string // "" when nothing may fail
		says  string // part of the only problem
		files string // added to the sound module, or put in place of its files
		rules func(*Rules)
	}{
		{name: "sound"},
		{
			name: "import that no rule allows", check: "imports", says: "internal/delta may not import .",
			files: "-- internal/delta/up.go --\npackage delta\n\nimport _ \"m.test/m\"\n",
		},
		{
			name: "message prints the line to write", check: "imports", says: "\n\t\"internal/delta\": core(\".\"),",
			files: "-- internal/delta/up.go --\npackage delta\n\nimport _ \"m.test/m\"\n",
		},
		{
			name: "import by a test that no rule allows", check: "imports", says: "internal/delta\": core().tests(\".\"),",
			files: "-- internal/delta/up_test.go --\npackage delta_test\n\nimport _ \"m.test/m\"\n",
		},
		{
			name:  "import by a test that its rule allows",
			files: "-- internal/delta/up_test.go --\npackage delta_test\n\nimport _ \"m.test/m\"\n",
			rules: func(r *Rules) { r.Packages["internal/delta"] = core().tests(".") },
		},
		{
			name: "package without a rule", check: "imports", says: "\"later\": may(\"internal/delta\"),",
			files: "-- later/later.go --\n// Package later is new.\npackage later\n\nimport _ \"m.test/m/internal/delta\"\n",
		},
		{
			name: "package behind a build tag without a rule", check: "imports", says: "package without a rule",
			files: "-- later/later_plan9.go --\n//go:build plan9\n\n// Package later is new.\npackage later\n",
		},
		{
			name: "rule without a package", check: "imports", says: "rule without a package",
			files: "-- docs/architecture.md --\n## Packages\n| `.` |\n| `cmd/m` |\n| `internal/delta` |\n| `gone` |\n",
			rules: func(r *Rules) { r.Packages["gone"] = may() },
		},
		{
			name: "permission nobody uses", check: "stale-imports", says: "allows internal/delta, which no file imports",
			files: "-- m.go --\n// Package m is the root.\npackage m\n",
		},
		{
			name: "permission only tests use", check: "stale-imports", says: "\".\": may().tests(\"internal/delta\"),",
			files: "-- m.go --\n// Package m is the root.\npackage m\n-- n_test.go --\npackage m\n\nimport _ \"m.test/m/internal/delta\"\n",
		},
		{
			name: "permission for tests nobody uses", check: "stale-imports", says: "allows tests cmd/m",
			rules: func(r *Rules) { r.Packages["internal/delta"] = core().tests("cmd/m") },
		},
		{
			name: "permission for tests they have anyway", check: "stale-imports", says: "allows tests internal/memnet",
			rules: func(r *Rules) { r.Packages["."] = may("internal/delta").tests("internal/memnet") },
		},
		{
			name: "pattern that covers nothing", check: "stale-imports", says: "allows *",
			files: "-- cmd/m/main.go --\n// Command m runs nothing.\npackage main\n",
		},
		{
			name: "import of a program", check: "roots", says: "nothing imports cmd/m",
			files: "-- n_test.go --\npackage m\n\nimport _ \"m.test/m/cmd/m\"\n",
			rules: func(r *Rules) { r.Packages["."] = may("internal/delta").tests("cmd/m") },
		},
		{
			name: "unsafe elsewhere", check: "unsafe", says: "unsafe belongs into one file",
			files: "-- n.go --\npackage m\n\nimport _ \"unsafe\"\n",
		},
		{
			name: "unsafe in a test", check: "unsafe", says: "unsafe belongs into one file",
			files: "-- n_test.go --\npackage m\n\nimport _ \"unsafe\"\n",
		},
		{
			name: "cgo", check: "unsafe", says: "no cgo",
			files: "-- n.go --\npackage m\n\nimport \"C\"\n",
		},
		{
			name: "unsafe no longer used", check: "unsafe", says: "excuses nothing",
			files: "-- internal/delta/offset.go --\npackage delta\n",
		},
		{
			name: "unsafe without a reason", check: "unsafe", says: "gives no reason",
			files: "-- internal/delta/offset.go --\npackage delta\n",
			rules: func(r *Rules) {
				r.Unsafe = map[string]string{"m.go": "stale, with a reason", "internal/delta/offset.go": " "}
			},
		},
		{
			name: "core package with a socket", check: "core", says: "may not import net",
			files: "-- internal/delta/n.go --\npackage delta\n\nimport _ \"net\"\n",
		},
		{
			name: "core package with a file", check: "core", says: "may not import os",
			files: "-- internal/delta/n.go --\npackage delta\n\nimport _ \"os\"\n",
		},
		{
			name: "core package with a server", check: "core", says: "may not import net/http",
			files: "-- internal/delta/n.go --\npackage delta\n\nimport _ \"net/http\"\n",
		},
		{
			name: "core package with a clock", check: "core", says: "instead of time.Now",
			files: "-- internal/delta/n.go --\npackage delta\n\nimport \"time\"\n\nvar now = time.Now\n",
		},
		{
			name: "core package with a renamed clock", check: "core", says: "instead of time.After",
			files: "-- internal/delta/n.go --\npackage delta\n\nimport t \"time\"\n\nvar c = t.After(1)\n",
		},
		{
			name: "core package with a hidden clock", check: "core", says: "import time by name",
			files: "-- internal/delta/n.go --\npackage delta\n\nimport . \"time\"\n\nvar now = Now\n",
		},
		{
			name: "core package with a goroutine", check: "core", says: "starts no goroutine",
			files: "-- internal/delta/n.go --\npackage delta\n\nfunc f() { go f() }\n",
		},
		{
			name:  "test of a core package",
			files: "-- internal/delta/n_test.go --\npackage delta\n\nimport (\n\t_ \"os\"\n\t\"time\"\n)\n\nfunc f() { go f(); time.Now() }\n",
		},
		{
			name:  "package that is no core",
			files: "-- n.go --\npackage m\n\nimport (\n\t_ \"os\"\n\t\"time\"\n)\n\nfunc f() { go f(); time.Now() }\n",
		},
		{
			name: "package without a comment", check: "comments", says: "package without a comment",
			files: "-- internal/delta/delta.go --\npackage delta\n",
		},
		{
			name: "comment with an and", check: "comments", says: "without \"and\"",
			files: "-- internal/delta/delta.go --\n// Package delta diffs and\n// applies. More.\npackage delta\n",
		},
		{
			name:  "comment with an and in a later sentence",
			files: "-- internal/delta/delta.go --\n// Package delta diffs. It reads and writes.\npackage delta\n",
		},
		{
			name: "comment that begins with something else", check: "comments", says: "begins with \"Package delta \"",
			files: "-- internal/delta/delta.go --\n// Diffs.\npackage delta\n",
		},
		{
			name: "two comments", check: "comments", says: "a second package comment",
			files: "-- internal/delta/offset.go --\n// Offsets.\npackage delta\n\nimport _ \"unsafe\"\n",
		},
		{
			name:  "file comment",
			files: "-- internal/delta/offset.go --\n// Offsets and more.\n\npackage delta\n\nimport _ \"unsafe\"\n",
		},
		{
			name: "junk drawer", check: "names", says: "not util",
			files: "-- internal/util/a.go --\n// Package util is a drawer.\npackage util\n-- docs/architecture.md --\n## Packages\n" +
				"| `.` |\n| `cmd/m` |\n| `internal/delta` |\n| `internal/util` |\n",
			rules: func(r *Rules) { r.Packages["internal/util"] = may() },
		},
		{
			name: "test that sleeps", check: "sleeps", says: "a test does not sleep",
			files: "-- n_test.go --\npackage m\n\nimport \"time\"\n\nfunc f() { time.Sleep(1) }\n",
		},
		{
			name: "test that sleeps within a bubble and behind it", check: "sleeps", says: "n_test.go:10",
			files: "-- n_test.go --\npackage m\n\nimport (\n\t\"testing/synctest\"\n\t\"time\"\n)\n\n" +
				"func f() {\n\tsynctest.Test(nil, func() { time.Sleep(1) })\n\ttime.Sleep(1)\n}\n",
		},
		{
			name:  "test that sleeps within a bubble",
			files: "-- n_test.go --\npackage m\n\nimport (\n\t\"testing/synctest\"\n\t\"time\"\n)\n\nfunc f() { synctest.Test(nil, func() { time.Sleep(1) }) }\n",
		},
		{
			name:  "test that may sleep",
			files: "-- n_test.go --\npackage m\n\nimport \"time\"\n\nfunc f() { time.Sleep(1) }\n",
			rules: func(r *Rules) { r.Sleeps = map[string]string{"n_test.go": "a real socket"} },
		},
		{
			name: "test that no longer sleeps", check: "sleeps", says: "excuses nothing",
			rules: func(r *Rules) { r.Sleeps = map[string]string{"m_test.go": "a real socket"} },
		},
		{
			name: "long file", check: "length", says: "501 lines",
			files: "-- n.go --\npackage m\n" + strings.Repeat("\n", maxLines),
		},
		{
			name:  "file at the limit",
			files: "-- n.go --\npackage m\n" + strings.Repeat("\n", maxLines-1),
		},
		{
			name: "excuse for a file that has become short", check: "length", says: "excuses nothing",
			rules: func(r *Rules) { r.Long = map[string]string{"m.go": "a table"} },
		},
		{
			name: "home directory in a document", check: "machine-paths", says: "/home/",
			files: "-- docs/how.md --\ncd to\n/home/someone/m\n",
		},
		{
			name: "temporary directory in a string", check: "machine-paths", says: "/tmp/",
			files: "-- n.go --\npackage m\n\nconst dir = \"/tmp/m\"\n",
		},
		{
			name: "drive letter in a page", check: "machine-paths", says: `C:\Users\`,
			files: "-- page.html --\n<p>C:\\Users\\me</p>\n",
		},
		{
			name:  "path of a URL",
			files: "-- docs/how.md --\nhttps://m.test/home/page and ~/tmp/x and a/tmp/b\n",
		},
		{
			name: "excuse for a file without such a path", check: "machine-paths", says: "excuses nothing",
			rules: func(r *Rules) { r.MachinePaths = map[string]string{"m.go": "an example"} },
		},
		{
			name: "replace", check: "go-mod", says: "no replace",
			files: "-- go.mod --\nmodule m.test/m\n\nreplace a.test/a => ../a\n",
		},
		{
			name: "document without a package", check: "doc", says: "no row for internal/delta",
			files: "-- docs/architecture.md --\n## Packages\n| `.` |\n| `cmd/m` |\n",
		},
		{
			name: "document with a package that is gone", check: "doc", says: "gone is not in",
			files: "-- docs/architecture.md --\n## Packages\n| `.` |\n| `cmd/m` |\n| `internal/delta` |\n| `gone` |\n",
		},
		{
			name: "planned package that exists", check: "doc", says: "move the row to Packages",
			files: "-- docs/architecture.md --\n## Packages\n| `.` |\n| `cmd/m` |\n## Planned\n| `internal/delta` |\n",
		},
		{
			name: "gate that begins with something else", check: "gate", says: "the first step",
			files: "-- .ci/run --\nstep vet go vet ./...\nstep test go test ./...\n",
		},
		{
			name: "gate that tests less", check: "gate", says: "the first step",
			files: "-- .ci/run --\nstep test go test -short ./...\n",
		},
		{
			name: "readme with another command", check: "gate", says: "does not show",
			files: "-- README.md --\ngo test\n",
		},
	}
	failed := map[string]bool{}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			fsys := fstest.MapFS{}
			unpack(t, fsys, sound)
			unpack(t, fsys, c.files)
			tree, err := Load(fsys)
			if err != nil {
				t.Fatal(err)
			}
			rules := soundRules()
			if c.rules != nil {
				c.rules(rules)
			}
			found := ""
			for _, check := range Checks {
				ps := check.Find(tree, rules)
				if len(ps) > 0 && check.Name != c.check {
					t.Errorf("%s must find nothing, found %v", check.Name, ps)
				}
				if check.Name == c.check {
					found = fmt.Sprint(ps)
				}
			}
			if c.check != "" && (found == "[]" || !strings.Contains(found, c.says)) {
				t.Errorf("%s must say %q, says %s", c.check, c.says, found)
			}
			failed[c.check] = true
		})
	}
	for _, check := range Checks {
		if !failed[check.Name] {
			t.Errorf("no case proves that %s can fail", check.Name)
		}
	}
}

// TestLoadRefuses what it cannot judge.
func TestLoadRefuses(t *testing.T) {
	for name, files := range map[string]string{
		"no module":                  "-- a.go --\npackage a\n",
		"module without name":        "-- go.mod --\ngo 1.26\n",
		"source that does not parse": "-- go.mod --\nmodule m.test/m\n-- a.go --\npackage a (\n",
	} {
		t.Run(name, func(t *testing.T) {
			fsys := fstest.MapFS{}
			unpack(t, fsys, files)
			if _, err := Load(fsys); err == nil {
				t.Error("no error")
			}
		})
	}
}

// unpack adds files to a file system: each begins with a line "-- path --", as in a txtar archive.
func unpack(t *testing.T, fsys fstest.MapFS, files string) {
	t.Helper()
	var into *fstest.MapFile
	for line := range strings.Lines(strings.TrimPrefix(files, "\n")) {
		if p, ok := strings.CutPrefix(line, "-- "); ok {
			p = strings.TrimSuffix(p, " --\n")
			if !fs.ValidPath(p) {
				t.Fatalf("bad path %q", p)
			}
			into = &fstest.MapFile{}
			fsys[p] = into
			continue
		}
		if into == nil {
			t.Fatalf("%q stands before the first file", line)
		}
		into.Data = append(into.Data, line...)
	}
}
