package archtest

import (
	"fmt"
	"strings"
)

// rulesFile is where messages send the reader.
const rulesFile = "internal/archtest/rules.go"

// Repository is what holds in this module. A package without a line fails, so does a line without a package, and an
// allowed import that no file makes: the table can only say what is true.
var Repository = Rules{
	Packages: map[string]Rule{
		"authority":          may(".", "internal/relevancy", "relay", "store", "token", "transport").tests("authority/minion"),
		"authority/minion":   may("."),
		".":                  may("internal/delta", "internal/grid", "internal/layout", "internal/motion", "internal/payload", "internal/quant", "internal/registry", "internal/session", "internal/trace", "internal/udp", "internal/wire", "transport"),
		"cmd/throng":         may("*"),
		"cmd/throng-vet":     may("internal/vet"),
		"examples/minions":   may(".", "authority", "authority/minion", "relay", "token", "transport"),
		"examples/lantern":   may(".", "relay", "token"),
		"conformance":        may("internal/*", "transport").tests("token"),
		"internal/archtest":  may(),
		"internal/delta":     core("internal/layout", "internal/motion"),
		"internal/grid":      core(),
		"internal/impair":    may(),
		"internal/layout":    core(),
		"internal/load":      may(".", "internal/grid", "internal/impair", "internal/quant", "internal/registry", "internal/session", "internal/udp", "internal/wire", "relay", "token", "transport"),
		"internal/memnet":    may("transport"),
		"internal/motion":    core(),
		"internal/netcode":   core(),
		"internal/inspect":   may(),
		"internal/payload":   core("internal/layout"),
		"internal/quant":     core(),
		"internal/registry":  core("internal/grid", "internal/motion", "internal/session", "internal/trace", "internal/wire"),
		"internal/relevancy": core(),
		"internal/session":   core(),
		"internal/shard":     core("internal/grid", "internal/session", "internal/table", "internal/wire", "transport"),
		"internal/table":     core("internal/grid", "internal/wire"),
		"internal/trace":     core(),
		"internal/udp":       may("internal/netcode", "transport"),
		"internal/vet":       may("internal/layout", "internal/payload").tests("."),
		"internal/wire":      core("internal/grid"),
		"relay":              may("internal/session", "internal/shard", "internal/table", "internal/udp", "internal/wire", "token", "transport").tests("internal/grid", "internal/registry"),
		"store":              may().tests("store/storetest"),
		"store/storetest":    may("store"),
		"throngtest":         may(".", "internal/memnet", "relay", "token", "transport").tests("internal/trace"),
		"token":              may("internal/netcode"),
		"transport":          may(),
	},

	// Every package's tests may use these beside the package's own imports.
	TestsMay: []string{"internal/memnet", "throngtest"},

	// Files that may import unsafe, each with its reason.
	Unsafe: map[string]string{
		"internal/delta/memory.go":     "fields by offset (ADR 0004)",
		"internal/udp/socket_linux.go": "recvmmsg, sendmmsg with segmentation offload",
	},

	// Test files that may call time.Sleep, each with its reason. Virtual time needs none of it: testing/synctest.
	Sleeps: map[string]string{},

	// Files over the limit of lines, each with its reason.
	Long: map[string]string{},

	// Files that may name a path of somebody's machine, each with its reason.
	MachinePaths: map[string]string{
		"internal/archtest/broken_test.go": "plants such paths to prove that they are found",
	},
}

// Rules is everything the checks compare a tree with. Paths are relative to the module root, "." is the root package.
type Rules struct {
	Packages     map[string]Rule
	TestsMay     []string
	Unsafe       map[string]string
	Sleeps       map[string]string
	Long         map[string]string
	MachinePaths map[string]string
}

// A Rule is what one package may do.
type Rule struct {
	Core    bool     // sans-I/O: no sockets, no files, no clock, no goroutine
	Imports []string // packages of this module; "*" is any, "dir/*" any below dir
	Tests   []string // further ones, for its test files only
}

// may is the rule of a package that does I/O or starts goroutines.
func may(imports ...string) Rule { return Rule{Imports: imports} }

// core is the rule of a package that must be able to run an hour of play in a unit test.
func core(imports ...string) Rule { return Rule{Core: true, Imports: imports} }

// tests adds imports that only test files make.
func (r Rule) tests(imports ...string) Rule {
	r.Tests = imports
	return r
}

// line is the rule as it stands in the table, for messages to print.
func (r Rule) line(pkg string) string {
	quote := func(list []string) string {
		quoted := make([]string, len(list))
		for i, s := range list {
			quoted[i] = fmt.Sprintf("%q", s)
		}
		return strings.Join(quoted, ", ")
	}
	kind := "may"
	if r.Core {
		kind = "core"
	}
	line := fmt.Sprintf("%q: %s(%s)", pkg, kind, quote(r.Imports))
	if len(r.Tests) > 0 {
		line += fmt.Sprintf(".tests(%s)", quote(r.Tests))
	}
	return line + ","
}

// allows tells whether one of the entries covers the package.
func allows(entries []string, pkg string) bool {
	for _, entry := range entries {
		if covers(entry, pkg) {
			return true
		}
	}
	return false
}

func covers(entry, pkg string) bool {
	if entry == "*" {
		return true
	}
	if dir, ok := strings.CutSuffix(entry, "/*"); ok {
		return strings.HasPrefix(pkg, dir+"/")
	}
	return entry == pkg
}
