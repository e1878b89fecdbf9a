package archtest

import (
	"go/ast"
	"go/doc"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxLines is the length of a Go file from which on it needs a reason.
const maxLines = 500

// Unsafe finds imports of unsafe or of C outside the listed files.
func Unsafe(t *Tree, r *Rules) []Problem {
	var ps problems
	used := map[string]bool{}
	for _, f := range t.Files {
		for _, imp := range t.Imports(f) {
			switch {
			case imp.Path == "C":
				ps.add(f.Path, imp.Line, "no cgo: the gate cross-builds every package")
			case imp.Path == "unsafe" && r.Unsafe[f.Path] == "":
				ps.add(f.Path, imp.Line, "unsafe belongs into one file of internal/delta and one of internal/udp; if this is "+
					"that file, add it to Unsafe in %s with the reason", rulesFile)
			}
			used[f.Path] = used[f.Path] || imp.Path == "unsafe"
		}
	}
	ps.exceptions("Unsafe", r.Unsafe, used)
	return ps
}

// Names by which a core package would reach outside, and names of package time that read or wait for the clock.
var (
	outside = []string{"net", "net/*", "os", "os/*", "syscall", "golang.org/x/net/*", "golang.org/x/sys/*"}
	inside  = []string{"net/netip"}
	clock   = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}
)

// Core finds I/O, clocks and goroutines in core packages; their tests are free.
func Core(t *Tree, r *Rules) []Problem {
	var ps problems
	for _, f := range t.Files {
		if f.Test || !r.Packages[f.Dir].Core {
			continue
		}
		for _, imp := range t.Imports(f) {
			if allows(outside, imp.Path) && !allows(inside, imp.Path) {
				ps.add(f.Path, imp.Line, "a core package does no I/O: it may not import %s", imp.Path)
			}
			if imp.Path == "time" && imp.Name == "." {
				ps.add(f.Path, imp.Line, "import time by name, so that a use of the clock can be seen")
			}
		}
		t.uses(f, "time", func(sel *ast.SelectorExpr) {
			if slices.Contains(clock, sel.Sel.Name) {
				ps.add(f.Path, f.Line(sel), "a core package is told the time: take now as an argument instead of time.%s", sel.Sel.Name)
			}
		})
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			if stmt, ok := n.(*ast.GoStmt); ok {
				ps.add(f.Path, f.Line(stmt), "a core package starts no goroutine: its caller drives it")
			}
			return true
		})
	}
	return ps
}

// Comments finds packages that cannot be told in one sentence without an "and".
func Comments(t *Tree, _ *Rules) []Problem {
	var ps problems
	for _, dir := range sorted(t.Packages) {
		files := t.Packages[dir].Files
		if code := slices.DeleteFunc(slices.Clone(files), func(f *File) bool { return f.Test }); len(code) > 0 {
			files = code
		}
		first := ""
		for _, f := range files {
			if f.Syntax.Doc == nil {
				continue
			}
			if first != "" {
				ps.add(f.Path, f.Line(f.Syntax.Doc), "a second package comment, the first is in %s: put a blank line between a file's "+
					"comment and its package clause", first)
				continue
			}
			first = f.Path
			sentence := new(doc.Package).Synopsis(f.Syntax.Doc.Text())
			name := f.Syntax.Name.Name
			if name != "main" && !strings.HasPrefix(sentence, "Package "+name+" ") {
				ps.add(f.Path, f.Line(f.Syntax.Doc), "the package comment begins with \"Package %s \"", name)
			}
			if name == "main" && sentence == "" {
				ps.add(f.Path, f.Line(f.Syntax.Doc), "the package comment begins with a sentence")
			}
			if slices.Contains(strings.Fields(strings.ToLower(sentence)), "and") {
				ps.add(f.Path, f.Line(f.Syntax.Doc), "one package, one job: say it in a first sentence without \"and\", or split it: %q", sentence)
			}
		}
		if first == "" {
			ps.add(dir, 0, "package without a comment: say in one sentence what it is")
		}
	}
	return ps
}

// junk are package names that say nothing about what is inside.
var junk = []string{"base", "common", "handler", "handlers", "helper", "helpers", "impl", "interfaces", "manager", "misc", "types", "util", "utils"}

// Names finds packages whose name says nothing.
func Names(t *Tree, _ *Rules) []Problem {
	var ps problems
	for _, dir := range sorted(t.Packages) {
		for _, f := range t.Packages[dir].Files {
			name := strings.TrimSuffix(f.Syntax.Name.Name, "_test")
			if slices.Contains(junk, name) || slices.Contains(junk, path.Base(dir)) {
				ps.add(f.Path, f.Line(f.Syntax.Name), "a package is named for what it is, not %s", name)
				break
			}
		}
	}
	return ps
}

// Sleeps finds tests that wait for the wall clock. Within a function literal given to synctest.Test a sleep is virtual.
func Sleeps(t *Tree, r *Rules) []Problem {
	var ps problems
	used := map[string]bool{}
	for _, f := range t.Files {
		if !f.Test {
			continue
		}
		var bubbles []ast.Node
		t.uses(f, "testing/synctest", func(sel *ast.SelectorExpr) {
			ast.Inspect(f.Syntax, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && call.Fun == sel && sel.Sel.Name == "Test" {
					bubbles = append(bubbles, call)
				}
				return true
			})
		})
		t.uses(f, "time", func(sel *ast.SelectorExpr) {
			within := func(b ast.Node) bool { return b.Pos() <= sel.Pos() && sel.End() <= b.End() }
			if sel.Sel.Name != "Sleep" || slices.ContainsFunc(bubbles, within) {
				return
			}
			used[f.Path] = true
			if r.Sleeps[f.Path] == "" {
				ps.add(f.Path, f.Line(sel), "a test does not sleep: use testing/synctest, wait for an event, or add the file to Sleeps "+
					"in %s with the reason", rulesFile)
			}
		})
	}
	ps.exceptions("Sleeps", r.Sleeps, used)
	return ps
}

// Length finds Go files that have grown too long to be read in one go.
func Length(t *Tree, r *Rules) []Problem {
	var ps problems
	used := map[string]bool{}
	for _, f := range t.Files {
		n := strings.Count(t.Texts[f.Path], "\n")
		if n <= maxLines {
			continue
		}
		used[f.Path] = true
		if r.Long[f.Path] == "" {
			ps.add(f.Path, 0, "%d lines, the limit is %d: split it, or add it to Long in %s with the reason", n, maxLines, rulesFile)
		}
	}
	ps.exceptions("Long", r.Long, used)
	return ps
}

// machinePath matches the beginning of a path that exists on somebody's machine only.
var machinePath = regexp.MustCompile(`(?:^|[^\w./~-])(/(?:home|root|tmp|Users)/|[A-Z]:\\+Users\\)`)

// MachinePaths finds traces of the machine a file was written on.
func MachinePaths(t *Tree, r *Rules) []Problem {
	var ps problems
	used := map[string]bool{}
	for _, p := range sorted(t.Texts) {
		n := 0
		for line := range strings.Lines(t.Texts[p]) {
			n++
			found := machinePath.FindStringSubmatch(line)
			if found == nil {
				continue
			}
			used[p] = true
			if r.MachinePaths[p] == "" {
				ps.add(p, n, "%s is a path of one machine: make it relative, or add the file to MachinePaths in %s with the reason",
					found[1], rulesFile)
			}
		}
	}
	ps.exceptions("MachinePaths", r.MachinePaths, used)
	return ps
}
