// Package archtest turns the architecture of this module into checks over its source files.
//
//	rules.go  what holds: one line per package, plus the short lists of exceptions
//	tree.go   the sources, parsed once
//	*.go      the checks: each a function from (tree, rules) to a list of problems
//
// The sources are read through an fs.FS and parsed here, never by way of the go command: the test cache follows the
// files a test opens, not what a child process saw, so a check that ran `go list` would stay green after a forbidden
// import was added.
package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// A Problem is one breach: where it is, what is wrong, how to mend it.
type Problem struct {
	Path string // relative to the module root
	Line int    // 0 when the whole file or package is meant
	Text string
}

func (p Problem) String() string {
	if p.Line == 0 {
		return p.Path + ": " + p.Text
	}
	return fmt.Sprintf("%s:%d: %s", p.Path, p.Line, p.Text)
}

// A Check finds the breaches of one rule in a tree. It returns nil when there are none.
type Check struct {
	Name string
	Find func(*Tree, *Rules) []Problem
}

// Checks are all checks of this package, in the order in which a reader wants to hear of breaches.
var Checks = []Check{
	{"imports", Imports},
	{"stale-imports", StaleImports},
	{"roots", Roots},
	{"unsafe", Unsafe},
	{"core", Core},
	{"comments", Comments},
	{"names", Names},
	{"sleeps", Sleeps},
	{"length", Length},
	{"machine-paths", MachinePaths},
	{"go-mod", GoMod},
	{"doc", Doc},
	{"gate", Gate},
}

// problems collects what one check finds.
type problems []Problem

func (ps *problems) add(path string, line int, format string, args ...any) {
	*ps = append(*ps, Problem{path, line, fmt.Sprintf(format, args...)})
}

// exceptions reports the entries of an exception list that excuse nothing any more, or give no reason.
func (ps *problems) exceptions(list string, reasons map[string]string, used map[string]bool) {
	for _, path := range sorted(reasons) {
		if strings.TrimSpace(reasons[path]) == "" {
			ps.add(path, 0, "%s in %s gives no reason", list, rulesFile)
		}
		if !used[path] {
			ps.add(path, 0, "%s in %s excuses nothing: delete the line", list, rulesFile)
		}
	}
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
